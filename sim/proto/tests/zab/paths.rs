//! Single cases, each driven to a point where something could go wrong.

use crate::zab::rig::{Action, Rig};
use crate::zab::scenes::{between, competing_leaders};
use zk_api::Zxid;
use zk_cluster::peer::BarePeer;
use zk_proto::server::ServerId;
use zk_proto::zab::message::Packet;
use zk_proto::zab::{Output, Role, Timer, Write};

/// What is on its disk, from the beginning.
fn logged(node: &BarePeer) -> Vec<Zxid> {
    node.entries().into_iter().map(|(zxid, _)| zxid).collect()
}

fn zxids(zxids: &[(u32, u32)]) -> Vec<Zxid> {
    zxids.iter().map(|(epoch, counter)| Zxid::new(*epoch, *counter)).collect()
}

fn machine(rig: &Rig, server: u8) -> Vec<Zxid> {
    rig.nodes[&ServerId(server)].state.iter().map(|(zxid, _)| *zxid).collect()
}

fn role(rig: &Rig, server: u8) -> Role {
    rig.peer(server).role()
}

fn leads_alone(rig: &Rig, server: u8) -> bool {
    rig.leader() == Some(ServerId(server))
}

#[test]
fn one_voter_leads_itself_and_needs_no_time_for_it() {
    let mut rig = Rig::new(1, 0, |_| {});
    rig.quiet().unwrap();
    assert_eq!(role(&rig, 1), Role::Leading { epoch: 1 });
    rig.propose(2);
    rig.quiet().unwrap();
    assert_eq!(machine(&rig, 1), zxids(&[(1, 1), (1, 2)]));
}

#[test]
fn of_equal_histories_the_highest_id_leads() {
    for voters in 2..=5 {
        let rig = Rig::serving(voters, 0, |_| {});
        assert_eq!(rig.leader(), Some(ServerId(voters)));
    }
}

#[test]
fn the_longest_history_leads_whatever_its_id() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.isolate(2);
    rig.propose(1);
    rig.quiet().unwrap();
    // With it goes what it had sent to server 2.
    rig.act(Action::Crash { server: ServerId(3), outcome: 0, mute: true });
    rig.cut.clear();
    rig.wait(|rig| rig.leader().is_some());
    assert_eq!(rig.leader(), Some(ServerId(1)));
    rig.wait(|rig| machine(rig, 2) == zxids(&[(1, 1)]));
}

#[test]
fn half_of_the_voters_are_no_quorum() {
    for voters in [2, 4] {
        let mut rig = Rig::serving(voters, 2, |_| {});
        (1..=voters / 2).for_each(|server| rig.kill(server));
        rig.wait(|rig| rig.leader().is_none());
        for _ in 0..20 {
            rig.pass().unwrap();
        }
        assert_eq!(rig.leader(), None, "{voters} voters");
    }
}

#[test]
fn who_comes_late_joins_the_leader_there_is() {
    let mut rig = Rig::new(3, 0, |_| {});
    rig.kill(3);
    rig.wait(|rig| rig.leader().is_some());
    rig.revive(3);
    rig.serve().unwrap();
    // It has the highest id, and disturbs nobody.
    assert_eq!(rig.leader(), Some(ServerId(2)));
    assert_eq!(rig.ghost.leaders.len(), 1);
}

#[test]
fn an_observer_finds_the_leader_and_the_next_one() {
    let mut rig = Rig::serving(3, 1, |_| {});
    assert_eq!(role(&rig, 4), Role::Observing { leader: ServerId(3), epoch: 1 });
    rig.kill(3);
    rig.wait(|rig| role(rig, 4) == Role::Observing { leader: ServerId(2), epoch: 2 });
}

#[test]
fn observers_are_in_no_quorum() {
    let mut rig = Rig::serving(3, 2, |_| {});
    rig.isolate(1);
    rig.isolate(2);
    rig.propose(1);
    rig.quiet().unwrap();
    for server in 3..=5 {
        assert_eq!(machine(&rig, server), [], "with two observers it is still one of three");
    }
    rig.wait(|rig| rig.leader().is_none());
}

#[test]
fn observers_get_what_stands_and_hold_nobody_up() {
    let mut rig = Rig::serving(3, 1, |_| {});
    rig.isolate(4);
    rig.propose(2);
    rig.quiet().unwrap();
    assert_eq!(machine(&rig, 3).len(), 2);
    rig.cut.clear();
    rig.wait(|rig| machine(rig, 4).len() == 2);
}

