//! What transactions are stamped with: numbers, and times of a leader's clock.

use zk_proto::txn::TxnBody;

/// What leaders' clocks show, where anybody reads that: whatever is set up is of the fourth.
///
/// In the simulator clocks are off, run fast or slow, and are set, and another leader has another one: a later
/// transaction is of the same time, a little or much later, or earlier. Of the order of more than four times not all is
/// shown: three, and that of the setup.
pub const TIMES_MS: [i64; 7] = [
    1_500_000_000_000,
    1_599_999_999_998,
    1_599_999_999_999,
    1_600_000_000_000,
    1_600_000_000_001,
    1_600_000_000_002,
    1_700_000_000_000,
];

/// What the clock shows when nobody has looked.
pub const SET_UP: u8 = 3;

/// Whether a transaction creates or sets something; or deletes it, where that counts.
pub(super) fn takes_number(body: &TxnBody, deletions: bool) -> bool {
    match body {
        TxnBody::Create { .. } | TxnBody::SetData { .. } | TxnBody::SetAcl { .. } => true,
        TxnBody::Multi { ops } => ops.iter().any(|op| takes_number(op, deletions)),
        TxnBody::Delete { .. } => deletions,
        TxnBody::CloseSession { ephemerals, .. } => deletions && !ephemerals.is_empty(),
        TxnBody::CreateSession { .. }
        | TxnBody::Check { .. }
        | TxnBody::Error(_)
        | TxnBody::MultiError(_) => false,
    }
}
