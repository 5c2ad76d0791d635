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

mod node;

use crate::txn::{NodeKind, Txn, TxnBody};
pub use node::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Bound;
use std::sync::Arc;
use zk_api::{
    AclList, Data, ErrorCode, EventType, MultiOutcome, OpResult, Response, SessionId, Stat, Text, Zxid,
    open_acl, read_acl, split,
};

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

/// When a transaction happens, and what it has changed so far.
struct Applying {
    zxid: Zxid,
    time_ms: i64,
    changes: Vec<Change>,
}

impl Applying {
    fn changed(&mut self, path: &Text, kind: EventType, acl: &AclList, parent_acl: &AclList) {
        let (acl, parent_acl) = (acl.clone(), parent_acl.clone());
        self.changes.push(Change { path: path.clone(), kind, acl, parent_acl });
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

    /// Applies a transaction. Applying one again, or over a fuzzy snapshot that has part of it, is harmless.
    ///
    /// A transaction may meet a tree that has it already, or that has some later ones: a snapshot is written while
    /// transactions go on, so each znode in it is as it was at a moment of its own between the snapshot's beginning and
    /// its end. Replaying every transaction from the beginning gives the tree as if there had been no snapshot, for a
    /// transaction carries results. On the way there, what is newer is left as it is:
    ///
    /// - A znode created later than the transaction is another incarnation of the path and not the one meant: its own
    ///   creation and its predecessor's deletion will be replayed.
    /// - What only grows within an incarnation (zxids, counters, versions of data) is never set back.
    ///
    /// A child met without its parent is no error: the parent's creation will be replayed, and then the child's.
    pub fn apply(&mut self, txn: &Txn) -> Applied {
        let mut at = Applying { zxid: txn.zxid, time_ms: txn.time_ms, changes: Vec::new() };
        let result = match &txn.body {
            TxnBody::CreateSession { .. } => Ok(Response::Closed),
            TxnBody::CloseSession { ephemerals, expired: _ } => {
                for path in ephemerals {
                    self.delete(&mut at, path);
                }
                Ok(Response::Closed)
            }
            body @ (TxnBody::Create { .. }
            | TxnBody::Delete { .. }
            | TxnBody::SetData { .. }
            | TxnBody::Check { .. }) => Ok(match self.apply_op(&mut at, body) {
                Some(OpResult::Created { path, stat }) => Response::Created { path, stat },
                Some(OpResult::Deleted) => Response::Deleted,
                Some(OpResult::DataSet(stat)) => Response::DataSet(stat),
                Some(OpResult::Checked) | None => Response::Multi(MultiOutcome::Applied(Vec::new())),
            }),
            TxnBody::SetAcl { path, acl, aversion } => {
                Ok(Response::AclSet(self.set_acl(&at, path, acl, *aversion)))
            }
            TxnBody::Multi { ops } => {
                let results = ops.iter().filter_map(|op| self.apply_op(&mut at, op)).collect();
                Ok(Response::Multi(MultiOutcome::Applied(results)))
            }
            TxnBody::Error(code) => Err(*code),
            TxnBody::MultiError(codes) => Ok(Response::Multi(MultiOutcome::Failed(codes.clone()))),
        };
        self.last_zxid = self.last_zxid.max(txn.zxid);
        Applied { result, changes: at.changes }
    }

    /// Applies what may be part of a multi; `None` for anything else, which no leader puts there.
    fn apply_op(&mut self, at: &mut Applying, body: &TxnBody) -> Option<OpResult> {
        match body {
            TxnBody::Create { path, data, acl, kind, parent_created } => {
                let node = Node::new(data.clone(), acl.clone(), *kind, at.zxid, at.time_ms);
                self.create(at, path, node, *parent_created);
                Some(OpResult::Created { path: path.clone(), stat: self.stat(path) })
            }
            TxnBody::Delete { path } => {
                self.delete(at, path);
                Some(OpResult::Deleted)
            }
            TxnBody::SetData { path, data, version } => {
                Some(OpResult::DataSet(self.set_data(at, path, data, *version)))
            }
            TxnBody::Check { path: _ } => Some(OpResult::Checked),
            TxnBody::CreateSession { .. }
            | TxnBody::CloseSession { .. }
            | TxnBody::SetAcl { .. }
            | TxnBody::Multi { .. }
            | TxnBody::Error(_)
            | TxnBody::MultiError(_) => None,
        }
    }

    fn create(&mut self, at: &mut Applying, path: &Text, node: Node, parent_created: i32) {
        let (parent_path, name) = split(path);
        let nodes = Arc::make_mut(&mut self.nodes);
        // Without its parent, or below a later parent, the child is deleted again further on in the log.
        let Some(parent) = incarnation(nodes, parent_path, at.zxid) else { return };
        parent.created = parent.created.max(parent_created);
        parent.pzxid = parent.pzxid.max(at.zxid);
        parent.children.insert(name.into());
        let parent_acl = parent.acl.clone();
        // What is there already is this very znode, changed since, or a later one.
        if !nodes.contains_key(path) {
            at.changed(path, EventType::NodeCreated, &node.acl, &parent_acl);
            nodes.insert(path.clone(), Arc::new(node));
        }
    }

    fn delete(&mut self, at: &mut Applying, path: &Text) {
        let (parent_path, name) = split(path);
        let nodes = Arc::make_mut(&mut self.nodes);
        let is_later = nodes.get(path).is_some_and(|node| node.czxid > at.zxid);
        if let Some(parent) = incarnation(nodes, parent_path, at.zxid) {
            parent.pzxid = parent.pzxid.max(at.zxid);
            if !is_later {
                parent.children.remove(name);
            }
        }
        if is_later {
            return;
        }
        if let Some(gone) = nodes.remove(path) {
            let parent_acl = nodes.get(parent_path).map_or_else(open_acl, |parent| parent.acl.clone());
            at.changed(path, EventType::NodeDeleted, &gone.acl, &parent_acl);
        }
    }

    fn set_data(&mut self, at: &mut Applying, path: &Text, data: &Data, version: i32) -> Stat {
        let Some(node) = incarnation(Arc::make_mut(&mut self.nodes), path, at.zxid) else {
            return Stat::default();
        };
        // Of two in one multi the second has the same zxid and is the one to stay.
        if node.mzxid <= at.zxid {
            node.data = data.clone();
            node.version = version;
            node.mzxid = at.zxid;
            node.mtime_ms = at.time_ms;
            at.changed(path, EventType::NodeDataChanged, &node.acl, &node.acl);
        }
        node.stat()
    }

    /// No watch tells of an ACL.
    fn set_acl(&mut self, at: &Applying, path: &Text, acl: &AclList, aversion: i32) -> Stat {
        let Some(node) = incarnation(Arc::make_mut(&mut self.nodes), path, at.zxid) else {
            return Stat::default();
        };
        // No zxid tells how new the ACL is; setting an older one is mended when the later ones are replayed.
        node.acl = acl.clone();
        node.aversion = aversion;
        node.stat()
    }

    /// The znodes behind a path, in order of their paths; all of them behind the empty path.
    ///
    /// A snapshot written in steps goes on where its last step ended, whatever became of that znode.
    pub fn nodes_after<'a>(&'a self, path: &str) -> impl Iterator<Item = (&'a Text, &'a Node)> + use<'a> {
        let range = (Bound::Excluded(path), Bound::Unbounded);
        self.nodes.range::<str, _>(range).map(|(path, node)| (path, &**node))
    }

    /// Puts a piece of a snapshot in place, over a [new](DataTree::new) tree, in any order of the pieces.
    ///
    /// `children` is not read but follows from the paths restored, as those of a fuzzy snapshot need not fit.
    pub fn restore(&mut self, path: Text, mut node: Node) {
        let nodes = Arc::make_mut(&mut self.nodes);
        let prefix: Text = if &*path == "/" { path.clone() } else { format!("{path}/").into() };
        node.children = nodes
            .range::<str, _>((Bound::Excluded(&*prefix), Bound::Unbounded))
            .map_while(|(below, _)| below.strip_prefix(&*prefix))
            .filter(|rest| !rest.contains('/'))
            .map(Text::from)
            .collect();
        let (parent_path, name) = split(&path);
        if !name.is_empty()
            && let Some(parent) = nodes.get_mut(parent_path)
        {
            Arc::make_mut(parent).children.insert(name.into());
        }
        nodes.insert(path, Arc::new(node));
    }

    /// Says which transaction was the last one that a snapshot has for certain.
    pub fn set_last_zxid(&mut self, zxid: Zxid) {
        self.last_zxid = zxid;
    }
}

/// The znode that a transaction means: that of the path, unless it was created later.
fn incarnation<'a>(nodes: &'a mut BTreeMap<Text, Arc<Node>>, path: &str, zxid: Zxid) -> Option<&'a mut Node> {
    nodes.get_mut(path).filter(|node| node.czxid <= zxid).map(Arc::make_mut)
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

impl fmt::Debug for DataTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataTree at {} ", self.last_zxid)?;
        f.debug_map().entries(self.nodes()).finish()
    }
}
