//! The two-phase commit and its published variants on trial.
//!
//! [`Fixture`] is what they have in common: one site in one transaction.
//!
//! ```
//! use zk_harness::common::Stop;
//! use zk_harness::recipes::Watching;
//! use zk_catalogue::two_phase_commit::{Fixture, Sites, commit};
//!
//! /// Votes, and does what was decided. It never acknowledges, so its transactions stay.
//! async fn turn(fixture: Fixture) -> Result<(), Stop> {
//!     let site = fixture.site();
//!     if let Some(transaction) = fixture.begin(&site, Watching::EachOther).await? {
//!         transaction.vote(fixture.considers().await).await?;
//!         if let Some(decided) = transaction.decision().await? {
//!             fixture.does(decided.verdict());
//!         }
//!     }
//!     Ok(())
//! }
//! let trial = commit("my-commit", Sites::Shown, turn);
//! assert!(trial.owed().iter().any(|promise| promise.name() == "no-orphan-transaction"));
//! ```

mod decisions;
mod fixture;
mod ours;
mod published;
mod votes;
mod waits;

pub use fixture::{Fixture, SITES, Sites, TRANSACTIONS, commit};

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    let published = [votes::trials(), waits::missing(), decisions::trials(), waits::endless()].concat();
    [ours::trials(), published].concat()
}
