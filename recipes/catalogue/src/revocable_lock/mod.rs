//! The revocable lock and its published variants on trial.
//!
//! They have in common who asks and who is asked.
//!
//! ```
//! use zk_harness::promise::Assumption;
//! let trials = zk_catalogue::revocable_lock::trials();
//! let by_force = trials.iter().find(|trial| trial.about.name == "revocable-lock/by-force").expect("it is there");
//! let owed = by_force.owed();
//! let assumes = |name: &str| owed.iter().find(|promise| promise.name() == name).expect("owed").terms().assumes;
//! // Who takes a lock by force may have two holders for a while: only a resource that compares tokens is safe.
//! assert_eq!(assumes("exclusion-among-live-sessions"), [Assumption::Promised], "it is only measured");
//! assert!(assumes("exclusion-at-fenced-resource").is_empty(), "it is owed whatever happens");
//! ```

mod fixture;

use crate::lock::LOCK;
use fixture::{Manner, revocable};
use std::time::Duration;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    ExclusionAmongLiveSessions, ExclusionAtResource, Fifo, Measured, NoFailure, NoForeignDelete,
    NoOrphanZnode, NoWaiterStuck, RevocationHeeded, SharersMeet, Undisturbed, of_lock,
};
use zk_harness::trial::{Bounds, Trial};

/// All of them, the right ones first.
pub fn trials() -> Vec<Trial> {
    vec![
        // `zk_recipes::SharedLock` with `Revoker::ask` and `Held::revoked`.
        revocable("revocable-lock", Manner::Asked)
            .summary("A shared lock whose holders give it back when they are asked.")
            .source("zk-recipes")
            .bounds(Bounds::clients(3))
            .promises(promises),
        // `Revoker::revoke`: asks, waits for a while, and deletes the znode of whoever has not given it back. The next
        // in line holds the lock beside one that may not know yet: that is what it is for, so exclusion among live
        // sessions is only measured, as is the unfenced resource (S-136). The resource that compares tokens is safe.
        revocable("revocable-lock/by-force", Manner::ByForce(PATIENCE))
            .summary("Holders that do not give it back in time have their znode deleted; safe at a fenced resource.")
            .source("zk-recipes")
            .bounds(Bounds { expiries: 1, lag: 1, effects: true, ..Bounds::clients(2) })
            .promises(promises_by_force),
        // Whoever revokes deletes the holder's znode right away: the editions allow that once it was asked, and has not
        // given it back for some time (S-136).
        revocable("revocable-lock/at-once", Manner::AtOnce)
            .summary("Whoever revokes deletes the znode of a holder that it has not asked to give it back.")
            .source("ZooKeeper's recipes page, the laser beams without their condition")
            .breaks("no-foreign-delete", "S-136", "none")
            .bounds(Bounds::clients(2))
            .promises(promises_by_force),
        // A holder does not watch its znode, as if the read right after the create were left out: it goes on until
        // nobody asks.
        revocable("revocable-lock/deaf", Manner::Deaf)
            .summary("Holders do not watch their znodes, and do not learn that they are asked to give it back.")
            .source("mutant of the recipe")
            .breaks("revocation-heeded", "S-135", "none")
            .bounds(Bounds::clients(2))
            .promises(promises),
        // The holder watches its own znode, and whoever revokes writes to that of the lock, as "the lock node" can be
        // read: nobody is told (S-131).
        revocable("revocable-lock/parent", Manner::AskedAtTheParent)
            .summary("Whoever revokes writes to the parent of the contenders, which no holder watches.")
            .source("ZooKeeper's recipes page, where it speaks of the lock node")
            .breaks("no-waiter-stuck", "S-131", "none")
            .bounds(Bounds::clients(2))
            .promises(promises),
    ]
}

/// As long as holders mostly take to give it back.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a shared lock promises that is given back by whoever is asked. Whoever asks watches the znodes as well, so that
/// how many are woken says nothing.
fn promises() -> Vec<Box<dyn AnyPromise>> {
    let of_line: Vec<Box<dyn AnyPromise>> = vec![
        Box::new(Fifo::of_shared(LOCK, "-write-")),
        Box::new(SharersMeet::of(LOCK, "-write-")),
        Box::new(RevocationHeeded::of(LOCK)),
    ];
    of_lock(LOCK, of_line)
}

/// What is left of it where znodes are deleted under live holders.
fn promises_by_force() -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(Measured(ExclusionAmongLiveSessions::of(LOCK))),
        Box::new(ExclusionAtResource::fenced(LOCK)),
        Box::new(Measured(ExclusionAtResource::unfenced(LOCK))),
        Box::new(RevocationHeeded::of(LOCK)),
        Box::new(NoWaiterStuck),
        Box::new(NoOrphanZnode::of(LOCK)),
        Box::new(NoForeignDelete::of(LOCK).but_of_asked()),
        Box::new(Undisturbed::of(NoFailure).sparing(LOCK)),
    ]
}
