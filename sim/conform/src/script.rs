//! Scripts: what clients do, one step a line.
//!
//! ```text
//! # A comment. Connections have letters; a session is called after the connection that opened it: a, then a2.
//! a connect timeout=4000
//! => a connected timeout=4000 session=a password=right readonly=00
//! => a pong +1
//! a create /x "data" ephemeral sequential acl=cdrwa@world:anyone
//! b attach a password=wrong
//! a pipeline { get /x watch; set /x "new" v=3; close }
//! expire a
//! wait 500ms
//! ```
//!
//! With more than one server there is more to do, and to wait for:
//!
//! ```text
//! a connect server=leader
//! b connect server=follower2
//! c connect server=b
//! server 1 kill
//! follower pause
//! killed start
//! paused resume
//! begin a create /x
//! finish a
//! await serving
//! await zxid +5
//! await end a b
//! rounds 50 {
//!   a create /x
//!   b pipeline { sync /; exists /x }
//!   a delete /x
//! }
//! alike a b c children /x
//! alike a b c events
//! ```
//!
//! ```
//! use zk_conform::script::{Action, Conn, parse};
//!
//! let script = parse("a connect\na pipeline { get /x watch; close }\n").expect("a script");
//! assert_eq!(script.steps[1].action.conn(), Some(Conn('a')));
//! assert!(matches!(&script.steps[1].action, Action::Send { requests, .. } if requests.len() == 2));
//! let bad = parse("a connect\na gett /x\n").expect_err("there is no such request");
//! assert_eq!(bad.line, 2);
//! ```

// Here are the types and how they are written; `script::token` cuts a line into words, `script::parse` reads steps,
// `script::calls` reads requests.

mod calls;
mod parse;
#[cfg(test)]
mod tests;
mod token;
pub(crate) mod write;

use crate::encode::op;
pub(crate) use calls::open as open_acl;
pub use parse::{BadScript, parse};
use strum::{EnumString, IntoStaticStr};

/// A text on the wire; `None` is null.
pub type Text = Option<String>;
/// Bytes on the wire; `None` is null.
pub type Bytes = Option<Vec<u8>>;

/// What clients do, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The steps. Each is over before the next begins.
    pub steps: Vec<ConformStep>,
}

/// A step, and what is expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformStep {
    /// Comments and empty lines before it, kept for whoever writes it back.
    pub comments: Vec<String>,
    /// What is done.
    pub action: Action,
    /// The transcript expected: the lines after `=> `.
    pub expected: Vec<String>,
}

impl From<Action> for ConformStep {
    fn from(action: Action) -> ConformStep {
        ConformStep { comments: Vec::new(), action, expected: Vec::new() }
    }
}

/// A connection's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conn(pub char);

/// A session: the letter of the connection that opened it, and which of that connection's it is, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session(pub char, pub u32);

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

/// Which password is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Password {
    /// The session's.
    #[default]
    Right,
    /// Another one.
    Wrong,
    /// The first eight bytes of it.
    Short,
    /// None.
    Null,
}

/// The last byte of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ReadOnly {
    /// It is not there, as with clients before 3.4.
    Absent,
    /// A read-only server will not do.
    #[default]
    No,
    /// A read-only server will do.
    Yes,
}

/// How a connection begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connect {
    /// The session to be taken over; `None` opens one.
    pub session: Option<Session>,
    /// The timeout asked for.
    pub timeout_ms: i32,
    /// What proves it.
    pub password: Password,
    /// The last zxid seen, as the client says; `None` is what it has seen.
    pub last_zxid: Option<ZxidArg>,
    /// Whether read-only servers will do.
    pub read_only: ReadOnly,
    /// Which server, from 1; `None` is the one that it was at last, or the first.
    pub server: Option<Which>,
    /// Bytes to leave out at the end of the handshake.
    pub cut: usize,
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// By its number, from 1.
    Number(u8),
    /// Whoever leads.
    Leader,
    /// The nth of those that run and follow, from 1: `follower` is the first.
    Follower(u8),
    /// The first of those that were killed.
    Killed,
    /// The first of those that are paused.
    Paused,
    /// The one that a connection is on, or was on at last.
    Of(Conn),
}

/// What happens to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Control {
    /// Dies at once.
    Kill,
    /// Starts again; `await serving` waits until it serves.
    Start,
    /// Stops, but is not dead.
    Pause,
    /// Goes on.
    Resume,
}

/// What is done in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opens a connection and shakes hands.
    Connect { conn: Conn, connect: Connect },
    /// Closes the socket, saying nothing.
    Drop { conn: Conn },
    /// Sends requests at once, then waits for the answers.
    Send { conn: Conn, requests: Vec<Sent> },
    /// Sends bytes as they are, with no frame around them; then waits for an answer or an end.
    Bytes { conn: Conn, bytes: Vec<u8> },
    /// Lets a session be silent until it expires. The others are kept alive.
    Expire { session: Session },
    /// Lets time pass. All are kept alive.
    Wait { ms: u64 },
    /// Waits until so many transactions have come about by themselves, as when a container is removed.
    Await { transactions: u32 },
    /// Does something to a server. It is not asked how the clients fare.
    Server { which: Which, control: Control },
    /// Opens a connection or sends requests, as the step in it says, and waits for nothing.
    Begin(Box<Action>),
    /// Waits for the answers to what was begun.
    Finish { conn: Conn },
    /// Waits until all servers that run serve, and one of them leads.
    AwaitServing,
    /// Waits for a transaction.
    AwaitZxid { zxid: ZxidArg },
    /// Waits until connections have ended.
    AwaitEnd { conns: Vec<Conn> },
    /// Does the same again and again, one thing upon the other. The transcript is that of one round, with zxids
    /// counted from the round's beginning; if rounds differ, every sort of them and how many there were.
    Rounds { times: u32, actions: Vec<Action> },
    /// Compares what servers answer to a request, to the byte.
    Alike { conns: Vec<Conn>, what: Alike },
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alike {
    /// The answers to a request.
    Answers(Call),
    /// The events of the last step that brought any, and their order.
    Events,
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

impl Action {
    /// The connection that acts.
    pub fn conn(&self) -> Option<Conn> {
        match self {
            Action::Connect { conn, .. }
            | Action::Drop { conn }
            | Action::Send { conn, .. }
            | Action::Bytes { conn, .. } => Some(*conn),
            Action::Begin(action) => action.conn(),
            Action::Finish { conn } => Some(*conn),
            Action::Expire { .. }
            | Action::Wait { .. }
            | Action::Await { .. }
            | Action::Server { .. }
            | Action::AwaitServing
            | Action::AwaitZxid { .. }
            | Action::AwaitEnd { .. }
            | Action::Rounds { .. }
            | Action::Alike { .. } => None,
        }
    }
}
