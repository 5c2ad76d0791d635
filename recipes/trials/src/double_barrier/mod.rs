//! The double barrier and its published variants on trial.
//!
//! `stage` is what they have in common, `steps` the published steps, of which each variant is one reading.

mod published;
mod recipe;
mod stage;
mod steps;

pub use stage::{BARRIER, Size, Stage, double_barrier};

use crate::trial::Trial;

/// All of them, the right ones first.
pub fn catalogue() -> Vec<Trial> {
    [recipe::trials(), published::trials()].concat()
}
