//! What a leader makes of what learners say, packet by packet.

use super::*;
use crate::zab::message::{Notification, Stand, Vote};
use crate::zab::tests::sample::{leading, looking, txn};
use crate::zab::{Event, Peer, State};

const LINK: LinkId = LinkId(1);

fn step(peer: &mut Peer, event: Event) -> Vec<Output> {
    let mut out = Vec::new();
    peer.step(event, &mut out);
    out
}

fn receive(peer: &mut Peer, link: LinkId, packet: Packet) -> Vec<Output> {
    step(peer, Event::Received { link, packet })
}

/// A link from server 2, which has promised this epoch.
fn greet(peer: &mut Peer, link: LinkId, accepted_epoch: u32) -> Vec<Output> {
    step(peer, Event::Accepted { link, from: ServerId(2) });
    receive(peer, link, Packet::FollowerInfo { accepted_epoch })
}

fn has_left(peer: &Peer, out: &[Output]) -> bool {
    peer.is_looking() && out.contains(&Output::Hang { link: LINK })
}

/// Server 3 with this log, elected by 2, with its own promise of the epoch on disk and 2 invited.
fn discovering(log: &[(u32, u32)]) -> Peer {
    let mut peer = looking(3, log);
    let vote = peer.own.vote.expect("a voter");
    let notification = Notification { round: 1, vote: Some(vote), stand: Stand::Looking };
    step(&mut peer, Event::Notified { from: ServerId(2), notification });
    step(&mut peer, Event::Timer(crate::zab::Timer::Finalize));
    greet(&mut peer, LINK, 0);
    let out = step(&mut peer, Event::Written);
    let epoch = log.last().map_or(1, |zxid| zxid.0 + 1);
    assert!(out.contains(&Output::Send { link: LINK, packet: Packet::LeaderInfo { epoch } }), "{out:?}");
    peer
}

fn violates(peer: &mut Peer, packet: Packet, violation: Violation) {
    let out = receive(peer, LINK, packet);
    assert!(out.contains(&Output::Note(Note::Violated(violation))), "{out:?}");
    assert!(out.contains(&Output::Hang { link: LINK }));
    assert!(peer.violations().contains(&violation));
}

#[test]
fn a_leader_gives_way_to_a_newer_promise_as_its_giver_could_never_follow() {
    let mut peer = leading(3, 2, &[(1, 1)]);
    let out = greet(&mut peer, LINK, 3);
    assert!(has_left(&peer, &out));
    // The same promise is none to give way to.
    let mut peer = leading(3, 2, &[(1, 1)]);
    let out = greet(&mut peer, LINK, 2);
    assert_eq!(out, [Output::Send { link: LINK, packet: Packet::LeaderInfo { epoch: 2 } }]);
}

#[test]
fn a_leader_that_is_behind_a_follower_gives_up_before_anything_is_decided() {
    let ahead = |current_epoch, last: (u32, u32)| {
        let mut peer = discovering(&[(1, 1), (1, 2)]);
        let last = Zxid::new(last.0, last.1);
        let out = receive(&mut peer, LINK, Packet::AckEpoch { current_epoch: Some(current_epoch), last });
        has_left(&peer, &out)
    };
    assert!(ahead(1, (1, 3)) && ahead(2, (1, 1)));
    assert!(!ahead(1, (1, 2)) && !ahead(0, (1, 9)));
}

#[test]
fn a_promise_that_was_given_before_does_not_count_again() {
    let mut peer = discovering(&[]);
    receive(&mut peer, LINK, Packet::AckEpoch { current_epoch: None, last: Zxid::ZERO });
    assert_eq!(peer.leads(), None);
    step(&mut peer, Event::Unlinked { link: LINK });
    greet(&mut peer, LinkId(2), 0);
    receive(&mut peer, LinkId(2), Packet::AckEpoch { current_epoch: Some(0), last: Zxid::ZERO });
    assert_eq!(peer.leads(), Some(1));
}

#[test]
fn a_peer_that_comes_again_replaces_its_former_link() {
    let mut peer = leading(3, 2, &[(1, 1)]);
    greet(&mut peer, LINK, 1);
    let out = greet(&mut peer, LinkId(2), 1);
    assert_eq!(out[0], Output::Hang { link: LINK });
    assert_eq!(receive(&mut peer, LINK, Packet::Ping), []);
}

/// What `txn` makes transactions of.
fn draft() -> Draft {
    let Txn { session, xid, time_ms, body, .. } = (*txn((1, 1))).clone();
    Draft { session, xid, time_ms, body }
}

/// An established leader whose follower has its history, and to which one proposal was sent.
fn broadcasting() -> Peer {
    let mut peer = leading(3, 2, &[(1, 1)]);
    greet(&mut peer, LINK, 1);
    let last = Zxid::new(1, 1);
    receive(&mut peer, LINK, Packet::AckEpoch { current_epoch: Some(1), last });
    receive(&mut peer, LINK, Packet::AckNewLeader { epoch: 2 });
    let out = step(&mut peer, Event::Propose(draft()));
    assert!(out.contains(&Output::Send { link: LINK, packet: Packet::Proposal(txn((2, 1))) }));
    peer
}

