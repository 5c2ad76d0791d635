//! What writes do.
//!
//! The order of the checks is that of a real ZooKeeper, as it decides which of several errors is told.

use super::{Asker, At, Reference, Removable, Znode};
use std::collections::BTreeSet;
use zk_api::{
    AclList, CreateMode, Data, ErrorCode, MultiOutcome, Op, OpResult, Perms, Request, Response, SessionId,
    Stat, StatFields,
};

/// 40 bits of milliseconds.
const TTL_MOST: i64 = (1 << 40) - 1;

impl Reference {
    pub(super) fn execute(
        &mut self,
        at: At,
        asker: Asker<'_>,
        request: &Request,
    ) -> Result<Response, ErrorCode> {
        if !self.sessions.contains(&asker.session) {
            return Err(ErrorCode::SessionExpired);
        }
        match request {
            Request::Create { path, data, acl, mode, stat } => {
                let (path, made) = self.create(at, asker, path, data, acl, *mode)?;
                Ok(Response::Created { path: path.into(), stat: stat.then_some(made) })
            }
            Request::Delete { path, version } => {
                self.delete(at, asker, path, *version).map(|()| Response::Deleted)
            }
            Request::SetData { path, data, version } => {
                self.set_data(at, asker, path, data, *version).map(Response::DataSet)
            }
            Request::SetAcl { path, acl, version } => {
                self.set_acl(asker, path, acl, *version).map(Response::AclSet)
            }
            Request::Multi { ops } => self.multi(at, asker, ops).map(Response::Multi),
            Request::CloseSession => {
                self.close(at, asker.session);
                Ok(Response::Closed)
            }
            _ => panic!("{} changes nothing", request.name()),
        }
    }

    /// All ephemerals of a session go with it, in one transaction.
    pub(super) fn close(&mut self, at: At, session: SessionId) {
        self.sessions.remove(&session);
        let owned: Vec<String> = self.owned(session).map(str::to_owned).collect();
        for path in owned {
            self.remove(at, &path);
        }
    }

    fn create(
        &mut self,
        at: At,
        asker: Asker<'_>,
        path: &str,
        data: &Data,
        acl: &AclList,
        mode: CreateMode,
    ) -> Result<(String, Stat), ErrorCode> {
        if mode.ttl_ms().is_some_and(|ttl| !(1..=TTL_MOST).contains(&ttl)) {
            return Err(ErrorCode::BadArguments);
        }
        let above = above(path).ok_or(ErrorCode::BadArguments)?.to_owned();
        let acl = asker.kept(acl)?;
        let parent = self.find(&above)?;
        asker.may(Perms::CREATE, &parent.acl)?;
        let mut path = path.to_owned();
        if mode.is_sequential() {
            path.push_str(&format!("{:010}", parent.counter));
        }
        if !is_good(&path) {
            return Err(ErrorCode::BadArguments);
        }
        if self.nodes.contains_key(&path) {
            return Err(ErrorCode::NodeExists);
        }
        if parent.stat.ephemeral_owner != SessionId::NONE {
            return Err(ErrorCode::NoChildrenForEphemerals);
        }
        let owner = if mode.is_ephemeral() { asker.session } else { SessionId::NONE };
        let stat = StatFields {
            czxid: at.zxid,
            mzxid: at.zxid,
            pzxid: at.zxid,
            ctime_ms: at.time_ms,
            mtime_ms: at.time_ms,
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
        self.changes(&above);
        self.changes(&path);
        self.put(path.clone(), node);
        let parent = self.parent(&above);
        parent.counter += 1;
        parent.stat.num_children += 1;
        parent.stat.cversion += 1;
        parent.stat.pzxid = at.zxid;
        Ok((path, stat.into()))
    }

    pub(super) fn parent(&mut self, path: &str) -> &mut Znode {
        let path = if path.is_empty() { "/" } else { path };
        self.nodes.get_mut(path).expect("a znode has a parent")
    }

    fn delete(&mut self, at: At, asker: Asker<'_>, path: &str, version: i32) -> Result<(), ErrorCode> {
        if matches!(path, "/" | "/zookeeper" | "/zookeeper/quota" | "/zookeeper/config") {
            return Err(ErrorCode::BadArguments);
        }
        let parent = self.find(above(path).ok_or(ErrorCode::BadArguments)?)?;
        asker.may(Perms::DELETE, &parent.acl)?;
        let node = self.find(path)?;
        check_version(version, node.stat.version)?;
        if !node.children.is_empty() {
            return Err(ErrorCode::NotEmpty);
        }
        self.remove(at, path);
        Ok(())
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

    fn set_data(
        &mut self,
        at: At,
        asker: Asker<'_>,
        path: &str,
        data: &Data,
        version: i32,
    ) -> Result<Stat, ErrorCode> {
        if !is_good(path) {
            return Err(ErrorCode::BadArguments);
        }
        let node = self.nodes.get(path).ok_or(ErrorCode::NoNode)?;
        asker.may(Perms::WRITE, &node.acl)?;
        check_version(version, node.stat.version)?;
        self.changes(path);
        let node = self.nodes.get_mut(path).expect("it is there");
        node.data = data.clone();
        node.stat.version += 1;
        node.stat.mzxid = at.zxid;
        node.stat.mtime_ms = at.time_ms;
        node.stat.data_length = data.bytes().len() as u32;
        Ok(node.stat.into())
    }

    fn set_acl(
        &mut self,
        asker: Asker<'_>,
        path: &str,
        acl: &AclList,
        version: i32,
    ) -> Result<Stat, ErrorCode> {
        if !is_good(path) {
            return Err(ErrorCode::BadArguments);
        }
        let acl = asker.kept(acl)?;
        let node = self.nodes.get_mut(path).ok_or(ErrorCode::NoNode)?;
        asker.may(Perms::ADMIN, &node.acl)?;
        check_version(version, node.stat.aversion)?;
        node.acl = acl;
        node.stat.aversion += 1;
        Ok(node.stat.into())
    }

    fn check(&self, asker: Asker<'_>, path: &str, version: i32) -> Result<(), ErrorCode> {
        if !is_good(path) {
            return Err(ErrorCode::BadArguments);
        }
        let node = self.find(path)?;
        asker.may(Perms::READ, &node.acl)?;
        check_version(version, node.stat.version)
    }

    /// Each operation finds what the ones before it did; one that fails undoes them all.
    fn multi(&mut self, at: At, asker: Asker<'_>, ops: &[Op]) -> Result<MultiOutcome, ErrorCode> {
        self.changed = Some(Vec::new());
        let mut results = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            match self.op(at, asker, op) {
                Ok(result) => results.push(result),
                Err(code) => {
                    self.undo();
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
        self.changed = None;
        Ok(MultiOutcome::Applied(results))
    }

    fn op(&mut self, at: At, asker: Asker<'_>, op: &Op) -> Result<OpResult, ErrorCode> {
        match op {
            Op::Create { path, data, acl, mode, stat } => {
                let (path, made) = self.create(at, asker, path, data, acl, *mode)?;
                Ok(OpResult::Created { path: path.into(), stat: stat.then_some(made) })
            }
            Op::Delete { path, version } => {
                self.delete(at, asker, path, *version).map(|()| OpResult::Deleted)
            }
            Op::SetData { path, data, version } => {
                self.set_data(at, asker, path, data, *version).map(OpResult::DataSet)
            }
            Op::Check { path, version } => self.check(asker, path, *version).map(|()| OpResult::Checked),
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
