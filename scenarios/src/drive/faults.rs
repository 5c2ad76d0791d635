//! What a seed draws, done to servers and programs at its time.

use super::processes::ClientProcesses;
use crate::observe::Judge;
use crate::serve::schedule::{at_server, latency_ms};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use zk_serve::{Fault, Running, Target, When};
use zk_simulator::schedule::{self as drawn, TimedFault};
use zk_simulator::{Scenario, Schedule};

/// How often it is looked whether a client does what a fault waits for.
const LOOK: Duration = Duration::from_millis(5);

/// Faults wait so long at most for clients that have opened no session yet: some programs start slowly.
const SLOW_START: Duration = Duration::from_secs(30);

/// What faults strike.
pub(super) struct Struck {
    pub(super) running: Arc<Running>,
    pub(super) processes: Arc<ClientProcesses>,
    pub(super) judge: Judge,
    /// There have been so many sessions once each client has opened one.
    pub(super) sessions: usize,
    /// How many have struck.
    pub(super) count: AtomicU64,
    /// Whether none is to come any more.
    pub(super) are_over: AtomicBool,
}

/// Does each fault of a seed at its time. Those that are aimed wait until the end of all for their client to be in the
/// midst of something.
pub(super) async fn strike(struck: Arc<Struck>, scenario: Scenario, seed: u64) {
    let began = Instant::now();
    while !struck.have_begun() && began.elapsed() < SLOW_START {
        sleep(LOOK).await;
    }
    let start = Instant::now();
    let end = start + Duration::from_secs(scenario.fault_seconds.into());
    let mut under_way = JoinSet::new();
    for TimedFault { at_ms, fault } in Schedule::draw(&scenario, seed).faults {
        sleep_until(start + Duration::from_millis(at_ms)).await;
        let (struck, latency) = (struck.clone(), latency_ms(&scenario));
        under_way.spawn(async move {
            if struck.strike(&fault, latency, end).await {
                struck.count.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    while under_way.join_next().await.is_some() {}
    struck.are_over.store(true, Ordering::SeqCst);
}

impl Struck {
    /// Whether all clients are there.
    pub(super) fn have_begun(&self) -> bool {
        self.judge.who().sessions() >= self.sessions
    }

    /// Whether it struck.
    async fn strike(&self, fault: &drawn::Fault, latency_ms: f64, end: Instant) -> bool {
        match *fault {
            drawn::Fault::ClientCrash { client, when, restart_after_ms } => {
                self.comes_to(client, when, end).await
                    && self.processes.crash(client, Duration::from_millis(restart_after_ms))
            }
            drawn::Fault::ClientPause { client, when, for_ms } => {
                if !self.comes_to(client, when, end).await {
                    return false;
                }
                let Some(start) = self.processes.pause(client) else { return false };
                sleep(Duration::from_millis(for_ms)).await;
                self.processes.resume(client, start);
                true
            }
            drawn::Fault::Drop {
                client,
                when: when @ (drawn::When::NextGrant | drawn::When::NextWork),
                what,
            } => {
                let Some(session) = self.session_at(client, when, end).await else { return false };
                self.at_server(Fault::Drop { session, when: When::Now, what }).await
            }
            ref other => match at_server(other, latency_ms, &|client| self.session(client)) {
                Ok(fault) => self.at_server(fault).await,
                Err(_) => false,
            },
        }
    }

    /// A server that is down or paused may refuse it.
    async fn at_server(&self, fault: Fault) -> bool {
        self.running.fault(fault).await.is_ok()
    }

    fn session(&self, client: u16) -> Option<Target> {
        self.judge.who().session_of(client).map(Target::Session)
    }

    async fn session_at(&self, client: u16, when: drawn::When, end: Instant) -> Option<Target> {
        if self.comes_to(client, when, end).await { self.session(client) } else { None }
    }

    /// Waits until a client is where a fault is aimed at; not for ever.
    async fn comes_to(&self, client: u16, when: drawn::When, end: Instant) -> bool {
        match when {
            drawn::When::Now | drawn::When::NextRequest(_) => true,
            drawn::When::NextGrant | drawn::When::NextWork => {
                while !self.judge.who().is_in_midst(client) {
                    if Instant::now() >= end {
                        return false;
                    }
                    sleep(LOOK).await;
                }
                true
            }
        }
    }
}
