//! The barrier and its published variants on trial.
//!
//! [`Fixture`] is what they have in common. Process 0 raises the barrier and lowers it; the others wait by your code:
//!
//! ```
//! use zk_catalogue::barrier::{Fixture, barrier};
//! use zk_harness::common::Stop;
//!
//! async fn wait(fixture: Fixture) -> Result<(), Stop> {
//!     while let Some(up) = fixture.recipe().look().await? {
//!         fixture.sees();
//!         fixture.recipe().gone(up).await?;
//!     }
//!     Ok(())
//! }
//! let owed: Vec<_> = barrier("my-barrier", wait).owed().iter().map(|promise| promise.name()).collect();
//! assert!(owed.starts_with(&["barrier-holds", "barrier-releases", "no-opening-missed", "raised-as-told"]));
//! ```

mod any_event;
mod fixture;
mod lowered_once;
mod no_recheck;
mod raised_again;
mod recipe;
mod stale_look;

pub use fixture::{BARRIER, Fixture, barrier};

use zk_harness::trial::Trial;

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
