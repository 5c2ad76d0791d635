//! ZooKeeper recipes, each in production quality and generic over [`zk_api::ZooKeeper`].
//!
//! | module | what is in it |
//! |---|---|
//! | `lock` | [`Lock`], an exclusive, fair, fenced lock |
//! | `shared_lock` | [`SharedLock`], the same for one writer or many readers |
//! | `revoke` | [`Revoker`]: seeing who stands in line, asking holders to give back, and taking it from them |
//! | `fence` | [`Fence`], what a resource needs to know of tokens |
//! | `line` | standing in line, which locks and elections have in common; [`Held`] |
//! | `names` | how the znodes of contenders are named and ordered |
//! | `session` | what every recipe makes of errors and of the end of its session |
//!
//! What runs here is what is checked: the same code is driven on a simulated ensemble under faults, explored
//! exhaustively in small models, and run on a real ensemble.

mod fence;
mod line;
mod lock;
pub mod names;
mod revoke;
mod session;
mod shared_lock;

pub use fence::{Fence, Mode};
pub use line::Held;
pub use lock::Lock;
pub use revoke::{Ended, Revoked, Revoker, Standing, UNLOCK};
pub use session::{Lost, OnDisconnect, RecipeError};
pub use shared_lock::{SharedLock, Writing};
