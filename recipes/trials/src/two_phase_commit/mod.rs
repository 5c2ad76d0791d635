//! The two-phase commit and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `two-phase-commit` | `ours` | nothing: the recipe of this project, a coordinator collects the votes |
//! | `two-phase-commit/each-other` | `ours` | nothing: the same, every site collects them |
//!
//! `stage` is what they have in common.

mod ours;
mod stage;

pub use ours::Ours;
pub use stage::{CommitKind, OnTrial, SITES, Stage, TRANSACTIONS};

use crate::trial::AnyTrial;
use std::sync::Arc;
use zk_recipes::Watching;

/// All of them, the right ones first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![Arc::new(OnTrial(Ours(Watching::Coordinator))), Arc::new(OnTrial(Ours(Watching::EachOther)))]
}
