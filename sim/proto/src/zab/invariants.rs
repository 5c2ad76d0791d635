//! What must hold of an ensemble in every state, as pure predicates over its peers and their ghost history.
//!
//! Named as in ZooKeeper's specifications, where they are there. `LocalPrimaryOrder` is quantified over *all*
//! pairs of proposals, as was meant.
//!
//! ```
//! use std::sync::Arc;
//! use zk_proto::server::ServerId;
//! use zk_proto::zab::ghost::Ghost;
//! use zk_proto::zab::invariants::agreement;
//! # use zk_api::{SessionId, Zxid};
//! # use zk_proto::{message::Xid, txn::{Txn, TxnBody}};
//! # let txn = |counter| {
//! #     let body = TxnBody::Delete { path: "/a".into() };
//! #     let (zxid, session) = (Zxid::new(1, counter), SessionId::NONE);
//! #     Arc::new(Txn { zxid, session, xid: Xid(0), time_ms: 0, body })
//! # };
//!
//! let mut ghost = Ghost::default();
//! ghost.deliver(ServerId(1), &txn(1));
//! assert_eq!(agreement(&[], &ghost), Ok(()));
//! ghost.deliver(ServerId(2), &txn(2));
//! assert!(agreement(&[], &ghost).is_err(), "neither has delivered what the other has");
//! ```

use super::ghost::Ghost;
use super::message::Vote;
use super::{Peer, Violation};
use crate::ids::ServerId;
use crate::txn::Txn;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::Zxid;

pub mod growing;

/// A predicate: `Err` says what is wrong.
pub type Predicate = fn(&[&Peer], &Ghost) -> Result<(), String>;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Broken {
    /// Its name, as in [`ALL`].
    pub invariant: &'static str,
    /// What is wrong.
    pub what: String,
}

/// All of them by name. A peer that is down is in no slice of peers.
pub const ALL: [(&str, Predicate); 28] = [
    ("Leadership1", leadership1),
    ("Leadership2", leadership2),
    ("PrefixConsistency", prefix_consistency),
    ("Integrity", integrity),
    ("Agreement", agreement),
    ("TotalOrder", total_order),
    ("LocalPrimaryOrder", local_primary_order),
    ("GlobalPrimaryOrder", global_primary_order),
    ("PrimaryIntegrity", primary_integrity),
    ("CommittedLogMonotonicity", committed_log_monotonicity),
    ("CommittedLogDurability", committed_log_durability),
    ("ProcessConsistency", process_consistency),
    ("LeaderLogCompleteness", leader_log_completeness),
    ("InitialHistoryIntegrity", initial_history_integrity),
    ("IllegalMessage", |peers, _| never(peers, Violation::Message)),
    ("IllegalState", |peers, _| never(peers, Violation::State)),
    ("IllegalAck", |peers, _| never(peers, Violation::Ack)),
    ("IllegalProposal", |peers, _| never(peers, Violation::Proposal)),
    ("IllegalCommit", |peers, _| never(peers, Violation::Commit)),
    ("VotesTotallyOrdered", votes_totally_ordered),
    ("VoteIsDurable", vote_is_durable),
    ("DeliveredStands", delivered_stands),
    ("CommittedIsOnAQuorum", committed_is_on_a_quorum),
    ("EpochHasHistory", epoch_has_history),
    ("DurableIsOnDisk", durable_is_on_disk),
    ("DeliveredIsDurable", delivered_is_durable),
    ("AcknowledgedIsDurable", acknowledged_is_durable),
    ("PromisedIsDurable", promised_is_durable),
];

