//! What writes do.
//!
//! The order of the checks is that of a real ZooKeeper, as it decides which of several errors is told.

use super::access::Asker;
use super::znodes::{At, Removable, Znode, Znodes};
use std::collections::BTreeSet;
use zk_api::{
    AclList, CreateMode, Data, ErrorCode, MultiOutcome, Op, OpResult, Perms, Request, Response, SessionId,
    Stat, StatFields,
};

/// 40 bits of milliseconds.
const TTL_MOST: i64 = (1 << 40) - 1;

/// A write of an open session, as far as it changes znodes: all but `CloseSession`.
pub(super) struct Write<'a> {
    pub(super) znodes: &'a mut Znodes,
    pub(super) at: At,
    pub(super) asker: Asker<'a>,
}

impl Write<'_> {
    pub(super) fn execute(&mut self, request: &Request) -> Result<Response, ErrorCode> {
        match request {
            Request::Create { path, data, acl, mode, stat } => {
                let (path, made) = self.create(path, data, acl, *mode)?;
                Ok(Response::Created { path: path.into(), stat: stat.then_some(made) })
            }
            Request::Delete { path, version } => self.delete(path, *version).map(|()| Response::Deleted),
            Request::SetData { path, data, version } => {
                self.set_data(path, data, *version).map(Response::DataSet)
            }
            Request::SetAcl { path, acl, version } => self.set_acl(path, acl, *version).map(Response::AclSet),
            Request::Multi { ops } => self.multi(ops).map(Response::Multi),
            _ => panic!("{} changes nothing", request.name()),
        }
    }

    fn create(
        &mut self,
        path: &str,
        data: &Data,
        acl: &AclList,
        mode: CreateMode,
    ) -> Result<(String, Stat), ErrorCode> {
        if mode.ttl_ms().is_some_and(|ttl| !(1..=TTL_MOST).contains(&ttl)) {
            return Err(ErrorCode::BadArguments);
        }
        let above = above(path).ok_or(ErrorCode::BadArguments)?.to_owned();
        let acl = self.asker.kept(acl)?;
        let parent = self.znodes.find(&above)?;
        self.asker.may(Perms::CREATE, &parent.acl)?;
        let mut path = path.to_owned();
        if mode.is_sequential() {
            path.push_str(&format!("{:010}", parent.counter));
        }
        if !is_good(&path) {
            return Err(ErrorCode::BadArguments);
        }
        if self.znodes.nodes.contains_key(&path) {
            return Err(ErrorCode::NodeExists);
        }
        if parent.stat.ephemeral_owner != SessionId::NONE {
            return Err(ErrorCode::NoChildrenForEphemerals);
        }
        let owner = if mode.is_ephemeral() { self.asker.session } else { SessionId::NONE };
        let stat = StatFields {
            czxid: self.at.zxid,
            mzxid: self.at.zxid,
            pzxid: self.at.zxid,
            ctime_ms: self.at.time_ms,
            mtime_ms: self.at.time_ms,
            ephemeral_owner: owner,
            data_length: data.bytes().len() as u32,
            ..StatFields::default()
        };
        let removable = match mode.ttl_ms() {
            Some(ttl_ms) => Removable::Unchanged(ttl_ms),
            None if mode == CreateMode::Container => Removable::Childless,
            None => Removable::Never,
        };
        let node = Znode { data: data.clone(), acl, stat, removable, counter: 0, children: BTreeSet::new() };
        self.znodes.changes(&above);
        self.znodes.changes(&path);
        self.znodes.put(path.clone(), node);
        let parent = self.znodes.parent(&above);
        // Children are counted no further than that, and the version is made of that count.
        let counts = parent.counter < i32::MAX;
        parent.counter += i32::from(counts);
        parent.stat.num_children += 1;
        parent.stat.cversion = parent.stat.cversion.wrapping_add(if counts { 1 } else { -1 });
        parent.stat.pzxid = self.at.zxid;
        Ok((path, stat.into()))
    }

    fn delete(&mut self, path: &str, version: i32) -> Result<(), ErrorCode> {
        if matches!(path, "/" | "/zookeeper" | "/zookeeper/quota" | "/zookeeper/config") {
            return Err(ErrorCode::BadArguments);
        }
        let parent = self.znodes.find(above(path).ok_or(ErrorCode::BadArguments)?)?;
        self.asker.may(Perms::DELETE, &parent.acl)?;
        let node = self.znodes.find(path)?;
        check_version(version, node.stat.version)?;
        if !node.children.is_empty() {
            return Err(ErrorCode::NotEmpty);
        }
        self.znodes.remove(self.at, path);
        Ok(())
    }

    fn set_data(&mut self, path: &str, data: &Data, version: i32) -> Result<Stat, ErrorCode> {
        if !is_good(path) {
            return Err(ErrorCode::BadArguments);
        }
        let node = self.znodes.nodes.get(path).ok_or(ErrorCode::NoNode)?;
        self.asker.may(Perms::WRITE, &node.acl)?;
        check_version(version, node.stat.version)?;
        self.znodes.changes(path);
        let node = self.znodes.nodes.get_mut(path).expect("it is there");
        node.data = data.clone();
        node.stat.version += 1;
        node.stat.mzxid = self.at.zxid;
        node.stat.mtime_ms = self.at.time_ms;
        node.stat.data_length = data.bytes().len() as u32;
        Ok(node.stat.into())
    }

    fn set_acl(&mut self, path: &str, acl: &AclList, version: i32) -> Result<Stat, ErrorCode> {
        if !is_good(path) {
            return Err(ErrorCode::BadArguments);
        }
        let acl = self.asker.kept(acl)?;
        let node = self.znodes.nodes.get_mut(path).ok_or(ErrorCode::NoNode)?;
        self.asker.may(Perms::ADMIN, &node.acl)?;
        check_version(version, node.stat.aversion)?;
        node.acl = acl;
        node.stat.aversion += 1;
        Ok(node.stat.into())
    }

    fn check(&self, path: &str, version: i32) -> Result<(), ErrorCode> {
        if !is_good(path) {
            return Err(ErrorCode::BadArguments);
        }
        let node = self.znodes.find(path)?;
        self.asker.may(Perms::READ, &node.acl)?;
        check_version(version, node.stat.version)
    }

    /// Each operation finds what the ones before it did; one that fails undoes them all.
    fn multi(&mut self, ops: &[Op]) -> Result<MultiOutcome, ErrorCode> {
        self.znodes.begin();
        let mut results = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            match self.op(op) {
                Ok(result) => results.push(result),
                Err(code) => {
                    self.znodes.undo();
                    if code == ErrorCode::MarshallingError {
                        return Err(code);
                    }
                    let codes = (0..ops.len()).map(|i| match i.cmp(&index) {
                        std::cmp::Ordering::Less => None,
                        std::cmp::Ordering::Equal => Some(code),
                        std::cmp::Ordering::Greater => Some(ErrorCode::RuntimeInconsistency),
                    });
                    return Ok(MultiOutcome::Failed(codes.collect()));
                }
            }
        }
        self.znodes.keep();
        Ok(MultiOutcome::Applied(results))
    }

    fn op(&mut self, op: &Op) -> Result<OpResult, ErrorCode> {
        match op {
            Op::Create { path, data, acl, mode, stat } => {
                let (path, made) = self.create(path, data, acl, *mode)?;
                Ok(OpResult::Created { path: path.into(), stat: stat.then_some(made) })
            }
            Op::Delete { path, version } => self.delete(path, *version).map(|()| OpResult::Deleted),
            Op::SetData { path, data, version } => self.set_data(path, data, *version).map(OpResult::DataSet),
            Op::Check { path, version } => self.check(path, *version).map(|()| OpResult::Checked),
        }
    }
}

/// What stands before the last slash of a path, if there is one; empty for the root's children.
fn above(path: &str) -> Option<&str> {
    if path.contains('\0') { None } else { path.rfind('/').map(|slash| &path[..slash]) }
}

fn check_version(expected: i32, found: i32) -> Result<(), ErrorCode> {
    if expected == -1 || expected == found { Ok(()) } else { Err(ErrorCode::BadVersion) }
}

/// Whether a path is one that a server lets in.
fn is_good(path: &str) -> bool {
    let Some(names) = path.strip_prefix('/') else { return false };
    let refused = |c: char| {
        let c = c as u32;
        c <= 0x1f || (0x7f..=0x9f).contains(&c) || (0xe000..=0xf8ff).contains(&c) || c >= 0xfff0
    };
    names.is_empty()
        || names.split('/').all(|name| !matches!(name, "" | "." | "..") && !name.contains(refused))
}
