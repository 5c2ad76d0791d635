//! The same check, when it is made again and again while a history grows.
//!
//! What ever happened is only added to, apart from a few events that the ghost history counts (`Ghost::rewrites`).
//! So what was once found to agree need not be looked at again: of each log it is kept how far it was seen to be
//! what stands, of each peer's deliveries how far they were seen to be what was proposed. From that some
//! predicates follow without being asked. Where they do not follow, and for all the others, the predicates
//! themselves decide: this can be wrong only by taking for granted what does not follow, never by a false alarm.

use super::{ALL, Broken, is_prefix};
use crate::ids::ServerId;
use crate::txn::Txn;
use crate::zab::Peer;
use crate::zab::ghost::Ghost;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use zk_api::Zxid;

/// Checks one ensemble, again and again. Keeps what it has seen; told of another ghost history it would be wrong.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    seen: Seen,
    /// What `seen` is of.
    rewrites: u64,
}

/// What was found once and stays so for as long as nothing is rewritten.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// So many first transactions that a peer has delivered are the first that stand.
    delivered: BTreeMap<ServerId, usize>,
    /// So many first transactions on a peer's disk are the first that stand.
    disks: BTreeMap<ServerId, usize>,
    /// So many first transactions that a peer has delivered were proposed in that order.
    proposed: BTreeMap<ServerId, Proposed>,
    /// So many first transactions that a peer has delivered were delivered by the leader of an epoch before it
    /// proposed, in the same places.
    before: BTreeMap<(u32, ServerId), usize>,
    /// Two epochs of which the first history of one begins that of the other.
    initial: BTreeSet<(u32, u32)>,
}

#[derive(Clone, Debug, Default)]
struct Proposed {
    count: usize,
    /// How many of them are of each epoch.
    of_epoch: BTreeMap<u32, usize>,
}

/// Whether an invariant follows from what was seen.
type Follows = fn(&Seen, &[&Peer], &Ghost) -> bool;

const FOLLOWING: [(&str, Follows); 10] = [
    ("Integrity", Seen::all_proposed),
    ("LocalPrimaryOrder", Seen::all_proposed),
    ("Agreement", Seen::all_delivered_stands),
    ("TotalOrder", Seen::all_delivered_stands),
    ("GlobalPrimaryOrder", Seen::all_delivered_stands),
    ("DeliveredStands", Seen::all_delivered_stands),
    ("PrimaryIntegrity", Seen::all_before),
    ("InitialHistoryIntegrity", Seen::all_initial),
    ("CommittedIsOnAQuorum", Seen::all_on_a_quorum),
    ("EpochHasHistory", Seen::all_have_history),
];

impl Checker {
    /// As [`check_all`](super::check_all).
    pub fn check_all(&mut self, peers: &[&Peer], ghost: &Ghost) -> Vec<Broken> {
        if self.rewrites != ghost.rewrites.0 {
            *self = Checker { seen: Seen::default(), rewrites: ghost.rewrites.0 };
        }
        self.seen.look(ghost);
        let follows = |name: &str| {
            let follows = FOLLOWING.iter().find(|(of, _)| *of == name);
            follows.is_some_and(|(_, follows)| follows(&self.seen, peers, ghost))
        };
        let asked = ALL.iter().filter(|(name, _)| !follows(name));
        let broken = asked.filter_map(|(invariant, predicate)| {
            predicate(peers, ghost).err().map(|what| Broken { invariant, what })
        });
        broken.collect()
    }
}

