//! The revocable lock and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `revocable-lock` | `right` | nothing: the recipe of this project |
//! | `revocable-lock/by-force` | `by_force` | nothing: the same where holders are not trusted |
//! | `revocable-lock/parent` | `parent` | nobody is told |
//!
//! `stage` is what they have in common: who asks and who is asked.

mod by_force;
mod parent;
mod right;
mod stage;

pub use by_force::ByForce;
pub use parent::Parent;
pub use right::Right;
pub use stage::{OnRevocation, Revocable, Told};

use crate::lock::LOCK;
use crate::promise::AnyPromise;
use crate::promises::{
    ExclusionAmongLiveSessions, ExclusionAtFencedResource, ExclusionAtUnfencedResource, Fifo, Measured,
    NoFailure, NoForeignDelete, NoOrphanZnode, NoWaiterStuck, RevocationHeeded, SharersMeet, TokensIncrease,
    Undisturbed,
};
use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right ones first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![Arc::new(OnRevocation(Right)), Arc::new(OnRevocation(ByForce)), Arc::new(OnRevocation(Parent))]
}

/// What a shared lock promises that is given back by whoever is asked. Whoever asks watches the znodes as well, so that how
/// many are woken says nothing.
fn promises() -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(ExclusionAmongLiveSessions::of(LOCK)),
        Box::new(ExclusionAtFencedResource::of(LOCK)),
        Box::new(ExclusionAtUnfencedResource::of(LOCK)),
        Box::new(TokensIncrease::of(LOCK)),
        Box::new(Fifo::of_shared(LOCK, "-write-")),
        Box::new(SharersMeet::of(LOCK, "-write-")),
        Box::new(RevocationHeeded::of(LOCK)),
        Box::new(NoWaiterStuck),
        Box::new(NoOrphanZnode::of(LOCK)),
        Box::new(NoForeignDelete::of(LOCK)),
        Box::new(Undisturbed::of(NoFailure).sparing(LOCK)),
    ]
}

/// What is left of it where znodes are deleted under live holders.
fn promises_by_force() -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(Measured(ExclusionAmongLiveSessions::of(LOCK))),
        Box::new(ExclusionAtFencedResource::of(LOCK)),
        Box::new(Measured(ExclusionAtUnfencedResource::of(LOCK))),
        Box::new(RevocationHeeded::of(LOCK)),
        Box::new(NoWaiterStuck),
        Box::new(NoOrphanZnode::of(LOCK)),
        Box::new(Measured(NoForeignDelete::of(LOCK))),
        Box::new(Undisturbed::of(NoFailure).sparing(LOCK)),
    ]
}
