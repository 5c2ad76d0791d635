//! ZooKeeper recipes, each in production quality and generic over [`zk_api::ZooKeeper`].
//!
//! | module | what is in it |
//! |---|---|
//! | `lock` | [`Lock`], an exclusive, fair, fenced lock |
//! | `line` | standing in line, which locks and elections have in common; [`Held`] |
//! | `names` | how the znodes of contenders are named and ordered |
//! | `two_phase_commit` | [`Participant`] in a [`Transaction`] that all commit or all abort |
//! | `session` | what every recipe makes of errors and of the end of its session |
//!
//! What runs here is what is checked: the same code is driven on a simulated ensemble under faults, explored
//! exhaustively in small models, and run on a real ensemble.

mod line;
mod lock;
pub mod names;
mod session;
mod two_phase_commit;

pub use line::Held;
pub use lock::Lock;
pub use session::{Lost, OnDisconnect, RecipeError};
pub use two_phase_commit::{Decided, Participant, Terms, Transaction, Verdict, Watching};
