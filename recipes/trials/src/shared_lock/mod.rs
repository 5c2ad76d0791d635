//! The shared lock and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `shared-lock` | `right` | nothing: the recipe of this project |

mod right;
mod stage;

pub use right::Right;

use crate::lock::OnTrial;
use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![Arc::new(OnTrial(Right))]
}
