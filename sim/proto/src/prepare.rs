//! Requests become transactions, and reads become answers.
//!
//! The order of the checks of each request is ZooKeeper's, as it decides which of several errors is told.
//! Source: ZooKeeper 3.9, `PrepRequestProcessor` and `FinalRequestProcessor`, and measurements of a real one.
//!
//! ```
//! use zk_api::{CreateMode, Data, ErrorCode, Request, SessionId, open_acl};
//! use zk_proto::prepare::{Caller, TreeConfig, prepare};
//! use zk_proto::{order::NameOrder, tree::DataTree, txn::TxnBody};
//!
//! let config = TreeConfig { extended_types: true, order: NameOrder::Salted(0) };
//! let caller = Caller { session: SessionId::new(7), identities: &[] };
//! let (data, acl, mode) = (Data::NULL, open_acl(), CreateMode::PersistentSequential);
//! let create = Request::Create { path: "/n-".into(), data, acl, mode, stat: false };
//! let body = prepare(&DataTree::new(), &config, caller, &create);
//! assert!(matches!(body, TxnBody::Create { path, .. } if &*path == "/n-0000000000"));
//! let delete = Request::Delete { path: "/none".into(), version: -1 };
//! assert_eq!(prepare(&DataTree::new(), &config, caller, &delete), TxnBody::Error(ErrorCode::NoNode));
//! ```

pub mod acl;

use crate::order::{Listed, NameOrder};
use crate::tree::{DataTree, Node};
use crate::txn::{NodeKind, Txn, TxnBody};
use zk_api::{
    AclList, CreateMode, Data, ErrorCode, Identity, MultiOutcome, Op, OpResult, Perms, ReadOp, Request,
    Response, SessionId, Text, Zxid, split, validate,
};

/// The longest time to live, in milliseconds: 40 bits.
pub const TTL_MS_MAX: i64 = 0xff_ffff_ffff;

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The session.
    pub session: SessionId,
    /// Whom the server takes it for; `world:anyone` goes without saying.
    pub identities: &'a [Identity],
}

/// Switches that change what requests do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeConfig {
    /// Whether TTL znodes are known (`extendedTypesEnabled`).
    pub extended_types: bool,
    /// The unspecified order of names and events.
    pub order: NameOrder,
}

/// Works out what a write will do to `tree`, the tree as it will be when everything proposed so far is
/// applied. A request that fails gives `TxnBody::Error` or `TxnBody::MultiError`.
///
/// `CloseSession` lists the session's ephemerals. Panics if the request is not a write.
pub fn prepare(tree: &DataTree, config: &TreeConfig, caller: Caller<'_>, request: &Request) -> TxnBody {
    let asked = Asked { tree, config, caller };
    let prepared = match request {
        Request::Create { path, data, acl, mode, stat: _ } => asked.create(path, data, acl, *mode),
        Request::Delete { path, version } => asked.delete(path, *version),
        Request::SetData { path, data, version } => asked.set_data(path, data, *version),
        Request::SetAcl { path, acl, version } => asked.set_acl(path, acl, *version),
        Request::Multi { ops } => Ok(asked.multi(ops)),
        Request::CloseSession => Ok(close_session(tree, config, caller.session, false)),
        Request::Exists { .. }
        | Request::GetData { .. }
        | Request::GetChildren { .. }
        | Request::GetAcl { .. }
        | Request::Sync { .. }
        | Request::MultiRead { .. }
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::GetEphemerals { .. }
        | Request::GetAllChildrenNumber { .. }
        | Request::WhoAmI
        | Request::Auth { .. } => panic!("{} is not a write", request.name()),
    };
    prepared.unwrap_or_else(TxnBody::Error)
}