#[test]
fn a_history_that_ends_early_gets_the_difference() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.propose(1);
    rig.quiet().unwrap();
    rig.kill(1);
    rig.propose(2);
    rig.quiet().unwrap();
    rig.revive(1);
    let mut plans = plans_sent(&mut rig, 1);
    assert_eq!(plans.pop(), Some(Packet::Diff));
    assert_eq!(machine(&rig, 1), zxids(&[(1, 1), (1, 2), (1, 3)]));
}

/// Lets a server come up, and gives the plans by which it was to catch up.
fn plans_sent(rig: &mut Rig, server: u8) -> Vec<Packet> {
    let mut plans = Vec::new();
    for _ in 0..2000 {
        if matches!(role(rig, server), Role::Following { .. } | Role::Observing { .. }) {
            break;
        }
        let quick = |action: &Action| !matches!(action, Action::Fire { .. });
        let action = rig.actions().into_iter().find(quick).unwrap_or(Action::Fire {
            server: ServerId(server),
            timer: if rig.peer(server).is_looking() { Timer::Notify } else { Timer::Tick },
        });
        let sent = rig.act(action);
        rig.check().unwrap();
        plans.extend(sent.into_iter().filter_map(|output| match output {
            Output::Send {
                packet: plan @ (Packet::Diff | Packet::Trunc { .. } | Packet::Snap(_)), ..
            } => Some(plan),
            _ => None,
        }));
    }
    plans
}

/// Server 3 has led epoch 1 and logged 1:1, 1:2 and 1:3, of which the others have 1:1. They go on without it.
fn deposed() -> Rig {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.propose(1);
    rig.quiet().unwrap();
    rig.isolate(3);
    rig.propose(2);
    rig.wait(|rig| leads_alone(rig, 2) && role(rig, 3) == Role::Looking);
    assert_eq!(logged(&rig.nodes[&ServerId(3)]), zxids(&[(1, 1), (1, 2), (1, 3)]));
    rig
}

#[test]
fn what_a_deposed_leader_logged_alone_is_cut() {
    let mut rig = deposed();
    rig.cut.clear();
    let plans = plans_sent(&mut rig, 3);
    assert_eq!(plans, [Packet::Trunc { to: Zxid::new(1, 1) }]);
    assert_eq!(logged(&rig.nodes[&ServerId(3)]), zxids(&[(1, 1)]));
}

#[test]
fn what_is_cut_is_followed_by_what_came_instead() {
    let mut rig = deposed();
    rig.propose(2);
    rig.quiet().unwrap();
    rig.cut.clear();
    let plans = plans_sent(&mut rig, 3);
    assert_eq!(plans, [Packet::Trunc { to: Zxid::new(1, 1) }]);
    assert_eq!(machine(&rig, 3), zxids(&[(1, 1), (2, 1), (2, 2)]));
}

#[test]
fn who_is_from_before_the_leaders_log_gets_a_snapshot() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.kill(1);
    rig.propose(3);
    rig.quiet().unwrap();
    rig.act(Action::Trim { server: ServerId(3) });
    rig.propose(1);
    rig.quiet().unwrap();
    rig.revive(1);
    let plans = plans_sent(&mut rig, 1);
    assert!(matches!(&plans[..], [Packet::Snap(_)]), "{plans:?}");
    assert_eq!(machine(&rig, 1), zxids(&[(1, 1), (1, 2), (1, 3), (1, 4)]));
}

#[test]
fn who_lacks_more_than_the_limit_gets_a_snapshot() {
    let mut rig = Rig::serving(3, 0, |config| config.diff_max = 2);
    rig.kill(1);
    rig.propose(3);
    rig.quiet().unwrap();
    rig.revive(1);
    assert!(matches!(&plans_sent(&mut rig, 1)[..], [Packet::Snap(_)]));
    assert_eq!(machine(&rig, 1).len(), 3);
}

/// The first moments of a learner: for each, what a crash leaves must be what a vote may be built on.
#[test]
fn no_crash_while_catching_up_leaves_an_epoch_without_its_history() {
    for moment in 0..60 {
        for outcome in 0..3 {
            let mut rig = deposed();
            rig.propose(2);
            rig.quiet().unwrap();
            rig.cut.clear();
            for _ in 0..moment {
                let quick = |action: &Action| !matches!(action, Action::Fire { timer: Timer::Tick, .. });
                if let Some(action) = rig.actions().into_iter().find(quick) {
                    rig.act(action);
                }
            }
            let node = &rig.nodes[&ServerId(3)];
            let outcomes = node.outcomes();
            rig.act(Action::Crash { server: ServerId(3), outcome: outcome.min(outcomes - 1), mute: true });
            let node = &rig.nodes[&ServerId(3)];
            assert!(node.disk.current_epoch <= node.disk.accepted_epoch);
            if node.disk.current_epoch == 2 {
                assert_eq!(logged(node), zxids(&[(1, 1), (2, 1), (2, 2)]), "moment {moment}");
            }
            rig.heal().unwrap();
        }
    }
}

