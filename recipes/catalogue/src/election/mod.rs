//! Leader election and its published variants on trial.
//!
//! [`Fixture`] is what they have in common: standing, and the term of a leader.
//!
//! ```
//! use zk_harness::common::Stop;
//! use zk_catalogue::election::{Fixture, election};
//!
//! async fn turn(fixture: Fixture) -> Result<(), Stop> {
//!     let candidate = fixture.stand(&fixture.guid()).await?;
//!     fixture.leads_in_turn(&candidate).await
//! }
//! let trial = election("my-election", turn);
//! // An election is a lock, and its leader must stop once it knows that its session is over.
//! let owed: Vec<_> = trial.owed().iter().map(|promise| promise.name()).collect();
//! assert!(["exclusion-among-live-sessions", "stops-at-loss"].iter().all(|name| owed.contains(name)));
//! ```

mod candidates;
mod epochs;
mod fixture;
mod latch;
mod leaders;

pub(crate) use fixture::session_over;
pub use fixture::{ELECTION, Fixture, election};

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    [epochs::trials(), candidates::trials(), leaders::trials(), latch::trials()].concat()
}
