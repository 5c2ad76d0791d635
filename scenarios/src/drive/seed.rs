//! One seed: servers, programs and faults, until it is over.

use super::faults::{Struck, strike};
use super::plan::Plan;
use super::processes::ClientProcesses;
use crate::observe::{Driven, Found, Judge};
use crate::{BadInput, observe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::time::sleep;
use zk_reports::Answer;
use zk_serve::{Options, Verdict};

/// How often it is looked whether anything has come to its end.
const LOOK: Duration = Duration::from_millis(20);

/// Nothing is over before so long has passed without a move, where a program has not come to its end.
const STILL: Duration = Duration::from_secs(10);

/// What came of one seed.
pub(super) struct SeedRun {
    pub(super) found: Found,
    pub(super) servers: Verdict,
    /// Why it came to no end, if it did not.
    pub(super) ran_out: Option<String>,
    pub(super) faults: u64,
    /// The last lines of programs that failed.
    pub(super) output: Vec<String>,
}

impl SeedRun {
    pub(super) fn is_broken(&self) -> bool {
        self.found.answer == Answer::Broken || !self.servers.held
    }
}

pub(super) async fn run(plan: &Plan, seed: u64) -> Result<SeedRun, BadInput> {
    let scenario = &plan.scenario;
    let owes = observe::owes(&plan.arguments.promises)?.expect("something is owed");
    let work = scenario.work_ms.map(|ms| Duration::from_millis(ms.into()));
    let judge = Judge::new(owes, Some(Driven { clients: scenario.clients, work }));
    let options = Options {
        tick_ms: scenario.tick_ms,
        observer: Some(Arc::new(judge.clone())),
        ..Options::ensemble(scenario.servers)
    };
    let running = zk_serve::start(options).await.map_err(|error| BadInput::new(error.to_string()))?;
    observe::prepare(&plan.arguments.promises, running.addresses()).await?;
    let addresses: Vec<String> = running.addresses().iter().map(ToString::to_string).collect();
    let environment = vec![
        ("ZOOCHECK_SERVERS", addresses.join(",")),
        ("ZOOCHECK_CONTROL", format!("http://{}", running.control_address())),
        ("ZOOCHECK_CLIENTS", scenario.clients.to_string()),
        ("ZOOCHECK_SEED", seed.to_string()),
        ("ZOOCHECK_SESSION_TIMEOUT_MS", scenario.session_timeout_ms.to_string()),
    ];
    let sessions = judge.who().sessions() + usize::from(scenario.clients);
    let processes = Arc::new(ClientProcesses::start(plan, judge.clone(), environment)?);
    let struck = Arc::new(Struck {
        running: Arc::new(running),
        processes: processes.clone(),
        judge: judge.clone(),
        sessions,
        count: AtomicU64::new(0),
        are_over: AtomicBool::new(false),
    });
    let faults = tokio::spawn(strike(struck.clone(), scenario.clone(), seed));
    let over = until_over(plan, &struck).await;
    faults.abort();
    let _ = faults.await;
    let found = judge.found(&struck.running.moment().await);
    processes.end().await;
    let ran_out = over?.or_else(|| found.not_at_rest.clone());
    Ok(SeedRun {
        found,
        servers: struck.running.verdict().await,
        ran_out,
        faults: struck.count.load(Ordering::SeqCst),
        output: processes.output(),
    })
}

/// Until all have come to their end and nothing moves any more. Gives why it is over before that, if it is.
async fn until_over(plan: &Plan, struck: &Struck) -> Result<Option<String>, BadInput> {
    let began = Instant::now();
    loop {
        sleep(LOOK).await;
        struck.processes.look()?;
        if let Some(signal) = plan.interrupt.seen() {
            return Ok(Some(format!("it was interrupted by {signal}")));
        }
        let unfinished = struck.processes.unfinished();
        let moment = struck.running.moment().await;
        let is_still = struck.are_over.load(Ordering::SeqCst)
            && moment.still_for >= STILL
            && struck.have_begun()
            && !struck.processes.is_anybody_due();
        if unfinished.is_none() || is_still {
            let found = struck.judge.found(&moment);
            match (&found.not_at_rest, unfinished) {
                (None, None) => return Ok(None),
                (None, Some(_)) if found.answer == Answer::Broken => return Ok(None),
                (None, Some(client)) => {
                    return Ok(Some(format!("client {client} does nothing, and has not come to its end")));
                }
                (Some(_), _) => {}
            }
        }
        if began.elapsed() >= plan.arguments.time_limit {
            let who = unfinished.map(|client| format!("client {client} has not come to its end"));
            let why = who.or(struck.judge.found(&moment).not_at_rest).unwrap_or_default();
            return Ok(Some(format!("the time limit of {:?} came: {why}", plan.arguments.time_limit)));
        }
    }
}
