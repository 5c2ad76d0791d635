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

mod children_one_by_one;
mod cleanup_is_abort;
mod empty_is_vote;
mod ephemeral_vote;
mod fixture;
mod gives_up;
mod no_recovery;
mod ours;
mod published;
mod silent;
mod stale_decision;
mod volatile_decision;
mod vote_rewritten;
mod waits_for_ever;
mod watch_lost;

pub use fixture::{Fixture, SITES, Sites, TRANSACTIONS, commit};

use zk_harness::trial::Trial;

/// All of them, the right ones first.
pub fn trials() -> Vec<Trial> {
    let published = vec![
        children_one_by_one::trial(),
        vote_rewritten::trial(),
        empty_is_vote::trial(),
        no_recovery::trial(),
        watch_lost::trial(),
        volatile_decision::trial(),
        ephemeral_vote::trial(),
        cleanup_is_abort::trial(),
        stale_decision::trial(),
        waits_for_ever::trial(),
        gives_up::trial(),
    ];
    [ours::trials(), vec![silent::trial()], published].concat()
}
