//! The lock and its published variants on trial.
//!
//! | trial | file | what it is |
//! |---|---|---|
//! | `lock` | `guid` | the recipe of this project |

mod guid;
mod stage;

pub use guid::Guid;
pub use stage::{LOCK, LockKind, OnTrial, Stage, Stop};

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![Arc::new(OnTrial(Guid))]
}
