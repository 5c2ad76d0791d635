//! ZooKeeper's vocabulary, and [`ZooKeeper`], the trait that recipes are written against. Needs std only.
//!
//! ```
//! use zk_api::{CreateMode, Data, Error, ErrorCode, ZPath, ZooKeeper};
//!
//! /// Takes the place at `path`, for as long as the session lives. `false` if somebody else has it.
//! async fn claim(zk: impl ZooKeeper, path: &ZPath) -> Result<bool, Error> {
//!     match zk.create(path, Data::NULL, CreateMode::Ephemeral).await {
//!         Ok(_) => Ok(true),
//!         Err(error) if error.code == ErrorCode::NodeExists => Ok(false),
//!         Err(error) => Err(error), // error.outcome() tells whether the znode may be there
//!     }
//! }
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`ZooKeeper`] | a session: its requests, its state, its clock |
//! | [`Reply`], [`Watch`], [`Call`] | what its methods return: futures |
//! | [`Pending`], [`Completer`] | the type of those futures, and the other end, which an engine fills |
//! | [`race()`], [`Either`] | waiting for whichever of two futures comes first |
//! | [`Error`], [`ErrorCode`], [`Outcome`] | how a request failed, and whether it may have had an effect |
//! | [`ZPath`], [`PathError`] | the path of a znode, parsed, and why a text is none |
//! | [`Text`], [`validate`], [`split`], [`join`], [`sequence_of`] | paths and names as texts |
//! | [`Data`], [`CreateMode`] | what is in a znode, and what kind of znode a create makes |
//! | [`Stat`], [`StatFields`], [`StatReads`] | a znode's metadata, and which of it was read |
//! | [`Zxid`] | a transaction's id: the order of writes, and the natural fencing token |
//! | [`Acl`], [`AclList`], [`Perms`], [`Identity`] | who may do what |
//! | [`open_acl`], [`read_acl`], [`creator_acl`] | the three lists that ZooKeeper's own clients offer |
//! | [`SessionId`], [`KeeperState`] | a session, and what its client knows of it |
//! | [`WatchedEvent`], [`EventType`] | what a watch tells |
//! | [`Request`], [`Response`] | every request and its answer as data, for engines and tests |
//! | [`Op`], [`OpResult`], [`MultiOutcome`] | the parts of a multi, and what came of it |
//! | [`ReadOp`], [`AddWatchMode`], [`WatcherKind`] | reads of several znodes; persistent watches |
//! | [`Local`], [`Locals`], [`TellsLocals`] | the local variables that a [checkpoint](ZooKeeper::checkpoint) tells |

// | module | what is in it |
// |---|---|
// | `path` | `ZPath`, a valid path; names and sequence numbers |
// | `zxid` | `Zxid`, a transaction's id |
// | `stat` | `Stat` and what was read of it, `CreateMode`, `Data` |
// | `acl` | `Acl`, `Perms`, `Identity` |
// | `session` | `SessionId`, `KeeperState`, `WatchedEvent` |
// | `request` | `Request`, `Response`, multi |
// | `error` | `ErrorCode`, `Outcome`, `Error` |
// | `pending` | `Pending`, `Completer`, `race` |
// | `locals` | `Locals`: a caller's local variables, for the checkpoints of what it calls |
// | `zookeeper` | `trait ZooKeeper` |

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
