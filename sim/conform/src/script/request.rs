//! Requests as they stand on the wire, sensible or not.

use crate::op;
use strum::{EnumString, IntoStaticStr};

/// A text on the wire; `None` is null.
pub type Text = Option<String>;
/// Bytes on the wire; `None` is null.
pub type Bytes = Option<Vec<u8>>;

/// A zxid as scripts name it: absolute ones mean nothing to two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZxidArg {
    /// That very number: `0`, `-1`.
    Absolute(i64),
    /// So many after the script's beginning: `+3`.
    Relative(i64),
    /// The last one that the connection has seen, and so many more: `seen`, `seen-1`.
    Seen(i64),
}

/// A request and how it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What is asked.
    pub call: Call,
    /// Its number, if not the next one.
    pub xid: Option<i32>,
    /// Bytes to leave out at its end.
    pub cut: usize,
    /// Bytes to add at its end.
    pub more: Vec<u8>,
}

impl From<Call> for Sent {
    fn from(call: Call) -> Sent {
        Sent { call, xid: None, cut: 0, more: Vec::new() }
    }
}

/// The four kinds of creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(i32)]
pub enum CreateKind {
    /// Answered with the path.
    #[strum(serialize = "create")]
    Plain = op::CREATE,
    /// Answered with the Stat as well.
    #[strum(serialize = "create2")]
    WithStat = op::CREATE2,
    /// Meant for containers.
    #[strum(serialize = "createcontainer")]
    Container = op::CREATE_CONTAINER,
    /// Has a time to live.
    #[strum(serialize = "createttl")]
    Ttl = op::CREATE_TTL,
}

/// Requests of a path and a flag: whether a watch is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(i32)]
pub enum Looking {
    /// `exists`
    Exists = op::EXISTS,
    /// `getData`
    #[strum(serialize = "get")]
    Data = op::GET_DATA,
    /// `getChildren`
    Children = op::GET_CHILDREN,
    /// `getChildren2`
    #[strum(serialize = "children2")]
    ChildrenAndStat = op::GET_CHILDREN2,
}

/// Requests of a path alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(i32)]
pub enum Naming {
    /// `getACL`
    #[strum(serialize = "getacl")]
    Acl = op::GET_ACL,
    /// `sync`
    Sync = op::SYNC,
    /// `getEphemerals`; the path is a prefix.
    Ephemerals = op::EPHEMERALS,
    /// `getAllChildrenNumber`
    Count = op::COUNT,
}

/// Requests of a path and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[repr(i32)]
pub enum Numbered {
    /// `delete`; the number is a version.
    Delete = op::DELETE,
    /// `check`; the number is a version.
    Check = op::CHECK,
    /// `addWatch`; the number is a mode.
    AddWatch = op::ADD_WATCH,
    /// `checkWatches`; the number is a kind of watch.
    CheckWatches = op::CHECK_WATCHES,
    /// `removeWatches`; the number is a kind of watch.
    RemoveWatches = op::REMOVE_WATCHES,
}

/// An entry of an ACL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AclEntry {
    /// Bits.
    pub perms: i32,
    /// The scheme.
    pub scheme: Text,
    /// In the scheme's own form.
    pub id: Text,
}

/// An ACL; `None` is null.
pub type AclArg = Option<Vec<AclEntry>>;

/// A request as it stands on the wire, sensible or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `create`, `create2`, `createContainer`, `createTTL`.
    Create { kind: CreateKind, path: Text, data: Bytes, acl: AclArg, flags: i32, ttl_ms: i64 },
    /// See [`Looking`].
    Look { what: Looking, path: Text, watch: bool },
    /// See [`Naming`].
    Name { what: Naming, path: Text },
    /// See [`Numbered`].
    Number { what: Numbered, path: Text, number: i32 },
    /// `setData`
    SetData { path: Text, data: Bytes, version: i32 },
    /// `setACL`
    SetAcl { path: Text, acl: AclArg, version: i32 },
    /// `multi`, or `multiRead`
    Multi { reads: bool, ops: Vec<Call> },
    /// `setWatches`; `setWatches2` with its two more lists.
    SetWatches { since: ZxidArg, lists: Vec<Option<Vec<Text>>>, two: bool },
    /// Credentials.
    Auth { scheme: Text, credentials: Bytes },
    /// `reconfig`
    Reconfig { joining: Text, leaving: Text, members: Text, version: i64 },
    /// `whoAmI`
    WhoAmI,
    /// `ping`
    Ping,
    /// `closeSession`
    Close,
    /// Any kind, with any body.
    Raw { op: i32, body: Vec<u8> },
}
