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

mod data_change;
mod duplicate_start;
mod epochs;
mod first_never_leads;
mod fixture;
mod goes_on;
mod latch_adopts_ghost;
mod latch_close_race;
mod latch_no_parent_ignored;
mod latch_reset_race;
mod name_order;
mod no_guid;
mod no_null_check;
mod node_is_leader;
mod smallest_watched;
mod waiter_outlives_lease;

pub(crate) use fixture::session_over;
pub use fixture::{ELECTION, Fixture, election};

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        epochs::trial(),
        epochs::looked_up(),
        first_never_leads::trial(),
        smallest_watched::trial(),
        no_null_check::trial(),
        no_guid::trial(),
        name_order::trial(),
        data_change::trial(),
        duplicate_start::trial(),
        node_is_leader::trial(),
        goes_on::trial(),
        waiter_outlives_lease::trial(),
        latch_adopts_ghost::trial(),
        latch_reset_race::trial(),
        latch_close_race::trial(),
        latch_no_parent_ignored::trial(),
    ]
}
