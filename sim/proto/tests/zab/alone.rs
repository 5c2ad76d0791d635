//! One peer, event by event, with what the test says for all others.

use std::sync::Arc;
use zk_api::{SessionId, Zxid};
use zk_proto::message::Xid;
use zk_proto::mutant::Mutant;
use zk_proto::server::ServerId;
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::message::{LinkId, Notification, Packet, Snapshot, Stand, Vote};
use zk_proto::zab::{Event, Note, Output, Peer, PeerConfig, RecoveredHistory, Role, Violation, Write};

const LINK: LinkId = LinkId(1);

/// A transaction told from others by its zxid and a number.
pub fn txn(zxid: (u32, u32), number: i64) -> Arc<Txn> {
    let (zxid, body) = (Zxid::new(zxid.0, zxid.1), TxnBody::Delete { path: "/a".into() });
    Arc::new(Txn { zxid, session: SessionId::NONE, xid: Xid(0), time_ms: number, body })
}

/// Server 1 of so many voters, with 1:1 on its disk, which looks for a leader.
pub fn looking(voters: u8, mutant: Option<Mutant>) -> Peer {
    let mut config = PeerConfig::new(ServerId(1), (1..=voters).map(ServerId), []);
    config.mutant = mutant;
    let log = vec![txn((1, 1), 0)];
    let disk = RecoveredHistory { accepted_epoch: 1, current_epoch: 1, log, ..RecoveredHistory::default() };
    Peer::start(config, disk).0
}

fn step(peer: &mut Peer, event: Event) -> Vec<Output> {
    let mut out = Vec::new();
    peer.step(event, &mut out);
    out
}

fn receive(peer: &mut Peer, packet: Packet) -> Vec<Output> {
    step(peer, Event::Received { link: LINK, packet })
}

/// Hears from a server for whom it is.
fn hear(peer: &mut Peer, from: u8, stand: Stand, round: u64, leader: u8) -> Vec<Output> {
    let vote = Some(Vote { epoch: 1, zxid: Zxid::new(1, 1), leader: ServerId(leader) });
    step(peer, Event::Notified { from: ServerId(from), notification: Notification { round, vote, stand } })
}

/// One of three voters, which has decided for 3, is linked to it, and waits for its epoch.
fn greeting(mutant: Option<Mutant>) -> Peer {
    let mut peer = looking(3, mutant);
    hear(&mut peer, 2, Stand::Following, 9, 3);
    hear(&mut peer, 3, Stand::Leading, 9, 3);
    let out = step(&mut peer, Event::Dialled { link: LINK, to: ServerId(3) });
    assert!(matches!(&out[..], [Output::Send { packet: Packet::FollowerInfo { .. }, .. }]), "{out:?}");
    peer
}

/// The same, having promised to follow in epoch 2 and heard that its history begins the leader's.
fn synchronizing() -> Peer {
    let mut peer = greeting(None);
    receive(&mut peer, Packet::LeaderInfo { epoch: 2 });
    step(&mut peer, Event::Written);
    assert_eq!(receive(&mut peer, Packet::Diff), []);
    peer
}

#[test]
fn who_has_decided_is_remembered_when_a_newer_round_begins() {
    let mut peer = looking(5, None);
    hear(&mut peer, 2, Stand::Following, 9, 5);
    hear(&mut peer, 3, Stand::Following, 9, 5);
    hear(&mut peer, 4, Stand::Looking, 12, 4);
    assert_eq!((peer.round(), peer.role()), (12, Role::Looking));
    // With 2 and 3 it has a quorum.
    let out = hear(&mut peer, 5, Stand::Leading, 9, 5);
    assert!(out.contains(&Output::Dial { to: ServerId(5) }), "{out:?}");
    assert_eq!(peer.role(), Role::Joining { leader: ServerId(5) });
}

#[test]
fn a_cut_or_a_snapshot_is_illegal_but_right_behind_the_promise() {
    let cut = Packet::Trunc { to: Zxid::ZERO };
    let snapshot = Packet::Snap(Snapshot { zxid: Zxid::new(2, 5), image: Arc::new([]) });
    for packet in [cut, snapshot] {
        for mut peer in [greeting(None), synchronizing()] {
            let out = receive(&mut peer, packet.clone());
            assert!(out.contains(&Output::Note(Note::Violated(Violation::State))), "{packet:?}: {out:?}");
            assert!(out.contains(&Output::Hang { link: LINK }), "{packet:?}: {out:?}");
            assert_eq!(peer.history().log(), [txn((1, 1), 0)], "{packet:?}");
        }
    }
}

/// Follows a learner until it has promised. Who gave its promise early, in which epoch?
fn promises(mutant: Option<Mutant>) -> Vec<(ServerId, u32)> {
    let mut peer = greeting(mutant);
    let mut ghost = Ghost::default();
    ghost.started(&peer);
    let mut out = receive(&mut peer, Packet::LeaderInfo { epoch: 2 });
    ghost.observe(&peer, &out);
    if out.contains(&Output::Write(Write::AcceptedEpoch(2))) {
        out = step(&mut peer, Event::Written);
        ghost.observe(&peer, &out);
    }
    let is_promise = |output: &Output| matches!(output, Output::Send { packet: Packet::AckEpoch { .. }, .. });
    assert!(out.iter().any(is_promise), "{out:?}");
    ghost.promised_early.into_iter().collect()
}

#[test]
fn a_learner_that_promises_what_is_not_on_its_disk_is_caught() {
    assert!(promises(None).is_empty());
    assert_eq!(promises(Some(Mutant::PromiseInMemory)), [(ServerId(1), 2)]);
}
