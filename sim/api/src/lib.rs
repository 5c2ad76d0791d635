//! ZooKeeper's vocabulary, and [`ZooKeeper`], the trait that recipes are written against. Needs std only.
//!
//! | module | what is in it |
//! |---|---|
//! | `path` | [`ZPath`], a valid path; names and sequence numbers |
//! | `zxid` | [`Zxid`], a transaction's id |
//! | `stat` | [`Stat`] and what was read of it, [`CreateMode`], [`Data`] |
//! | `acl` | [`Acl`], [`Perms`], [`Identity`] |
//! | `session` | [`SessionId`], [`KeeperState`], [`WatchedEvent`] |
//! | `request` | [`Request`], [`Response`], multi |
//! | `error` | [`ErrorCode`], [`Outcome`], [`Error`] |
//! | `pending` | [`Pending`], [`Completer`], [`race`] |
//! | `locals` | [`Locals`]: a caller's local variables, for the checkpoints of what it calls |
//! | `zookeeper` | [`trait ZooKeeper`](ZooKeeper) |

mod acl;
mod error;
mod locals;
mod path;
mod pending;
mod request;
mod session;
mod stat;
mod zookeeper;
mod zxid;

pub use acl::{Acl, AclList, Identity, Perms, creator_acl, open_acl, read_acl};
pub use error::{Error, ErrorCode, Outcome};
pub use locals::{Locals, TellsLocals};
pub use path::{PathError, Text, ZPath, join, sequence_of, split, validate};
pub use pending::{Completer, Either, Pending, race};
pub use request::{AddWatchMode, MultiOutcome, Op, OpResult, ReadOp, Request, Response, WatcherKind};
pub use session::{EventType, KeeperState, SessionId, WatchedEvent};
pub use stat::{CreateMode, Data, Stat, StatFields, StatReads};
pub use zookeeper::{Call, Local, Reply, Watch, ZooKeeper};
pub use zxid::Zxid;
