//! [`ZooKeeper`] for a replayed actor.

use crate::replay_runtime::ReplayRuntime;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{Call, KeeperState, Local, Pending, Request, SessionId, ZooKeeper};

/// A client whose answers come from a history.
#[derive(Clone, Debug)]
pub struct ModelClient(pub Arc<ReplayRuntime>);

impl ZooKeeper for ModelClient {
    fn submit(&self, request: Request) -> Call {
        self.0.submit(request)
    }

    /// A timer may fire at any time while it is waited for, but not before another of the process that is over by then for
    /// certain; it is gone when it is dropped.
    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.0.sleep(duration)
    }

    fn session(&self) -> SessionId {
        self.0.session()
    }

    fn state(&self) -> KeeperState {
        self.0.state()
    }

    fn state_change(&self) -> Pending<KeeperState> {
        self.0.state_change()
    }

    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        self.0.checkpoint(label, locals);
    }
}
