//! What clients see of the ensemble, and what takes effect behind it, recorded for whoever judges it.

use zk_api::{KeeperState, SessionId};
use zk_proto::message::{ToClient, ToServer};
use zk_proto::txn::Txn;
use zk_proto::visible::{Cause, VisibleStep};

/// What clients see, if it is kept.
pub struct Visible {
    steps: Option<Vec<VisibleStep>>,
}

impl Visible {
    /// Nothing yet.
    pub fn new(keep: bool) -> Visible {
        Visible { steps: keep.then(Vec::new) }
    }

    /// A message reaches the client of a session.
    pub fn gets(&mut self, session: SessionId, message: &ToClient) {
        let Some(steps) = &mut self.steps else { return };
        match message {
            ToClient::Reply { .. } | ToClient::WatchesSet { .. } | ToClient::Event { .. } => {
                steps.push(VisibleStep::Gets { session, message: message.clone() });
            }
            // The one tells in its state what has come of it, and the other is not for the user.
            ToClient::Connected(_) | ToClient::Pong { .. } => {}
        }
    }

    /// A session changes, as its client sees it, which knows of it for the first time if it `is_new`.
    pub fn changes(&mut self, session: SessionId, state: KeeperState, is_new: bool) {
        let Some(steps) = &mut self.steps else { return };
        steps.push(match state {
            KeeperState::SyncConnected if is_new => VisibleStep::Begins { session },
            KeeperState::SyncConnected => VisibleStep::Connects { session, watches: Default::default() },
            KeeperState::Disconnected => VisibleStep::Loses { session },
            KeeperState::Expired => VisibleStep::Expires { session },
            KeeperState::AuthFailed | KeeperState::Closed => VisibleStep::Ends { session },
        });
    }

    /// The client of a session sends something.
    pub fn sends(&mut self, session: SessionId, message: &ToServer) {
        let Some(steps) = &mut self.steps else { return };
        match message {
            ToServer::Request { xid, request } => {
                steps.push(VisibleStep::Sends { session, xid: *xid, request: request.clone() });
            }
            // Sent in the very step in which it is connected.
            ToServer::SetWatches { watches: list, .. } => {
                let mut steps = steps.iter_mut().rev();
                let connects = steps.find_map(|step| match step {
                    VisibleStep::Connects { session: of, watches } if *of == session => Some(watches),
                    _ => None,
                });
                *connects.expect("watches are registered on a new connection") = list.clone();
            }
            ToServer::Connect(_) | ToServer::Ping => {}
        }
    }

    /// A transaction is committed.
    pub fn commits(&mut self, txn: &Txn) {
        if let Some(steps) = &mut self.steps {
            let (zxid, session, xid) = (txn.zxid, txn.session, txn.xid);
            steps.push(VisibleStep::Commits { zxid, session, xid, cause: Cause::of(txn) });
        }
    }

    /// All of it.
    pub fn finish(self) -> Vec<VisibleStep> {
        self.steps.unwrap_or_default()
    }
}
