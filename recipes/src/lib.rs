//! ZooKeeper recipes, each in production quality and generic over [`zk_api::ZooKeeper`].
//!
//! | module | what is in it |
//! |---|---|
//! | `lock` | [`Lock`], an exclusive, fair, fenced lock |
//! | `names` | how the znodes of contenders are named and ordered |
//!
//! What runs here is what is checked: the same code is driven on a simulated ensemble under faults, explored
//! exhaustively in small models, and run on a real ensemble.

mod lock;
pub mod names;

pub use lock::{Held, Lock, LockError, Lost, OnDisconnect};
