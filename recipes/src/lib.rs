//! ZooKeeper recipes, each in production quality and generic over [`zk_api::ZooKeeper`].
//!
//! | module | what is in it |
//! |---|---|
//! | `lock` | [`Lock`], an exclusive, fair, fenced lock |
//! | `configuration` | [`Setting`], one value that is followed, and [`Configuration`], many that change as one |
//! | `election` | [`Election`], with epochs and an announced [`Leader`] |
//! | `line` | standing in line, which locks and elections have in common; [`Held`] |
//! | `membership` | [`Membership`] in a group, and the [`Roster`] of its members |
//! | `names` | how the znodes of contenders are named and ordered |
//! | `session` | what every recipe makes of errors and of the end of its session |
//!
//! What runs here is what is checked: the same code is driven on a simulated ensemble under faults, explored
//! exhaustively in small models, and run on a real ensemble.

mod configuration;
mod election;
mod line;
mod lock;
mod membership;
pub mod names;
mod session;

pub use configuration::{Configuration, Setting, Snapshot, Value};
pub use election::{Election, Leader, Leadership, leader, next_leader};
pub use line::Held;
pub use lock::Lock;
pub use membership::{Ghost, Membership, Roster};
pub use session::{Lost, OnDisconnect, RecipeError};
