//! What a committed transaction does on this server: the tree changes, watches fire, answers go out.

use super::connection::Waiting;
use super::{Note, Server, ServerStep};
use crate::message::{ConnId, ToClient, Xid};
use crate::mutant::Mutant;
use crate::prepare::{acl, answer};
use crate::txn::{Txn, TxnBody};
use std::cell::Cell;
use std::sync::Arc;
use zk_api::{AclList, ErrorCode, Perms, Response, Zxid};

impl Server {
    /// Applies a committed transaction. Events go out before its answer, and before any other answer that
    /// could show the change.
    pub(super) fn apply(&mut self, txn: &Arc<Txn>, step: &mut ServerStep<'_>) {
        let applied = self.tree.apply(txn);
        self.sessions.apply(txn);
        step.note(Note::Applied(txn.clone()));
        let (connections, leaks) = (&self.connections, Cell::new(false));
        let may_read = |conn, list: &AclList| {
            let of = connections.get(&conn).map_or(&[][..], |connection| &connection.identities);
            acl::check(list, Perms::READ, of).is_ok() || self.config.tells_anybody(&leaks)
        };
        let mut events = self.watches.fire_for(&applied.changes, may_read);
        if leaks.get() {
            self.deviates(Mutant::EventsToAnybody, step);
        }
        let asker = self.owners.get(&txn.session).copied();
        let late = self.fires_otherwise(&mut events, asker, step);
        for (conn, event) in events {
            step.send(conn, ToClient::Event { zxid: Some(txn.zxid), event });
        }
        if self.forwarded.get(&txn.session) == Some(&txn.xid) {
            self.forwarded.remove(&txn.session);
        }
        if let Some(conn) = asker {
            self.former_applied(conn, txn.xid, step);
            self.answer_write(conn, txn, applied.result, step);
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
            self.drain(conn, step);
        }
        self.storage.applied(&self.config, &self.tree, &self.sessions, step);
    }

    /// What a session had asked on a former connection is applied. Its new one may still wait to be connected, before that.
    fn former_applied(&mut self, conn: ConnId, xid: Xid, step: &mut ServerStep<'_>) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let before = connection.waiting.len();
        connection.waiting.retain(|waiting| *waiting != Waiting::FormerForwarded { xid });
        if connection.waiting.len() < before {
            self.drain(conn, step);
        }
    }

    /// Answers a write, if it was asked on this connection. All before it is answered by now.
    fn answer_write(
        &mut self,
        conn: ConnId,
        txn: &Txn,
        result: Result<Response, ErrorCode>,
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
        let zxid = self.tells_otherwise(txn.zxid, step);
        step.send(conn, ToClient::Reply { xid, zxid, result });
        self.waits(conn);
    }
}
