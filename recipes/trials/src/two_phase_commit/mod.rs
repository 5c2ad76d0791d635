//! The two-phase commit and its published variants on trial.
//!
//! `fixture` is what they have in common, `published` what those have that watch each other's votes.

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

use crate::trial::Trial;

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
