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

mod fixture;
mod trials;

pub use fixture::{BARRIER, Fixture, barrier};
pub use trials::trials;
