//! What all shared locks on trial have in common: who reads and who writes.

use crate::lock::{LOCK, Stage};
use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::promises;
use zk_api::ZooKeeper;

/// What an actor does in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Writes, and then goes on reading without giving the lock away.
    Downgrades,
}

/// By turns: of three clients in a round, one downgrades, one reads, one writes.
pub(super) fn role<Z, P>(stage: &Stage<Z, P>) -> Role
where
    Z: ZooKeeper + Clone + 'static,
    P: Probe + Clone + 'static,
{
    match (stage.part().me.process + stage.round()) % 3 {
        0 => Role::Downgrades,
        1 => Role::Reads,
        _ => Role::Writes,
    }
}

/// What a shared lock with tokens promises.
pub(super) fn promises() -> Vec<Box<dyn AnyPromise>> {
    promises::of_shared_lock(LOCK, "-write-")
}
