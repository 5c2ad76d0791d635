//! A naive tree for comparison: plain maps, requests applied as they are, nothing shared with the real one
//! but ZooKeeper's vocabulary. A failed multi puts back a copy of everything.

use std::collections::BTreeMap;
use zk_api::*;

/// A znode as its Stat tells of it, and what the Stat does not tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    pub data: Data,
    pub acl: Vec<Acl>,
    pub stat: StatFields,
    /// How many children it ever had.
    pub ever: i32,
    pub container: bool,
    pub ttl_ms: Option<i64>,
}

/// The znodes by path, and the clock.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    pub nodes: BTreeMap<String, Plain>,
    pub zxid: Zxid,
    pub now_ms: i64,
}

type Outcome = Result<Response, ErrorCode>;

impl Reference {
    pub fn new() -> Reference {
        let mut reference = Reference::default();
        for path in ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"] {
            let node = Plain {
                data: Data::from(""),
                acl: open_acl().to_vec(),
                stat: StatFields::default(),
                ever: 0,
                container: false,
                ttl_ms: None,
            };
            reference.nodes.insert(path.to_owned(), node);
        }
        let root = reference.nodes.get_mut("/").unwrap();
        root.stat.cversion = -1;
        root.stat.num_children = 1;
        let system = reference.nodes.get_mut("/zookeeper").unwrap();
        system.stat.cversion = -2;
        system.stat.num_children = 2;
        let config = reference.nodes.get_mut("/zookeeper/config").unwrap();
        config.acl = read_acl().to_vec();
        config.stat.aversion = -1;
        reference
    }

    pub fn children(&self, path: &str) -> Vec<String> {
        let parent = |p: &str| p.rsplit_once('/').map(|(a, _)| if a.is_empty() { "/" } else { a }.to_owned());
        let below = self.nodes.keys().filter(|p| p.len() > 1 && parent(p).as_deref() == Some(path));
        below.map(|p| p.rsplit('/').next().unwrap().to_owned()).collect()
    }

    /// What a write does, as the request of its own zxid.
    pub fn write(&mut self, who: SessionId, ids: &[Identity], request: &Request) -> Outcome {
        self.zxid = self.zxid.next();
        match request {
            Request::Create { path, data, acl, mode, stat } => {
                let made = self.create(who, ids, path, data, acl, *mode)?;
                let stat = stat.then(|| self.nodes[&made].stat.into());
                Ok(Response::Created { path: made.into(), stat })
            }
            Request::Delete { path, version } => self.delete(ids, path, *version).map(|()| Response::Deleted),
            Request::SetData { path, data, version } => {
                self.set(ids, path, data, *version).map(Response::DataSet)
            }
            Request::SetAcl { path, acl, version } => {
                let bad = path.len() > 1 && path.ends_with('/') || !path.starts_with('/');
                if bad {
                    return Err(ErrorCode::BadArguments);
                }
                let acl = expand(acl, ids)?;
                let node = self.nodes.get_mut(&**path).ok_or(ErrorCode::NoNode)?;
                may(node, 'a', ids)?;
                if *version != -1 && *version != node.stat.aversion {
                    return Err(ErrorCode::BadVersion);
                }
                node.acl = acl;
                node.stat.aversion += 1;
                Ok(Response::AclSet(node.stat.into()))
            }
            Request::Multi { ops } => Ok(Response::Multi(self.multi(who, ids, ops))),
            Request::CloseSession => {
                let mine: Vec<String> = self.ephemerals(who);
                for path in mine {
                    self.unlink(&path);
                }
                Ok(Response::Closed)
            }
            other => panic!("{other:?} is no write"),
        }
    }

    pub fn ephemerals(&self, who: SessionId) -> Vec<String> {
        self.nodes.iter().filter(|(_, n)| n.stat.ephemeral_owner == who).map(|(p, _)| p.clone()).collect()
    }

    /// The containers and TTL znodes whose time has come.
    pub fn expired(&self) -> Vec<String> {
        let due = |n: &Plain| {
            (n.container && n.ever > 0) || n.ttl_ms.is_some_and(|ttl| self.now_ms - n.stat.mtime_ms > ttl)
        };
        let gone = self.nodes.iter().filter(|(_, n)| n.stat.num_children == 0 && due(n));
        gone.map(|(p, _)| p.clone()).collect()
    }

    /// Takes a znode out and tells its parent.
    pub fn unlink(&mut self, path: &str) {
        self.nodes.remove(path).expect("a znode to remove");
        let zxid = self.zxid;
        let parent = self.parent(path).expect("a parent");
        parent.stat.cversion += 1;
        parent.stat.num_children -= 1;
        parent.stat.pzxid = zxid;
    }

    fn parent(&mut self, path: &str) -> Option<&mut Plain> {
        let cut = path.rfind('/')?;
        self.nodes.get_mut(if cut == 0 { "/" } else { &path[..cut] })
    }

    fn create(
        &mut self,
        who: SessionId,
        ids: &[Identity],
        path: &str,
        data: &Data,
        acl: &AclList,
        mode: CreateMode,
    ) -> Result<String, ErrorCode> {
        let ttl_ms = match mode {
            CreateMode::PersistentTtl(ms) | CreateMode::PersistentSequentialTtl(ms) => Some(ms),
            _ => None,
        };
        if ttl_ms.is_some_and(|ms| ms < 1 || ms >> 40 > 0) || !path.contains('/') {
            return Err(ErrorCode::BadArguments);
        }
        let acl = expand(acl, ids)?;
        let (zxid, now_ms) = (self.zxid, self.now_ms);
        let parent = self.parent(path).ok_or(ErrorCode::NoNode)?;
        may(parent, 'c', ids)?;
        let (ever, is_ephemeral_parent) = (parent.ever, parent.stat.ephemeral_owner != SessionId::NONE);
        let numbered = matches!(
            mode,
            CreateMode::PersistentSequential
                | CreateMode::EphemeralSequential
                | CreateMode::PersistentSequentialTtl(_)
        );
        let full = if numbered { format!("{path}{ever:010}") } else { path.to_owned() };
        if full.len() > 1 && full.ends_with('/') || full.contains("//") {
            return Err(ErrorCode::BadArguments);
        }
        if self.nodes.contains_key(&full) {
            return Err(ErrorCode::NodeExists);
        }
        if is_ephemeral_parent {
            return Err(ErrorCode::NoChildrenForEphemerals);
        }
        let parent = self.parent(path).expect("it was there just now");
        parent.ever += 1;
        parent.stat.cversion += 1;
        parent.stat.num_children += 1;
        parent.stat.pzxid = zxid;
        let mine = matches!(mode, CreateMode::Ephemeral | CreateMode::EphemeralSequential);
        let stat = StatFields {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: now_ms,
            mtime_ms: now_ms,
            ephemeral_owner: if mine { who } else { SessionId::NONE },
            data_length: data.bytes().len() as u32,
            ..StatFields::default()
        };
        let container = mode == CreateMode::Container;
        let node = Plain { data: data.clone(), acl, stat, ever: 0, container, ttl_ms };
        self.nodes.insert(full.clone(), node);
        Ok(full)
    }

    fn delete(&mut self, ids: &[Identity], path: &str, version: i32) -> Result<(), ErrorCode> {
        if path == "/" || path == "/zookeeper" || !path.contains('/') {
            return Err(ErrorCode::BadArguments);
        }
        may(self.parent(path).ok_or(ErrorCode::NoNode)?, 'd', ids)?;
        let node = self.nodes.get(path).ok_or(ErrorCode::NoNode)?;
        if version != -1 && version != node.stat.version {
            return Err(ErrorCode::BadVersion);
        }
        if node.stat.num_children > 0 {
            return Err(ErrorCode::NotEmpty);
        }
        self.unlink(path);
        Ok(())
    }

    fn set(&mut self, ids: &[Identity], path: &str, data: &Data, version: i32) -> Result<Stat, ErrorCode> {
        let (zxid, now_ms) = (self.zxid, self.now_ms);
        let node = self.versioned(ids, path, version, 'w')?;
        node.data = data.clone();
        node.stat.version += 1;
        node.stat.mzxid = zxid;
        node.stat.mtime_ms = now_ms;
        node.stat.data_length = data.bytes().len() as u32;
        Ok(node.stat.into())
    }

    fn versioned(
        &mut self,
        ids: &[Identity],
        path: &str,
        version: i32,
        perm: char,
    ) -> Result<&mut Plain, ErrorCode> {
        if path.len() > 1 && path.ends_with('/') || !path.starts_with('/') {
            return Err(ErrorCode::BadArguments);
        }
        let node = self.nodes.get_mut(path).ok_or(ErrorCode::NoNode)?;
        may(node, perm, ids)?;
        if version != -1 && version != node.stat.version { Err(ErrorCode::BadVersion) } else { Ok(node) }
    }

    fn multi(&mut self, who: SessionId, ids: &[Identity], ops: &[Op]) -> MultiOutcome {
        let before = self.nodes.clone();
        let mut results = Vec::new();
        for op in ops {
            let result = match op {
                Op::Create { path, data, acl, mode, stat } => {
                    self.create(who, ids, path, data, acl, *mode).map(|made| {
                        let stat = if *stat { Some(self.nodes[&made].stat.into()) } else { None };
                        OpResult::Created { path: made.into(), stat }
                    })
                }
                Op::Delete { path, version } => self.delete(ids, path, *version).map(|()| OpResult::Deleted),
                Op::SetData { path, data, version } => {
                    self.set(ids, path, data, *version).map(OpResult::DataSet)
                }
                Op::Check { path, version } => {
                    self.versioned(ids, path, *version, 'r').map(|_| OpResult::Checked)
                }
            };
            match result {
                Ok(result) => results.push(result),
                Err(code) => {
                    self.nodes = before;
                    let mut codes = vec![Some(ErrorCode::RuntimeInconsistency); ops.len()];
                    codes[..results.len()].fill(None);
                    codes[results.len()] = Some(code);
                    return MultiOutcome::Failed(codes);
                }
            }
        }
        MultiOutcome::Applied(results)
    }
}

/// The generated lists know `world:anyone`, `auth:` and digests.
fn expand(acl: &[Acl], ids: &[Identity]) -> Result<Vec<Acl>, ErrorCode> {
    let mut out = Vec::new();
    for entry in acl {
        if &*entry.who.scheme != "auth" {
            out.push(entry.clone());
            continue;
        }
        let digests: Vec<_> = ids.iter().filter(|id| &*id.scheme == "digest").collect();
        if digests.is_empty() {
            return Err(ErrorCode::InvalidAcl);
        }
        out.extend(digests.into_iter().map(|id| Acl { perms: entry.perms, who: id.clone() }));
    }
    if out.is_empty() { Err(ErrorCode::InvalidAcl) } else { Ok(out) }
}

fn may(node: &Plain, perm: char, ids: &[Identity]) -> Result<(), ErrorCode> {
    let known = |who: &Identity| *who == Identity::new("world", "anyone") || ids.contains(who);
    let granted = node.acl.iter().any(|a| format!("{:?}", a.perms).contains(perm) && known(&a.who));
    if granted || ids.contains(&Identity::new("super", "")) { Ok(()) } else { Err(ErrorCode::NoAuth) }
}
