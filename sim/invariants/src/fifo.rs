//! A session's requests are done and answered in the order in which they were asked.

use crate::{Invariant, Report};
use std::collections::{BTreeMap, VecDeque};
use zk_api::SessionId;
use zk_proto::message::{ConnId, Xid};

/// What is under way.
#[derive(Debug, Default)]
pub struct SessionFifo {
    /// Sent on a connection and not answered; and whether it is a write.
    sent: BTreeMap<ConnId, VecDeque<(Xid, bool)>>,
    /// The last write of each session that was committed.
    committed: BTreeMap<SessionId, Xid>,
}

const NAME: Invariant = Invariant::SessionFifo;

impl SessionFifo {
    pub fn sent(&mut self, conn: ConnId, xid: Xid, is_write: bool) {
        self.sent.entry(conn).or_default().push_back((xid, is_write));
    }

    /// Nothing more is sent on a connection or comes from it.
    pub fn finished(&mut self, conn: ConnId) {
        self.sent.remove(&conn);
    }

    /// A session is over.
    pub fn forget(&mut self, session: SessionId) {
        self.committed.remove(&session);
    }

    /// A client gets an answer. Gives whether it is one to a write.
    pub fn delivered(&mut self, conn: ConnId, xid: Xid, report: &mut Report) -> bool {
        let first = self.sent.get_mut(&conn).and_then(VecDeque::pop_front);
        let expected = first.map(|(xid, _)| xid);
        report.check(NAME, expected == Some(xid), || {
            format!("on {conn:?} came the answer to {xid:?}, but {expected:?} is first")
        });
        first.is_some_and(|(_, is_write)| is_write)
    }

    /// A session's write is committed. The server's own have the number zero.
    pub fn committed(&mut self, session: SessionId, xid: Xid, report: &mut Report) {
        if xid == Xid(0) {
            return;
        }
        let last = self.committed.insert(session, xid);
        // They count on behind the greatest number there is.
        report.check(NAME, last.is_none_or(|last| xid.0.wrapping_sub(last.0) > 0), || {
            format!("{xid:?} of {session} was committed after {last:?}")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: ConnId = ConnId(1);
    const S: SessionId = SessionId::new(1);

    #[test]
    fn answers_in_order_pass_and_tell_writes_from_reads() {
        let (mut fifo, mut report) = (SessionFifo::default(), Report::default());
        fifo.sent(C, Xid(1), true);
        fifo.sent(C, Xid(2), false);
        assert!(fifo.delivered(C, Xid(1), &mut report));
        assert!(!fifo.delivered(C, Xid(2), &mut report));
        assert!(report.broken.is_empty());
    }

    #[test]
    fn an_answer_that_overtakes_another_is_caught() {
        let (mut fifo, mut report) = (SessionFifo::default(), Report::default());
        fifo.sent(C, Xid(1), true);
        fifo.sent(C, Xid(2), false);
        fifo.delivered(C, Xid(2), &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn writes_of_a_session_committed_in_another_order_are_caught() {
        let (mut fifo, mut report) = (SessionFifo::default(), Report::default());
        fifo.committed(S, Xid(2), &mut report);
        fifo.committed(SessionId::new(2), Xid(1), &mut report);
        fifo.committed(S, Xid(0), &mut report);
        assert!(report.broken.is_empty());
        fifo.committed(S, Xid(1), &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn a_write_that_is_committed_twice_is_caught_and_one_behind_the_greatest_number_is_not() {
        for (next, caught) in [(i32::MAX, true), (i32::MIN, false)] {
            let (mut fifo, mut report) = (SessionFifo::default(), Report::default());
            fifo.committed(S, Xid(i32::MAX), &mut report);
            fifo.committed(S, Xid(next), &mut report);
            assert_eq!(!report.broken.is_empty(), caught);
        }
    }
}
