//! The reference: a naive tree that executes *requests*, one after the other, on plain maps.
//!
//! It is written from what a real ZooKeeper was measured to do, and shares no code with the server's tree, its
//! transactions, its access control or its reads.

mod access;
pub mod compare;
mod reads;
mod writes;
mod znodes;

pub use access::{Asker, proves};
use std::collections::BTreeSet;
use writes::Write;
use zk_api::{AclList, ErrorCode, Identity, Request, Response, SessionId, Stat, Text, Zxid};
use znodes::{At, Removable, Znodes};

/// The naive tree.
#[derive(Clone, Debug)]
pub struct Reference {
    znodes: Znodes,
    sessions: BTreeSet<SessionId>,
    /// The last transaction.
    pub zxid: Zxid,
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

impl Default for Reference {
    fn default() -> Reference {
        Reference::new()
    }
}

impl Reference {
    /// The tree of a new ensemble: the root, and what ZooKeeper keeps for itself, neither of which counts as
    /// created.
    pub fn new() -> Reference {
        Reference { znodes: Znodes::new(), sessions: BTreeSet::new(), zxid: Zxid::ZERO }
    }

    /// The same with these znodes, parents first, each with how many children it is said to have had.
    pub fn beginning_with(znodes: &[(Text, i32)]) -> Reference {
        let mut reference = Reference::new();
        znodes.iter().for_each(|(path, counter)| reference.znodes.begins_with(path, *counter));
        reference
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
        let at = At { zxid, time_ms };
        if !self.is_open(asker.session) {
            return Err(ErrorCode::SessionExpired);
        }
        if matches!(request, Request::CloseSession) {
            self.close(at, asker.session);
            return Ok(Response::Closed);
        }
        Write { znodes: &mut self.znodes, at, asker }.execute(request)
    }

    /// What a request that changes nothing finds now. `None` where that depends on the watches there are.
    pub fn read(&self, asker: Asker<'_>, request: &Request) -> Option<Result<Response, ErrorCode>> {
        reads::read(&self.znodes, asker, request)
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
                let fits = self.znodes.nodes.get(path).is_some_and(|node| {
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
                self.znodes.remove(At { zxid, time_ms }, path);
            }
        }
        Ok(())
    }

    /// All ephemerals of a session go with it, in one transaction.
    fn close(&mut self, at: At, session: SessionId) {
        self.sessions.remove(&session);
        let owned: Vec<String> = self.owned(session).map(str::to_owned).collect();
        for path in owned {
            self.znodes.remove(at, &path);
        }
    }

    /// The Stat of a znode.
    pub fn stat(&self, path: &str) -> Option<Stat> {
        self.znodes.find(path).ok().map(|node| node.stat.into())
    }

    /// Who may read a znode, if there is one and not everybody may.
    pub fn private(&self, path: &str) -> Option<&AclList> {
        self.znodes.find(path).ok().map(|node| &node.acl).filter(|acl| !Reference::is_readable_by(&[], acl))
    }

    /// Whether who has proven this may read what has this list.
    pub fn is_readable_by(proven: &[Identity], acl: &AclList) -> bool {
        Asker { session: SessionId::NONE, proven }.may(zk_api::Perms::READ, acl).is_ok()
    }

    /// The paths of a session's ephemerals.
    pub fn owned(&self, session: SessionId) -> impl Iterator<Item = &str> {
        self.znodes.owned(session)
    }
}

#[cfg(test)]
mod tests;
