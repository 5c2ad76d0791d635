//! An ensemble made by hand: its first server leads, and all do the same.

use super::*;

pub const PASSWORD: Password = [7; 16];
/// At the leader, with the session [`S`].
pub const C: ConnId = ConnId(1);
/// At the second server, with the session [`T`].
pub const D: ConnId = ConnId(2);
pub const S: SessionId = SessionId::new(1);
pub const T: SessionId = SessionId::new(2);
pub const LINK: LinkId = LinkId(1);

pub struct World {
    pub invariants: Invariants,
    pub trees: Vec<DataTree>,
    last: Zxid,
}

/// What a client that has a session asks for, or one that has none.
pub fn asks_for(session: SessionId) -> ConnectRequest {
    let password = if session == SessionId::NONE { [0; 16] } else { PASSWORD };
    ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: 3000, session, password }
}

pub fn granted(session: SessionId) -> ToClient {
    ToClient::Connected(ConnectResponse { timeout_ms: 3000, session, password: PASSWORD })
}

pub fn reply(xid: i32, zxid: Zxid, result: Result<Response, ErrorCode>) -> ToClient {
    ToClient::Reply { xid: Xid(xid), zxid, result }
}

pub fn delete() -> Request {
    Request::Delete { path: "/none".into(), version: -1 }
}

pub fn exists() -> Request {
    Request::Exists { path: "/none".into(), watch: false }
}

pub fn expired() -> TxnBody {
    TxnBody::CloseSession { ephemerals: Vec::new(), expired: true }
}

impl World {
    /// The sessions are opened at the time zero. A server that is alone has the first.
    pub fn of(voters: u8) -> World {
        let invariants = Invariants::new(Setup { voters, ..Setup::default() });
        let trees = (0..voters).map(|_| DataTree::new()).collect();
        let mut world = World { invariants, trees, last: Zxid::new(1, 0) };
        world.invariants.established(0, 1, Zxid::ZERO, 0);
        world.opens(C, 0, S);
        if voters > 1 {
            world.opens(D, 1, T);
        }
        assert_eq!(world.broken(), []);
        world
    }

    pub fn opens(&mut self, conn: ConnId, server: u8, session: SessionId) {
        let offer = (session, PASSWORD);
        self.invariants.connecting(conn, server, &asks_for(SessionId::NONE), offer, 0);
        self.does(session, 0, TxnBody::CreateSession { timeout_ms: 3000, password: PASSWORD });
        self.invariants.answering(conn, &granted(session));
    }

    /// A client that has a session asks for it on a new connection.
    pub fn comes(&mut self, conn: ConnId, server: u8, session: SessionId, now_ms: i64) {
        let offer = (SessionId::new(9), PASSWORD);
        self.invariants.connecting(conn, server, &asks_for(session), offer, now_ms);
    }

    pub fn next(&mut self, session: SessionId, xid: i32, body: TxnBody) -> Arc<Txn> {
        self.last = self.last.next();
        Arc::new(Txn { zxid: self.last, session, xid: Xid(xid), time_ms: 0, body })
    }

    /// A transaction is proposed, committed, and applied by all. Gives its number.
    pub fn does(&mut self, session: SessionId, xid: i32, body: TxnBody) -> Zxid {
        let txn = self.next(session, xid, body);
        self.invariants.proposed(0, &txn, 0);
        self.invariants.committed(&txn, true);
        (0..self.trees.len()).for_each(|server| self.applies(server, &txn));
        txn.zxid
    }

    pub fn applies(&mut self, server: usize, txn: &Arc<Txn>) {
        self.trees[server].apply(txn);
        self.invariants.applied(server as u8, txn, &self.trees[server]);
    }

    pub fn asks(&mut self, conn: ConnId, session: SessionId, xid: i32, request: &Request) {
        self.invariants.sent(conn, session, Xid(xid), request);
        let request = request.clone();
        self.invariants.arrived(conn, &ToServer::Request { xid: Xid(xid), request }, 0);
    }

    /// A server sends something, and the client gets it.
    pub fn gets(&mut self, conn: ConnId, message: &ToClient) {
        self.invariants.answering(conn, message);
        self.invariants.delivered(conn, message);
    }

    /// A session is found silent for its whole timeout at this time, by the leader's clock.
    pub fn expires(&mut self, session: SessionId, now_ms: i64) {
        let txn = self.next(session, 0, expired());
        self.invariants.proposed(0, &txn, now_ms);
    }

    pub fn broken(&self) -> Vec<Invariant> {
        self.invariants.report.broken.iter().map(|(invariant, _)| *invariant).collect()
    }
}

/// Which invariants are broken by what happens to so many servers.
pub fn found(voters: u8, happens: impl FnOnce(&mut World)) -> Vec<Invariant> {
    let mut world = World::of(voters);
    happens(&mut world);
    world.broken()
}
