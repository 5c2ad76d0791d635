//! The two-phase commit and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `two-phase-commit` | `ours` | nothing: the recipe of this project, a coordinator collects the votes |
//! | `two-phase-commit/each-other` | `ours` | nothing: the same, every site collects them |
//! | `two-phase-commit/silent` | `silent` | nothing: the same among sites that may not vote, with a timer |
//! | `two-phase-commit/children-one-by-one` | `children_one_by_one` | some of the sites are taken for all |
//! | `two-phase-commit/vote-rewritten` | `vote_rewritten` | a vote is changed when its answer is lost |
//! | `two-phase-commit/empty-is-vote` | `empty_is_vote` | no vote yet is taken for a vote to commit |
//! | `two-phase-commit/no-recovery` | `no_recovery` | nobody takes over from a coordinator |
//! | `two-phase-commit/watch-lost` | `watch_lost` | a watch is given up with its connection |
//! | `two-phase-commit/volatile-decision` | `volatile_decision` | the decision is in the coordinator's memory |
//! | `two-phase-commit/ephemeral-vote` | `ephemeral_vote` | a vote goes with its site |
//! | `two-phase-commit/cleanup-is-abort` | `cleanup_is_abort` | what is gone is taken for aborted |
//! | `two-phase-commit/stale-decision` | `stale_decision` | none that can be read is taken for abort |
//! | `two-phase-commit/waits-for-ever` | `waits_for_ever` | a site that is gone is waited for |
//! | `two-phase-commit/gives-up` | `gives_up` | a site that has voted goes away |
//!
//! `stage` is what they have in common, `published` what those have that watch each other's votes.

mod children_one_by_one;
mod cleanup_is_abort;
mod empty_is_vote;
mod ephemeral_vote;
mod gives_up;
mod no_recovery;
mod ours;
mod published;
mod silent;
mod stage;
mod stale_decision;
mod volatile_decision;
mod vote_rewritten;
mod waits_for_ever;
mod watch_lost;

pub use children_one_by_one::ChildrenOneByOne;
pub use cleanup_is_abort::CleanupIsAbort;
pub use empty_is_vote::EmptyIsVote;
pub use ephemeral_vote::EphemeralVote;
pub use gives_up::GivesUp;
pub use no_recovery::NoRecovery;
pub use ours::Ours;
pub use silent::Silent;
pub use stage::{CommitKind, OnTrial, SITES, Stage, TRANSACTIONS};
pub use stale_decision::StaleDecision;
pub use volatile_decision::VolatileDecision;
pub use vote_rewritten::VoteRewritten;
pub use waits_for_ever::WaitsForEver;
pub use watch_lost::WatchLost;

use crate::trial::AnyTrial;
use std::sync::Arc;
use zk_recipes::Watching;

/// All of them, the right ones first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Ours(Watching::Coordinator))),
        Arc::new(OnTrial(Ours(Watching::EachOther))),
        Arc::new(OnTrial(Silent)),
        Arc::new(OnTrial(ChildrenOneByOne)),
        Arc::new(OnTrial(VoteRewritten)),
        Arc::new(OnTrial(EmptyIsVote)),
        Arc::new(OnTrial(NoRecovery)),
        Arc::new(OnTrial(WatchLost)),
        Arc::new(OnTrial(VolatileDecision)),
        Arc::new(OnTrial(EphemeralVote)),
        Arc::new(OnTrial(CleanupIsAbort)),
        Arc::new(OnTrial(StaleDecision)),
        Arc::new(OnTrial(WaitsForEver)),
        Arc::new(OnTrial(GivesUp)),
    ]
}
