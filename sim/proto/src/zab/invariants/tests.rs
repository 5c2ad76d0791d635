//! Every invariant holds of a healthy ensemble, and has a broken variant that it catches under its own name.

use super::*;
use crate::zab::ghost::OnDisk;
use crate::zab::tests::sample::{following, leading, looking, txn, txns, with_undurable};

type Ensemble = (Vec<Peer>, Ghost);

/// Server 3 leads epoch 2, in which 2:1 was proposed; 1 follows; 2 looks.
fn healthy() -> Ensemble {
    let peers = vec![
        following(1, 3, 2, &[(1, 1), (1, 2), (2, 1)]),
        looking(2, &[(1, 1)]),
        leading(3, 2, &[(1, 1), (1, 2), (2, 1)]),
    ];
    let all = txns(&[(1, 1), (1, 2), (2, 1)]);
    let delivered = BTreeMap::from([
        (ServerId(1), all.clone()),
        (ServerId(2), txns(&[(1, 1)])),
        (ServerId(3), all.clone()),
    ]);
    let ghost = Ghost {
        leaders: BTreeMap::from([(1, BTreeSet::from([ServerId(1)])), (2, BTreeSet::from([ServerId(3)]))]),
        initial: BTreeMap::from([(1, Vec::new()), (2, txns(&[(1, 1), (1, 2)]))]),
        broadcast: BTreeMap::from([(1, txns(&[(1, 1), (1, 2), (1, 3)])), (2, txns(&[(2, 1)]))]),
        delivered_before: BTreeMap::from([(1, Vec::new()), (2, txns(&[(1, 1), (1, 2)]))]),
        committed: all.into_iter().map(|txn| (txn.zxid, txn)).collect(),
        most_delivered: delivered.clone(),
        delivered,
        cut: Vec::new(),
        stood: BTreeMap::from([(1, Zxid::ZERO), (2, Zxid::new(1, 2))]),
        disks: disks(&peers),
        ..Ghost::default()
    };
    (peers, ghost)
}

/// Everything that the peers have is on their disks.
fn disks(peers: &[Peer]) -> BTreeMap<ServerId, OnDisk> {
    let mut ghost = Ghost::default();
    peers.iter().for_each(|peer| ghost.started(peer));
    ghost.disks
}

/// The healthy one with something done to it.
fn with(spoil: impl Fn(&mut Vec<Peer>, &mut Ghost)) -> Ensemble {
    let (mut peers, mut ghost) = healthy();
    spoil(&mut peers, &mut ghost);
    (peers, ghost)
}

fn delivers(server: u8, zxids: &'static [(u32, u32)]) -> impl Fn(&mut Vec<Peer>, &mut Ghost) {
    move |_, ghost| {
        ghost.delivered.insert(ServerId(server), txns(zxids));
    }
}

fn disk(server: u8, spoil: fn(&mut OnDisk)) -> impl Fn(&mut Vec<Peer>, &mut Ghost) {
    move |_, ghost| spoil(ghost.disks.get_mut(&ServerId(server)).expect("a server"))
}

fn flagged(violation: Violation) -> Ensemble {
    with(|peers, _| {
        peers[0].own.violations.insert(violation);
    })
}

