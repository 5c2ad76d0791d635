//! Who is connected to a server, what waits on each connection, and who watches what.
//!
//! Everything waits for what its own session asked before, on this connection or on a former one: a read for earlier
//! writes and syncs. Other sessions do not wait.

use super::connection::{Connection, Early, Waiting};
use super::event::{Output, ServerStep};
use super::view::View;
use crate::ids::{ConnId, Xid};
use crate::message::{ConnectResponse, ToClient};
use crate::mutant::Mutant;
use crate::prepare::{Caller, acl, answer, read};
use crate::tree::Applied;
use crate::txn::{Txn, TxnBody};
use crate::watch::{WatchTable, one_shot};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use zk_api::{AclList, ErrorCode, Identity, Perms, Request, Response, SessionId, Zxid};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Clients {
    connections: BTreeMap<ConnId, Connection>,
    /// Those on which something waits, which are few among thousands.
    waiters: BTreeSet<ConnId>,
    /// Which connection a session uses. connections[owners[s]].session == s
    owners: BTreeMap<SessionId, ConnId>,
    watches: WatchTable<ConnId>,
    /// The last write of each session that went to the leader and has not come back.
    forwarded: BTreeMap<SessionId, Xid>,
}

impl Clients {
    pub(super) fn new() -> Clients {
        Clients {
            connections: BTreeMap::new(),
            waiters: BTreeSet::new(),
            owners: BTreeMap::new(),
            watches: WatchTable::new(),
            forwarded: BTreeMap::new(),
        }
    }

    pub(super) fn watches(&self) -> &WatchTable<ConnId> {
        &self.watches
    }

    pub(super) fn get(&self, conn: ConnId) -> Option<&Connection> {
        self.connections.get(&conn)
    }

    pub(super) fn get_mut(&mut self, conn: ConnId) -> Option<&mut Connection> {
        self.connections.get_mut(&conn)
    }

    /// A session takes a connection, and waits to be connected.
    pub(super) fn occupy(&mut self, conn: ConnId, first: Waiting, timeout_ms: u32, session: SessionId) {
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
        step.out.push(Output::Close { conn });
    }

    /// Closes a session's connection, if it has one.
    pub(super) fn close_of(&mut self, session: SessionId, step: &mut ServerStep<'_>) {
        if let Some(conn) = self.owners.get(&session).copied() {
            self.close(conn, step);
        }
    }

    /// Closes all connections, as this server serves no more, and forgets what went to its leader.
    pub(super) fn close_all(&mut self, view: View<'_>, step: &mut ServerStep<'_>) {
        if self.forwarded.is_empty() || !view.config.deviates(Mutant::ForwardedOutlivesRole, step.out) {
            self.forwarded.clear();
        }
        let connected: Vec<_> = self.connections.keys().copied().collect();
        for conn in connected {
            self.close(conn, step);
        }
    }

    /// The session is dead, or not the client's.
    pub(super) fn refuse_session(&mut self, conn: ConnId, step: &mut ServerStep<'_>) {
        let response = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password: [0; 16] };
        step.send(conn, ToClient::Connected(response));
        self.close(conn, step);
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

    /// A session's write went to the leader.
    pub(super) fn forwards(&mut self, session: SessionId, xid: Xid) {
        self.forwarded.insert(session, xid);
    }

    /// The leader is asked whether the session is the client's: what comes on the connection meanwhile is kept, and
    /// what the session has asked on a former one is awaited.
    pub(super) fn joins(
        &mut self,
        conn: ConnId,
        session: SessionId,
        view: View<'_>,
        step: &mut ServerStep<'_>,
    ) {
        let former = self.forwarded.get(&session).copied();
        let former = former.filter(|_| !view.config.deviates(Mutant::FormerNotAwaited, step.out));
        let connection = self.connections.get_mut(&conn).expect("it has just come");
        connection.joining = true;
        connection.waiting.extend(former.map(|xid| Waiting::FormerForwarded { xid }));
    }

    /// The session is the client's, as the leader says: it is told so when everything up to `told` is applied. Gives
    /// what has come since it asked.
    pub(super) fn admit(
        &mut self,
        conn: ConnId,
        told: Zxid,
        view: View<'_>,
        step: &mut ServerStep<'_>,
    ) -> Vec<Early> {
        let Some(connection) = self.connections.get_mut(&conn) else { return Vec::new() };
        if let Some(Waiting::Connect { after, .. }) = connection.waiting.front_mut() {
            *after = Some(told);
        }
        connection.joining = false;
        let early = std::mem::take(&mut connection.early);
        self.drain(conn, view, step);
        early
    }

