//! What needs nobody, and waits for nothing, is answered as it is read.

use crate::{Invariant, Invariants};
use zk_api::{Request, SessionId};
use zk_proto::message::{ConnId, ToServer};

impl Invariants {
    /// Whether a server answers a client's message as it reads it: it needs nothing from anybody, and comes behind nothing.
    pub(super) fn is_due_at_once(&self, conn: ConnId, session: SessionId, message: &ToServer) -> bool {
        let needs_others = match message {
            ToServer::Connect(_) => true,
            ToServer::Request { request, .. } => {
                request.is_write() || matches!(request, Request::Sync { .. } | Request::Auth { .. })
            }
            ToServer::SetWatches { .. } | ToServer::Ping => false,
        };
        let Some(server) = self.servers.get(&conn).copied().filter(|_| !needs_others) else { return false };
        let (leads, is_leader) = (self.leads(server), self.is_leader(server));
        // A session may have to wait for what stands on the disks of others and not on its leader's.
        let own = self.views.get(&server).and_then(|view| view.reference.as_ref());
        if leads && own.unwrap_or(&self.reference).zxid < self.syncs.committed {
            return false;
        }
        leads == is_leader
            && self.expiry.looks_at(conn, session, is_leader)
            && self.answers.is_idle(conn)
            && !self.moves.waits(conn, server, session)
    }

    /// A server has read what arrived last, and done what it does then.
    pub fn read(&mut self) {
        if let Some(conn) = self.due_now.take() {
            let what = format!("{conn:?}: what needs nobody and waits for nothing is not answered");
            self.report.broken(Invariant::AnswersInTime, what);
        }
    }
}
