//! The double barrier and its published variants on trial.
//!
//! [`Fixture`] is what they have in common. Each published variant is one reading of the published steps.
//!
//! ```
//! use zk_harness::common::Stop;
//! use zk_catalogue::double_barrier::{Fixture, Size, double_barrier};
//!
//! /// Waits for nobody, and so breaks the first of its promises.
//! async fn hasty(fixture: Fixture) -> Result<bool, Stop> {
//!     fixture.inside().await;
//!     Ok(true)
//! }
//! let owed: Vec<_> = double_barrier("hasty", Size::All, hasty).owed().iter().map(|promise| promise.name()).collect();
//! assert!(owed.starts_with(&["enters-together", "leaves-together", "rounds-do-not-mix", "barrier-opens"]));
//! ```

mod fixture;
mod published;
mod recipe;
mod steps;

pub use fixture::{BARRIER, Fixture, Size, double_barrier};

use zk_harness::trial::Trial;

/// All of them, the right ones first.
pub fn trials() -> Vec<Trial> {
    [recipe::trials(), published::trials()].concat()
}
