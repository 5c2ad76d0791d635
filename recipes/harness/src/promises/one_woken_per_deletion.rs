//! `one-woken-per-deletion`.

use super::findings::broken;
use crate::context::{SessionTracker, parent, within};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Assumption, Finding, Promise, Terms};
use crate::standing::Standing;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{EventType, SessionId, Text, sequence_of};

/// The deletion of a contender's znode wakes one client at most, and so does every other change there: no event wakes a
/// herd.
///
/// A client that loses its znode to an administrator may go on waiting where it waits, and so may the next in line:
/// others may then be woken together with it, but no two others together. It keeps watching what it watched then, as
/// long as its session lives, even if it has another znode and waits elsewhere. So does who gives its place up itself:
/// what is left of its wait counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OneWokenPerDeletion {
    lock: &'static str,
    tracker: SessionTracker,
    /// Who had lost its znode, or its place, when it was told of the last change of a path. Others are told of the same
    /// change later, where their server lags, and it may have another znode by then.
    exempt: BTreeMap<(Text, ActorId), Loses>,
    /// The contenders' znodes that exist.
    nodes: BTreeSet<Text>,
    /// Who has lost a znode and lives on, with what it may watch since before that.
    lost: BTreeMap<(ActorId, Text), Loses>,
    /// Whether nothing counts but deletions, not of the last one, and changes of the list.
    but_the_last: bool,
}

/// To whom somebody has lost its znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Loses {
    ToAnAdministrator,
    /// It has given its place in the line up.
    ByItself,
}

impl OneWokenPerDeletion {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        let (exempt, nodes, lost) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let tracker = SessionTracker::of(lock);
        OneWokenPerDeletion { lock, tracker, exempt, nodes, lost, but_the_last: false }
    }

    /// Counts only deletions and changes of the list, and lets the last znode there wake everybody, as when a double
    /// barrier is left.
    #[must_use]
    pub fn but_the_last(self) -> Self {
        OneWokenPerDeletion { but_the_last: true, ..self }
    }

    /// Whether it may wake everybody.
    fn is_free(&self, kind: EventType) -> bool {
        let counts = matches!(kind, EventType::NodeDeleted | EventType::NodeChildrenChanged);
        self.but_the_last && (!counts || self.nodes.is_empty())
    }
}

