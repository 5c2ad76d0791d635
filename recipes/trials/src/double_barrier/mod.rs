//! The double barrier and its published variants on trial.
//!
//! `fixture` is what they have in common, `steps` the published steps, of which each variant is one reading.

mod fixture;
mod published;
mod recipe;
mod steps;

pub use fixture::{BARRIER, Fixture, Size, double_barrier};

use crate::trial::Trial;

/// All of them, the right ones first.
pub fn trials() -> Vec<Trial> {
    [recipe::trials(), published::trials()].concat()
}
