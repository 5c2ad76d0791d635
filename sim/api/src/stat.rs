//! What ZooKeeper tells about a znode, and how znodes come to be.

use crate::{SessionId, Zxid};
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The metadata of a znode.
///
/// Its fields are read by methods, which note the read: a model checker varies only what somebody reads. See
/// [`StatReads`]. Comparing, hashing or printing a whole `Stat` reads all of it; only hashing or printing it looks at
/// the [numbers](Zxid::were_numbered) of its zxids.
///
/// ```
/// use zk_api::{SessionId, Stat, StatFields, Zxid};
/// let fields = StatFields { czxid: Zxid::new(1, 7), ephemeral_owner: SessionId::new(5), ..Default::default() };
/// let stat = Stat::from(fields);
/// assert_eq!(stat.ephemeral_owner(), SessionId::new(5));
/// assert!(stat.czxid() < Zxid::new(1, 8), "it was created before that transaction");
/// ```
#[derive(Clone, Copy, Default)]
pub struct Stat(StatFields);

/// The fields of a [`Stat`], for code that makes one or takes one apart.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatFields {
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

/// Which fields of any [`Stat`] a thread has read since [`StatReads::take`] was called last.
///
/// ```
/// use zk_api::{Stat, StatReads};
/// # StatReads::take();
/// let owner = Stat::default().ephemeral_owner();
/// let read = StatReads::take();
/// assert!(read.has(StatReads::OWNER) && !read.has(StatReads::TIMES));
/// ```
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct StatReads(u16);

thread_local! {
    static READ: Cell<u16> = const { Cell::new(0) };
}

impl StatReads {
    /// [`Stat::ctime_ms`] or [`Stat::mtime_ms`].
    pub const TIMES: StatReads = StatReads(1);
    /// [`Stat::pzxid`].
    pub const PZXID: StatReads = StatReads(2);
    /// [`Stat::ephemeral_owner`].
    pub const OWNER: StatReads = StatReads(4);
    /// Any other.
    pub const OTHER: StatReads = StatReads(8);
    const ALL: StatReads = StatReads(15);

    /// Whether it includes all of `other`.
    pub fn has(self, other: StatReads) -> bool {
        self.0 & other.0 == other.0
    }

    /// Takes the record of what this thread has read, and starts a new one.
    pub fn take() -> StatReads {
        StatReads(READ.take())
    }

    /// Does `work` without noting what it reads. It is still noted if the work looks at the number of a zxid or an id.
    pub fn unnoted<T>(work: impl FnOnce() -> T) -> T {
        let before = READ.get();
        let done = work();
        READ.set(before);
        done
    }

    fn note(self) {
        READ.set(READ.get() | self.0);
    }
}

macro_rules! getters {
    ($($name:ident: $type:ty, $reads:ident;)*) => {
        impl Stat {
            $(
                #[doc = concat!("See [`StatFields::", stringify!($name), "`].")]
                pub fn $name(&self) -> $type {
                    StatReads::$reads.note();
                    self.0.$name
                }
            )*

            /// All fields.
            pub fn fields(&self) -> StatFields {
                StatReads::ALL.note();
                self.0
            }
        }

        impl fmt::Debug for Stat {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let fields = self.fields();
                f.debug_struct("Stat")$(.field(stringify!($name), &fields.$name))*.finish()
            }
        }
    };
}

getters! {
    czxid: Zxid, OTHER;
    mzxid: Zxid, OTHER;
    ctime_ms: i64, TIMES;
    mtime_ms: i64, TIMES;
    version: i32, OTHER;
    cversion: i32, OTHER;
    aversion: i32, OTHER;
    ephemeral_owner: SessionId, OWNER;
    data_length: u32, OTHER;
    num_children: u32, OTHER;
    pzxid: Zxid, PZXID;
}

impl From<StatFields> for Stat {
    fn from(fields: StatFields) -> Stat {
        Stat(fields)
    }
}

impl PartialEq for Stat {
    fn eq(&self, other: &Stat) -> bool {
        self.fields() == other.fields()
    }
}

impl Eq for Stat {}

impl PartialOrd for Stat {
    fn partial_cmp(&self, other: &Stat) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Stat {
    fn cmp(&self, other: &Stat) -> Ordering {
        self.fields().cmp(&other.fields())
    }
}

impl Hash for Stat {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fields().hash(state);
    }
}

/// What kind of znode a create makes.
///
/// ```
/// use zk_api::CreateMode;
/// let place = CreateMode::EphemeralSequential;
/// assert!(place.is_ephemeral() && place.is_sequential());
/// assert_eq!(CreateMode::PersistentTtl(60_000).ttl_ms(), Some(60_000));
/// ```
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
    /// Deleted by the server when it has no children and was not changed for this many milliseconds.
    PersistentTtl(i64),
    /// The same, sequential; in milliseconds, too.
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
///
/// ```
/// use zk_api::Data;
/// assert_eq!(Data::from("7").bytes(), b"7");
/// assert_ne!(Data::NULL, Data::from(""));
/// assert!(Data::NULL.bytes().is_empty());
/// ```
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_of_a_stat_is_noted_and_what_is_copied_is_not() {
        let stat = Stat::from(StatFields { ctime_ms: 7, ..StatFields::default() });
        StatReads::take();
        let copy = stat;
        assert_eq!(StatReads::take(), StatReads::default());
        assert_eq!((copy.version(), StatReads::take()), (0, StatReads::OTHER));
        assert_eq!((copy.ctime_ms(), StatReads::take()), (7, StatReads::TIMES));
        assert_eq!((copy.mtime_ms(), StatReads::take()), (0, StatReads::TIMES));
        assert_eq!((copy.pzxid(), StatReads::take()), (Zxid::ZERO, StatReads::PZXID));
        assert_eq!((copy.ephemeral_owner(), StatReads::take()), (SessionId::NONE, StatReads::OWNER));
        let wholes: [&dyn Fn() -> bool; 3] =
            [&|| copy == stat, &|| copy <= stat, &|| format!("{copy:?}").contains("ctime_ms: 7")];
        for whole in wholes {
            assert!(whole());
            assert_eq!(StatReads::take(), StatReads::ALL);
            StatReads::unnoted(whole);
            assert_eq!(StatReads::take(), StatReads::default());
        }
    }
}
