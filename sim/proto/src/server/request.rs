//! Requests take their places in their session's order, and are answered in it.
//!
//! A write is prepared and proposed as it comes, or goes to the leader. Everything waits for what its own session asked before, on
//! this connection or on a former one: a read for earlier writes and syncs. Other sessions do not wait.

use super::connection::{Connection, Early, Waiting};
use super::frame::{FRAME_BYTES_MAX, frame_bytes};
use super::{Server, ServerStep};
use crate::message::{ConnId, ForwardedWrite, ToClient, ToServer, Xid};
use crate::prepare::{Caller, acl, prepare, read};
use crate::txn::TxnBody;
use crate::watch::one_shot;
use zk_api::{ErrorCode, Identity, Request, Response, Zxid};

impl Server {
    /// A connection on which something came that is to be looked at. Nothing is that comes after a closeSession,
    /// or of a session that is being expired: its connection is closed when that is committed.
    fn listen(&mut self, conn: ConnId) -> Option<&mut Connection> {
        let connection = self.connections.get(&conn)?;
        let (session, timeout_ms) = (connection.session, connection.timeout_ms);
        let listens = !connection.deaf && self.touch(session, timeout_ms);
        self.connections.get_mut(&conn).filter(|_| listens)
    }

    /// A client's later message.
    pub(super) fn received(&mut self, conn: ConnId, message: ToServer, step: &mut ServerStep<'_>) {
        if let Some(connection) = self.connections.get_mut(&conn).filter(|connection| connection.joining) {
            return connection.early.push(Early::Message(message));
        }
        let Some(connection) = self.listen(conn) else { return };
        let waiting = match message {
            ToServer::Connect(_) => return self.close(conn, step),
            ToServer::Ping => Waiting::Ping,
            ToServer::SetWatches { since, watches } => Waiting::SetWatches { since, watches },
            ToServer::Request { request, .. } if frame_bytes(&request) > FRAME_BYTES_MAX => {
                return self.close(conn, step);
            }
            ToServer::Request { xid, request: request @ Request::Sync { .. } } => {
                Waiting::Sync { xid, after: self.begin_sync(conn, step), request }
            }
            ToServer::Request { xid, request: Request::Auth { scheme, credentials } } => {
                let super_digest = self.config.super_digest.clone();
                let connection = self.connections.get_mut(&conn).expect("it was just seen");
                let proven =
                    acl::prove(&connection.identities, &scheme, &credentials, super_digest.as_deref());
                let accepted = proven.is_some();
                connection.identities = proven.unwrap_or_else(|| connection.identities.clone());
                connection.deaf = !accepted;
                Waiting::Auth { xid, accepted }
            }
            ToServer::Request { xid, request } if request.is_write() => self.write(conn, xid, request, step),
            ToServer::Request { xid, request } => {
                Waiting::Read { xid, request, identities: connection.identities.clone() }
            }
        };
        if self.overtakes(conn, &waiting, step) {
            return self.serve(conn, waiting, step);
        }
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.waiting.push_back(waiting);
        }
        self.drain(conn, step);
    }

    /// A client's later request that cannot be read.
    pub(super) fn refused(
        &mut self,
        conn: ConnId,
        xid: Xid,
        code: ErrorCode,
        takes_zxid: bool,
        step: &mut ServerStep<'_>,
    ) {
        if let Some(connection) = self.connections.get_mut(&conn).filter(|connection| connection.joining) {
            return connection.early.push(Early::Refused { xid, code, takes_zxid });
        }
        let Some(connection) = self.listen(conn) else { return };
        let session = connection.session;
        let waiting = if !takes_zxid {
            Waiting::Refused { xid, code }
        } else if self.lead.is_some() {
            Waiting::RefusedWrite { xid, zxid: self.propose(session, xid, TxnBody::Error(code), step) }
        } else {
            self.forward(session, xid, ForwardedWrite::Malformed(code), step);
            Waiting::RefusedWrite { xid, zxid: None }
        };
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.waiting.push_back(waiting);
        }
        self.drain(conn, step);
    }

    /// Works out what a write does and proposes it; or has the leader do so.
    fn write(&mut self, conn: ConnId, xid: Xid, request: Request, step: &mut ServerStep<'_>) -> Waiting {
        let connection = self.connections.get_mut(&conn).expect("whoever writes is connected");
        let session = connection.session;
        let closes = request == Request::CloseSession;
        connection.deaf |= closes;
        let Some(lead) = &mut self.lead else {
            let identities = connection.identities.clone();
            let write = ForwardedWrite::Request { request: request.clone(), identities };
            self.forward(session, xid, write, step);
            return Waiting::Write { xid, zxid: None, request };
        };
        let caller = Caller { session, identities: &connection.identities };
        let body = prepare(&lead.ahead, &self.config.tree, caller, &request);
        let body = self.config.prepares_otherwise(&lead.ahead, &self.tree, caller, &request, body, step.out);
        if closes {
            lead.tracker.forget(session);
        }
        let zxid = self.propose(session, xid, body, step);
        Waiting::Write { xid, zxid, request }
    }

    /// Answers what can be answered on a connection, up to the first that must wait.
    pub(super) fn drain(&mut self, conn: ConnId, step: &mut ServerStep<'_>) {
        let applied = self.tree.last_zxid();
        while let Some(connection) = self.connections.get_mut(&conn) {
            if connection.waiting.front().is_none_or(|first| !first.is_due(applied)) {
                return self.waits(conn);
            }
            let first = connection.waiting.pop_front().expect("the front was just seen");
            self.serve(conn, first, step);
        }
    }

    /// Notes whether anything waits on a connection.
    pub(super) fn waits(&mut self, conn: ConnId) {
        if self.connections.get(&conn).is_some_and(|connection| !connection.waiting.is_empty()) {
            self.waiters.insert(conn);
        } else {
            self.waiters.remove(&conn);
        }
    }

    /// Answers one request whose turn it is.
    fn serve(&mut self, conn: ConnId, waiting: Waiting, step: &mut ServerStep<'_>) {
        let zxid = self.shown();
        match waiting {
            Waiting::Connect { after: _, response } => step.send(conn, ToClient::Connected(response)),
            Waiting::Former { after: _ } => {}
            Waiting::Sync { xid, after: _, request } => {
                let result = Ok(Response::Synced { path: request.path() });
                step.send(conn, ToClient::Reply { xid, zxid, result });
            }
            Waiting::Read { xid, request, identities } => {
                let result = self.look(conn, &request, &identities);
                step.send(conn, ToClient::Reply { xid, zxid, result });
            }
            Waiting::Refused { xid, code } => {
                step.send(conn, ToClient::Reply { xid, zxid, result: Err(code) });
            }
            Waiting::Auth { xid, accepted } => {
                let result = if accepted { Ok(Response::Authenticated) } else { Err(ErrorCode::AuthFailed) };
                step.send(conn, ToClient::Reply { xid, zxid: Zxid::ZERO, result });
                if !accepted {
                    self.close(conn, step);
                }
            }
            Waiting::SetWatches { since, watches } => {
                let missed = self.watches.set_watches(&self.tree, conn, since, &watches);
                for event in self.misses_otherwise(missed, step) {
                    step.send(conn, ToClient::Event { zxid: None, event });
                }
                step.send(conn, ToClient::WatchesSet { zxid });
            }
            Waiting::Ping => step.send(conn, ToClient::Pong { zxid }),
            Waiting::Write { .. } | Waiting::RefusedWrite { .. } | Waiting::FormerForwarded { .. } => {
                unreachable!("a write is answered as it is applied")
            }
        }
    }

    /// What a request that is no write finds, and the watch it leaves.
    fn look(
        &mut self,
        conn: ConnId,
        request: &Request,
        identities: &[Identity],
    ) -> Result<Response, ErrorCode> {
        match request {
            Request::Exists { .. }
            | Request::GetData { .. }
            | Request::GetChildren { .. }
            | Request::GetAcl { .. }
            | Request::MultiRead { .. }
            | Request::GetEphemerals { .. }
            | Request::GetAllChildrenNumber { .. } => {
                let session = self.connections[&conn].session;
                let answer = read(&self.tree, &self.config.tree, Caller { session, identities }, request);
                if let Some((path, kind)) = one_shot(request, &answer) {
                    self.watches.add(path, conn, kind);
                }
                answer
            }
            Request::AddWatch { path, mode } => {
                self.watches.add_persistent(path, conn, *mode);
                Ok(Response::WatchAdded)
            }
            Request::CheckWatches { path, kind } => {
                let found = self.watches.contains(path, conn, *kind);
                if found { Ok(Response::WatchesPresent) } else { Err(ErrorCode::NoWatcher) }
            }
            Request::RemoveWatches { path, kind } => {
                let found = self.watches.remove(path, conn, *kind);
                if found { Ok(Response::WatchesRemoved) } else { Err(ErrorCode::NoWatcher) }
            }
            Request::WhoAmI => Ok(Response::WhoAmI(identities.iter().map(acl::shown_name).collect())),
            Request::Create { .. }
            | Request::Delete { .. }
            | Request::SetData { .. }
            | Request::SetAcl { .. }
            | Request::Multi { .. }
            | Request::CloseSession
            | Request::Sync { .. }
            | Request::Auth { .. } => unreachable!("{} does not wait as a read", request.name()),
        }
    }
}
