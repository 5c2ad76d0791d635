//! The queue, with priorities and without, and its published variants on trial.
//!
//! `fixture` is what they have in common, `steps` the published steps, of which each variant is one reading.

mod fixture;
mod published;
mod recipe;
mod steps;

pub use fixture::{Fixture, ITEMS, Item, QUEUE, queue};

use crate::trial::Trial;

/// All of them, the right one of each family first.
pub fn trials() -> Vec<Trial> {
    let (first, second): (Vec<_>, Vec<_>) = [recipe::trials(), published::trials()]
        .concat()
        .into_iter()
        .partition(|trial| !trial.about.name.starts_with("priority-queue"));
    [first, second].concat()
}