/// All that do not hold.
pub fn check_all(peers: &[&Peer], ghost: &Ghost) -> Vec<Broken> {
    let broken = ALL.iter().filter_map(|(invariant, predicate)| {
        predicate(peers, ghost).err().map(|what| Broken { invariant, what })
    });
    broken.collect()
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn pairs<T: Copy>(items: &[T]) -> impl Iterator<Item = (T, T)> {
    items.iter().enumerate().flat_map(move |(at, a)| items[at + 1..].iter().map(move |b| (*a, *b)))
}

fn id(peer: &Peer) -> ServerId {
    peer.config().id
}

fn is_prefix(short: &[Arc<Txn>], long: &[Arc<Txn>]) -> bool {
    long.starts_with(short)
}

/// At most one peer leads an epoch.
pub fn leadership1(peers: &[&Peer], _: &Ghost) -> Result<(), String> {
    pairs(peers).try_for_each(|(a, b)| {
        let same = a.leads().is_some() && a.leads() == b.leads();
        ensure(!same, || format!("{:?} and {:?} lead epoch {:?}", id(a), id(b), a.leads()))
    })
}

/// At most one peer ever led an epoch.
pub fn leadership2(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    ghost.leaders.iter().try_for_each(|(epoch, leaders)| {
        ensure(leaders.len() <= 1, || format!("{leaders:?} have led epoch {epoch}"))
    })
}

/// Of what two peers have delivered, one is a prefix of the other.
pub fn prefix_consistency(peers: &[&Peer], _: &Ghost) -> Result<(), String> {
    pairs(peers).try_for_each(|(a, b)| {
        let from = a.history().base().max(b.history().base());
        let to = a.delivered().min(b.delivered());
        let (mine, theirs) = (a.history().between(from, to), b.history().between(from, to));
        ensure(mine == theirs, || format!("{:?} and {:?} differ between {from} and {to}", id(a), id(b)))
    })
}

/// What is delivered was proposed, as it is.
pub fn integrity(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    let was_proposed = |txn: &Arc<Txn>| {
        let of_epoch = ghost.broadcast.get(&txn.zxid.epoch()).map_or(&[][..], Vec::as_slice);
        // Where it should be, or anywhere.
        let first = of_epoch.first().map_or(0, |first| first.zxid.counter());
        let place = txn.zxid.counter().wrapping_sub(first) as usize;
        of_epoch.get(place) == Some(txn) || of_epoch.contains(txn)
    };
    ghost.delivered.iter().try_for_each(|(server, delivered)| {
        delivered.iter().try_for_each(|txn| {
            ensure(was_proposed(txn), || format!("{server:?} delivered {}, which nobody proposed", txn.zxid))
        })
    })
}

/// Checks every two peers by what they delivered. Most often one is a prefix of the other, and nothing has to be
/// looked up.
fn compare_deliveries(
    ghost: &Ghost,
    agree: impl Fn(&[Arc<Txn>], &[Arc<Txn>]) -> Result<(), String>,
) -> Result<(), String> {
    let delivered: Vec<&Vec<Arc<Txn>>> = ghost.delivered.values().collect();
    pairs(&delivered).filter(|(a, b)| !is_prefix(a, b) && !is_prefix(b, a)).try_for_each(|(a, b)| agree(a, b))
}

/// The first of `a` that is not in `b`.
fn missing<'a>(a: &'a [Arc<Txn>], b: &[Arc<Txn>]) -> Option<&'a Arc<Txn>> {
    let there: BTreeMap<Zxid, &Arc<Txn>> = b.iter().map(|txn| (txn.zxid, txn)).collect();
    a.iter().find(|txn| there.get(&txn.zxid) != Some(txn))
}

/// If one delivers a and another b, then the other delivers a or the one delivers b.
pub fn agreement(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    compare_deliveries(ghost, |a, b| match (missing(a, b), missing(b, a)) {
        (Some(x), Some(y)) => Err(format!("one delivered {} alone, another {}", x.zxid, y.zxid)),
        (Some(_) | None, None) | (None, Some(_)) => Ok(()),
    })
}

/// If one delivers a before b, then whoever delivers b delivers a before it.
pub fn total_order(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    let up_to_common = |a: &[Arc<Txn>], b: &[Arc<Txn>]| a.iter().rposition(|txn| b.contains(txn));
    compare_deliveries(ghost, |a, b| match (up_to_common(a, b), up_to_common(b, a)) {
        (Some(i), Some(j)) if a[..=i] != b[..=j] => {
            Err(format!("two delivered {} with different ones before it", a[i].zxid))
        }
        (Some(_) | None, Some(_) | None) => Ok(()),
    })
}

/// If an epoch's leader proposes a before b, then whoever delivers b delivers a before it. For all a and b.
pub fn local_primary_order(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    ghost.delivered.iter().try_for_each(|(server, delivered)| {
        let mut proposed: BTreeMap<u32, _> =
            ghost.broadcast.iter().map(|(epoch, txns)| (*epoch, txns.iter())).collect();
        let mut in_order = |txn: &Arc<Txn>| match proposed.get_mut(&txn.zxid.epoch()) {
            Some(next) => next.next() == Some(txn),
            None => true,
        };
        let wrong = delivered.iter().find(|txn| !in_order(txn));
        ensure(wrong.is_none(), || {
            let epoch = wrong.map_or(0, |txn| txn.zxid.epoch());
            format!("{server:?} delivered epoch {epoch} in another order than proposed")
        })
    })
}

/// Of two epochs, what is of the earlier is delivered earlier.
pub fn global_primary_order(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    ghost.delivered.iter().try_for_each(|(server, delivered)| {
        let back = delivered.windows(2).find(|two| two[0].zxid.epoch() > two[1].zxid.epoch());
        ensure(back.is_none(), || format!("{server:?} delivered an older epoch after a newer one"))
    })
}

