//! What clients and servers say to each other, and servers among themselves.

pub use crate::ids::{ConnId, Password, Xid};
use crate::zab::message::Packet;
use std::sync::Arc;
use zk_api::{ErrorCode, Identity, Request, Response, SessionId, Text, WatchedEvent, Zxid};

/// Stands for a text that is null where a server takes it for a text like any other. No path and no name is this
/// one.
pub const NULL_TEXT: &str = "\0null";

/// From a client to the server it is connected to. First in, first out per connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToServer {
    /// Opens a session or takes one over; always first on a connection.
    Connect(ConnectRequest),
    /// A request of the user.
    Request { xid: Xid, request: Request },
    /// Registers watches again after a reconnection, telling at once what changed since `since`.
    SetWatches { since: Zxid, watches: WatchList },
    /// Keeps the session alive.
    Ping,
}

/// From a server to a client. First in, first out per connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToClient {
    /// Answers [`ToServer::Connect`].
    Connected(ConnectResponse),
    /// Answers [`ToServer::Request`]. `zxid` is the last transaction the server had applied, or that of the
    /// write itself, also when the write failed; zero for credentials, and -1 for what is no request.
    Reply { xid: Xid, zxid: Zxid, result: Result<Response, ErrorCode> },
    /// Answers [`ToServer::SetWatches`].
    WatchesSet { zxid: Zxid },
    /// Answers [`ToServer::Ping`].
    Pong { zxid: Zxid },
    /// A watch fired. `zxid` is that of the change; `None` where it is told by `SetWatches`.
    Event { zxid: Option<Zxid>, event: WatchedEvent },
}

/// From one server to another over a learner's link. First in, first out per direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToPeer {
    /// Of the peers' own.
    Zab(Packet),
    /// From a learner to its leader, for a client.
    Ask(Ask),
    /// From the leader.
    Answer(Answer),
}

/// What a learner asks of its leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Open a session. Answered by its transaction.
    Open { session: SessionId, password: Password, timeout_ms: u32 },
    /// A client has come with this session, on a connection of the learner's: may it?
    Attach { conn: ConnId, session: SessionId, password: Password, timeout_ms: u32 },
    /// A client writes. Answered by the transaction, which names the session and the request.
    Write { session: SessionId, xid: Xid, write: ForwardedWrite },
    /// A client on this connection of the learner's wants to see everything that stands.
    Sync { conn: ConnId },
    /// Clients with these sessions, and these timeouts, were heard of.
    Touch { sessions: Vec<(SessionId, u32)> },
    /// To [`Answer::Asks`]: the learner follows, as it did when that came.
    Follows { round: u64 },
}

/// A write on its way to the leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ForwardedWrite {
    /// By whoever the client was when it asked.
    Request { request: Request, identities: Arc<[Identity]> },
    /// One that cannot be read, and takes a zxid all the same.
    Malformed(ErrorCode),
}

/// What a leader answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// To [`Ask::Attach`]: whether the session lives and is the client's.
    Attached { conn: ConnId, valid: bool },
    /// To [`Ask::Sync`]: the commits of all that it waits for were sent.
    Synced { conn: ConnId },
    /// To nothing: the leader asks whether the learner still follows it.
    Asks { round: u64 },
}

/// Opens a session or takes one over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectRequest {
    /// The newest transaction the client knows of; a server that is behind it refuses by closing.
    pub last_zxid: Zxid,
    /// The timeout the client asks for.
    pub timeout_ms: u32,
    /// The session to take over, or [`SessionId::NONE`] for a new one.
    pub session: SessionId,
    /// That session's password; zeroes for a new one.
    pub password: Password,
}

/// The session as the ensemble sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectResponse {
    /// The timeout granted; zero if the session is dead or the password is wrong.
    pub timeout_ms: u32,
    /// The session's id; [`SessionId::NONE`] if it is dead or the password is wrong.
    pub session: SessionId,
    /// The session's password.
    pub password: Password,
}

/// The watches a client has, by kind, in the order they were registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WatchList {
    /// Set by `getData`, and by `exists` on a znode that existed.
    pub data: Vec<Text>,
    /// Set by `exists` on a znode that did not exist.
    pub exist: Vec<Text>,
    /// Set by `getChildren`.
    pub child: Vec<Text>,
    /// Persistent.
    pub persistent: Vec<Text>,
    /// Persistent and recursive.
    pub recursive: Vec<Text>,
}

impl WatchList {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
            && self.exist.is_empty()
            && self.child.is_empty()
            && self.persistent.is_empty()
            && self.recursive.is_empty()
    }
}
