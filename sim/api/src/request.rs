//! Requests and their answers.

use crate::{AclList, CreateMode, Data, ErrorCode, Identity, Stat, Text, open_acl};

/// What a client asks of the ensemble.
///
/// Paths are text as the client sent it: the server validates them as ZooKeeper does, which is later and less strictly
/// than one would think. The typed methods of [`ZooKeeper`](crate::ZooKeeper) take a [`ZPath`](crate::ZPath). A version
/// of -1 stands for any.
///
/// ```
/// use zk_api::Request;
/// let set = Request::SetData { path: "/config".into(), data: "7".into(), version: 3 };
/// assert_eq!((set.name(), &*set.path()), ("setData", "/config"));
/// // A sync has no place in the order of transactions.
/// assert!(set.is_write() && !Request::Sync { path: "/config".into() }.is_write());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// Creates a znode. `stat` asks for its Stat as well (`create2`).
    Create { path: Text, data: Data, acl: AclList, mode: CreateMode, stat: bool },
    /// Deletes a znode that has no children.
    Delete { path: Text, version: i32 },
    /// Checks whether a znode exists; a watch is registered either way.
    Exists { path: Text, watch: bool },
    /// Reads data; a watch is registered only if the znode exists.
    GetData { path: Text, watch: bool },
    /// Sets data.
    SetData { path: Text, data: Data, version: i32 },
    /// Lists the names of the children, in no specified order. `stat` asks for the parent's Stat as well.
    GetChildren { path: Text, watch: bool, stat: bool },
    /// Reads the ACL.
    GetAcl { path: Text },
    /// Sets the ACL; `version` is compared with the Stat's `aversion`.
    SetAcl { path: Text, acl: AclList, version: i32 },
    /// Waits until the server has caught up with its leader.
    Sync { path: Text },
    /// Does all of these or none.
    Multi { ops: Vec<Op> },
    /// Reads several znodes, each with its own outcome.
    MultiRead { ops: Vec<ReadOp> },
    /// Adds a persistent watch.
    AddWatch { path: Text, mode: AddWatchMode },
    /// Removes the session's watches of this kind.
    RemoveWatches { path: Text, kind: WatcherKind },
    /// Checks whether the session has a watch of this kind.
    CheckWatches { path: Text, kind: WatcherKind },
    /// Lists the session's own ephemeral znodes whose paths start with `prefix`.
    GetEphemerals { prefix: Text },
    /// Counts all znodes below a path.
    GetAllChildrenNumber { path: Text },
    /// Lists the identities that the server knows the client by.
    WhoAmI,
    /// Adds credentials to the connection.
    Auth { scheme: Text, credentials: Data },
    /// Ends the session; its ephemeral znodes go with it.
    CloseSession,
}

/// One operation of a [`Request::Multi`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// As [`Request::Create`].
    Create { path: Text, data: Data, acl: AclList, mode: CreateMode, stat: bool },
    /// As [`Request::Delete`].
    Delete { path: Text, version: i32 },
    /// As [`Request::SetData`].
    SetData { path: Text, data: Data, version: i32 },
    /// Fails the multi if the znode does not have this version.
    Check { path: Text, version: i32 },
}

impl Op {
    /// Makes a znode that is open to all, and asks for no Stat.
    pub fn create(path: Text, data: Data, mode: CreateMode) -> Op {
        Op::Create { path, data, acl: open_acl(), mode, stat: false }
    }
}

/// One operation of a [`Request::MultiRead`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadOp {
    /// As [`Request::GetData`], without a watch.
    GetData { path: Text },
    /// As [`Request::GetChildren`], without a watch or a Stat.
    GetChildren { path: Text },
}

/// How far a persistent watch reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddWatchMode {
    /// The znode and the list of its children.
    Persistent,
    /// The znode and everything below it, without `NodeChildrenChanged`.
    PersistentRecursive,
}

/// Which watches to remove or to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatcherKind {
    /// Those set by `getChildren`.
    Children,
    /// Those set by `getData` and `exists`.
    Data,
    /// All, persistent ones too.
    Any,
    /// Persistent ones.
    Persistent,
    /// Persistent and recursive ones.
    PersistentRecursive,
}

