//! What ZooKeeper tells about a znode, and how znodes come to be.

use crate::{SessionId, Zxid};
use std::fmt;
use std::sync::Arc;

/// The metadata of a znode.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stat {
    /// The transaction that created it. Never changes: the natural fencing token of an ephemeral znode.
    pub czxid: Zxid,
    /// The transaction that last set its data.
    pub mzxid: Zxid,
    /// When it was created, in milliseconds since the Unix epoch, by the leader's clock.
    pub ctime_ms: i64,
    /// When its data was last set, likewise.
    pub mtime_ms: i64,
    /// How often its data was set.
    pub version: i32,
    /// Creations plus deletions of children.
    pub cversion: i32,
    /// How often its ACL was set.
    pub aversion: i32,
    /// The session that owns it if it is ephemeral, else [`SessionId::NONE`]. Containers and TTL znodes
    /// report `NONE` too.
    pub ephemeral_owner: SessionId,
    /// Bytes of its data.
    pub data_length: u32,
    /// Number of its children.
    pub num_children: u32,
    /// The transaction that last created or deleted one of its children, or created it.
    pub pzxid: Zxid,
}

/// What kind of znode a create makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CreateMode {
    /// Stays until it is deleted.
    Persistent,
    /// Persistent; its name ends in a number that the parent gives.
    PersistentSequential,
    /// Deleted when its session ends. Has no children.
    Ephemeral,
    /// Ephemeral; its name ends in a number that the parent gives.
    EphemeralSequential,
    /// Deleted by the server at some time after its last child is gone.
    Container,
    /// Deleted by the server when it has no children and was not changed for so many milliseconds.
    PersistentTtl(i64),
    /// The same, sequential.
    PersistentSequentialTtl(i64),
}

impl CreateMode {
    /// Whether the parent appends its counter to the name.
    pub fn is_sequential(self) -> bool {
        match self {
            CreateMode::PersistentSequential
            | CreateMode::EphemeralSequential
            | CreateMode::PersistentSequentialTtl(_) => true,
            CreateMode::Persistent
            | CreateMode::Ephemeral
            | CreateMode::Container
            | CreateMode::PersistentTtl(_) => false,
        }
    }

    /// Whether the znode belongs to the session that creates it.
    pub fn is_ephemeral(self) -> bool {
        matches!(self, CreateMode::Ephemeral | CreateMode::EphemeralSequential)
    }

    /// The time to live in milliseconds, of the two modes that have one.
    pub fn ttl_ms(self) -> Option<i64> {
        match self {
            CreateMode::PersistentTtl(ttl) | CreateMode::PersistentSequentialTtl(ttl) => Some(ttl),
            CreateMode::Persistent
            | CreateMode::PersistentSequential
            | CreateMode::Ephemeral
            | CreateMode::EphemeralSequential
            | CreateMode::Container => None,
        }
    }
}

/// The data of a znode: bytes, or null, which is not the same as no bytes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Data(Option<Arc<[u8]>>);

impl Data {
    /// No data, as Java's `null`.
    pub const NULL: Data = Data(None);

    /// The bytes; none where the data is null.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether the data is null.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }
}

impl From<&[u8]> for Data {
    fn from(bytes: &[u8]) -> Data {
        Data(Some(bytes.into()))
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Data {
        Data(Some(bytes.into()))
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Data {
        Data(Some(text.as_bytes().into()))
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("null"),
            Some(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
        }
    }
}
