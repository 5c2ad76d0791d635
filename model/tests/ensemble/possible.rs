//! What may happen to an ensemble happens somewhere.

use crate::ensemble::bounds;
use std::collections::{BTreeSet, VecDeque};
use zk_api::Zxid;
use zk_model::ensemble::{
    Action, EnsembleBounds, EnsembleConfig, Level, Node, PeerNode, ServerNode, State, ensemble_model,
};
use zk_proto::zab::Timer;
use zk_proto::zab::message::LinkId;

/// Something that is so of a state and what can happen in it.
type Seen<N> = fn(&State<N>, &[Action]) -> bool;

/// Whether it is so somewhere.
fn is_seen<N: Node>(config: &EnsembleConfig, is_so: Seen<N>) -> bool {
    let model = ensemble_model::<N>(config);
    let (mut seen, mut actions) = (BTreeSet::new(), Vec::new());
    let mut open = VecDeque::from(model.starts.clone());
    while let Some(state) = open.pop_front() {
        if !seen.insert(state.fingerprint) {
            continue;
        }
        actions.clear();
        model.actions(&state, &mut actions);
        if is_so(&state, &actions) {
            return true;
        }
        open.extend(actions.iter().filter_map(|action| model.step(&state, *action)));
    }
    false
}

/// How many actions are such.
fn count(actions: &[Action], is_such: impl Fn(&Action) -> bool) -> usize {
    actions.iter().filter(|action| is_such(action)).count()
}

#[test]
fn every_fault_happens_whatever_has_happened_before() {
    let breaks = EnsembleBounds { breaks: 1, ..bounds(2, 1, 0, 0) };
    let ways: [(&str, Level, EnsembleBounds, Seen<PeerNode>); 7] = [
        (
            "a server starts again before another crash",
            Level::Broadcast,
            bounds(2, 0, 2, 0),
            |state, actions| {
                state.left.crashes > 0
                    && count(actions, |action| matches!(action, Action::Restart { .. })) > 0
            },
        ),
        (
            "either of two pairs hear of each other again",
            Level::Broadcast,
            EnsembleBounds { partitions: 2, ..bounds(3, 0, 0, 0) },
            |_, actions| count(actions, |action| matches!(action, Action::Mend { .. })) > 1,
        ),
        ("what is on its way to who has dialled is lost", Level::Broadcast, breaks, |_, actions| {
            count(actions, |action| matches!(action, Action::Lose { end: 0, .. })) > 0
        }),
        ("what is on its way to the other end is lost", Level::Broadcast, breaks, |_, actions| {
            count(actions, |action| matches!(action, Action::Lose { end: 1, .. })) > 0
        }),
        ("a link breaks with nothing on its way", Level::Broadcast, breaks, |state, actions| {
            let is_idle = |link: LinkId| state.links[&link].to.iter().all(|inbox| inbox.packets.is_empty());
            count(actions, |action| matches!(action, Action::Break { link } if is_idle(*link))) > 0
        }),
        (
            "the wait for better votes is over too soon",
            Level::Election,
            EnsembleBounds { timeouts: 1, ..bounds(3, 0, 0, 0) },
            |_, actions| {
                count(actions, |action| matches!(action, Action::Early { timer: Timer::Finalize, .. })) > 0
            },
        ),
        ("what a server has sent outlives it", Level::Whole, bounds(2, 0, 1, 0), |state, actions| {
            count(actions, |action| matches!(action, Action::Datagram { from, .. } if !state.is_up(*from)))
                > 0
        }),
    ];
    for (what, level, bounds, is_so) in ways {
        assert!(is_seen::<PeerNode>(&EnsembleConfig::new(level, bounds), is_so), "{what}");
    }
}

/// Whatever is on its way to it.
#[test]
fn what_a_server_has_sent_arrives_though_it_has_crashed() {
    let model = ensemble_model::<PeerNode>(&EnsembleConfig::new(Level::Whole, bounds(2, 0, 1, 0)));
    let start = &model.starts[0];
    let ends = start.datagrams.keys().copied().collect::<Vec<_>>();
    assert_eq!(ends.len(), 2, "each has said something to the other");
    let down = model.step(start, Action::Crash { server: ends[0].0, outcome: 0 }).expect("within the bounds");
    assert_eq!(down.datagrams.keys().collect::<Vec<_>>(), [&ends[0]]);
}

#[test]
fn what_a_server_has_sent_over_a_link_may_be_lost_as_it_crashes() {
    assert!(is_seen::<PeerNode>(
        &EnsembleConfig::new(Level::Broadcast, bounds(2, 1, 1, 0)),
        |state, actions| {
            let is_of_dead = |link: LinkId, end: usize| !state.is_up(state.links[&link].ends[1 - end]);
            count(actions, |action| matches!(action, Action::Lose { link, end } if is_of_dead(*link, *end)))
                > 0
        }
    ));
}

/// Whether something arrives over a link between servers that are cut off from each other, or are not.
fn arrives(state: &State<PeerNode>, actions: &[Action], are_cut: bool) -> bool {
    let is_so = |link: LinkId| {
        let [a, b] = state.links[&link].ends;
        state.is_cut(a, b) == are_cut
    };
    count(actions, |action| matches!(action, Action::Packet { link, .. } if is_so(*link))) > 0
}

#[test]
fn nothing_arrives_where_servers_hear_nothing_of_each_other() {
    let config =
        EnsembleConfig::new(Level::Broadcast, EnsembleBounds { partitions: 1, ..bounds(2, 1, 0, 0) });
    assert!(is_seen::<PeerNode>(&config, |state, actions| arrives(state, actions, false)));
    assert!(!is_seen::<PeerNode>(&config, |state, actions| arrives(state, actions, true)));
}

/// A learner goes first only where nothing can go wrong any more, and nobody can write.
#[test]
fn what_may_happen_at_any_time_may_happen_everywhere() {
    let config = EnsembleConfig::new(Level::Broadcast, bounds(2, 1, 1, 0));
    assert!(!is_seen::<PeerNode>(&config, |state, actions| {
        let may_crash = state.left.crashes > 0 && state.servers().any(|server| state.is_up(server));
        may_crash && count(actions, |action| matches!(action, Action::Crash { .. })) == 0
    }));
    let partitions = EnsembleBounds { partitions: 1, ..bounds(2, 1, 0, 0) };
    assert!(!is_seen::<PeerNode>(&EnsembleConfig::new(Level::Broadcast, partitions), |state, actions| {
        !state.cut.is_empty() && count(actions, |action| matches!(action, Action::Mend { .. })) == 0
    }));
    let config = EnsembleConfig::new(Level::Broadcast, bounds(2, 2, 0, 0));
    assert!(!is_seen::<ServerNode>(&config, |state, actions| {
        let may_write = state.left.txns > 0 && state.nodes.iter().any(|node| node.takes_writes());
        may_write && count(actions, |action| matches!(action, Action::Propose { .. })) == 0
    }));
}

#[test]
fn what_a_past_epoch_has_logged_everywhere_stands_or_does_not() {
    let bounds = EnsembleBounds { past: 1, ..bounds(2, 0, 0, 0) };
    let model = ensemble_model::<PeerNode>(&EnsembleConfig::new(Level::Synchronisation, bounds));
    let has_it = |node: &PeerNode| node.peer().is_some_and(|peer| peer.history().last() > Zxid::ZERO);
    let logged = model.starts.iter().filter(|state| state.nodes.iter().all(|node| has_it(node)));
    let standing: BTreeSet<usize> = logged.map(|state| state.ghost.committed.len()).collect();
    assert_eq!(standing, [0, 1].into());
}
