//! The tree of znodes.
//!
//! ```
//! use zk_api::{Data, EventType, SessionId, Zxid, open_acl};
//! use zk_proto::message::Xid;
//! use zk_proto::tree::{Change, DataTree};
//! use zk_proto::txn::{NodeKind, Txn, TxnBody};
//!
//! let (path, data, kind) = ("/a".into(), Data::from("x"), NodeKind::Persistent);
//! let body = TxnBody::Create { path, data, acl: open_acl(), kind, parent_created: 1 };
//! let txn = Txn { zxid: Zxid::new(1, 1), session: SessionId::new(7), xid: Xid(1), time_ms: 0, body };
//! let mut tree = DataTree::new();
//! let applied = tree.apply(&txn);
//! assert_eq!(applied.changes, [Change::open("/a".into(), EventType::NodeCreated)]);
//! assert_eq!(tree.stat("/a").expect("it was created").data_length(), 1);
//! assert_eq!(tree.last_zxid(), Zxid::new(1, 1));
//! ```

// Here it is held and asked; `tree::apply` changes it, `tree::snapshot` takes it apart and puts it together again.

mod apply;
mod snapshot;

use crate::txn::NodeKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zk_api::{
    AclList, Data, ErrorCode, EventType, Response, SessionId, Stat, StatFields, Text, Zxid, open_acl,
    read_acl,
};

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

/// The tree of znodes at one zxid. A clone shares everything until either is changed.
#[derive(Clone, PartialEq, Eq)]
pub struct DataTree {
    /// Keyed by full path; the root is `/`. A znode's parent is here too, but for a tree that is being
    /// recovered from a fuzzy snapshot.
    nodes: Arc<BTreeMap<Text, Arc<Node>>>,
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
    /// The znode's ACL, and its parent's: who may not read a znode is not told of its changes.
    pub acl: AclList,
    /// Not looked at where the data alone changes.
    pub parent_acl: AclList,
}

impl Change {
    /// A change that everybody may see.
    pub fn open(path: Text, kind: EventType) -> Change {
        Change { path, kind, acl: open_acl(), parent_acl: open_acl() }
    }
}

/// What applying a transaction gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The answer for whoever asked, with every Stat that may have been asked for (see
    /// [`answer`](crate::prepare::answer)). Opening a session has none: `Ok(Response::Closed)` is never read
    /// there. Nor is the answer of a transaction that is applied again.
    pub result: Result<Response, ErrorCode>,
    /// What changed, in order.
    pub changes: Vec<Change>,
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
    fn is_expired(&self, now_ms: i64) -> bool {
        let due = match self.kind {
            NodeKind::Persistent | NodeKind::Ephemeral(_) => false,
            NodeKind::Container => self.created > 0,
            NodeKind::Ttl(ttl_ms) => now_ms.saturating_sub(self.mtime_ms) > ttl_ms,
        };
        due && self.children.is_empty()
    }
}

impl DataTree {
    /// `/` and what ZooKeeper keeps for itself, at zxid zero. None of them counts as created, so the root's
    /// cversion begins at -1.
    ///
    /// Everybody may read the configuration, and nobody but the super user may set it; its aversion begins at
    /// -1. Measured.
    pub fn new() -> DataTree {
        let quota = Node::new(Data::from(""), open_acl(), NodeKind::Persistent, Zxid::ZERO, 0);
        let config = Node { acl: read_acl(), aversion: -1, ..quota.clone() };
        let system = Node { children: ["config", "quota"].map(Text::from).into(), ..quota.clone() };
        let root = Node { children: ["zookeeper"].map(Text::from).into(), ..quota.clone() };
        let nodes = [
            ("/".into(), Arc::new(root)),
            ("/zookeeper".into(), Arc::new(system)),
            ("/zookeeper/config".into(), Arc::new(config)),
            ("/zookeeper/quota".into(), Arc::new(quota)),
        ];
        DataTree { nodes: Arc::new(nodes.into()), last_zxid: Zxid::ZERO }
    }

    /// The last transaction applied.
    pub fn last_zxid(&self) -> Zxid {
        self.last_zxid
    }

    /// A znode by its path. The empty path is the root's other name.
    pub fn node(&self, path: &str) -> Option<&Node> {
        let path = if path.is_empty() { "/" } else { path };
        self.nodes.get(path).map(|node| &**node)
    }

    /// A znode's Stat.
    pub fn stat(&self, path: &str) -> Option<Stat> {
        self.node(path).map(Node::stat)
    }

    /// All znodes in order of their paths.
    pub fn nodes(&self) -> impl Iterator<Item = (&Text, &Node)> {
        self.nodes.iter().map(|(path, node)| (path, &**node))
    }

    /// How many znodes there are, the root included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many znodes there are below a path, at any depth.
    pub fn count_below(&self, path: &str) -> usize {
        // The root counts as below its other name.
        match path {
            "" => return self.nodes.len(),
            "/" => return self.nodes.len() - 1,
            _ => {}
        }
        let prefix: Text = format!("{path}/").into();
        self.nodes.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&*prefix)).count()
    }

    /// The ephemeral znodes of a session, in order of their paths.
    ///
    /// Looks at all znodes: sessions end seldom, and an index would have to be copied and kept at every step.
    pub fn ephemerals(&self, session: SessionId) -> impl Iterator<Item = &Text> {
        let owned = self.nodes().filter(move |(_, node)| node.owner() == Some(session));
        owned.map(|(path, _)| path)
    }

    /// The sessions that have ephemeral znodes.
    pub fn ephemeral_owners(&self) -> BTreeSet<SessionId> {
        self.nodes().filter_map(|(_, node)| node.owner()).collect()
    }

    /// The containers and TTL znodes that the leader is to remove now, one transaction each.
    ///
    /// A container that never had a child stays. Source: ZooKeeper 3.9, `ContainerManager`.
    pub fn expired_nodes(&self, now_ms: i64) -> Vec<Text> {
        self.nodes().filter(|(_, node)| node.is_expired(now_ms)).map(|(path, _)| path.clone()).collect()
    }
}

impl Default for DataTree {
    fn default() -> DataTree {
        DataTree::new()
    }
}

/// Leaves out the children, which follow from the paths, and is brief about the ACL that nearly all znodes
/// have: a model checker hashes a tree at every step.
impl Hash for DataTree {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let open = open_acl();
        self.last_zxid.to_i64().hash(state);
        self.nodes.len().hash(state);
        for (path, node) in self.nodes() {
            path.hash(state);
            node.data.hash(state);
            let is_open = Arc::ptr_eq(&node.acl, &open) || node.acl == open;
            is_open.hash(state);
            if !is_open {
                node.acl.hash(state);
            }
            node.kind.hash(state);
            [node.czxid, node.mzxid, node.pzxid].map(Zxid::to_i64).hash(state);
            [node.ctime_ms, node.mtime_ms].hash(state);
            [node.version, node.aversion, node.created].hash(state);
        }
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

impl fmt::Debug for DataTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataTree at {} ", self.last_zxid)?;
        f.debug_map().entries(self.nodes()).finish()
    }
}
