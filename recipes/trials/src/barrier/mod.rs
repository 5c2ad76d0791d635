//! The barrier and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `barrier` | `recipe` | nothing: the recipe of this project |
//! | `barrier/stale-look` | `stale_look` | its first look may be older than the barrier |
//! | `barrier/any-event` | `any_event` | whatever it is told lets it pass |
//! | `barrier/no-recheck` | `no_recheck` | a change of the barrier's data lets it pass |
//! | `barrier/raised-again` | `raised_again` | misses an opening when the barrier is raised again at once |
//! | `barrier/lowered-once` | `lowered_once` | is said to be lowered, and is not |
//!
//! `stage` is what they have in common.

mod any_event;
mod lowered_once;
mod no_recheck;
mod raised_again;
mod recipe;
mod stage;
mod stale_look;

pub use any_event::AnyEvent;
pub use lowered_once::LoweredOnce;
pub use no_recheck::NoRecheck;
pub use raised_again::RaisedAgain;
pub use recipe::Recipe;
pub use stage::{BARRIER, BarrierKind, OnTrial, Stage};
pub use stale_look::StaleLook;

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Recipe)),
        Arc::new(OnTrial(StaleLook)),
        Arc::new(OnTrial(AnyEvent)),
        Arc::new(OnTrial(NoRecheck)),
        Arc::new(OnTrial(RaisedAgain)),
        Arc::new(OnTrial(LoweredOnce)),
    ]
}
