//! Every order of events within small bounds: a depth-first search over rigs, states told apart by 64-bit hashes.
//!
//! Merged, with no loss: a timer that would do nothing is not kept, and of two datagrams between the same peers
//! only the newer is on its way, as the older may be lost. Ticks and repeated notifications are counted out
//! like faults. From states in which nothing is left to happen, and from a sample of all, faults end and
//! everybody must serve.

use crate::zab::rig::{Action, Rig};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use zk_proto::mutant::Mutant;
use zk_proto::zab::Timer;

/// How much of each may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    pub proposals: u8,
    pub crashes: u8,
    pub breaks: u8,
    pub ticks: u8,
    pub notifies: u8,
}

/// What a search has seen.
#[derive(Debug, Default)]
struct Seen {
    states: usize,
    depth: usize,
    ends: usize,
    /// The most that were committed, and the most epochs that were established, on any way.
    committed: usize,
    epochs: usize,
    /// How many were not followed further, as a peer had begun too many rounds of elections.
    beyond: usize,
    complete: bool,
}

impl Budget {
    /// What is left after an action; none if it must not happen.
    pub fn after(mut self, action: &Action) -> Option<Budget> {
        let counter = match action {
            Action::Propose { .. } => &mut self.proposals,
            Action::Crash { .. } => &mut self.crashes,
            Action::Break { .. } => &mut self.breaks,
            Action::Fire { timer: Timer::Tick, .. } => &mut self.ticks,
            Action::Fire { timer: Timer::Notify, .. } => &mut self.notifies,
            _ => return Some(self),
        };
        *counter = counter.checked_sub(1)?;
        Some(self)
    }
}

pub fn fingerprint(rig: &Rig, budget: Budget) -> u64 {
    let mut hasher = DefaultHasher::new();
    (rig, budget).hash(&mut hasher);
    hasher.finish()
}

pub fn forget_idle_timers(rig: &mut Rig) {
    for node in rig.nodes.values_mut() {
        let looking = node.peer.as_ref().is_some_and(|peer| peer.is_looking());
        node.timers.retain(|timer| (*timer == Timer::Tick) != looking);
    }
}

pub fn actions(rig: &Rig) -> Vec<Action> {
    let mut actions = rig.actions();
    for (server, node) in &rig.nodes {
        let server = *server;
        let Some(peer) = &node.peer else {
            actions.push(Action::Restart { server });
            continue;
        };
        if peer.may_propose() {
            actions.push(Action::Propose { server });
        }
        let outcomes = node.outcomes();
        for outcome in 0..outcomes {
            actions.extend([false, true].map(|mute| Action::Crash { server, outcome, mute }));
        }
    }
    actions.extend(rig.links.keys().map(|link| Action::Break { link: *link, arrives: [0, 0] }));
    actions
}

/// Everything that can happen from here on, up to so many rounds of elections: without a bound, elections that come to
/// nothing may go on for ever where nobody is fair. Panics with the way to the first state in which something is wrong.
fn explore(start: Rig, budget: Budget, rounds_max: u64, states_max: usize, heal_every: usize) -> Seen {
    let mut seen = Seen { complete: true, ..Seen::default() };
    let mut known = HashSet::new();
    let mut stack: Vec<(Rig, Budget, Vec<Action>)> = vec![(start, budget, Vec::new())];
    while let Some((mut rig, budget, way)) = stack.pop() {
        forget_idle_timers(&mut rig);
        if !known.insert(fingerprint(&rig, budget)) {
            continue;
        }
        seen.states += 1;
        seen.depth = seen.depth.max(way.len());
        seen.committed = seen.committed.max(rig.ghost.committed.len());
        seen.epochs = seen.epochs.max(rig.ghost.initial.len());
        rig.check().unwrap_or_else(|what| panic!("{what}\n{way:#?}"));
        if seen.states >= states_max {
            seen.complete = false;
            break;
        }
        if rig.nodes.values().filter_map(|node| node.peer.as_ref()).any(|peer| peer.round() > rounds_max) {
            seen.beyond += 1;
            continue;
        }
        let next: Vec<_> =
            actions(&rig).into_iter().filter_map(|action| Some((action, budget.after(&action)?))).collect();
        seen.ends += usize::from(next.is_empty());
        if next.is_empty() || seen.states.is_multiple_of(heal_every) {
            rig.clone().heal().unwrap_or_else(|what| panic!("healing: {what}\n{way:#?}"));
        }
        for (action, budget) in next {
            let mut rig = rig.clone();
            rig.act(action);
            stack.push((rig, budget, way.iter().copied().chain([action]).collect()));
        }
    }
    println!("{budget:?}: {seen:?}");
    seen
}

/// Voters that have just decided for a leader, and are about to dial it.
pub fn decided(voters: u8, observers: u8, mutant: Option<Mutant>) -> Rig {
    let mut rig = Rig::new(voters, observers, |config| config.mutant = mutant);
    rig.datagrams_max = 1;
    while let Some(datagram) =
        rig.actions().into_iter().find(|action| matches!(action, Action::Datagram { .. }))
    {
        rig.act(datagram);
    }
    rig
}

fn explore_all(start: Rig, budget: Budget) {
    let seen = explore(start, budget, 99, 300_000, 50);
    assert!(seen.complete && seen.beyond == 0 && seen.ends > 0, "{seen:?}");
    // What the bounds allow was reached.
    assert_eq!(seen.committed, budget.proposals as usize, "{seen:?}");
    assert!(seen.epochs > usize::from(budget.crashes > 0), "{seen:?}");
}

#[test]
fn three_voters_agree_whatever_the_order_of_events() {
    explore_all(decided(3, 0, None), Budget { proposals: 1, ..Budget::default() });
}

#[test]
fn two_voters_survive_two_crashes_at_every_moment() {
    explore_all(decided(2, 0, None), Budget { proposals: 2, crashes: 2, ..Budget::default() });
}

#[test]
fn two_voters_survive_a_crash_a_broken_link_and_an_impatient_moment() {
    explore_all(
        decided(2, 0, None),
        Budget { proposals: 1, crashes: 1, breaks: 1, ticks: 1, ..Budget::default() },
    );
}

#[test]
fn an_observer_learns_whatever_the_order_of_events() {
    explore_all(decided(2, 1, None), Budget { proposals: 1, notifies: 1, ..Budget::default() });
}

#[test]
#[ignore = "takes minutes"]
fn three_voters_agree_on_two_transactions_and_after_a_broken_link() {
    explore_all(decided(3, 0, None), Budget { proposals: 2, ..Budget::default() });
    explore_all(decided(3, 0, None), Budget { proposals: 1, breaks: 1, ..Budget::default() });
}