/// Answers a request that reads the tree only: exists, getData, getChildren, getACL, multiRead,
/// getEphemerals, getAllChildrenNumber. Watches are the caller's business (see
/// [`one_shot`](crate::watch::one_shot)). Panics on any other request.
///
/// Paths are not validated: one that cannot be is just not there.
pub fn read(
    tree: &DataTree,
    config: &TreeConfig,
    caller: Caller<'_>,
    request: &Request,
) -> Result<Response, ErrorCode> {
    let asked = Asked { tree, config, caller };
    match request {
        Request::Exists { path, watch: _ } if path.contains('\0') => Err(ErrorCode::BadArguments),
        // That a znode does not exist needs no permission to be seen. Measured on 3.9.3; before 3.9.2, neither
        // did that it exists.
        Request::Exists { path, watch: _ } => match asked.readable(path) {
            Ok(node) => Ok(Response::Exists(Some(node.stat()))),
            Err(ErrorCode::NoNode) => Ok(Response::Exists(None)),
            Err(code) => Err(code),
        },
        Request::GetData { path, watch: _ } => asked.get_data(path),
        Request::GetChildren { path, watch: _, stat } => asked.get_children(path, *stat),
        Request::GetAcl { path } => asked.get_acl(path),
        Request::MultiRead { ops } => {
            let outcomes = ops.iter().map(|op| match op {
                ReadOp::GetData { path } => asked.get_data(path),
                ReadOp::GetChildren { path } => asked.get_children(path, false),
            });
            Ok(Response::MultiRead(outcomes.collect()))
        }
        Request::GetEphemerals { prefix } => Ok(Response::Ephemerals(asked.ephemerals(prefix))),
        Request::GetAllChildrenNumber { path } => {
            asked.readable(path)?;
            Ok(Response::AllChildrenNumber(tree.count_below(path) as u32))
        }
        Request::Create { .. }
        | Request::Delete { .. }
        | Request::SetData { .. }
        | Request::SetAcl { .. }
        | Request::Sync { .. }
        | Request::Multi { .. }
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::WhoAmI
        | Request::Auth { .. }
        | Request::CloseSession => panic!("{} does not read the tree only", request.name()),
    }
}

/// Closes a session: its ephemerals in the unspecified order, in which their events will come as well.
pub fn close_session(tree: &DataTree, config: &TreeConfig, session: SessionId, expired: bool) -> TxnBody {
    let mut ephemerals: Vec<Text> = tree.ephemerals(session).cloned().collect();
    config.order.put(Listed::Ephemerals, &mut ephemerals, |path| made(tree, path));
    TxnBody::CloseSession { ephemerals, expired }
}

/// The transaction that made a znode, if it is there.
fn made(tree: &DataTree, path: &str) -> Zxid {
    tree.node(path).map_or(Zxid::ZERO, |node| node.czxid)
}

/// What `request` is told of what [applying](DataTree::apply) its transaction gave: without the Stats that it
/// did not ask for.
pub fn answer(request: &Request, mut result: Result<Response, ErrorCode>) -> Result<Response, ErrorCode> {
    match (request, &mut result) {
        (Request::Create { stat: false, .. }, Ok(Response::Created { stat, .. })) => *stat = None,
        (Request::Multi { ops }, Ok(Response::Multi(MultiOutcome::Applied(results)))) => {
            for (op, result) in ops.iter().zip(results) {
                if let (Op::Create { stat: false, .. }, OpResult::Created { stat, .. }) = (op, result) {
                    *stat = None;
                }
            }
        }
        _ => {}
    }
    result
}

/// A request, and what it is judged by.
#[derive(Clone, Copy)]
struct Asked<'a> {
    tree: &'a DataTree,
    config: &'a TreeConfig,
    caller: Caller<'a>,
}

