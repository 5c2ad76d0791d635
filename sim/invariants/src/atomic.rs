//! Of a multi all is done, or nothing.

use crate::{Invariant, Report};
use zk_api::Request;
use zk_proto::txn::{Txn, TxnBody};

const NAME: Invariant = Invariant::MultiIsAtomic;

/// A request has become a transaction.
pub fn executed(request: &Request, txn: &Txn, report: &mut Report) {
    let Request::Multi { ops } = request else { return };
    let whole = match &txn.body {
        TxnBody::Multi { ops: done } => done.len() == ops.len(),
        TxnBody::MultiError(codes) => codes.len() == ops.len() && codes.iter().any(Option::is_some),
        TxnBody::Error(_) => true,
        TxnBody::Create { .. }
        | TxnBody::Delete { .. }
        | TxnBody::SetData { .. }
        | TxnBody::SetAcl { .. }
        | TxnBody::Check { .. }
        | TxnBody::CreateSession { .. }
        | TxnBody::CloseSession { .. } => false,
    };
    report.check(NAME, whole, || format!("{} of {} operations became {:?}", txn.zxid, ops.len(), txn.body));
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::{ErrorCode, Op, SessionId, Zxid};
    use zk_proto::message::Xid;

    /// Whether a multi of two that becomes this is caught.
    fn is_caught(body: TxnBody) -> bool {
        let ops = ["/a", "/b"].map(|path| Op::Delete { path: path.into(), version: -1 });
        let txn = Txn { zxid: Zxid::new(1, 1), session: SessionId::new(1), xid: Xid(1), time_ms: 0, body };
        let mut report = Report::default();
        executed(&Request::Multi { ops: ops.into() }, &txn, &mut report);
        assert_eq!(report.by_name()[NAME.name()], 1);
        !report.broken.is_empty()
    }

    fn delete(path: &str) -> TxnBody {
        TxnBody::Delete { path: path.into() }
    }

    #[test]
    fn a_multi_that_is_done_in_part_is_caught() {
        assert!(!is_caught(TxnBody::Multi { ops: vec![delete("/a"), delete("/b")] }));
        assert!(is_caught(TxnBody::Multi { ops: vec![delete("/a")] }));
        assert!(is_caught(delete("/a")));
        let failed = vec![None, Some(ErrorCode::NoNode)];
        assert!(!is_caught(TxnBody::MultiError(failed.clone())));
        assert!(is_caught(TxnBody::MultiError(failed[..1].to_vec())));
        assert!(is_caught(TxnBody::MultiError(failed[1..].to_vec())));
        assert!(is_caught(TxnBody::MultiError(vec![None, None])), "nothing has failed");
        assert!(!is_caught(TxnBody::Error(ErrorCode::MarshallingError)));
    }
}