#[test]
fn a_quorums_acknowledgements_commit() {
    let mut peer = broadcasting();
    let zxid = Zxid::new(2, 1);
    assert_eq!(receive(&mut peer, LINK, Packet::Ack { zxid }), []);
    let out = step(&mut peer, Event::Written);
    assert!(out.contains(&Output::Send { link: LINK, packet: Packet::Commit { zxid } }));
    assert!(out.contains(&Output::Deliver(txn((2, 1)))));
}

#[test]
fn an_epoch_that_is_worn_out_goes_on_until_what_was_proposed_stands() {
    let mut peer = broadcasting();
    let propose = |peer: &mut Peer| step(peer, Event::Propose(draft()));
    assert!(propose(&mut peer).contains(&Output::Send { link: LINK, packet: Packet::Proposal(txn((2, 2))) }));
    peer.set_last_counter(2);
    assert_eq!(propose(&mut peer), [], "it has no number left");
    peer.set_last_counter(PeerConfig::LAST_COUNTER);
    assert_eq!(propose(&mut peer), [], "nothing takes the place of what was lost");
    receive(&mut peer, LINK, Packet::Ack { zxid: Zxid::new(2, 1) });
    let out = step(&mut peer, Event::Written);
    assert!(out.contains(&Output::Deliver(txn((2, 1)))) && !has_left(&peer, &out));
    receive(&mut peer, LINK, Packet::Ack { zxid: Zxid::new(2, 2) });
    let out = step(&mut peer, Event::Written);
    assert!(out.contains(&Output::Deliver(txn((2, 2)))) && has_left(&peer, &out));
}

#[test]
fn an_acknowledgement_of_what_was_not_sent_is_illegal() {
    for zxid in [Zxid::new(2, 2), Zxid::new(1, 1), Zxid::new(3, 1)] {
        violates(&mut broadcasting(), Packet::Ack { zxid }, Violation::Ack);
    }
    let mut peer = broadcasting();
    receive(&mut peer, LINK, Packet::Ack { zxid: Zxid::new(2, 1) });
    violates(&mut peer, Packet::Ack { zxid: Zxid::new(2, 1) }, Violation::Ack);
}

#[test]
fn an_acknowledgement_of_what_was_trimmed_away_meanwhile_is_legal() {
    let mut peer = broadcasting();
    let to = Zxid::new(2, 1);
    // Another follower's was enough.
    (peer.own.committed, peer.own.delivered) = (to, to);
    step(&mut peer, Event::Trimmed { to });
    receive(&mut peer, LINK, Packet::Ack { zxid: to });
    assert!(peer.violations().is_empty());
}

#[test]
fn an_epoch_behind_the_last_is_not_chosen() {
    let mut peer = looking(3, &[]);
    peer.own.storage = crate::zab::storage::Storage::new(u32::MAX, 0, &peer.own.history);
    peer.go_on(Next::Decides { leader: ServerId(3) }, &mut Vec::new());
    greet(&mut peer, LINK, 0);
    assert!(matches!(&peer.state, State::Leading(leader) if leader.phase == LeaderPhase::Gathering));
}

#[test]
fn an_acknowledgement_before_the_history_is_acknowledged_is_illegal() {
    let synchronizing = || {
        let mut peer = leading(3, 2, &[(1, 1)]);
        greet(&mut peer, LINK, 1);
        let last = Zxid::ZERO;
        receive(&mut peer, LINK, Packet::AckEpoch { current_epoch: Some(1), last });
        peer
    };
    violates(&mut synchronizing(), Packet::Ack { zxid: Zxid::new(1, 1) }, Violation::Ack);
    violates(&mut synchronizing(), Packet::AckNewLeader { epoch: 1 }, Violation::Ack);
}

#[test]
fn a_packet_that_comes_in_the_wrong_state_is_illegal() {
    violates(&mut broadcasting(), Packet::FollowerInfo { accepted_epoch: 1 }, Violation::State);
    let last = Zxid::ZERO;
    violates(&mut broadcasting(), Packet::AckEpoch { current_epoch: None, last }, Violation::State);
    violates(&mut broadcasting(), Packet::Commit { zxid: Zxid::new(2, 1) }, Violation::Message);
}

#[test]
fn a_vote_counts_for_the_round_it_was_given_in() {
    let mut peer = looking(1, &[]);
    let vote = Some(Vote { epoch: 0, zxid: Zxid::ZERO, leader: ServerId(3) });
    let said = |round| Event::Notified {
        from: ServerId(3),
        notification: Notification { round, vote, stand: Stand::Looking },
    };
    step(&mut peer, said(5));
    assert_eq!((peer.own.round, peer.own.vote), (5, vote));
    // A vote of an earlier round is answered and not counted.
    let out = step(&mut peer, said(4));
    assert!(matches!(&out[..], [Output::Notify { to: ServerId(3), .. }]), "{out:?}");
}
