//! What a committed transaction does on this server: the tree changes, watches fire, answers go out.

use super::{Note, Server, Step};
use crate::message::{ConnId, ToClient};
use crate::prepare::{acl, answer};
use crate::server::request::Waiting;
use crate::txn::{Txn, TxnBody};
use zk_api::{AclList, ErrorCode, Perms, Response};

impl Server {
    /// Applies a committed transaction. Events go out before its answer, and before any other answer that
    /// could show the change.
    pub(super) fn apply(&mut self, txn: &Txn, step: &mut Step<'_>) {
        let applied = self.tree.apply(txn);
        self.sessions.apply(txn);
        step.note(Note::Applied(txn.zxid));
        let connections = &self.connections;
        let may_read = |conn, list: &AclList| {
            let of = connections.get(&conn).map_or(&[][..], |connection| &connection.identities);
            acl::check(list, Perms::READ, of).is_ok()
        };
        for (conn, event) in self.watches.fire_for(&applied.changes, may_read) {
            step.send(conn, ToClient::Event { zxid: Some(txn.zxid), event });
        }
        let asker = self.owners.get(&txn.session).copied();
        if let Some(conn) = asker {
            self.answer_write(conn, txn, applied.result, step);
        }
        if let (TxnBody::CloseSession { .. }, Some(conn)) = (&txn.body, asker) {
            self.close(conn, step);
        }
        let due = |waiting: Option<&Waiting>| waiting.is_some_and(|first| first.is_due(txn.zxid));
        let ready: Vec<ConnId> =
            self.connections.iter().filter(|(_, c)| due(c.waiting.front())).map(|(conn, _)| *conn).collect();
        for conn in ready {
            self.drain(conn, step);
        }
        self.count_for_snapshot(step);
    }

    /// Answers a write, if it was asked on this connection. All before it is answered by now.
    fn answer_write(
        &mut self,
        conn: ConnId,
        txn: &Txn,
        result: Result<Response, ErrorCode>,
        step: &mut Step<'_>,
    ) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        match connection.waiting.front() {
            Some(Waiting::Write { xid, zxid, request }) if *zxid == txn.zxid => {
                let result = answer(request, result);
                step.send(conn, ToClient::Reply { xid: *xid, zxid: *zxid, result });
                connection.waiting.pop_front();
            }
            Some(Waiting::RefusedWrite { xid, zxid }) if *zxid == txn.zxid => {
                step.send(conn, ToClient::Reply { xid: *xid, zxid: *zxid, result });
                connection.waiting.pop_front();
            }
            // Another write is first, or none: this one was asked on a former connection, or is an expiry.
            Some(_) | None => {}
        }
    }
}