/// What anybody delivers of an earlier epoch, a leader has delivered before it proposes.
pub fn primary_integrity(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    ghost.delivered_before.iter().try_for_each(|(epoch, before)| {
        ghost.delivered.iter().try_for_each(|(server, delivered)| {
            let earlier = delivered.partition_point(|txn| txn.zxid.epoch() < *epoch);
            // Delivered in the order of epochs, or another invariant is broken.
            let lacks = if is_prefix(&delivered[..earlier], before) {
                None
            } else {
                missing(&delivered[..earlier], before)
            };
            ensure(lacks.is_none(), || {
                format!("{server:?} delivered what the leader of epoch {epoch} had not when it proposed")
            })
        })
    })
}

/// What a peer has once delivered it never loses, nor anything before it, over restarts as well.
pub fn committed_log_monotonicity(peers: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    peers.iter().try_for_each(|peer| {
        let most = ghost.most_delivered.get(&id(peer)).map_or(&[][..], Vec::as_slice);
        let now = ghost.delivered.get(&id(peer)).map_or(&[][..], Vec::as_slice);
        let behind = most.partition_point(|txn| txn.zxid <= peer.history().base());
        let kept = is_prefix(&most[behind..], peer.history().log());
        let agrees = is_prefix(now, most) || is_prefix(most, now);
        ensure(kept && agrees, || format!("{:?} has lost what it had delivered", id(peer)))
    })
}

/// Nothing that stands is cut from a learner's log.
pub fn committed_log_durability(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    let first = ghost.cut.first();
    ensure(first.is_none(), || first.map_or(String::new(), |(id, txn)| format!("{id:?} cut {}", txn.zxid)))
}

/// Once synchronised, a learner's history is a prefix of its leader's.
pub fn process_consistency(peers: &[&Peer], _: &Ghost) -> Result<(), String> {
    peers.iter().try_for_each(|learner| {
        let Some((leader, epoch)) = learner.follows() else { return Ok(()) };
        let leading = peers.iter().find(|peer| id(peer) == leader && peer.leads() == Some(epoch));
        let Some(leading) = leading else { return Ok(()) };
        let from = learner.history().base().max(leading.history().base());
        let (mine, theirs) = (learner.history().after(from), leading.history().after(from));
        ensure(is_prefix(mine, theirs) && learner.history().last() <= leading.history().last(), || {
            format!("{:?} follows {leader:?} in epoch {epoch} with another history", id(learner))
        })
    })
}

/// A leader has everything that stands of its own epoch and of all before it.
pub fn leader_log_completeness(peers: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    peers.iter().try_for_each(|peer| {
        let Some(epoch) = peer.has_established() else { return Ok(()) };
        let base = peer.history().base();
        let mut log = peer.history().log().iter();
        let last = Zxid::new(epoch, u32::MAX);
        let mut stands = ghost.committed.range(..=last).map(|(_, txn)| txn).filter(|txn| txn.zxid > base);
        let lacks = stands.find(|txn| !log.any(|logged| logged == *txn));
        ensure(lacks.is_none(), || {
            let zxid = lacks.map_or(Zxid::ZERO, |txn| txn.zxid);
            format!("{:?} leads epoch {epoch} without {zxid}", id(peer))
        })
    })
}

/// The history an established epoch begins with begins that of every later one.
pub fn initial_history_integrity(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    let histories: Vec<_> = ghost.initial.iter().collect();
    histories.windows(2).try_for_each(|two| {
        let ((earlier, short), (later, long)) = (two[0], two[1]);
        ensure(is_prefix(short, long), || format!("the history of {later} does not go on from {earlier}"))
    })
}

fn never(peers: &[&Peer], violation: Violation) -> Result<(), String> {
    peers.iter().try_for_each(|peer| {
        ensure(!peer.violations().contains(&violation), || format!("{:?} was sent one", id(peer)))
    })
}

/// Of any two votes, peers take one for the better. An order of a peer's own counts once it has made a difference.
pub fn votes_totally_ordered(peers: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    totally_ordered(peers, Vote::beats)?;
    let has_own = |peer: &&&Peer| peer.config().mutant.is_some_and(|mutant| ghost.deviated.contains(&mutant));
    peers
        .iter()
        .filter(has_own)
        .take(1)
        .try_for_each(|peer| totally_ordered(peers, |a, b| peer.prefers(a, b)))
}