impl Seen {
    /// Looks at what has come since.
    fn look(&mut self, ghost: &Ghost) {
        for (server, delivered) in &ghost.delivered {
            agrees(self.delivered.entry(*server).or_default(), delivered, ghost);
            self.proposed.entry(*server).or_default().look(delivered, ghost);
        }
        for (server, disk) in &ghost.disks {
            agrees(self.disks.entry(*server).or_default(), &disk.log, ghost);
        }
        for (epoch, before) in &ghost.delivered_before {
            for (server, delivered) in &ghost.delivered {
                let count = self.before.entry((*epoch, *server)).or_default();
                let more = delivered[*count..].iter().zip(before.get(*count..).unwrap_or_default());
                *count += more.take_while(|(a, b)| a == b).count();
            }
        }
        let histories: Vec<_> = ghost.initial.iter().collect();
        for two in histories.windows(2) {
            let pair = (*two[0].0, *two[1].0);
            if !self.initial.contains(&pair) && is_prefix(two[0].1, two[1].1) {
                self.initial.insert(pair);
            }
        }
    }

    fn all_delivered_stands(&self, _: &[&Peer], ghost: &Ghost) -> bool {
        ghost.delivered.iter().all(|(server, delivered)| self.delivered.get(server) == Some(&delivered.len()))
    }

    fn all_proposed(&self, _: &[&Peer], ghost: &Ghost) -> bool {
        let count = |server| self.proposed.get(server).map(|proposed| proposed.count);
        ghost.delivered.iter().all(|(server, delivered)| count(server) == Some(delivered.len()))
    }

    fn all_before(&self, _: &[&Peer], ghost: &Ghost) -> bool {
        ghost.delivered_before.keys().all(|epoch| {
            ghost.delivered.iter().all(|(server, delivered)| {
                let seen = self.before.get(&(*epoch, *server)).copied().unwrap_or_default();
                seen >= delivered.partition_point(|txn| txn.zxid.epoch() < *epoch)
            })
        })
    }

    fn all_initial(&self, _: &[&Peer], ghost: &Ghost) -> bool {
        let epochs = ghost.initial.keys();
        epochs.clone().zip(epochs.skip(1)).all(|(a, b)| self.initial.contains(&(*a, *b)))
    }

    fn all_on_a_quorum(&self, peers: &[&Peer], ghost: &Ghost) -> bool {
        let Some(peer) = peers.first() else { return true };
        let has_all = |server: &&ServerId| self.disks.get(server) == Some(&ghost.committed.len());
        peer.config().is_quorum(&ghost.disks.keys().filter(has_all).copied().collect())
    }

    fn all_have_history(&self, _: &[&Peer], ghost: &Ghost) -> bool {
        ghost.disks.iter().all(|(server, disk)| {
            let stood = ghost.stood.get(&disk.current_epoch).copied().unwrap_or(Zxid::ZERO);
            let Some((needs, _)) = ghost.committed.range(..=stood).next_back() else { return true };
            let seen = self.disks.get(server).copied().unwrap_or_default();
            disk.log[..seen].last().is_some_and(|has| has.zxid >= *needs)
        })
    }
}

impl Proposed {
    fn look(&mut self, delivered: &[Arc<Txn>], ghost: &Ghost) {
        for txn in &delivered[self.count..] {
            let epoch = txn.zxid.epoch();
            let place = self.of_epoch.entry(epoch).or_default();
            if ghost.broadcast.get(&epoch).and_then(|proposed| proposed.get(*place)) != Some(txn) {
                return;
            }
            *place += 1;
            self.count += 1;
        }
    }
}

/// Counts on, from the first `seen`, which of a log's transactions are the first that stand.
fn agrees(seen: &mut usize, log: &[Arc<Txn>], ghost: &Ghost) {
    let behind = match log[..*seen].last() {
        Some(last) => Bound::Excluded(last.zxid),
        None => Bound::Unbounded,
    };
    let stands = ghost.committed.range((behind, Bound::Unbounded)).map(|(_, txn)| txn);
    *seen += log[*seen..].iter().zip(stands).take_while(|(a, b)| a == b).count();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_may_follow_is_an_invariant() {
        assert!(FOLLOWING.iter().all(|(name, _)| ALL.iter().any(|(of, _)| of == name)));
    }
}