#[test]
fn nothing_stands_and_nobody_serves_before_a_quorum_has_the_history() {
    let mut rig = Rig::new(3, 0, |_| {});
    let held = |rig: &Rig, action: &Action| match action {
        Action::Written { server } => {
            let write = rig.nodes[server].writing.as_ref();
            *server != ServerId(3) && matches!(write, Some(Write::CurrentEpoch(_)))
        }
        _ => false,
    };
    let everything_else =
        |rig: &Rig, action: &Action| !held(rig, action) && !matches!(action, Action::Fire { .. });
    rig.drive(everything_else, |rig| !rig.actions().iter().any(|action| everything_else(rig, action)));
    assert_eq!(rig.peer(3).leads(), Some(1));
    for server in 1..=3 {
        assert_eq!(role(&rig, server), Role::Joining { leader: ServerId(3) });
    }
    rig.act(Action::Propose { server: ServerId(3) });
    rig.act(Action::Written { server: ServerId(1) });
    rig.quiet().unwrap();
    assert_eq!(role(&rig, 3), Role::Leading { epoch: 1 });
    assert_eq!(machine(&rig, 3), [], "it was proposed too early");
}

#[test]
fn a_leader_without_a_quorum_gives_up_and_so_does_a_follower_without_a_leader() {
    let mut rig = Rig::serving(3, 0, |_| {});
    (1..=3).for_each(|server| rig.isolate(server));
    rig.wait(|rig| (1..=3).all(|server| role(rig, server) == Role::Looking));
    rig.heal().unwrap();
}

#[test]
fn a_leader_whose_followers_are_gone_leads_until_its_ticks_tell() {
    let mut rig = Rig::serving(3, 0, |_| {});
    [1, 2].into_iter().for_each(|server| rig.kill(server));
    rig.quiet().unwrap();
    assert_eq!(role(&rig, 3), Role::Leading { epoch: 1 });
    rig.wait(|rig| role(rig, 3) == Role::Looking);
}

#[test]
fn a_leader_bears_the_silence_of_its_followers_for_so_many_ticks_and_no_more() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.isolate(3);
    let tick = Action::Fire { server: ServerId(3), timer: Timer::Tick };
    for _ in 0..rig.peer(3).config().sync_limit_ticks {
        rig.act(tick);
        assert_eq!(role(&rig, 3), Role::Leading { epoch: 1 });
    }
    rig.act(tick);
    assert_eq!(role(&rig, 3), Role::Looking);
}

#[test]
fn of_what_is_written_together_a_crash_may_leave_the_beginning() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.propose(3);
    let no_disk = |_: &Rig, action: &Action| matches!(action, Action::Packet { .. });
    rig.drive(no_disk, |rig| !rig.actions().iter().any(|action| matches!(action, Action::Packet { .. })));
    rig.act(Action::Written { server: ServerId(1) });
    let node = rig.node(ServerId(1));
    assert!(matches!(&node.writing, Some(Write::Append(txns)) if txns.len() == 2), "{:?}", node.writing);
    for (outcome, left) in [1, 2, 3].into_iter().enumerate() {
        let mut crashed = node.clone();
        crashed.crash(outcome);
        assert_eq!(logged(&crashed).len(), left);
    }
}

#[test]
fn a_worn_out_epoch_ends_and_the_next_counts_from_one() {
    let mut rig = Rig::serving(3, 0, |config| config.last_counter = 3);
    rig.propose(9);
    rig.quiet().unwrap();
    rig.serve().unwrap();
    assert_eq!(
        machine(&rig, 1),
        zxids(&[(1, 1), (1, 2), (1, 3)]),
        "what it had no number for is not proposed"
    );
    rig.propose(1);
    rig.quiet().unwrap();
    assert_eq!(machine(&rig, 1).last(), Some(&Zxid::new(2, 1)));
}

#[test]
fn what_stands_survives_that_all_go_down_at_once() {
    let mut rig = Rig::serving(3, 1, |_| {});
    rig.propose(3);
    rig.quiet().unwrap();
    (1..=4).for_each(|server| rig.kill(server));
    (1..=4).for_each(|server| rig.revive(server));
    rig.serve().unwrap();
    for server in 1..=4 {
        assert_eq!(machine(&rig, server), zxids(&[(1, 1), (1, 2), (1, 3)]));
    }
}

