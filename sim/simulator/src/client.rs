//! [`SimClient`]: a client process's session as its code sees it.

use crate::mailbox::{Ask, Mailbox};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{Call, KeeperState, Pending, Request, SessionId, ZooKeeper};

/// What unwinds a task that asks for more than [`zk_trials::probe::ASKS_PER_TURN`] things in one turn.
pub struct Spin;

/// The session of one life of a client process.
#[derive(Clone)]
pub struct SimClient(pub Arc<Mailbox>);

impl ZooKeeper for SimClient {
    fn submit(&self, request: Request) -> Call {
        let (completer, call) = Pending::slot();
        self.0.ask(Ask::Submit { request, completer });
        call
    }

    fn sleep(&self, duration: Duration) -> Pending<()> {
        let (completer, pending) = Pending::slot();
        self.0.ask(Ask::Sleep { duration, completer });
        pending
    }

    fn session(&self) -> SessionId {
        self.0.look().session
    }

    fn state(&self) -> KeeperState {
        self.0.look().state
    }

    fn state_change(&self) -> Pending<KeeperState> {
        self.0.state_change()
    }
}
