//! Sessions, their states, and the events their watches get.

use crate::Text;
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The id of a session. Zero is no session.
///
/// Which of two ids is higher is an accident, as an id carries the number of a server. Ordering or printing ids is
/// noted, so that a model checker can vary their order: see [`SessionId::were_ordered`]. Looking at the number or
/// hashing it is noted as well, as no model has all numbers: see [`SessionId::were_numbered`]. Comparing two ids for
/// equality is not.
///
/// ```
/// use zk_api::SessionId;
/// let (a, b) = (SessionId::new(0x17), SessionId::new(0x18));
/// # SessionId::were_ordered();
/// assert!(a != b && !SessionId::were_ordered());
/// assert_eq!(a.to_string(), "0x17");
/// assert!(SessionId::were_ordered(), "printing tells the number, and so the order");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionId(i64);

thread_local! {
    static ORDERED: Cell<bool> = const { Cell::new(false) };
    static NUMBERED: Cell<bool> = const { Cell::new(false) };
}

impl SessionId {
    /// No session: the owner of a znode that is not ephemeral.
    pub const NONE: SessionId = SessionId(0);

    /// The session of this number.
    pub const fn new(number: i64) -> SessionId {
        SessionId(number)
    }

    /// The session that is written so: `0x` and hex digits, without a sign. `None` if none is.
    pub fn parse(text: &str) -> Option<SessionId> {
        let digits =
            text.strip_prefix("0x").filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()))?;
        u64::from_str_radix(digits, 16).ok().map(|number| SessionId(number.cast_signed()))
    }

    /// Its number.
    pub fn get(self) -> i64 {
        NUMBERED.set(true);
        self.0
    }

    /// Whether this thread has ordered or printed any id since it last called this.
    pub fn were_ordered() -> bool {
        ORDERED.take()
    }

    /// Whether this thread has looked at the number of any id since it last called this.
    pub fn were_numbered() -> bool {
        NUMBERED.take()
    }

    /// Does `work` without noting that it looks at the number of an id: the caller answers for that.
    pub fn unnoted<T>(work: impl FnOnce() -> T) -> T {
        let before = (ORDERED.get(), NUMBERED.get());
        let done = work();
        ORDERED.set(before.0);
        NUMBERED.set(before.1);
        done
    }
}

impl Hash for SessionId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl PartialOrd for SessionId {
    fn partial_cmp(&self, other: &SessionId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SessionId {
    fn cmp(&self, other: &SessionId) -> Ordering {
        ORDERED.set(true);
        self.0.cmp(&other.0)
    }
}

impl fmt::LowerHex for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ORDERED.set(true);
        fmt::LowerHex::fmt(&self.0, f)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#x}")
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a client knows about its session.
///
/// ```
/// use zk_api::KeeperState;
/// // A lost connection is no news of the session, which may live on.
/// assert!(!KeeperState::Disconnected.is_final());
/// assert!(KeeperState::Expired.is_final());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeeperState {
    /// No connection. The session may live or be dead; only a server can tell.
    Disconnected,
    /// Connected to a server that is part of a quorum.
    SyncConnected,
    /// The server refused the credentials. Final.
    AuthFailed,
    /// A server said that the session is dead. Final.
    Expired,
    /// The client closed the session. Final.
    Closed,
}

impl KeeperState {
    /// Whether the session is over, as far as the client knows.
    pub fn is_final(self) -> bool {
        match self {
            KeeperState::Disconnected | KeeperState::SyncConnected => false,
            KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed => true,
        }
    }
}

/// What happened to a znode, or to the session of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// Nothing happened to a znode: the session ended, and no other event will come.
    None,
    /// The znode was created.
    NodeCreated,
    /// The znode was deleted.
    NodeDeleted,
    /// The znode's data was set.
    NodeDataChanged,
    /// A child was created or deleted.
    NodeChildrenChanged,
}

/// What a watch tells.
///
/// A watch is not told of a lost connection, as it is still armed then: it is registered again when the client is
/// connected again. Callers that must know of it follow the session's state.
///
/// ```
/// use zk_api::{EventType, KeeperState, WatchedEvent};
/// let changed = WatchedEvent::node(EventType::NodeDataChanged, "/config".into());
/// assert_eq!((&*changed.path, changed.state), ("/config", KeeperState::SyncConnected));
/// let last = WatchedEvent::session_ended(KeeperState::Expired);
/// assert_eq!((last.kind, &*last.path), (EventType::None, ""));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchedEvent {
    /// What happened.
    pub kind: EventType,
    /// The session's state: `SyncConnected`, or the final state where `kind` is `None`.
    pub state: KeeperState,
    /// The znode; empty where `kind` is `None`.
    pub path: Text,
}

impl WatchedEvent {
    /// An event of the znode `path`.
    pub fn node(kind: EventType, path: Text) -> WatchedEvent {
        WatchedEvent { kind, state: KeeperState::SyncConnected, path }
    }

    /// The last event of every watch of a session that ended as `state`.
    pub fn session_ended(state: KeeperState) -> WatchedEvent {
        WatchedEvent { kind: EventType::None, state, path: "".into() }
    }
}
