//! What the lives of one run share.

use super::znode_setup::ZnodeSetup;
use crate::run::monitor::{At, Monitor};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use zk_api::{ErrorCode, KeeperState, SessionId, ZPath, ZooKeeper};
use zk_harness::event::{ActorId, Event, GroundTruth};
use zk_harness::promise::AnyPromise;
use zk_live::LiveClient;

/// One run: what is seen of it, whose sessions there are, and what is under way.
pub(super) struct LiveContext {
    pub(super) monitor: Monitor,
    pub(super) runtime: Handle,
    pub(super) servers: String,
    /// The session timeout that is asked for.
    pub(super) asked: Duration,
    /// The one that is granted.
    pub(super) timeout: Duration,
    /// How long a piece of work takes, least and most.
    pub(super) work: [Duration; 2],
    /// A znode that nobody has, below the trial's own.
    nobody: ZPath,
    sessions: Mutex<BTreeMap<ActorId, LiveClient>>,
    /// Whose proof of life is under way.
    proving: Mutex<BTreeSet<ActorId>>,
    /// Requests without an answer, sleeps, writes that travel.
    under_way: AtomicUsize,
    /// How often anything was begun.
    begun: AtomicU64,
    is_over: AtomicBool,
}

/// Something is under way as long as this is there.
pub(super) struct UnderWay(Arc<LiveContext>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

impl LiveContext {
    pub(super) fn new(
        promises: Vec<Box<dyn AnyPromise>>,
        servers: &str,
        asked: Duration,
        work: [Duration; 2],
        setup: &ZnodeSetup,
    ) -> Arc<LiveContext> {
        Arc::new(LiveContext {
            monitor: Monitor::new(promises, false),
            runtime: Handle::current(),
            servers: servers.into(),
            asked,
            timeout: setup.timeout(),
            work,
            nobody: setup.nobody(),
            sessions: Mutex::default(),
            proving: Mutex::default(),
            under_way: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        })
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<ActorId, LiveClient>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A life begins with its session.
    pub(super) fn begins(self: &Arc<Self>, actor: ActorId, client: &LiveClient) {
        self.sessions().insert(actor, client.clone());
        self.monitor.begins(actor, client.session());
        self.runtime.spawn(listen(self.clone(), actor, client.clone()));
    }

    /// A process has ended itself. Its session is closed, as clients within this process can not be cut off.
    pub(super) async fn leaves(&self, actor: ActorId) {
        let client = self.sessions().remove(&actor);
        if let Some(client) = client {
            let _ = tokio::time::timeout(self.timeout, client.close()).await;
        }
    }

    /// Tells the monitor, and asks those for a proof of life whom it wants one of.
    pub(super) fn tell(self: &Arc<Self>, event: &Event) {
        let wanted = self.monitor.see(event);
        self.want_proofs(wanted);
    }

    pub(super) fn want_proofs(self: &Arc<Self>, wanted: Vec<ActorId>) {
        for actor in wanted {
            // One at a time: whoever is asked again meanwhile is asked at the end once more.
            if self.proving.lock().unwrap_or_else(PoisonError::into_inner).insert(actor) {
                let context = self.clone();
                self.runtime.spawn(async move {
                    context.prove(actor).await;
                    context.proving.lock().unwrap_or_else(PoisonError::into_inner).remove(&actor);
                });
            }
        }
    }

    /// Lets a session prove that it lives, by a write that it submits now; `false` if it is over, or the run is.
    pub(super) async fn prove(&self, actor: ActorId) -> bool {
        let Some(client) = self.sessions().get(&actor).cloned() else { return false };
        while !self.is_over() {
            let at: At = self.monitor.seen();
            match client.delete(&self.nobody, -1).await {
                // A leader has looked for the session before it looked for the znode.
                Ok(()) => self.monitor.lived(actor, at),
                Err(e) if matches!(e.code, ErrorCode::NoNode | ErrorCode::NoAuth) => {
                    self.monitor.lived(actor, at);
                }
                Err(e) if e.is_session_over() => return false,
                Err(_) => {
                    client.sleep(Duration::from_millis(50)).await;
                    continue;
                }
            }
            return true;
        }
        false
    }

    /// The sessions that are not over, as far as their clients know.
    pub(super) fn open_sessions(&self) -> Vec<(SessionId, ActorId)> {
        let sessions = self.sessions();
        let open = sessions.iter().filter(|(_, client)| !client.state().is_final());
        open.map(|(actor, client)| (client.session(), *actor)).collect()
    }

    /// Whether an actor is connected.
    pub(super) fn is_connected(&self, actor: ActorId) -> bool {
        self.sessions().get(&actor).is_some_and(|client| client.state() == KeeperState::SyncConnected)
    }

    /// Something begins that will come to an end by itself.
    pub(super) fn begin(self: &Arc<Self>) -> UnderWay {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        self.begun.fetch_add(1, Ordering::SeqCst);
        UnderWay(self.clone())
    }

    /// What changes whenever anything moves; `None` while something is under way.
    pub(super) fn stillness(&self) -> Option<(At, u64)> {
        let still = self.under_way.load(Ordering::SeqCst) == 0;
        still.then(|| (self.monitor.seen(), self.begun.load(Ordering::SeqCst)))
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// From now on, what actors ask for goes nowhere, and what they tell counts for nothing.
    pub(super) fn shut(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.monitor.end();
    }

    /// Closes all sessions, and waits for it as long as one may live unheard.
    pub(super) async fn end(&self) {
        self.shut();
        let sessions = std::mem::take(&mut *self.sessions());
        let ends: Vec<_> = sessions.into_values().map(|client| client.close()).collect();
        let all = async {
            for end in ends {
                // One that is over already is as good.
                let _ = end.await;
            }
        };
        let _ = tokio::time::timeout(2 * self.timeout, all).await;
    }
}

/// Tells what a life learns of its session.
async fn listen(context: Arc<LiveContext>, actor: ActorId, client: LiveClient) {
    let mut before = KeeperState::SyncConnected;
    loop {
        let change = client.state_change();
        let now = client.state();
        if now != before {
            before = now;
            let truth = match now {
                KeeperState::SyncConnected => GroundTruth::Connected { actor },
                KeeperState::Disconnected => GroundTruth::Disconnected { actor },
                KeeperState::Expired => GroundTruth::LearnsExpiry { actor },
                KeeperState::AuthFailed | KeeperState::Closed => return,
            };
            context.tell(&Event::Is(truth));
        }
        if now.is_final() {
            return;
        }
        change.await;
    }
}
