//! What a session asks on a new connection is answered behind what it wrote on former ones, at the same server.

use crate::{Invariant, Report};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::SessionId;
use zk_proto::message::{ConnId, Xid};

/// Writes that servers have passed on and not applied.
#[derive(Debug, Default)]
pub struct Moves {
    /// Of each session at each server: forwarded by a learner, proposed by a leader.
    under_way: BTreeMap<(u8, SessionId), BTreeSet<Xid>>,
    /// What was so when a connection asked for its session, and is to be applied before it is answered.
    former: BTreeMap<ConnId, BTreeSet<Xid>>,
}

const NAME: Invariant = Invariant::SessionFifo;

impl Moves {
    /// A server passes a write on. Its own have the number zero.
    pub fn passed_on(&mut self, server: u8, session: SessionId, xid: Xid) {
        if xid != Xid(0) {
            self.under_way.entry((server, session)).or_default().insert(xid);
        }
    }

    /// It has applied the transaction that comes of it.
    pub fn applied(&mut self, server: u8, session: SessionId, xid: Xid) {
        if let Some(under_way) = self.under_way.get_mut(&(server, session)) {
            under_way.remove(&xid);
            if under_way.is_empty() {
                self.under_way.remove(&(server, session));
            }
        }
    }

    /// A server does not serve any more: nothing will come of what it has passed on, as far as it knows.
    pub fn stopped(&mut self, server: u8) {
        self.under_way.retain(|(of, _), _| *of != server);
    }

    /// A client asks a server for its session.
    pub fn attaches(&mut self, conn: ConnId, server: u8, session: SessionId) {
        if let Some(under_way) = self.under_way.get(&(server, session)) {
            self.former.insert(conn, under_way.clone());
        }
    }

    /// A server answers whatever that client asks.
    pub fn answers(&mut self, conn: ConnId, server: u8, session: SessionId, report: &mut Report) {
        let Some(former) = self.former.remove(&conn) else { return };
        let left = self.under_way.get(&(server, session)).and_then(|left| left.intersection(&former).next());
        report.case("session asked on, on another connection to the server");
        report.check(NAME, left.is_none(), || {
            format!("{session} is answered on {conn:?} before its {left:?}, which it asked on a former one")
        });
    }

    /// Whether a server still has to apply what a connection's session wrote on former ones.
    pub fn waits(&self, conn: ConnId, server: u8, session: SessionId) -> bool {
        let left = self.under_way.get(&(server, session));
        left.zip(self.former.get(&conn)).is_some_and(|(left, former)| !left.is_disjoint(former))
    }

    /// A connection is over.
    pub fn closed(&mut self, conn: ConnId) {
        self.former.remove(&conn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: ConnId = ConnId(1);
    const S: SessionId = SessionId::new(1);

    fn is_caught(happens: impl Fn(&mut Moves)) -> bool {
        let (mut moves, mut report) = (Moves::default(), Report::default());
        moves.passed_on(0, S, Xid(7));
        moves.attaches(C, 0, S);
        happens(&mut moves);
        moves.answers(C, 0, S, &mut report);
        assert_eq!(report.cases.into_values().collect::<Vec<_>>(), [1]);
        !report.broken.is_empty()
    }

    #[test]
    fn an_answer_before_a_write_of_a_former_connection_is_caught() {
        assert!(is_caught(|_| {}));
        assert!(is_caught(|moves| moves.applied(1, S, Xid(7))), "another server has applied it");
        assert!(!is_caught(|moves| moves.applied(0, S, Xid(7))));
        assert!(!is_caught(|moves| moves.stopped(0)));
    }

    #[test]
    fn what_is_written_on_the_new_connection_has_its_own_order() {
        assert!(!is_caught(|moves| {
            moves.applied(0, S, Xid(7));
            moves.passed_on(0, S, Xid(8));
        }));
    }
}
