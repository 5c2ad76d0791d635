//! Znodes, and what is told of them.

use crate::txn::NodeKind;
use std::collections::BTreeSet;
use std::fmt;
use zk_api::{AclList, Data, SessionId, Stat, StatFields, Text, Zxid, open_acl};

/// A znode as it is stored.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its data.
    pub data: Data,
    /// Its access control list.
    pub acl: AclList,
    /// What kind it is.
    pub kind: NodeKind,
    /// Creation, as in [`Stat`].
    pub czxid: Zxid,
    /// Last data change.
    pub mzxid: Zxid,
    /// Last change of the children.
    pub pzxid: Zxid,
    /// Milliseconds since the Unix epoch.
    pub ctime_ms: i64,
    /// Milliseconds since the Unix epoch.
    pub mtime_ms: i64,
    /// Data changes.
    pub version: i32,
    /// ACL changes.
    pub aversion: i32,
    /// Children ever created: the next sequence number. `Stat.cversion` is `2 * created - children.len()`.
    ///
    /// Sticks at `i32::MAX` in place of wrapping around: a sequential name then ends in 2147483647 each time,
    /// so that a second create of one prefix fails with `NodeExists`. That is how ZooKeeper's comparison of
    /// the counters reads; it is not measured yet.
    pub created: i32,
    /// The children's names.
    pub children: BTreeSet<Text>,
}

impl Node {
    /// A znode just created by the transaction `czxid`.
    pub fn new(data: Data, acl: AclList, kind: NodeKind, czxid: Zxid, ctime_ms: i64) -> Node {
        Node {
            data,
            acl,
            kind,
            czxid,
            mzxid: czxid,
            pzxid: czxid,
            ctime_ms,
            mtime_ms: ctime_ms,
            version: 0,
            aversion: 0,
            created: 0,
            children: BTreeSet::new(),
        }
    }

    /// What ZooKeeper tells about it.
    pub fn stat(&self) -> Stat {
        Stat::from(StatFields {
            czxid: self.czxid,
            mzxid: self.mzxid,
            ctime_ms: self.ctime_ms,
            mtime_ms: self.mtime_ms,
            version: self.version,
            cversion: self.created.wrapping_mul(2).wrapping_sub(self.children.len() as i32),
            aversion: self.aversion,
            ephemeral_owner: self.owner().unwrap_or(SessionId::NONE),
            data_length: self.data.bytes().len() as u32,
            num_children: self.children.len() as u32,
            pzxid: self.pzxid,
        })
    }

    /// The session whose end deletes it.
    pub fn owner(&self) -> Option<SessionId> {
        self.kind.owner()
    }

    /// Whether the server is to remove it at `now_ms`: a container that had a child and has none, or a TTL
    /// znode that has no child and was not changed for longer than its time.
    pub(super) fn is_expired(&self, now_ms: i64) -> bool {
        let due = match self.kind {
            NodeKind::Persistent | NodeKind::Ephemeral(_) => false,
            NodeKind::Container => self.created > 0,
            NodeKind::Ttl(ttl_ms) => now_ms.saturating_sub(self.mtime_ms) > ttl_ms,
        };
        due && self.children.is_empty()
    }
}

/// In one line, as states of a model and traces are read by people; what is as in most znodes is left out.
impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} cz={} mz={} pz={}", self.kind, self.data, self.czxid, self.mzxid, self.pzxid)?;
        write!(f, " v={} av={} created={}", self.version, self.aversion, self.created)?;
        if self.acl != open_acl() {
            write!(f, " acl={:?}", self.acl)?;
        }
        Ok(())
    }
}
