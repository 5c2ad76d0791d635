//! Connections come and go; sessions open, move from one to another, and end.

use super::connection::{Connection, Waiting};
use super::lead::Place;
use super::{Server, ServerStep};
use crate::message::{Ask, ConnId, ConnectRequest, ConnectResponse, Password, Xid};
use crate::mutant::Mutant;
use crate::sessions::grant_timeout;
use crate::txn::TxnBody;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use zk_api::{Identity, SessionId, Zxid};

impl Server {
    /// A client's first message on a new connection.
    ///
    /// Source: ZooKeeper 3.9, `ZooKeeperServer.processConnectRequest`, and measurements.
    pub(super) fn connecting(
        &mut self,
        conn: ConnId,
        request: &ConnectRequest,
        offer: (SessionId, Password),
        address: Option<IpAddr>,
        step: &mut ServerStep<'_>,
    ) {
        // A server that is not ready closes, and so does one that is behind what the client has seen.
        let is_behind = |server: &Server| request.last_zxid > server.shown();
        let refused = !self.is_serving() || is_behind(self) && !self.deviates(Mutant::ClientGoesBack, step);
        if refused || self.connections.contains_key(&conn) {
            self.close(conn, step);
        } else if request.session == SessionId::NONE {
            self.open_session(conn, request.timeout_ms, offer, step);
        } else {
            self.attach(conn, request, step);
        }
        if let (Some(address), Some(connection)) = (address, self.connections.get_mut(&conn)) {
            connection.identities = [Identity::new("ip", &address.to_string())].into();
        }
    }

    /// Opens a session; the client hears of it when that is committed.
    fn open_session(
        &mut self,
        conn: ConnId,
        asked_ms: u32,
        (session, password): (SessionId, Password),
        step: &mut ServerStep<'_>,
    ) {
        let sessions = self.lead.as_ref().map_or(&self.sessions, |lead| &lead.sessions);
        if session == SessionId::NONE || sessions.find(session).is_some() {
            self.close(conn, step);
            return;
        }
        let timeout_ms = grant_timeout(asked_ms, self.config.tick_ms);
        let after = if let Some(lead) = &mut self.lead {
            lead.tracker.track(session, timeout_ms);
            lead.owners.insert(session, Place::Here);
            let body = TxnBody::CreateSession { timeout_ms, password };
            self.propose(session, Xid(0), body, step)
        } else {
            self.ask(Ask::Open { session, password, timeout_ms }, step);
            None
        };
        let response = ConnectResponse { timeout_ms, session, password };
        self.occupy(conn, Waiting::Connect { after, response }, timeout_ms, session);
    }

    /// Takes a session over.
    fn attach(&mut self, conn: ConnId, request: &ConnectRequest, step: &mut ServerStep<'_>) {
        let ConnectRequest { session, password, .. } = *request;
        // The owner's connection to this server goes before the password is looked at.
        if let Some(former) = self.owners.get(&session).copied() {
            self.close(former, step);
        }
        let timeout_ms = grant_timeout(request.timeout_ms, self.config.tick_ms);
        let response = ConnectResponse { timeout_ms, session, password };
        let Some(lead) = &mut self.lead else {
            self.ask(Ask::Attach { conn, session, password, timeout_ms }, step);
            self.occupy(conn, Waiting::Connect { after: None, response }, timeout_ms, session);
            let former = self.forwarded.get(&session).copied();
            let former = former.filter(|_| !self.deviates(Mutant::FormerNotAwaited, step));
            let connection = self.connections.get_mut(&conn).expect("it has just come");
            connection.joining = true;
            connection.waiting.extend(former.map(|xid| Waiting::FormerForwarded { xid }));
            return;
        };
        let proven = lead.sessions.find(session).is_some_and(|found| found.password == password);
        // A session that is closing is not touched: it is as good as dead.
        if !proven || !lead.tracker.touch(session, timeout_ms) {
            return self.refuse_session(conn, step);
        }
        lead.owners.insert(session, Place::Here);
        let after = match self.sessions.find(session) {
            Some(_) => Zxid::ZERO,
            None => self.sync_point(),
        };
        self.occupy(conn, Waiting::Connect { after: Some(after), response }, timeout_ms, session);
        if let (Some(after), Some(connection)) =
            (self.last_unapplied_of(session), self.connections.get_mut(&conn))
        {
            connection.waiting.push_back(Waiting::Former { after });
        }
        self.drain(conn, step);
    }

    fn occupy(&mut self, conn: ConnId, first: Waiting, timeout_ms: u32, session: SessionId) {
        let connection = Connection {
            session,
            timeout_ms,
            identities: Arc::default(),
            waiting: VecDeque::from([first]),
            deaf: false,
            joining: false,
            early: Vec::new(),
        };
        self.connections.insert(conn, connection);
        self.waiters.insert(conn);
        self.owners.insert(session, conn);
    }

    /// Closes a connection from here. What waits on it is never answered.
    pub(super) fn close(&mut self, conn: ConnId, step: &mut ServerStep<'_>) {
        self.forget(conn);
        step.out.push(super::Output::Close { conn });
    }

    /// A connection is gone; its session lives on.
    pub(super) fn forget(&mut self, conn: ConnId) {
        if let Some(connection) = self.connections.remove(&conn) {
            self.waiters.remove(&conn);
            self.watches.forget(conn);
            if self.owners.get(&connection.session) == Some(&conn) {
                self.owners.remove(&connection.session);
            }
        }
    }
}
