//! The barrier and its published variants on trial.
//!
//! `fixture` is what they have in common.

mod any_event;
mod fixture;
mod lowered_once;
mod no_recheck;
mod raised_again;
mod recipe;
mod stale_look;

pub use fixture::{BARRIER, Fixture, barrier};

use crate::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        recipe::trial(),
        stale_look::trial(),
        any_event::trial(),
        no_recheck::trial(),
        raised_again::trial(),
        lowered_once::trial(),
    ]
}
