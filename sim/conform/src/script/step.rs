//! The steps of a script.

use super::request::{Call, Sent, ZxidArg};
use strum::{EnumString, IntoStaticStr};

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
