//! The tree of znodes.

use crate::txn::{NodeKind, Txn};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::{AclList, Data, ErrorCode, EventType, Response, SessionId, Stat, Text, Zxid};

/// A znode as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    pub created: i32,
    /// The children's names.
    pub children: BTreeSet<Text>,
}

/// The tree of znodes at one zxid. Cloning shares the znodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataTree {
    /// Keyed by full path; the root is `/`.
    nodes: BTreeMap<Text, Arc<Node>>,
    /// The ephemeral znodes of each session that has any.
    ephemerals: BTreeMap<SessionId, BTreeSet<Text>>,
    /// The last transaction applied.
    last_zxid: Zxid,
}

/// A change of one znode, from which watches fire.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// The znode.
    pub path: Text,
    /// `NodeCreated`, `NodeDeleted` or `NodeDataChanged`; the parent's `NodeChildrenChanged` follows from it.
    pub kind: EventType,
}

/// What applying a transaction gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The answer for whoever asked. Opening a session has none: `Ok(Response::Closed)` is never read there.
    pub result: Result<Response, ErrorCode>,
    /// What changed, in order.
    pub changes: Vec<Change>,
}

impl DataTree {
    /// `/` and `/zookeeper`, at zxid zero.
    pub fn new() -> DataTree {
        todo!()
    }

    /// Applies a transaction. Applying one again, or over a fuzzy snapshot that has part of it, is harmless.
    pub fn apply(&mut self, _txn: &Txn) -> Applied {
        todo!()
    }

    /// The last transaction applied.
    pub fn last_zxid(&self) -> Zxid {
        self.last_zxid
    }

    /// A znode by its path.
    pub fn node(&self, _path: &str) -> Option<&Node> {
        todo!()
    }

    /// A znode's Stat.
    pub fn stat(&self, _path: &str) -> Option<Stat> {
        todo!()
    }

    /// All znodes in order of their paths.
    pub fn nodes(&self) -> impl Iterator<Item = (&Text, &Node)> {
        self.nodes.iter().map(|(p, n)| (p, &**n))
    }

    /// The ephemeral znodes of a session.
    pub fn ephemerals(&self, session: SessionId) -> impl Iterator<Item = &Text> {
        self.ephemerals.get(&session).into_iter().flatten()
    }
}

impl Default for DataTree {
    fn default() -> DataTree {
        DataTree::new()
    }
}
