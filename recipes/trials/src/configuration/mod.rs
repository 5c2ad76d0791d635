//! Name service and configuration, and their published variants on trial.
//!
//! `stage` is what they have in common: one who writes, and readers that follow.

mod careless;
mod followed;
mod notified;
mod stage;
mod torn;

pub use stage::{CONFIG, Stage, configuration};

use crate::trial::Trial;

/// All of them, the right ones first.
pub fn catalogue() -> Vec<Trial> {
    let others = vec![torn::trial()];
    [followed::trials(), notified::trials(), others, careless::trials()].concat()
}
