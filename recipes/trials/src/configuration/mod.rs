//! Name service and configuration, and their published variants on trial.
//!
//! `fixture` is what they have in common: one who writes, and readers that follow.

mod careless;
mod fixture;
mod followed;
mod notified;
mod torn;

pub use fixture::{CONFIG, Fixture, configuration};

use crate::trial::Trial;

/// All of them, the right ones first.
pub fn trials() -> Vec<Trial> {
    let others = vec![torn::trial()];
    [followed::trials(), notified::trials(), others, careless::trials()].concat()
}