impl<'a> Asked<'a> {
    fn node(&self, path: &str) -> Result<&'a Node, ErrorCode> {
        self.tree.node(path).ok_or(ErrorCode::NoNode)
    }

    fn permitted(&self, node: &Node, any_of: Perms) -> Result<(), ErrorCode> {
        acl::check(&node.acl, any_of, self.caller.identities)
    }

    fn create(
        &self,
        path: &Text,
        data: &Data,
        acl: &AclList,
        mode: CreateMode,
    ) -> Result<TxnBody, ErrorCode> {
        if let Some(ttl_ms) = mode.ttl_ms() {
            if !self.config.extended_types {
                return Err(ErrorCode::Unimplemented);
            }
            if !(1..=TTL_MS_MAX).contains(&ttl_ms) {
                return Err(ErrorCode::BadArguments);
            }
        }
        let parent_path = parent_of(path)?;
        let acl = acl::resolve(acl, self.caller.identities)?;
        let parent = self.node(parent_path)?;
        self.permitted(parent, Perms::CREATE)?;
        let path: Text =
            if mode.is_sequential() { format!("{path}{:010}", parent.created).into() } else { path.clone() };
        // Only now, so that "/p/" and "/p/." are good prefixes of a sequential name.
        validate(&path).map_err(|_| ErrorCode::BadArguments)?;
        if self.tree.node(&path).is_some() {
            return Err(ErrorCode::NodeExists);
        }
        if parent.owner().is_some() {
            return Err(ErrorCode::NoChildrenForEphemerals);
        }
        let kind = match mode {
            CreateMode::Persistent | CreateMode::PersistentSequential => NodeKind::Persistent,
            CreateMode::Ephemeral | CreateMode::EphemeralSequential => {
                NodeKind::Ephemeral(self.caller.session)
            }
            CreateMode::Container => NodeKind::Container,
            CreateMode::PersistentTtl(ttl_ms) | CreateMode::PersistentSequentialTtl(ttl_ms) => {
                NodeKind::Ttl(ttl_ms)
            }
        };
        // See `Node::created` for what happens at the maximum.
        let parent_created = parent.created.saturating_add(1);
        Ok(TxnBody::Create { path, data: data.clone(), acl, kind, parent_created })
    }

    fn delete(&self, path: &Text, version: i32) -> Result<TxnBody, ErrorCode> {
        if is_reserved(path) {
            return Err(ErrorCode::BadArguments);
        }
        let parent = self.node(parent_of(path)?)?;
        self.permitted(parent, Perms::DELETE)?;
        let node = self.node(path)?;
        next_version(node.version, version)?;
        if !node.children.is_empty() {
            return Err(ErrorCode::NotEmpty);
        }
        Ok(TxnBody::Delete { path: path.clone() })
    }

    fn set_data(&self, path: &Text, data: &Data, version: i32) -> Result<TxnBody, ErrorCode> {
        validate(path).map_err(|_| ErrorCode::BadArguments)?;
        let node = self.node(path)?;
        self.permitted(node, Perms::WRITE)?;
        let version = next_version(node.version, version)?;
        Ok(TxnBody::SetData { path: path.clone(), data: data.clone(), version })
    }

    fn set_acl(&self, path: &Text, acl: &AclList, version: i32) -> Result<TxnBody, ErrorCode> {
        validate(path).map_err(|_| ErrorCode::BadArguments)?;
        let acl = acl::resolve(acl, self.caller.identities)?;
        let node = self.node(path)?;
        self.permitted(node, Perms::ADMIN)?;
        let aversion = next_version(node.aversion, version)?;
        Ok(TxnBody::SetAcl { path: path.clone(), acl, aversion })
    }

    fn check(&self, path: &Text, version: i32) -> Result<TxnBody, ErrorCode> {
        validate(path).map_err(|_| ErrorCode::BadArguments)?;
        let node = self.node(path)?;
        self.permitted(node, Perms::READ)?;
        next_version(node.version, version)?;
        Ok(TxnBody::Check { path: path.clone() })
    }

    fn op(&self, op: &Op) -> Result<TxnBody, ErrorCode> {
        match op {
            Op::Create { path, data, acl, mode, stat: _ } => self.create(path, data, acl, *mode),
            Op::Delete { path, version } => self.delete(path, *version),
            Op::SetData { path, data, version } => self.set_data(path, data, *version),
            Op::Check { path, version } => self.check(path, *version),
        }
    }

    /// Each operation meets what the earlier ones have done, on a copy of the tree.
    fn multi(&self, ops: &[Op]) -> TxnBody {
        let mut scratch = self.tree.clone();
        let mut prepared = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            match (Asked { tree: &scratch, ..*self }).op(op) {
                Ok(body) => prepared.push(body),
                // Nobody's fault in particular: the request as a whole fails.
                Err(ErrorCode::MarshallingError) => {
                    return TxnBody::Error(ErrorCode::MarshallingError);
                }
                Err(code) => {
                    let mut codes = vec![None; index];
                    codes.push(Some(code));
                    codes.resize(ops.len(), Some(ErrorCode::RuntimeInconsistency));
                    return TxnBody::MultiError(codes);
                }
            }
            let is_last = index + 1 == ops.len();
            if !is_last && let Some(body) = prepared.last() {
                try_out(&mut scratch, self.caller.session, body.clone());
            }
        }
        TxnBody::Multi { ops: prepared }
    }

    fn readable(&self, path: &str) -> Result<&'a Node, ErrorCode> {
        let node = self.node(path)?;
        self.permitted(node, Perms::READ)?;
        Ok(node)
    }

    fn get_data(&self, path: &str) -> Result<Response, ErrorCode> {
        let node = self.readable(path)?;
        Ok(Response::Data { data: node.data.clone(), stat: node.stat() })
    }

    fn get_children(&self, path: &str, stat: bool) -> Result<Response, ErrorCode> {
        let node = self.readable(path)?;
        let mut names: Vec<Text> = node.children.iter().cloned().collect();
        let made =
            |name: &Text| made(self.tree, &format!("{}/{name}", path.strip_suffix('/').unwrap_or(path)));
        self.config.order.put(Listed::Children, &mut names, made);
        Ok(Response::Children { names, stat: stat.then(|| node.stat()) })
    }

    fn get_acl(&self, path: &str) -> Result<Response, ErrorCode> {
        let node = self.node(path)?;
        self.permitted(node, Perms::READ.and(Perms::ADMIN))?;
        let is_admin = self.permitted(node, Perms::ADMIN).is_ok();
        let acl = if is_admin { node.acl.clone() } else { acl::without_secrets(&node.acl) };
        Ok(Response::Acl { acl, stat: node.stat() })
    }

    fn ephemerals(&self, prefix: &str) -> Vec<Text> {
        // Cut as Java cuts: control characters count as blanks. Measured.
        let all = matches!(prefix.trim_matches(|c| c <= ' '), "" | "/");
        let mine = self.tree.ephemerals(self.caller.session);
        let mut paths: Vec<Text> = mine.filter(|path| all || path.starts_with(prefix)).cloned().collect();
        self.config.order.put(Listed::Ephemerals, &mut paths, |path| made(self.tree, path));
        paths
    }
}

/// Applies an operation to a copy of the tree that nobody will see. The true zxid is not known yet; any that
/// is later than all will do.
fn try_out(scratch: &mut DataTree, session: SessionId, body: TxnBody) {
    let zxid = Zxid::new(u32::MAX, u32::MAX);
    scratch.apply(&Txn { zxid, session, xid: Default::default(), time_ms: 0, body });
}

/// The parent's path, of a path that may otherwise be invalid.
fn parent_of(path: &str) -> Result<&str, ErrorCode> {
    if path.contains('/') && !path.contains('\0') { Ok(split(path).0) } else { Err(ErrorCode::BadArguments) }
}

/// Whether this is one of the znodes that ZooKeeper keeps for itself.
fn is_reserved(path: &str) -> bool {
    matches!(path, "/" | "/zookeeper" | "/zookeeper/quota" | "/zookeeper/config")
}

/// The version after a change, if the one expected is the one there is. -1 stands for any.
fn next_version(current: i32, expected: i32) -> Result<i32, ErrorCode> {
    if expected == -1 || expected == current {
        Ok(current.wrapping_add(1))
    } else {
        Err(ErrorCode::BadVersion)
    }
}
