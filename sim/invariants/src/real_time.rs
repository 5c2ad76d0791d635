//! Writes keep real-time order: what is asked after an answer was seen comes after what was answered.

use crate::{Invariant, Report};
use std::collections::BTreeMap;
use zk_api::{SessionId, Zxid};
use zk_proto::message::Xid;

/// What writes must come after.
#[derive(Debug, Default)]
pub struct RealTime {
    /// The newest write whose answer any client has seen.
    newest: Zxid,
    /// For each write under way, the newest of these when it was sent.
    floors: BTreeMap<(SessionId, Xid), Zxid>,
}

const NAME: Invariant = Invariant::RealTimeOrderOfWrites;

impl RealTime {
    pub fn sent(&mut self, session: SessionId, xid: Xid) {
        self.floors.insert((session, xid), self.newest);
    }

    /// A session is over.
    pub fn forget(&mut self, session: SessionId) {
        self.floors.retain(|(of, _), _| *of != session);
    }

    pub fn acknowledged(&mut self, zxid: Zxid) {
        self.newest = self.newest.max(zxid);
    }

    pub fn committed(&mut self, session: SessionId, xid: Xid, zxid: Zxid, report: &mut Report) {
        if let Some(floor) = self.floors.remove(&(session, xid)) {
            report.check(NAME, zxid > floor, || {
                format!("{zxid} of {session} was asked after {floor} was acknowledged, and came before it")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionId = SessionId::new(1);

    fn z(counter: u32) -> Zxid {
        Zxid::new(1, counter)
    }

    #[test]
    fn concurrent_writes_may_come_in_any_order() {
        let (mut real_time, mut report) = (RealTime::default(), Report::default());
        real_time.sent(A, Xid(1));
        real_time.acknowledged(z(5));
        real_time.committed(A, Xid(1), z(4), &mut report);
        assert!(report.broken.is_empty() && report.by_name()[NAME.name()] == 1);
    }

    #[test]
    fn a_write_before_one_that_was_acknowledged_when_it_was_asked_is_caught() {
        let (mut real_time, mut report) = (RealTime::default(), Report::default());
        real_time.acknowledged(z(5));
        real_time.sent(A, Xid(1));
        real_time.committed(A, Xid(1), z(5), &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }
}