/// What the ensemble answers to a [`Request`] that did not fail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Response {
    /// The path of the new znode, with its number where the mode is sequential; its Stat if asked for.
    Created { path: Text, stat: Option<Stat> },
    /// Deleted.
    Deleted,
    /// The Stat of the znode, `None` if it does not exist. (On the wire the latter is the error `NoNode`.)
    Exists(Option<Stat>),
    /// Data and Stat.
    Data { data: Data, stat: Stat },
    /// The Stat after the data was set.
    DataSet(Stat),
    /// Names in no specified order; the parent's Stat if asked for.
    Children { names: Vec<Text>, stat: Option<Stat> },
    /// ACL and Stat.
    Acl { acl: AclList, stat: Stat },
    /// The Stat after the ACL was set.
    AclSet(Stat),
    /// The path the sync was for.
    Synced { path: Text },
    /// What became of a multi.
    Multi(MultiOutcome),
    /// One outcome for each read.
    MultiRead(Vec<Result<Response, ErrorCode>>),
    /// The persistent watch is set.
    WatchAdded,
    /// Watches are removed.
    WatchesRemoved,
    /// There are such watches.
    WatchesPresent,
    /// Paths in no specified order.
    Ephemerals(Vec<Text>),
    /// A number of znodes.
    AllChildrenNumber(u32),
    /// Identities.
    WhoAmI(Vec<Identity>),
    /// The credentials were accepted.
    Authenticated,
    /// The session is closed.
    Closed,
}

/// What became of a multi: everything was done, or nothing.
///
/// ```
/// use zk_api::{Data, Error, MultiOutcome, Op, ZPath, ZooKeeper};
/// /// Sets `value` if `lock` is there, in one transaction. Tells whether it did.
/// async fn set_while(zk: impl ZooKeeper, lock: &ZPath, value: &ZPath, data: Data) -> Result<bool, Error> {
///     let check = Op::Check { path: lock.text(), version: -1 };
///     let set = Op::SetData { path: value.text(), data, version: -1 };
///     Ok(matches!(zk.multi(vec![check, set]).await?, MultiOutcome::Applied(_)))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use = "a multi that is refused changes nothing, and is no error"]
pub enum MultiOutcome {
    /// One result for each operation.
    Applied(Vec<OpResult>),
    /// One code for each operation: `None` before the one that failed, its error, then
    /// `RuntimeInconsistency`.
    Failed(Vec<Option<ErrorCode>>),
}

/// The result of one operation of a multi.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpResult {
    /// As [`Response::Created`].
    Created { path: Text, stat: Option<Stat> },
    /// As [`Response::Deleted`].
    Deleted,
    /// As [`Response::DataSet`].
    DataSet(Stat),
    /// The version was right.
    Checked,
}

impl Request {
    /// The operation's name, for errors and traces.
    pub fn name(&self) -> &'static str {
        match self {
            Request::Create { .. } => "create",
            Request::Delete { .. } => "delete",
            Request::Exists { .. } => "exists",
            Request::GetData { .. } => "getData",
            Request::SetData { .. } => "setData",
            Request::GetChildren { .. } => "getChildren",
            Request::GetAcl { .. } => "getACL",
            Request::SetAcl { .. } => "setACL",
            Request::Sync { .. } => "sync",
            Request::Multi { .. } => "multi",
            Request::MultiRead { .. } => "multiRead",
            Request::AddWatch { .. } => "addWatch",
            Request::RemoveWatches { .. } => "removeWatches",
            Request::CheckWatches { .. } => "checkWatches",
            Request::GetEphemerals { .. } => "getEphemerals",
            Request::GetAllChildrenNumber { .. } => "getAllChildrenNumber",
            Request::WhoAmI => "whoAmI",
            Request::Auth { .. } => "auth",
            Request::CloseSession => "closeSession",
        }
    }

    /// The path it is about; empty where it has none, or several.
    pub fn path(&self) -> Text {
        match self {
            Request::Create { path, .. }
            | Request::Delete { path, .. }
            | Request::Exists { path, .. }
            | Request::GetData { path, .. }
            | Request::SetData { path, .. }
            | Request::GetChildren { path, .. }
            | Request::GetAcl { path }
            | Request::SetAcl { path, .. }
            | Request::Sync { path }
            | Request::AddWatch { path, .. }
            | Request::RemoveWatches { path, .. }
            | Request::CheckWatches { path, .. }
            | Request::GetEphemerals { prefix: path }
            | Request::GetAllChildrenNumber { path } => path.clone(),
            Request::Multi { .. }
            | Request::MultiRead { .. }
            | Request::WhoAmI
            | Request::Auth { .. }
            | Request::CloseSession => "".into(),
        }
    }

    /// The znodes that it is about, as it names them.
    pub fn paths(&self) -> Vec<Text> {
        match self {
            Request::Multi { ops } => ops
                .iter()
                .map(|op| match op {
                    Op::Create { path, .. }
                    | Op::Delete { path, .. }
                    | Op::SetData { path, .. }
                    | Op::Check { path, .. } => path.clone(),
                })
                .collect(),
            _ => Some(self.path()).filter(|path| path.starts_with('/')).into_iter().collect(),
        }
    }

    /// Whether it takes its place in the order of transactions, and a zxid, even if it fails.
    pub fn is_write(&self) -> bool {
        match self {
            Request::Create { .. }
            | Request::Delete { .. }
            | Request::SetData { .. }
            | Request::SetAcl { .. }
            | Request::Multi { .. }
            | Request::CloseSession => true,
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
            | Request::Auth { .. } => false,
        }
    }
}
