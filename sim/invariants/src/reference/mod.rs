//! The reference: a naive tree that executes *requests*, one after the other, on plain maps.
//!
//! It is written from what a real ZooKeeper was measured to do, and shares no code with the server's tree, its
//! transactions, its access control or its reads.

mod access;
mod compare;
mod reads;
mod undo;
mod writes;

pub use access::{Asker, proves};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{AclList, Data, ErrorCode, Identity, Request, Response, SessionId, Stat, StatFields, Zxid};

/// The naive tree.
#[derive(Clone, Debug)]
pub struct Reference {
    nodes: BTreeMap<String, Znode>,
    sessions: BTreeSet<SessionId>,
    /// The paths of the ephemerals of each session that has any.
    owned: BTreeMap<SessionId, BTreeSet<String>>,
    /// What a multi has changed so far, and how that was before.
    changed: Option<Vec<undo::Before>>,
    /// The last transaction.
    pub zxid: Zxid,
}

#[derive(Clone, Debug)]
struct Znode {
    data: Data,
    acl: AclList,
    stat: StatFields,
    removable: Removable,
    /// Children that were ever created.
    counter: i32,
    children: BTreeSet<String>,
}

/// Whether the server may remove a znode by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Removable {
    Never,
    /// A container, when its last child is gone.
    Childless,
    /// Childless, and not changed for longer than so many milliseconds.
    Unchanged(i64),
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

impl Default for Reference {
    fn default() -> Reference {
        Reference::new()
    }
}

impl Reference {
    /// The tree of a new ensemble: the root, and what ZooKeeper keeps for itself, neither of which counts as
    /// created.
    pub fn new() -> Reference {
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
        Reference {
            nodes: [
                ("/".to_owned(), root),
                ("/zookeeper".to_owned(), keeps),
                ("/zookeeper/config".to_owned(), config),
                ("/zookeeper/quota".to_owned(), system),
            ]
            .into(),
            sessions: BTreeSet::new(),
            owned: BTreeMap::new(),
            changed: None,
            zxid: Zxid::ZERO,
        }
    }

    /// Executes a write. Gives the answer.
    pub fn write(
        &mut self,
        zxid: Zxid,
        time_ms: i64,
        asker: Asker<'_>,
        request: &Request,
    ) -> Result<Response, ErrorCode> {
        self.zxid = zxid;
        self.execute(At { zxid, time_ms }, asker, request)
    }

    /// Executes a write that cannot be read: nothing but the zxid changes.
    pub fn refuse(&mut self, zxid: Zxid, code: ErrorCode) -> Result<Response, ErrorCode> {
        self.zxid = zxid;
        Err(code)
    }

    /// Whether a session is open.
    pub fn is_open(&self, session: SessionId) -> bool {
        self.sessions.contains(&session)
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
                let fits = self.nodes.get(path).is_some_and(|node| {
                    let due = match node.removable {
                        Removable::Never => false,
                        Removable::Childless => node.counter > 0,
                        Removable::Unchanged(ttl_ms) => time_ms - node.stat.mtime_ms > ttl_ms,
                    };
                    due && node.children.is_empty()
                });
                if !fits {
                    return Err(format!("the server removed {path}, which is not its to remove"));
                }
                self.remove(At { zxid, time_ms }, path);
            }
        }
        Ok(())
    }

    /// The Stat of a znode.
    pub fn stat(&self, path: &str) -> Option<Stat> {
        self.find(path).ok().map(|node| node.stat.into())
    }

    /// Who may read a znode, if there is one and not everybody may.
    pub fn private(&self, path: &str) -> Option<&AclList> {
        self.find(path).ok().map(|node| &node.acl).filter(|acl| !Reference::is_readable_by(&[], acl))
    }

    /// Whether who has proven this may read what has this list.
    pub fn is_readable_by(proven: &[Identity], acl: &AclList) -> bool {
        Asker { session: SessionId::NONE, proven }.may(zk_api::Perms::READ, acl).is_ok()
    }

    /// The paths of a session's ephemerals.
    pub fn owned(&self, session: SessionId) -> impl Iterator<Item = &str> {
        self.owned.get(&session).into_iter().flatten().map(String::as_str)
    }

    fn find(&self, path: &str) -> Result<&Znode, ErrorCode> {
        // The empty path is the root's other name.
        let path = if path.is_empty() { "/" } else { path };
        self.nodes.get(path).ok_or(ErrorCode::NoNode)
    }
}
