//! What a recipe has alive while another one that it uses runs: checkpoints of the latter must tell it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zk_api::{Call, KeeperState, Local, Pending, Request, SessionId, ZooKeeper};

/// What is alive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alive(Arc<Mutex<String>>);

impl Alive {
    /// From now on, these.
    pub(crate) fn set(&self, texts: &[&str]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = texts.join(" ");
    }

    /// A session whose checkpoints tell it.
    pub(crate) fn told_by<Z>(&self, zk: Z) -> TellsAlive<Z> {
        TellsAlive { zk, alive: self.clone() }
    }
}

/// A session whose checkpoints tell what else is alive.
#[derive(Clone, Debug)]
pub(crate) struct TellsAlive<Z> {
    zk: Z,
    alive: Alive,
}

impl<Z: ZooKeeper> ZooKeeper for TellsAlive<Z> {
    fn submit(&self, request: Request) -> Call {
        self.zk.submit(request)
    }
    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.zk.sleep(duration)
    }
    fn session(&self) -> SessionId {
        self.zk.session()
    }
    fn state(&self) -> KeeperState {
        self.zk.state()
    }
    fn state_change(&self) -> Pending<KeeperState> {
        self.zk.state_change()
    }
    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        let alive = self.alive.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all = locals.to_vec();
        all.push(Local::Text(&alive));
        self.zk.checkpoint(label, &all);
    }
}
