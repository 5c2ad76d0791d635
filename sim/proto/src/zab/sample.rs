//! Transactions and histories for the tests.

use super::History;
use crate::message::Xid;
use crate::txn::{Txn, TxnBody};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};

/// A transaction told from others by its zxid alone.
pub(super) fn txn(zxid: (u32, u32)) -> Arc<Txn> {
    let body = TxnBody::Delete { path: "/a".into() };
    Arc::new(Txn { zxid: Zxid::new(zxid.0, zxid.1), session: SessionId::NONE, xid: Xid(0), time_ms: 0, body })
}

/// The history behind `base` with these transactions.
pub(super) fn history(base: (u32, u32), log: &[(u32, u32)]) -> History {
    History::new(Zxid::new(base.0, base.1), log.iter().copied().map(txn).collect())
}
