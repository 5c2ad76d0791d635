//! Transactions: what a write does, worked out once by the leader, and the same on every server.
//!
//! ```
//! use zk_api::{SessionId, Zxid};
//! use zk_proto::message::Xid;
//! use zk_proto::tree::DataTree;
//! use zk_proto::txn::{Txn, TxnBody};
//!
//! let body = TxnBody::SetData { path: "/".into(), data: "x".into(), version: 1 };
//! let txn = Txn { zxid: Zxid::new(1, 1), session: SessionId::new(7), xid: Xid(1), time_ms: 0, body };
//! let mut once = DataTree::new();
//! once.apply(&txn);
//! let mut twice = once.clone();
//! twice.apply(&txn);
//! assert_eq!(twice, once);
//! ```

use crate::message::{Password, Xid};
use zk_api::{AclList, Data, ErrorCode, SessionId, Text, Zxid};

/// A transaction: the *result* of a request, so that applying it twice is applying it once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Txn {
    /// Its place in the total order.
    pub zxid: Zxid,
    /// The session whose request it is, or the session it opens or closes; `NONE` for the server's own
    /// (the removal of a container or of a TTL znode).
    pub session: SessionId,
    /// The request's number within the session; zero for the server's own.
    pub xid: Xid,
    /// The leader's clock when it was prepared, in milliseconds since the Unix epoch.
    pub time_ms: i64,
    /// What it does.
    pub body: TxnBody,
}

/// What a transaction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TxnBody {
    /// Opens the session `Txn::session`.
    CreateSession { timeout_ms: u32, password: Password },
    /// Closes it and deletes its ephemeral znodes, which were worked out by the leader.
    CloseSession { ephemerals: Vec<Text>, expired: bool },
    /// Creates a znode. `path` is final; `parent_created` is how many children the parent ever had, this
    /// one included: the next sequence number.
    Create { path: Text, data: Data, acl: AclList, kind: NodeKind, parent_created: i32 },
    /// Deletes a znode.
    Delete { path: Text },
    /// Sets data; `version` is the new one.
    SetData { path: Text, data: Data, version: i32 },
    /// Sets the ACL; `aversion` is the new one.
    SetAcl { path: Text, acl: AclList, aversion: i32 },
    /// A `check` of a multi that passed. Changes nothing.
    Check { path: Text },
    /// All of these.
    Multi { ops: Vec<TxnBody> },
    /// A request that failed. Changes nothing but the zxid.
    Error(ErrorCode),
    /// A multi that failed: one code for each operation, as in `MultiOutcome::Failed`.
    MultiError(Vec<Option<ErrorCode>>),
}

/// What kind of znode a transaction creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    /// Stays until it is deleted.
    Persistent,
    /// Belongs to a session.
    Ephemeral(SessionId),
    /// Removed at some time after its last child is gone.
    Container,
    /// Removed when childless and unchanged for so many milliseconds.
    Ttl(i64),
}

impl NodeKind {
    /// The session whose end deletes it.
    pub fn owner(self) -> Option<SessionId> {
        match self {
            NodeKind::Ephemeral(owner) => Some(owner),
            NodeKind::Persistent | NodeKind::Container | NodeKind::Ttl(_) => None,
        }
    }
}
