//! The reference: a naive tree that executes *requests*, one after the other, on plain maps.
//!
//! It is written from what a real ZooKeeper was measured to do, and shares no code with the server's tree, its
//! transactions or its reads. ACLs are judged as far as they are `world:anyone`'s; where others come in, the
//! reference gives no opinion any more.

mod reads;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use zk_api::{AclList, Data, ErrorCode, Perms, Request, Response, SessionId, Stat, Zxid};
use zk_proto::tree::DataTree;

/// The naive tree.
#[derive(Clone, Debug)]
pub struct Reference {
    nodes: BTreeMap<String, Znode>,
    sessions: BTreeSet<SessionId>,
    /// The last transaction.
    pub zxid: Zxid,
    /// An ACL has come in that this does not understand.
    unsure: bool,
}

#[derive(Clone, Debug)]
struct Znode {
    data: Data,
    acl: AclList,
    stat: Stat,
    /// Container, TTL or neither.
    removable: bool,
    /// Children that were ever created.
    counter: i32,
    children: BTreeSet<String>,
}

/// A change that is not a request's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own<'a> {
    /// A session begins.
    Open(SessionId),
    /// A session expires.
    Expire(SessionId),
    /// The server removes a container or a TTL znode.
    Remove(&'a str),
}

/// When a transaction is, in both kinds of time.
#[derive(Clone, Copy, Debug)]
struct At {
    zxid: Zxid,
    time_ms: i64,
}

impl Reference {
    /// The tree of a new ensemble: the root, and what ZooKeeper keeps for itself, neither of which counts as
    /// created.
    pub fn new() -> Reference {
        let system = Znode {
            data: Data::from(""),
            acl: zk_api::open_acl(),
            stat: Stat::default(),
            removable: false,
            counter: 0,
            children: BTreeSet::new(),
        };
        let mut root = system.clone();
        root.children.insert("zookeeper".to_owned());
        root.stat.num_children = 1;
        root.stat.cversion = -1;
        Reference {
            nodes: [("/".to_owned(), root), ("/zookeeper".to_owned(), system)].into(),
            sessions: BTreeSet::new(),
            zxid: Zxid::ZERO,
            unsure: false,
        }
    }

    /// Executes a write. Gives the answer, or `None` where there is no opinion.
    pub fn write(
        &mut self,
        zxid: Zxid,
        time_ms: i64,
        session: SessionId,
        request: &Request,
    ) -> Option<Result<Response, ErrorCode>> {
        self.zxid = zxid;
        let answer = self.execute(At { zxid, time_ms }, session, request);
        (!self.unsure).then_some(answer)
    }

    /// Executes a change of the server's own. Fails with what is wrong with it.
    pub fn own(&mut self, zxid: Zxid, time_ms: i64, own: Own<'_>) -> Result<(), String> {
        self.zxid = zxid;
        match own {
            Own::Open(session) => {
                if !self.sessions.insert(session) {
                    return Err(format!("{session} was opened twice"));
                }
            }
            Own::Expire(session) => {
                if !self.sessions.contains(&session) {
                    return Err(format!("{session} expired but was not open"));
                }
                self.close(At { zxid, time_ms }, session);
            }
            Own::Remove(path) => {
                let fits =
                    self.nodes.get(path).is_some_and(|node| node.removable && node.children.is_empty());
                if !fits {
                    return Err(format!("the server removed {path}, which is not its to remove"));
                }
                self.remove(At { zxid, time_ms }, path);
            }
        }
        Ok(())
    }

    /// What a request that changes nothing finds now. `None` where there is no opinion.
    pub fn read(&self, session: SessionId, request: &Request) -> Option<Result<Response, ErrorCode>> {
        if self.unsure { None } else { self.look(session, request) }
    }

    /// The Stat of a znode.
    pub fn stat(&self, path: &str) -> Option<Stat> {
        self.find(path).ok().map(|node| node.stat)
    }

    /// The first difference to a server's tree, if there is any.
    pub fn difference(&self, tree: &DataTree) -> Option<String> {
        if self.unsure {
            return None;
        }
        if tree.last_zxid() != self.zxid {
            return Some(format!("the tree is at {}, the reference at {}", tree.last_zxid(), self.zxid));
        }
        for (path, node) in tree.nodes() {
            let Some(mine) = self.nodes.get(&**path) else { return Some(format!("{path} should not be")) };
            if tree.stat(path) != Some(mine.stat) {
                return Some(format!("{path} is {:?}, should be {:?}", tree.stat(path), mine.stat));
            }
            if node.data != mine.data || node.acl != mine.acl {
                return Some(format!("{path} has other data or another ACL than it should have"));
            }
        }
        let missing = self.nodes.keys().find(|path| tree.node(path).is_none());
        missing.map(|path| format!("{path} is missing"))
    }

    fn find(&self, path: &str) -> Result<&Znode, ErrorCode> {
        // The empty path is the root's other name.
        let path = if path.is_empty() { "/" } else { path };
        self.nodes.get(path).ok_or(ErrorCode::NoNode)
    }

    /// Whether everybody may do any of these with a znode.
    fn allow(node: &Znode, any_of: Perms) -> Result<(), ErrorCode> {
        let allowed = node.acl.iter().any(|acl| acl.perms.0 & any_of.0 != 0);
        if allowed { Ok(()) } else { Err(ErrorCode::NoAuth) }
    }
}