/// Of any two votes that differ, one beats the other, and never in a circle.
pub fn totally_ordered(peers: &[&Peer], beats: impl Fn(&Vote, &Vote) -> bool) -> Result<(), String> {
    let mut votes: Vec<Vote> = Vec::new();
    for vote in peers.iter().flat_map(|peer| peer.votes()) {
        if !votes.contains(&vote) {
            votes.push(vote);
        }
    }
    pairs(&votes.iter().collect::<Vec<_>>()).try_for_each(|(a, b)| {
        ensure(beats(a, b) != beats(b, a), || format!("{a:?} and {b:?} are not ordered"))
    })?;
    // In a total order of n votes, they beat 0, 1, …, n-1 others; a circle gives two the same number.
    let beaten = |vote: &Vote| votes.iter().filter(|other| beats(vote, other)).count();
    let ranks: BTreeSet<usize> = votes.iter().map(beaten).collect();
    ensure(ranks.len() == votes.len(), || format!("{votes:?} go in a circle"))
}

/// A peer that looks for a leader votes for what is on its disk.
pub fn vote_is_durable(peers: &[&Peer], _: &Ghost) -> Result<(), String> {
    peers.iter().filter(|peer| peer.is_looking()).try_for_each(|peer| {
        let (durable, last) = (peer.durable(), peer.history().last());
        ensure(durable == last, || format!("{:?} looks with {last} and has {durable} on disk", id(peer)))
    })
}

/// What a peer has delivered is what stands, from the beginning.
pub fn delivered_stands(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    ghost.delivered.iter().try_for_each(|(server, delivered)| {
        let mut stands = ghost.committed.values();
        let wrong = delivered.iter().find(|txn| stands.next() != Some(txn));
        ensure(wrong.is_none(), || {
            let zxid = wrong.map_or(Zxid::ZERO, |txn| txn.zxid);
            format!("{server:?} delivered {zxid}, which does not stand there")
        })
    })
}

/// What stands is on the disks of a quorum, each transaction of it.
pub fn committed_is_on_a_quorum(peers: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    let Some(peer) = peers.first() else { return Ok(()) };
    let count = ghost.committed.len();
    let quorum_has = |has: &dyn Fn(&[Arc<Txn>]) -> bool| {
        let have = ghost.disks.iter().filter(|(_, disk)| has(&disk.log)).map(|(server, _)| *server);
        peer.config().is_quorum(&have.collect())
    };
    if quorum_has(&|log| log.len() >= count && log.iter().zip(ghost.committed.values()).all(|(a, b)| a == b))
    {
        return Ok(());
    }
    // Not one quorum has it all; then each has to be on some quorum's.
    ghost.committed.values().try_for_each(|txn| {
        ensure(quorum_has(&|log| log.contains(txn)), || format!("{} is on no quorum's disks", txn.zxid))
    })
}

/// Who has taken an epoch for its own, on disk, has everything on disk that stood before it was promised, and its
/// first history once it is established. Votes and leaders are judged by that.
pub fn epoch_has_history(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    ghost.disks.iter().try_for_each(|(server, disk)| {
        let mut log = disk.log.iter();
        let stood = ghost.stood.get(&disk.current_epoch).copied().unwrap_or(Zxid::ZERO);
        let mut stands = ghost.committed.range(..=stood).map(|(_, txn)| txn);
        let lacks = stands.find(|txn| log.next() != Some(txn));
        ensure(lacks.is_none(), || {
            let zxid = lacks.map_or(Zxid::ZERO, |txn| txn.zxid);
            format!("{server:?} is in epoch {} without {zxid}", disk.current_epoch)
        })
    })
}

/// What a peer takes for durable is on its disk.
pub fn durable_is_on_disk(peers: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    peers.iter().try_for_each(|peer| {
        let durable = peer.durable();
        ensure(ghost.is_on_disk(peer, durable), || {
            format!("{:?} takes all up to {durable} for durable, and its disk has something else", id(peer))
        })
    })
}

/// What a peer has delivered is on its own disk.
pub fn delivered_is_durable(peers: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    peers.iter().try_for_each(|peer| {
        let delivered = ghost.delivered.get(&id(peer)).map_or(&[][..], Vec::as_slice);
        let on_disk = ghost.disks.get(&id(peer)).map_or(&[][..], |disk| &disk.log);
        ensure(is_prefix(delivered, on_disk), || format!("{:?} delivered what is not on its disk", id(peer)))
    })
}

/// What a learner acknowledges is on its disk: proposals, the history, and the epoch with it.
pub fn acknowledged_is_durable(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    let first = ghost.acknowledged_early.first();
    ensure(first.is_none(), || {
        first.map_or(String::new(), |(id, zxid)| format!("{id:?} acknowledged {zxid}"))
    })
}

/// An epoch is on a peer's disk before it promises to follow or to lead in it.
pub fn promised_is_durable(_: &[&Peer], ghost: &Ghost) -> Result<(), String> {
    let first = ghost.promised_early.first();
    ensure(first.is_none(), || first.map_or(String::new(), |(id, epoch)| format!("{id:?} promised {epoch}")))
}

#[cfg(test)]
mod tests;
