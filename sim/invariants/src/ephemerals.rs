//! The ephemerals of dead sessions are gone: at once where the close is applied, and for good.

use crate::{Invariant, Report};
use zk_api::SessionId;
use zk_proto::txn::{Txn, TxnBody};

const NAME: Invariant = Invariant::EphemeralsOfDeadSessionsGone;

/// A transaction was applied; of its session's ephemerals so many are left in the tree, if it ends that session.
pub fn applied(txn: &Txn, left: usize, report: &mut Report) {
    if let TxnBody::CloseSession { .. } = txn.body {
        report.check(NAME, left == 0, || format!("{left} ephemerals of {} outlived it", txn.session));
    }
}

/// The run is over: `owners` are the sessions that own anything.
pub fn at_rest(
    owners: impl IntoIterator<Item = SessionId>,
    is_open: impl Fn(SessionId) -> bool,
    report: &mut Report,
) {
    for owner in owners {
        report.check(NAME, is_open(owner), || format!("{owner} is dead and owns something"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Zxid;
    use zk_proto::message::Xid;

    const S: SessionId = SessionId::new(7);

    fn close() -> Txn {
        let body = TxnBody::CloseSession { ephemerals: vec!["/a".into()], expired: true };
        Txn { zxid: Zxid::new(1, 1), session: S, xid: Xid(0), time_ms: 0, body }
    }

    #[test]
    fn an_ephemeral_that_outlives_its_session_is_caught() {
        let mut report = Report::default();
        applied(&close(), 0, &mut report);
        assert!(report.broken.is_empty() && report.by_name()[NAME.name()] == 1);
        applied(&close(), 1, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn an_ephemeral_made_for_a_dead_session_is_caught_at_rest() {
        let mut report = Report::default();
        at_rest([S], |_| true, &mut report);
        assert!(report.broken.is_empty());
        at_rest([S], |_| false, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }
}