    /// A request takes its place in its session's order, and is answered if nothing is before it.
    pub(super) fn take(&mut self, conn: ConnId, waiting: Waiting, view: View<'_>, step: &mut ServerStep<'_>) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        if view.config.overtakes(connection.waiting.front(), &waiting, step.out) {
            return self.serve(conn, waiting, view, step);
        }
        connection.waiting.push_back(waiting);
        self.drain(conn, view, step);
    }

    /// The first sync of a connection that waits to be told how far.
    pub(super) fn may_sync(&mut self, conn: ConnId, told: Zxid, view: View<'_>, step: &mut ServerStep<'_>) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let syncs = connection.waiting.iter_mut().filter_map(|waiting| match waiting {
            Waiting::Sync { after, .. } => Some(after),
            _ => None,
        });
        // Answers come in the order of the syncs.
        if let Some(after) = syncs.into_iter().find(|after| after.is_none()) {
            *after = Some(told);
        }
        self.drain(conn, view, step);
    }

    /// A transaction was applied. Events go out before its answer, and before any other answer that could show the
    /// change.
    pub(super) fn applied(&mut self, txn: &Txn, applied: Applied, view: View<'_>, step: &mut ServerStep<'_>) {
        let (connections, leaks) = (&self.connections, Cell::new(false));
        let may_read = |conn, list: &AclList| {
            let of = connections.get(&conn).map_or(&[][..], |connection| &connection.identities);
            acl::check(list, Perms::READ, of).is_ok() || view.config.tells_anybody(&leaks)
        };
        let mut events = self.watches.fire_for(&applied.changes, may_read);
        if leaks.get() {
            view.config.deviates(Mutant::EventsToAnybody, step.out);
        }
        let asker = self.owners.get(&txn.session).copied();
        let late = view.config.fires_otherwise(&mut events, asker, step.out);
        for (conn, event) in events {
            step.send(conn, ToClient::Event { zxid: Some(txn.zxid), event });
        }
        if self.forwarded.get(&txn.session) == Some(&txn.xid) {
            self.forwarded.remove(&txn.session);
        }
        if let Some(conn) = asker {
            self.former_applied(conn, txn.xid, view, step);
            self.answer_write(conn, txn, applied.result, view, step);
        }
        for (conn, event) in late {
            step.send(conn, ToClient::Event { zxid: Some(txn.zxid), event });
        }
        if let TxnBody::CloseSession { .. } = &txn.body {
            self.forwarded.remove(&txn.session);
            asker.into_iter().for_each(|conn| self.close(conn, step));
        }
        let due = |waiting: Option<&Waiting>| waiting.is_some_and(|first| first.is_due(txn.zxid));
        let is_ready = |conn: &ConnId| due(self.connections.get(conn).and_then(|c| c.waiting.front()));
        let ready: Vec<ConnId> = self.waiters.iter().copied().filter(is_ready).collect();
        for conn in ready {
            self.drain(conn, view, step);
        }
    }

    /// What a session had asked on a former connection is applied. Its new one may still wait to be connected, before
    /// that.
    fn former_applied(&mut self, conn: ConnId, xid: Xid, view: View<'_>, step: &mut ServerStep<'_>) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let before = connection.waiting.len();
        connection.waiting.retain(|waiting| *waiting != Waiting::FormerForwarded { xid });
        if connection.waiting.len() < before {
            self.drain(conn, view, step);
        }
    }

    /// Answers a write, if it was asked on this connection. All before it is answered by now.
    fn answer_write(
        &mut self,
        conn: ConnId,
        txn: &Txn,
        result: Result<Response, ErrorCode>,
        view: View<'_>,
        step: &mut ServerStep<'_>,
    ) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let is_it = |xid: &Xid, zxid: &Option<Zxid>| zxid.map_or(*xid == txn.xid, |zxid| zxid == txn.zxid);
        let (xid, result) = match connection.waiting.front_mut() {
            Some(Waiting::Write { xid, zxid, request }) if is_it(xid, zxid) => {
                (*xid, answer(request, result))
            }
            Some(Waiting::RefusedWrite { xid, zxid }) if is_it(xid, zxid) => (*xid, result),
            // Who takes a session over waits for the leader, also where its beginning is news to this server.
            Some(Waiting::Connect { after: after @ None, .. })
                if !connection.joining && matches!(txn.body, TxnBody::CreateSession { .. }) =>
            {
                *after = Some(txn.zxid);
                return;
            }
            // Another write is first, or none: this one was asked on a former connection, or is an expiry.
            Some(_) | None => return,
        };
        connection.waiting.pop_front();
        if result == Err(ErrorCode::SessionMoved) {
            // The session lives on elsewhere, and this connection is the former one.
            return self.close(conn, step);
        }
        let zxid = view.config.tells_otherwise(txn.zxid, view.next, step.out);
        step.send(conn, ToClient::Reply { xid, zxid, result });
        self.waits(conn);
    }

    /// Answers what can be answered on a connection, up to the first that must wait.
    pub(super) fn drain(&mut self, conn: ConnId, view: View<'_>, step: &mut ServerStep<'_>) {
        let applied = view.tree.last_zxid();
        while let Some(connection) = self.connections.get_mut(&conn) {
            if connection.waiting.front().is_none_or(|first| !first.is_due(applied)) {
                return self.waits(conn);
            }
            let first = connection.waiting.pop_front().expect("the front was just seen");
            self.serve(conn, first, view, step);
        }
    }

    /// Notes whether anything waits on a connection.
    fn waits(&mut self, conn: ConnId) {
        if self.connections.get(&conn).is_some_and(|connection| !connection.waiting.is_empty()) {
            self.waiters.insert(conn);
        } else {
            self.waiters.remove(&conn);
        }
    }

    /// Answers one request whose turn it is.
    fn serve(&mut self, conn: ConnId, waiting: Waiting, view: View<'_>, step: &mut ServerStep<'_>) {
        let zxid = view.zxid;
        match waiting {
            Waiting::Connect { after: _, response } => step.send(conn, ToClient::Connected(response)),
            Waiting::Former { after: _ } => {}
            Waiting::Sync { xid, after: _, request } => {
                let result = Ok(Response::Synced { path: request.path() });
                step.send(conn, ToClient::Reply { xid, zxid, result });
            }
            Waiting::Read { xid, request, identities } => {
                let result = self.look(conn, &request, &identities, view);
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
                let missed = self.watches.set_watches(view.tree, conn, since, &watches);
                for event in view.config.misses_otherwise(missed, step.out) {
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
        view: View<'_>,
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
                let answer = read(view.tree, &view.config.tree, Caller { session, identities }, request);
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
