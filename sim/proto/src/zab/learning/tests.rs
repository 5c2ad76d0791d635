//! What a learner makes of what its leader says, packet by packet.

use super::*;
use crate::zab::message::{Notification, Stand, Vote};
use crate::zab::tests::sample::{looking, txn};
use crate::zab::{Event, Peer};

const LINK: LinkId = LinkId(1);

fn step(peer: &mut Peer, event: Event) -> Vec<Output> {
    let mut out = Vec::new();
    peer.step(event, &mut out);
    out
}

fn receive(peer: &mut Peer, packet: Packet) -> Vec<Output> {
    step(peer, Event::Received { link: LINK, packet })
}

fn says(out: &[Output], packet: Packet) -> bool {
    out.contains(&Output::Send { link: LINK, packet })
}

/// Server 1 (or 4, the observer) with this log, which has decided for 3 and is linked to it.
fn greeting(id: u8, log: &[(u32, u32)]) -> Peer {
    let mut peer = looking(id, log);
    for (from, stand) in [(2, Stand::Following), (3, Stand::Leading)] {
        let vote = Some(Vote { epoch: 9, zxid: Zxid::ZERO, leader: ServerId(3) });
        let notification = Notification { round: 1, vote, stand };
        step(&mut peer, Event::Notified { from: ServerId(from), notification });
    }
    let out = step(&mut peer, Event::Dialled { link: LINK, to: ServerId(3) });
    assert!(matches!(&out[..], [Output::Send { packet: Packet::FollowerInfo { .. }, .. }]), "{out:?}");
    peer
}

/// The same, having promised to follow in epoch 2.
fn promised(id: u8, log: &[(u32, u32)]) -> Peer {
    let mut peer = greeting(id, log);
    let out = receive(&mut peer, Packet::LeaderInfo { epoch: 2 });
    assert_eq!(out, [Output::Write(Write::AcceptedEpoch(2))], "nothing is said before it is on disk");
    let out = step(&mut peer, Event::Written);
    assert!(matches!(&out[..], [Output::Send { packet: Packet::AckEpoch { .. }, .. }]), "{out:?}");
    peer
}

/// The same, with its leader's history as sent: its own log and 2:1.
fn persisting(id: u8) -> Peer {
    let mut peer = promised(id, &[(1, 1)]);
    receive(&mut peer, Packet::Diff);
    receive(&mut peer, Packet::Proposal(txn((2, 1))));
    receive(&mut peer, Packet::NewLeader { epoch: 2, committed: Zxid::new(1, 1) });
    peer
}

/// The same, serving.
fn serving(id: u8) -> Peer {
    let mut peer = persisting(id);
    step(&mut peer, Event::Written);
    step(&mut peer, Event::Written);
    let out = receive(&mut peer, Packet::UpToDate { committed: Zxid::new(1, 1) });
    assert!(matches!(out.last(), Some(Output::Role(Role::Following { .. } | Role::Observing { .. }))));
    peer
}

fn violates(mut peer: Peer, packet: Packet, violation: Violation) {
    let out = receive(&mut peer, packet.clone());
    assert!(out.contains(&Output::Note(Note::Violated(violation))), "{packet:?}: {out:?}");
    assert!(out.contains(&Output::Hang { link: LINK }), "{packet:?}");
}

#[test]
fn a_link_that_the_leader_dialled_is_not_taken_for_ones_own() {
    // Each of the two has decided for the other.
    let mut peer = greeting(1, &[]);
    step(&mut peer, Event::Unlinked { link: LINK });
    let link = LinkId(2);
    assert_eq!(step(&mut peer, Event::Accepted { link, from: ServerId(3) }), [Output::Hang { link }]);
    let out = step(&mut peer, Event::Dialled { link: LinkId(3), to: ServerId(3) });
    assert!(matches!(&out[..], [Output::Send { link: LinkId(3), .. }]), "{out:?}");
    // One that comes later than another is not needed.
    let link = LinkId(4);
    assert_eq!(step(&mut peer, Event::Dialled { link, to: ServerId(3) }), [Output::Hang { link }]);
}

#[test]
fn history_then_epoch_then_acknowledgement() {
    let mut peer = persisting(1);
    let out = step(&mut peer, Event::Written);
    assert_eq!(out, [Output::Write(Write::CurrentEpoch(2))]);
    let out = step(&mut peer, Event::Written);
    assert!(says(&out, Packet::AckNewLeader { epoch: 2 }));
    assert_eq!(peer.current_epoch(), 2);
}