impl Promise for OneWokenPerDeletion {
    fn terms(&self) -> Terms {
        let about = match self.but_the_last {
            false => {
                "The deletion of a contender's znode, like every other change there, wakes one client at most."
            }
            true => {
                "The deletion of a member's znode wakes one client at most, unless it is the last one there."
            }
        };
        Terms::of("one-woken-per-deletion")
            .about(about)
            .tested_when("A change wakes somebody whose session lives.")
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.tracker.see(event) {
            self.lost.retain(|(actor, _), _| *actor != dead.main());
        }
        if let Event::Is(GroundTruth::NodeCreated { path, .. } | GroundTruth::NodeWritten { path, .. }) =
            event
        {
            self.exempt.retain(|(changed, _), _| changed != path);
        }
        if let Event::Is(GroundTruth::NodeCreated { path, .. } | GroundTruth::NodeDeleted { path, .. }) =
            event
        {
            self.exempt.retain(|(changed, _), _| **changed != *parent(path));
        }
        match event {
            Event::Is(GroundTruth::NodeCreated { path, owner, .. })
                if *owner != SessionId::NONE && within(self.lock, path) =>
            {
                self.nodes.insert(path.clone());
            }
            Event::Is(GroundTruth::NodeDeleted { path, owner, by, .. }) => {
                self.nodes.remove(path);
                let Some(actor) = self.tracker.live.get(owner).copied() else { return };
                if self.tracker.lost_to_administrator(actor) {
                    let watched = self.nodes.iter().cloned().chain([self.lock.into()]);
                    self.lost.extend(watched.map(|path| ((actor, path), Loses::ToAnAdministrator)));
                } else if by == owner && self.tracker.standings(actor).all(|how| how == Standing::Waits) {
                    let before = self.nodes.iter().filter(|node| sequence_of(node) < sequence_of(path));
                    self.lost.extend(before.map(|path| ((actor, path.clone()), Loses::ByItself)));
                }
            }
            Event::Is(GroundTruth::Fired { path, kind, woken }) if within(self.lock, path) => {
                let what = match kind {
                    EventType::NodeDeleted => "the deletion",
                    EventType::NodeChildrenChanged => "a change of the list",
                    EventType::NodeCreated => "the creation",
                    EventType::NodeDataChanged => "a change of the data",
                    EventType::None => return,
                };
                // A watch of a session that has ended wakes nobody, removed or not.
                let woken: Vec<ActorId> =
                    woken.iter().copied().filter(|actor| !self.tracker.is_dead(*actor)).collect();
                for actor in &woken {
                    let lost = self.lost.remove(&(actor.main(), path.clone())).or_else(|| {
                        self.tracker.lost_to_administrator(*actor).then_some(Loses::ToAnAdministrator)
                    });
                    self.exempt.extend(lost.map(|how| ((path.clone(), *actor), how)));
                }
                let is_exempt = |actor: &ActorId| self.exempt.get(&(path.clone(), *actor));
                let left = woken.iter().filter(|actor| is_exempt(actor) != Some(&Loses::ByItself));
                let owed = left.clone().filter(|actor| is_exempt(actor).is_none()).count();
                match left.count() {
                    0 => {}
                    1 => found.push(Finding::Tested),
                    _ if self.is_free(*kind) => {}
                    n => {
                        let assumption = (owed < 2).then_some(Assumption::NoAdministrator);
                        found.push(broken(format!("{what} of {path} woke {n} clients"), assumption));
                    }
                }
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use EventType::{NodeChildrenChanged, NodeCreated, NodeDataChanged, NodeDeleted};

    const A: &str = "/lock/a-lock-0000000000";
    const B: &str = "/lock/b-lock-0000000001";

    #[test]
    fn two_woken_by_a_deletion_break_it() {
        let found = findings(OneWokenPerDeletion::of(LOCK), vec![fired(A, NodeDeleted, &[1, 2])]);
        assert_eq!(broken_by(&found), [("the deletion of /lock/a-lock-0000000000 woke 2 clients", None)]);
    }

    /// Right locks were blamed whose waiters have no patience.
    #[test]
    fn who_gives_its_place_up_may_be_woken_by_what_it_watched() {
        let woken = |leaves: Vec<Event>| {
            let before = [opened(1), opened(2), created(A, 2), created(B, 1), attempts(1)].to_vec();
            let events = [before, leaves, vec![deleted(A, 2, 2), fired(A, NodeDeleted, &[1, 2])]].concat();
            broken_by(&findings(OneWokenPerDeletion::of(LOCK), events)).len()
        };
        assert_eq!((woken(vec![]), woken(vec![deleted(B, 1, 1)])), (1, 0));
        assert_eq!(woken(vec![deleted(B, 1, 1), gives_up(1), attempts(1)]), 0);
        assert_eq!(woken(vec![granted(1), deleted(B, 1, 1)]), 1, "it has had it");
        assert_eq!(woken(vec![deleted(B, 2, 1)]), 1, "another has taken it away");
        // Nor had it watched what is behind it.
        let behind = "/lock/c-lock-0000000002";
        let told = [opened(1), opened(2), created(B, 1), created(behind, 2), attempts(1), deleted(B, 1, 1)];
        let events =
            [told.to_vec(), vec![deleted(behind, 2, 2), fired(behind, NodeDeleted, &[1, 2])]].concat();
        assert_eq!(broken_by(&findings(OneWokenPerDeletion::of(LOCK), events)).len(), 1);
        // What it watches since then counts.
        let again = |woken: &[u16]| {
            let asks = [opened(1), created(B, 1), attempts(1), deleted(B, 1, 1), created(A, 2)].to_vec();
            let events = [asks, vec![deleted(A, 2, 2), fired(A, NodeDeleted, woken)]].concat();
            broken_by(&findings(OneWokenPerDeletion::of(LOCK), events)).len()
        };
        assert_eq!((again(&[1]), again(&[1, 2])), (0, 1));
    }

    #[test]
    fn a_herd_at_the_list_of_contenders_breaks_it() {
        let found = findings(OneWokenPerDeletion::of(LOCK), vec![fired(LOCK, NodeChildrenChanged, &[1, 2])]);
        assert_eq!(broken_by(&found), [("a change of the list of /lock woke 2 clients", None)]);
    }

    #[test]
    fn one_woken_is_a_test_it_passes_and_nobody_is_none() {
        let events = vec![fired(A, NodeDeleted, &[1]), fired(A, NodeDeleted, &[])];
        assert_eq!(findings(OneWokenPerDeletion::of(LOCK), events), [Finding::Tested]);
    }

    #[test]
    fn the_dead_are_not_woken() {
        let events = vec![closed(2), crashed(3), fired(A, NodeDeleted, &[1, 2, 3])];
        assert_eq!(findings(OneWokenPerDeletion::of(LOCK), events), [Finding::Tested]);
    }

    #[test]
    fn a_herd_is_one_by_whatever_event() {
        for kind in [NodeCreated, NodeDataChanged] {
            let found = findings(OneWokenPerDeletion::of(LOCK), vec![fired(A, kind, &[1, 2])]);
            assert_eq!(broken_by(&found).len(), 1, "{kind:?}");
        }
    }

    #[test]
    fn who_waits_on_without_its_znode_is_exempt_with_who_waits_in_its_place() {
        let events = vec![opened(0), opened(1), deleted(B, 99, 1), fired(A, NodeDeleted, &[1, 2])];
        let found = findings(OneWokenPerDeletion::of(LOCK), events);
        assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
    }

    #[test]
    fn who_has_another_znode_by_the_time_that_others_are_told_of_the_same_change_is_exempt() {
        let before = || {
            let new = created("/lock/b-lock-0000000003", 1);
            vec![opened(0), opened(1), deleted(B, 99, 1), fired(A, NodeDeleted, &[1]), new]
        };
        let assumption = |more: Vec<Event>, woken| {
            let events = [before(), more, vec![fired(A, NodeDeleted, woken)]].concat();
            broken_by(&findings(OneWokenPerDeletion::of(LOCK), events))[0].1
        };
        assert_eq!(assumption(vec![], &[1, 2]), Some(Assumption::NoAdministrator));
        assert_eq!(assumption(vec![], &[1, 2, 3]), None);
        assert_eq!(assumption(vec![created(A, 2)], &[1, 2]), None, "it is another deletion");
    }

    #[test]
    fn what_an_administrator_has_taken_from_others_makes_no_herd_expected() {
        let loses = vec![opened(0), opened(1), deleted(B, 99, 1)];
        let new = vec![created("/lock/b-lock-0000000003", 1)];
        for (before, woken) in [(vec![], [2, 3].as_slice()), (vec![], &[1, 2, 3]), (new, &[1, 2])] {
            let events = [loses.clone(), before, vec![fired(A, NodeDeleted, woken)]].concat();
            assert_eq!(broken_by(&findings(OneWokenPerDeletion::of(LOCK), events))[0].1, None, "{woken:?}");
        }
    }

    /// The right lock was broken by it in 1 of 4,000 runs with an administrator: first in seed 901805.
    #[test]
    fn what_it_watched_when_it_lost_its_znode_it_watches_on() {
        let before = [opened(0), opened(1), opened(2), created(A, 0), created(B, 1), deleted(B, 99, 1)];
        let new = [created("/lock/b-lock-0000000003", 1), created("/lock/c-lock-0000000004", 2)];
        let assumption = |more: &[Event], path: &str| {
            let events = [&before[..], &new, more, &[fired(path, NodeDataChanged, &[1, 2])]].concat();
            broken_by(&findings(OneWokenPerDeletion::of(LOCK), events))[0].1
        };
        assert_eq!(assumption(&[], A), Some(Assumption::NoAdministrator));
        let once = [fired(A, NodeDataChanged, &[1]), asked_back(A)];
        assert_eq!(assumption(&once, A), None, "it has been told, and would have had to watch it again");
        assert_eq!(assumption(&[], "/lock/c-lock-0000000004"), None, "that was not there then");
    }

    #[test]
    fn the_last_one_at_a_double_barrier_wakes_all_and_no_other() {
        let before = || vec![opened(0), opened(1), opened(2), created(A, 0), created(B, 1), deleted(A, 0, 0)];
        let judge = |last: Vec<Event>| {
            let events = [before(), last, vec![fired(A, NodeDeleted, &[1, 2])]].concat();
            broken_by(&findings(OneWokenPerDeletion::of(LOCK).but_the_last(), events)).len()
        };
        assert_eq!((judge(vec![]), judge(vec![deleted(B, 1, 1)])), (1, 0));
        // What its members hold elsewhere is of another recipe.
        assert_eq!(judge(vec![deleted(B, 1, 1), created("/other/c", 2)]), 0);
    }

    #[test]
    fn at_a_double_barrier_only_deletions_and_changes_of_the_list_count() {
        let woke = |kind| {
            let events = vec![opened(0), created(A, 0), fired(LOCK, kind, &[1, 2])];
            broken_by(&findings(OneWokenPerDeletion::of(LOCK).but_the_last(), events)).len()
        };
        assert_eq!([NodeCreated, NodeDataChanged, NodeDeleted, NodeChildrenChanged].map(woke), [0, 0, 1, 1]);
    }

    #[test]
    fn a_znode_that_is_nobodys_is_no_member_of_a_double_barrier() {
        let (by, owner, czxid) = (session(0), SessionId::NONE, zk_api::Zxid::new(1, 1));
        let ready = Event::Is(GroundTruth::NodeCreated { path: "/lock/ready".into(), by, owner, czxid });
        let events = vec![opened(0), created(A, 0), ready, deleted(A, 0, 0), fired(A, NodeDeleted, &[1, 2])];
        assert_eq!(findings(OneWokenPerDeletion::of(LOCK).but_the_last(), events), []);
    }

    #[test]
    fn what_was_watched_or_told_before_excuses_nobody_after_the_session_or_another_change() {
        let new = || created("/lock/b-lock-0000000003", 1);
        let loses = || vec![opened(0), opened(1), created(A, 0), created(B, 1), deleted(B, ADMIN, 1)];
        let assumption = |then: Vec<Event>, path| {
            let events = [loses(), then, vec![fired(path, NodeChildrenChanged, &[1, 2])]].concat();
            broken_by(&findings(OneWokenPerDeletion::of(LOCK), events)).last().expect("a herd").1
        };
        assert_eq!(assumption(vec![new()], LOCK), Some(Assumption::NoAdministrator));
        assert_eq!(assumption(vec![closed(0), new()], LOCK), Some(Assumption::NoAdministrator));
        assert_eq!(assumption(vec![closed(1), opened(1), new()], LOCK), None);
        let told = || fired(LOCK, NodeChildrenChanged, &[1]);
        assert_eq!(assumption(vec![told(), new()], LOCK), None, "the list has changed since");
        let beside = created("/other/x", 1);
        assert_eq!(assumption(vec![told(), beside], LOCK), Some(Assumption::NoAdministrator));
    }
}
