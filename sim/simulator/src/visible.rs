//! What clients see of the ensemble, and what takes effect behind it, recorded for whoever judges it.

use crate::simulation::Simulation;
use zk_api::{KeeperState, SessionId};
use zk_proto::message::{ToClient, ToServer};
use zk_proto::txn::Txn;
use zk_proto::visible::{Cause, VisibleStep};

impl Simulation<'_> {
    /// The session of a client, if it has one.
    pub fn session_of(&self, process: u16) -> SessionId {
        let client = self.processes[usize::from(process)].client.as_ref();
        client.map(|client| client.session()).unwrap_or_default()
    }

    /// A message reaches a client.
    pub fn sees_message(&mut self, process: u16, message: &ToClient) {
        let session = self.session_of(process);
        let Some(steps) = &mut self.visible else { return };
        match message {
            ToClient::Reply { .. } | ToClient::WatchesSet { .. } | ToClient::Event { .. } => {
                steps.push(VisibleStep::Gets { session, message: message.clone() });
            }
            // The one tells in its state what has come of it, and the other is not for the user.
            ToClient::Connected(_) | ToClient::Pong { .. } => {}
        }
    }

    /// A client's session changes.
    pub fn sees_state(&mut self, session: SessionId, state: KeeperState) {
        let is_new = !self.knowledge.is_known(session);
        let Some(steps) = &mut self.visible else { return };
        steps.push(match state {
            KeeperState::SyncConnected if is_new => VisibleStep::Begins { session },
            KeeperState::SyncConnected => VisibleStep::Connects { session, watches: Default::default() },
            KeeperState::Disconnected => VisibleStep::Loses { session },
            KeeperState::Expired => VisibleStep::Expires { session },
            KeeperState::AuthFailed | KeeperState::Closed => VisibleStep::Ends { session },
        });
    }

    /// A client sends something.
    pub fn sees_sent(&mut self, process: u16, message: &ToServer) {
        let session = self.session_of(process);
        let Some(steps) = &mut self.visible else { return };
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
    pub fn sees_commit(&mut self, txn: &Txn) {
        if let Some(steps) = &mut self.visible {
            let (zxid, session, xid) = (txn.zxid, txn.session, txn.xid);
            steps.push(VisibleStep::Commits { zxid, session, xid, cause: Cause::of(txn) });
        }
    }
}