#[test]
fn nothing_is_acknowledged_before_it_is_on_disk() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.propose(1);
    let no_disk = |_: &Rig, action: &Action| matches!(action, Action::Packet { .. });
    rig.drive(no_disk, |rig| !rig.actions().iter().any(|action| matches!(action, Action::Packet { .. })));
    for node in rig.nodes.values() {
        assert!(matches!(&node.writing, Some(Write::Append(_))));
        assert_eq!(node.peer.as_ref().unwrap().committed(), Zxid::ZERO);
    }
    rig.act(Action::Written { server: ServerId(1) });
    rig.act(Action::Written { server: ServerId(2) });
    rig.drive(no_disk, |rig| rig.peer(3).committed() == Zxid::new(1, 1));
    // Two disks are a quorum; but the leader itself delivers when it has it too.
    assert_eq!(rig.peer(3).delivered(), Zxid::ZERO);
    rig.quiet().unwrap();
    assert_eq!(machine(&rig, 3).len(), 1);
}

/// ZOOKEEPER-4394: a commit of what came before `NewLeader`, between it and `UpToDate`.
#[test]
fn a_commit_between_new_leader_and_up_to_date_is_kept() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.kill(1);
    rig.propose(1);
    rig.revive(1);
    // The proposal is under way while server 1 joins: 2 has not acknowledged it yet.
    let joins = |rig: &Rig, action: &Action| match action {
        Action::Written { server } => *server != ServerId(2),
        Action::Fire { server, timer } => *server == ServerId(1) && *timer == Timer::Notify,
        Action::Packet { link, end } => rig.links[link].ends[0] == ServerId(1) || *end == 1,
        _ => true,
    };
    let synced = |rig: &Rig| rig.peer(1).follows().is_some();
    rig.drive(joins, synced);
    assert_eq!(rig.peer(3).committed(), Zxid::ZERO);
    assert_eq!(rig.peer(1).history().last(), Zxid::new(1, 1));
    // Now it is committed, and the commit gets to 1 before `UpToDate` does.
    rig.drive(
        |_, action| !matches!(action, Action::Written { server: ServerId(1) } | Action::Fire { .. }),
        |rig| rig.peer(3).committed() == Zxid::new(1, 1),
    );
    let to_learner = |rig: &Rig, action: &Action| match action {
        Action::Packet { link, end } => rig.links[link].ends[*end] == ServerId(1),
        _ => false,
    };
    while let Some(action) = rig.actions().into_iter().find(|action| to_learner(&rig, action)) {
        rig.act(action);
        rig.check().unwrap();
    }
    assert_eq!(machine(&rig, 1), [], "it is only kept");
    rig.quiet().unwrap();
    assert_eq!(machine(&rig, 1), zxids(&[(1, 1)]));
}

#[test]
fn a_peer_that_lost_its_leader_votes_only_when_its_writes_are_done() {
    let mut rig = Rig::serving(3, 0, |_| {});
    rig.propose(1);
    let no_disk = |_: &Rig, action: &Action| matches!(action, Action::Packet { .. });
    rig.drive(no_disk, |rig| rig.nodes[&ServerId(1)].writing.is_some());
    rig.kill(3);
    rig.drive(no_disk, |rig| role(rig, 1) == Role::Looking);
    assert!(!rig.peer(1).is_looking());
    rig.act(Action::Written { server: ServerId(1) });
    assert!(rig.peer(1).is_looking());
    assert_eq!(rig.peer(1).vote().unwrap().zxid, Zxid::new(1, 1));
}

/// A follower that promised one leader an epoch comes to another, which had chosen the same one before.
#[test]
fn a_promise_counts_for_one_leader_alone() {
    let mut rig = Rig::new(3, 0, |_| {});
    competing_leaders(&mut rig).expect("two leaders of one epoch");
    assert_eq!(rig.peer(2).leads(), Some(1));
    rig.act(Action::Mislead { server: ServerId(1), leader: ServerId(3) });
    rig.act(Action::Written { server: ServerId(3) });
    let comes = between(1, 3);
    rig.drive(&comes, |rig| !rig.actions().iter().any(|action| comes(rig, action)));
    assert_eq!(rig.peer(1).accepted_epoch(), 1);
    assert_eq!(rig.peer(3).leads(), None);
    rig.heal().unwrap();
}
