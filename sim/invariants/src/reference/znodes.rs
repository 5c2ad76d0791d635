//! The znodes of the reference: they come, change and go, and come back if a multi fails.

use std::collections::{BTreeMap, BTreeSet};
use zk_api::{AclList, Data, ErrorCode, SessionId, StatFields, Zxid};

/// A znode.
#[derive(Clone, Debug)]
pub(super) struct Znode {
    pub(super) data: Data,
    pub(super) acl: AclList,
    pub(super) stat: StatFields,
    pub(super) removable: Removable,
    /// Children that were ever created.
    pub(super) counter: i32,
    pub(super) children: BTreeSet<String>,
}

/// Whether the server may remove a znode by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removable {
    Never,
    /// A container, when its last child is gone.
    Childless,
    /// Childless, and not changed for longer than so many milliseconds.
    Unchanged(i64),
}

/// When a transaction is, in both kinds of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) zxid: Zxid,
    pub(super) time_ms: i64,
}

/// How a znode was before it changed: its path, and what it was without its children, if it was there.
type Before = (String, Option<Znode>);

/// All znodes.
#[derive(Clone, Debug)]
pub(super) struct Znodes {
    pub(super) nodes: BTreeMap<String, Znode>,
    /// The paths of the ephemerals of each session that has any.
    owned: BTreeMap<SessionId, BTreeSet<String>>,
    /// What a multi has changed so far, and how that was before.
    changed: Option<Vec<Before>>,
}

impl Znodes {
    /// Those of a new ensemble: the root, and what ZooKeeper keeps for itself, neither of which counts as created.
    pub(super) fn new() -> Znodes {
        let system = Znode {
            data: Data::from(""),
            acl: zk_api::open_acl(),
            stat: StatFields::default(),
            removable: Removable::Never,
            counter: 0,
            children: BTreeSet::new(),
        };
        let mut root = system.clone();
        let mut keeps = system.clone();
        let mut config = system.clone();
        root.children.insert("zookeeper".to_owned());
        keeps.children = ["config", "quota"].map(str::to_owned).into();
        keeps.stat.num_children = 2;
        keeps.stat.cversion = -2;
        config.acl = zk_api::read_acl();
        config.stat.aversion = -1;
        root.stat.num_children = 1;
        root.stat.cversion = -1;
        Znodes {
            nodes: [
                ("/".to_owned(), root),
                ("/zookeeper".to_owned(), keeps),
                ("/zookeeper/config".to_owned(), config),
                ("/zookeeper/quota".to_owned(), system),
            ]
            .into(),
            owned: BTreeMap::new(),
            changed: None,
        }
    }

    /// One that is there before anything has happened, and none of whose children does count as created.
    pub(super) fn begins_with(&mut self, path: &str, counter: i32) {
        let quota = self.nodes["/zookeeper/quota"].clone();
        let stat = StatFields { cversion: counter.wrapping_mul(2), ..quota.stat };
        self.nodes.insert(path.to_owned(), Znode { data: Data::NULL, counter, stat, ..quota });
        let (above, name) = path.rsplit_once('/').expect("a path has a slash");
        let parent = self.parent(above);
        parent.children.insert(name.to_owned());
        parent.stat.num_children += 1;
        parent.stat.cversion = parent.stat.cversion.wrapping_sub(1);
    }

    /// The paths of a session's ephemerals.
    pub(super) fn owned(&self, session: SessionId) -> impl Iterator<Item = &str> {
        self.owned.get(&session).into_iter().flatten().map(String::as_str)
    }

    pub(super) fn find(&self, path: &str) -> Result<&Znode, ErrorCode> {
        // The empty path is the root's other name.
        let path = if path.is_empty() { "/" } else { path };
        self.nodes.get(path).ok_or(ErrorCode::NoNode)
    }

    pub(super) fn parent(&mut self, path: &str) -> &mut Znode {
        let path = if path.is_empty() { "/" } else { path };
        self.nodes.get_mut(path).expect("a znode has a parent")
    }

    /// Takes a znode out, whatever it is.
    pub(super) fn remove(&mut self, at: At, path: &str) {
        let (above, _) = path.rsplit_once('/').expect("a path has a slash");
        self.changes(path);
        self.changes(above);
        self.take(path);
        let parent = self.parent(above);
        parent.stat.num_children -= 1;
        parent.stat.cversion += 1;
        parent.stat.pzxid = at.zxid;
    }

    /// A multi begins: what changes from now on may be undone.
    pub(super) fn begin(&mut self) {
        self.changed = Some(Vec::new());
    }

    /// What has changed since a multi began stays.
    pub(super) fn keep(&mut self) {
        self.changed = None;
    }

    /// A znode is about to change.
    pub(super) fn changes(&mut self, path: &str) {
        if let Some(changed) = &mut self.changed {
            let path = if path.is_empty() { "/" } else { path };
            let before = self.nodes.get(path).map(|node| Znode {
                data: node.data.clone(),
                acl: node.acl.clone(),
                children: Default::default(),
                ..*node
            });
            changed.push((path.to_owned(), before));
        }
    }

    /// Undoes what has changed since a multi began.
    pub(super) fn undo(&mut self) {
        for (path, before) in self.changed.take().into_iter().flatten().rev() {
            match (before, self.nodes.get_mut(&path)) {
                (Some(before), Some(now)) => {
                    let children = std::mem::take(&mut now.children);
                    *now = Znode { children, ..before };
                }
                (Some(before), None) => self.put(path, before),
                (None, Some(_)) => self.take(&path),
                (None, None) => {}
            }
        }
    }

    /// Puts a znode below its parent, of which nothing else changes.
    pub(super) fn put(&mut self, path: String, node: Znode) {
        if node.stat.ephemeral_owner != SessionId::NONE {
            self.owned.entry(node.stat.ephemeral_owner).or_default().insert(path.clone());
        }
        let (above, name) = path.rsplit_once('/').expect("a path has a slash");
        self.parent(above).children.insert(name.to_owned());
        self.nodes.insert(path, node);
    }

    /// Takes a znode out from below its parent, of which nothing else changes.
    fn take(&mut self, path: &str) {
        let Some(node) = self.nodes.remove(path) else { return };
        if let Some(owned) = self.owned.get_mut(&node.stat.ephemeral_owner) {
            owned.remove(path);
            if owned.is_empty() {
                self.owned.remove(&node.stat.ephemeral_owner);
            }
        }
        let (above, name) = path.rsplit_once('/').expect("a path has a slash");
        self.parent(above).children.remove(name);
    }
}