/// The broken variants.
fn broken_variants() -> Vec<(&'static str, Ensemble)> {
    let vote = |epoch, leader| Some(Vote { epoch, zxid: Zxid::ZERO, leader: ServerId(leader) });
    vec![
        ("Leadership1", with(|peers, _| peers[1] = leading(2, 2, &[]))),
        (
            "Leadership2",
            with(|_, ghost| {
                ghost.leaders.entry(2).or_default().insert(ServerId(2));
            }),
        ),
        ("PrefixConsistency", with(|peers, _| peers[0] = following(1, 3, 2, &[(1, 1), (2, 1)]))),
        (
            "Integrity",
            with(|_, ghost| {
                ghost.broadcast.remove(&2);
            }),
        ),
        ("Agreement", with(delivers(1, &[(1, 1), (1, 3)]))),
        ("TotalOrder", with(delivers(1, &[(1, 2), (1, 1), (2, 1)]))),
        ("LocalPrimaryOrder", with(delivers(1, &[(1, 2)]))),
        ("GlobalPrimaryOrder", with(delivers(1, &[(1, 1), (2, 1), (1, 2)]))),
        (
            "PrimaryIntegrity",
            with(|_, ghost| {
                ghost.delivered_before.insert(2, txns(&[(1, 1)]));
            }),
        ),
        ("CommittedLogMonotonicity", with(|peers, _| peers[0] = looking(1, &[(1, 1)]))),
        ("CommittedLogDurability", with(|_, ghost| ghost.cut.push((ServerId(2), txn((1, 2)))))),
        ("ProcessConsistency", with(|peers, _| peers[0] = following(1, 3, 2, &[(1, 1), (2, 1)]))),
        ("LeaderLogCompleteness", with(|peers, _| peers[2] = leading(3, 2, &[(1, 1), (2, 1)]))),
        (
            "InitialHistoryIntegrity",
            with(|_, ghost| {
                ghost.initial.insert(1, txns(&[(1, 1), (1, 2), (1, 3)]));
            }),
        ),
        ("IllegalMessage", flagged(Violation::Message)),
        ("IllegalState", flagged(Violation::State)),
        ("IllegalAck", flagged(Violation::Ack)),
        ("IllegalProposal", flagged(Violation::Proposal)),
        ("IllegalCommit", flagged(Violation::Commit)),
        (
            // The order itself is broken, not the peers: see the tests below.
            "VotesTotallyOrdered",
            with(|peers, _| {
                (peers[0].own.vote, peers[1].own.vote) = (vote(1, 1), vote(2, 2));
            }),
        ),
        ("VoteIsDurable", with(|peers, _| peers[1] = with_undurable(looking(2, &[(1, 1)]), &[(1, 2)]))),
        ("DeliveredStands", with(delivers(2, &[(1, 2)]))),
        ("CommittedIsOnAQuorum", with(disk(1, |disk| disk.log.truncate(2)))),
        ("EpochHasHistory", with(disk(2, |disk| disk.current_epoch = 2))),
        ("DurableIsOnDisk", with(disk(2, |disk| disk.log.clear()))),
        ("DeliveredIsDurable", with(delivers(2, &[(1, 1), (1, 2)]))),
        (
            "AcknowledgedIsDurable",
            with(|_, ghost| ghost.acknowledged_early = BTreeSet::from([(ServerId(1), Zxid::new(2, 2))])),
        ),
        ("PromisedIsDurable", with(|_, ghost| ghost.promised_early = BTreeSet::from([(ServerId(1), 3)]))),
    ]
}

fn refs(peers: &[Peer]) -> Vec<&Peer> {
    peers.iter().collect()
}

#[test]
fn a_healthy_ensemble_keeps_every_invariant() {
    let (peers, ghost) = healthy();
    assert_eq!(check_all(&refs(&peers), &ghost), []);
}

#[test]
fn every_invariant_catches_its_broken_variant() {
    let broken_variants = broken_variants();
    let names: Vec<&str> = broken_variants.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ALL.map(|(name, _)| name), "each has its broken variant");
    for ((name, predicate), (_, (peers, ghost))) in ALL.iter().zip(&broken_variants) {
        if *name != "VotesTotallyOrdered" {
            assert!(predicate(&refs(peers), ghost).is_err(), "{name}");
            assert!(!check_all(&refs(peers), ghost).is_empty(), "{name}");
        }
    }
}

fn voting(votes: &[(u32, u32, u8)]) -> Vec<Peer> {
    let vote = |(epoch, counter, leader): &(u32, u32, u8)| {
        let mut peer = looking(1, &[]);
        peer.own.vote = Some(Vote { epoch: *epoch, zxid: Zxid::new(1, *counter), leader: ServerId(*leader) });
        peer
    };
    votes.iter().map(vote).collect()
}

#[test]
fn an_order_in_which_each_of_two_votes_beats_the_other_is_caught() {
    // A longer log beats a newer epoch, and the other way round.
    let either = |a: &Vote, b: &Vote| a.epoch > b.epoch || a.zxid > b.zxid;
    let peers = voting(&[(1, 9, 1), (2, 1, 2)]);
    assert!(totally_ordered(&refs(&peers), either).is_err());
    assert!(totally_ordered(&refs(&peers), Vote::beats).is_ok());
}

#[test]
fn an_order_that_goes_in_a_circle_is_caught() {
    let circle = |a: &Vote, b: &Vote| (a.leader.0 + 1) % 3 == b.leader.0 % 3;
    let peers = voting(&[(1, 1, 1), (1, 1, 2), (1, 1, 3)]);
    assert!(totally_ordered(&refs(&peers), circle).is_err());
    assert!(totally_ordered(&refs(&peers), Vote::beats).is_ok());
}

/// The existential form, which the specifications have, holds of this.
#[test]
fn a_gap_in_one_epochs_order_is_caught_though_some_pair_is_in_order() {
    let (_, mut ghost) = healthy();
    ghost.delivered.insert(ServerId(1), txns(&[(1, 1), (1, 3)]));
    assert!(local_primary_order(&[], &ghost).is_err());
}

#[test]
fn a_leader_that_does_not_know_it_is_deposed_is_no_violation() {
    let (mut peers, ghost) = healthy();
    peers[1] = leading(2, 1, &[(1, 1), (1, 2), (1, 3)]);
    let peers = refs(&peers);
    assert_eq!(leadership1(&peers, &ghost), Ok(()));
    assert_eq!(leader_log_completeness(&peers, &ghost), Ok(()));
}
