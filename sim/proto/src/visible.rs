//! What clients see of an ensemble, and in which order things took effect behind it: a run, recorded to be judged.
//!
//! Steps stand in the order in which they happened. A client is named by its session: one life of a process is one
//! client. What it sees is what its session was given, before the user's side sorts it out. What took effect is the
//! *witness*: whoever judges the record need not search for an order that explains it.
//!
//! ```
//! use zk_proto::visible::Cause;
//! # use zk_api::{SessionId, Zxid};
//! # use zk_proto::{message::Xid, txn::{Txn, TxnBody}};
//! # let (zxid, session) = (Zxid::new(1, 1), SessionId::new(7));
//! # let caused = |body| Cause::of(&Txn { zxid, session, xid: Xid(1), time_ms: 0, body });
//!
//! let closed = |expired| TxnBody::CloseSession { ephemerals: Vec::new(), expired };
//! assert_eq!(caused(closed(true)), Cause::Expiry);
//! assert_eq!(caused(closed(false)), Cause::Request);
//! ```

use crate::message::{ToClient, WatchList, Xid};
use crate::txn::{Txn, TxnBody};
use zk_api::{ErrorCode, Request, SessionId, Zxid};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VisibleStep {
    /// A client has a session, and is connected.
    Begins { session: SessionId },
    /// It sends a request on the connection that it has.
    Sends { session: SessionId, xid: Xid, request: Request },
    /// An answer or an event reaches it.
    Gets { session: SessionId, message: ToClient },
    /// It learns that its connection is gone, or gives it up.
    Loses { session: SessionId },
    /// It is connected again, and registers these watches.
    Connects { session: SessionId, watches: WatchList },
    /// It learns that its session is dead.
    Expires { session: SessionId },
    /// It is done with its session: closed, or refused for what it has proven.
    Ends { session: SessionId },
    /// A transaction is committed. Ascending in the record.
    Commits { zxid: Zxid, session: SessionId, xid: Xid, cause: Cause },
}

/// Where a transaction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The request that `session` and `xid` name.
    Request,
    /// The same, but the ensemble would not hear of it: the session had moved, or was over.
    Refused(ErrorCode),
    /// A session was opened.
    Opening,
    /// A session expired.
    Expiry,
    /// The ensemble itself: an empty container, a znode whose time is over.
    Upkeep,
}

impl Cause {
    /// Where this transaction comes from.
    pub fn of(txn: &Txn) -> Cause {
        match &txn.body {
            TxnBody::CreateSession { .. } => Cause::Opening,
            TxnBody::CloseSession { expired: true, .. } => Cause::Expiry,
            _ if txn.session == SessionId::NONE => Cause::Upkeep,
            TxnBody::Error(code @ (ErrorCode::SessionMoved | ErrorCode::SessionExpired)) => {
                Cause::Refused(*code)
            }
            TxnBody::CloseSession { expired: false, .. }
            | TxnBody::Create { .. }
            | TxnBody::Delete { .. }
            | TxnBody::SetData { .. }
            | TxnBody::SetAcl { .. }
            | TxnBody::Check { .. }
            | TxnBody::Multi { .. }
            | TxnBody::Error(_)
            | TxnBody::MultiError(_) => Cause::Request,
        }
    }
}
