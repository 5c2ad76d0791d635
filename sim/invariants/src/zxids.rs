//! What a session sees never goes back in time.

use crate::{Invariant, Report};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Zxid};
use zk_proto::message::ConnId;

/// The newest transaction each session has seen.
#[derive(Debug, Default)]
pub struct Zxids {
    /// By answers: those are what a client tells the next server it comes to.
    seen: BTreeMap<SessionId, Zxid>,
    /// By whatever has come on a connection.
    on: BTreeMap<ConnId, Zxid>,
    /// Connections whose clients have told what they have seen elsewhere.
    told: BTreeSet<ConnId>,
}

const NAME: Invariant = Invariant::ZxidsNeverGoBack;

impl Zxids {
    /// A session is over.
    pub fn forget(&mut self, session: SessionId) {
        self.seen.remove(&session);
    }

    /// A connection is over.
    pub fn finished(&mut self, conn: ConnId) {
        self.on.remove(&conn);
        self.told.remove(&conn);
    }

    /// A client tells what it has seen. Only that counts on this connection, and what comes on it.
    pub fn tells(&mut self, conn: ConnId, zxid: Zxid) {
        self.on.insert(conn, zxid);
        self.told.insert(conn);
    }

    /// Something comes that shows what was done up to `zxid`.
    /// It `counts` if the client tells the next server of it.
    pub fn delivered(
        &mut self,
        conn: ConnId,
        session: SessionId,
        zxid: Zxid,
        counts: bool,
        report: &mut Report,
    ) {
        let on = self.on.entry(conn).or_default();
        let elsewhere = self.seen.get(&session).filter(|_| !self.told.contains(&conn));
        let before = (*on).max(elsewhere.copied().unwrap_or_default());
        report.check(NAME, zxid >= before, || format!("{session} was shown {zxid} after {before}"));
        *on = zxid.max(*on);
        if counts {
            let seen = self.seen.entry(session).or_default();
            *seen = zxid.max(*seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionId = SessionId::new(1);

    /// Whether this is caught: a connection, a zxid, and whether an answer shows it.
    fn is_caught(shown: &[(u64, u32, bool)]) -> bool {
        let (mut zxids, mut report) = (Zxids::default(), Report::default());
        for (conn, counter, counts) in shown {
            zxids.delivered(ConnId(*conn), A, Zxid::new(1, *counter), *counts, &mut report);
        }
        !report.broken.is_empty()
    }

    /// What was handed over on one connection may never have been read by the client that has come on another.
    #[test]
    fn a_client_that_tells_what_it_has_seen_is_shown_nothing_older() {
        for (told, caught) in [(4, false), (5, true)] {
            let (mut zxids, mut report) = (Zxids::default(), Report::default());
            zxids.delivered(ConnId(1), A, Zxid::new(1, 6), true, &mut report);
            zxids.tells(ConnId(2), Zxid::new(1, told));
            zxids.delivered(ConnId(2), A, Zxid::new(1, 4), true, &mut report);
            assert_eq!(!report.broken.is_empty(), caught);
        }
    }

    #[test]
    fn a_session_that_is_shown_older_things_is_caught_and_others_are_not() {
        assert!(!is_caught(&[(1, 5, true), (1, 5, true)]));
        assert!(is_caught(&[(1, 5, true), (1, 4, true)]));
        assert!(is_caught(&[(1, 5, true), (2, 4, true)]));
        let (mut zxids, mut report) = (Zxids::default(), Report::default());
        zxids.delivered(ConnId(1), A, Zxid::new(1, 5), true, &mut report);
        zxids.delivered(ConnId(2), SessionId::new(2), Zxid::new(1, 3), true, &mut report);
        assert!(report.broken.is_empty() && report.by_name()[NAME.name()] == 2);
    }

    /// Source: ZooKeeper's client takes no note of the zxids of events and pings; so the next server may be
    /// behind them.
    #[test]
    fn an_event_counts_for_its_connection_alone() {
        assert!(is_caught(&[(1, 5, false), (1, 4, true)]));
        assert!(!is_caught(&[(1, 5, false), (2, 4, true)]));
    }
}