#[test]
fn a_proposal_behind_the_history_is_acknowledged_behind_it() {
    let mut peer = persisting(1);
    receive(&mut peer, Packet::Proposal(txn((2, 2))));
    let written: Vec<Output> = (0..3).flat_map(|_| step(&mut peer, Event::Written)).collect();
    let sent: Vec<_> = written.into_iter().filter(|output| matches!(output, Output::Send { .. })).collect();
    let packets = [Packet::AckNewLeader { epoch: 2 }, Packet::Ack { zxid: Zxid::new(2, 2) }];
    assert_eq!(sent, packets.map(|packet| Output::Send { link: LINK, packet }));
}

#[test]
fn commits_before_up_to_date_are_kept_in_order() {
    let mut peer = persisting(1);
    receive(&mut peer, Packet::Proposal(txn((2, 2))));
    (0..3).for_each(|_| drop(step(&mut peer, Event::Written)));
    assert_eq!(receive(&mut peer, Packet::Commit { zxid: Zxid::new(2, 1) }), []);
    assert_eq!(receive(&mut peer, Packet::Commit { zxid: Zxid::new(2, 2) }), []);
    let out = receive(&mut peer, Packet::UpToDate { committed: Zxid::new(2, 2) });
    let delivered: Vec<_> = out.iter().filter(|output| matches!(output, Output::Deliver(_))).collect();
    assert_eq!(delivered.len(), 3);
}

#[test]
fn a_promise_of_the_same_epoch_is_told_apart() {
    let mut peer = promised(1, &[(1, 1)]);
    let recovered = crate::zab::RecoveredHistory {
        accepted_epoch: 2,
        current_epoch: 1,
        base: Zxid::ZERO,
        log: vec![txn((1, 1))],
    };
    peer = Peer::start(peer.config().clone(), recovered).0;
    let mut again = greeting(1, &[(1, 1)]);
    again.own.storage = peer.own.storage;
    let out = receive(&mut again, Packet::LeaderInfo { epoch: 2 });
    assert!(says(&out, Packet::AckEpoch { current_epoch: None, last: Zxid::new(1, 1) }));
}

#[test]
fn what_does_not_come_next_is_an_illegal_proposal() {
    for zxid in [(2, 1), (2, 3), (1, 2), (3, 2)] {
        violates(serving(1), Packet::Proposal(txn(zxid)), Violation::Proposal);
    }
}

#[test]
fn what_stands_is_never_cut_and_nothing_is_cut_where_nothing_is() {
    let to = Zxid::new(1, 7);
    violates(promised(1, &[(1, 1)]), Packet::Trunc { to }, Violation::Proposal);
    let mut peer = promised(1, &[(1, 1)]);
    peer.own.committed = Zxid::new(1, 1);
    violates(peer, Packet::Trunc { to: Zxid::ZERO }, Violation::Proposal);
}

#[test]
fn a_commit_of_nothing_or_out_of_order_is_illegal() {
    violates(serving(1), Packet::Commit { zxid: Zxid::new(2, 9) }, Violation::Commit);
    violates(serving(1), Packet::Commit { zxid: Zxid::new(1, 1) }, Violation::Commit);
    let mut peer = serving(1);
    receive(&mut peer, Packet::Proposal(txn((2, 2))));
    violates(peer, Packet::Commit { zxid: Zxid::new(2, 2) }, Violation::Commit);
}

#[test]
fn a_packet_that_comes_in_the_wrong_state_is_illegal() {
    violates(serving(1), Packet::LeaderInfo { epoch: 2 }, Violation::State);
    violates(serving(1), Packet::Diff, Violation::State);
    violates(promised(1, &[]), Packet::UpToDate { committed: Zxid::ZERO }, Violation::Message);
    violates(persisting(1), Packet::UpToDate { committed: Zxid::new(1, 1) }, Violation::Message);
    violates(promised(1, &[]), Packet::NewLeader { epoch: 2, committed: Zxid::ZERO }, Violation::Message);
    violates(serving(1), Packet::Ack { zxid: Zxid::new(2, 1) }, Violation::Message);
}

#[test]
fn followers_get_proposals_and_observers_what_stands() {
    violates(serving(1), Packet::Inform(txn((2, 2))), Violation::Message);
    violates(serving(4), Packet::Proposal(txn((2, 2))), Violation::Message);
    violates(serving(4), Packet::Commit { zxid: Zxid::new(2, 1) }, Violation::Message);
}

#[test]
fn a_snapshot_takes_effect_when_it_is_on_disk() {
    let mut peer = promised(1, &[(1, 1)]);
    let snapshot = Snapshot { zxid: Zxid::new(2, 5), image: Arc::from(*b"state") };
    let out = receive(&mut peer, Packet::Snap(snapshot.clone()));
    assert_eq!(out, [Output::Write(Write::Restart(snapshot.clone()))]);
    let out = step(&mut peer, Event::Written);
    assert_eq!(out, [Output::Restore(snapshot)]);
    assert_eq!((peer.delivered(), peer.history().last()), (Zxid::new(2, 5), Zxid::new(2, 5)));
}
