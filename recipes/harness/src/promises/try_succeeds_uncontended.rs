//! `try-succeeds-uncontended`.

use super::findings::broken;
use crate::context::{SessionTracker, Standing, below, within};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Assumption, Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// Whoever only tries to take the lock gets it, if nobody else had a contender's znode while it tried. Of those who try
/// together, one gets it.
///
/// It is owed to an attempt that ends with [`Observation::GivesUp`] and in which the connection was never lost. Nobody
/// who tries waits for an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrySucceedsUncontended {
    lock: &'static str,
    tracker: SessionTracker,
    /// The contenders' znodes that exist, and whose sessions they are of.
    nodes: BTreeMap<Text, SessionId>,
    /// Who tries and has been alone so far.
    alone: BTreeSet<ActorId>,
    /// Who tries together with others who try, and whether one of them has had it, or something else kept them from it.
    trying: BTreeSet<ActorId>,
    is_had: bool,
}

impl TrySucceedsUncontended {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        let (nodes, alone, trying) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        TrySucceedsUncontended {
            lock,
            tracker: SessionTracker::of(lock),
            nodes,
            alone,
            trying,
            is_had: false,
        }
    }

    /// Something may have kept those from it who try, if this one is among them or is none of them.
    fn spoils(&mut self, who: Option<ActorId>, is_among: bool) {
        self.is_had |= who.is_some_and(|who| self.trying.iter().any(|actor| actor.main() == who)) == is_among;
    }

    fn owner(&self, session: SessionId) -> Option<ActorId> {
        self.tracker.live.get(&session).copied()
    }
}

impl Promise for TrySucceedsUncontended {
    fn terms(&self) -> Terms {
        Terms::of("try-succeeds-uncontended")
            .about("Who tries to take the lock alone gets it, of those who try together one does, and none waits.")
            .tested_when("Somebody that was alone all the time it tried is granted the lock.")
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.tracker.see(event) {
            self.alone.retain(|actor| actor.main() != dead);
            self.spoils(Some(dead), true);
            self.trying.retain(|actor| actor.main() != dead);
        }
        match event {
            Event::Is(GroundTruth::NodeCreated { path, owner, .. })
                if *owner != SessionId::NONE && below(self.lock, path) =>
            {
                self.nodes.insert(path.clone(), *owner);
                let owner = self.owner(*owner);
                self.alone.retain(|actor| Some(actor.main()) == owner);
                self.spoils(owner, false);
            }
            Event::Is(GroundTruth::NodeDeleted { path, by, owner, .. }) => {
                self.is_had |= self.nodes.remove(path).is_some() && by != owner;
            }
            Event::Is(GroundTruth::Fired { path, woken, .. }) if within(self.lock, path) => {
                let standing = &self.tracker.standing;
                let waits = |actor: &&ActorId| {
                    standing.iter().any(|(waits, how)| waits.main() == **actor && *how == Standing::Waits)
                };
                let what = |actor| format!("{actor} only tries to take {}, and waits", self.lock);
                found.extend(woken.iter().find(waits).map(|actor| broken(what(actor), None)));
            }
            Event::Is(GroundTruth::Disconnected { actor }) => {
                self.alone.retain(|other| other.main() != *actor);
                self.spoils(Some(*actor), true);
            }
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.alone.remove(actor);
                self.is_had |= self.trying.remove(actor);
            }
            Event::Observed { actor, what } if !self.tracker.is_dead(*actor) => match what {
                Observation::Attempts { lock } if **lock == *self.lock => {
                    let is_other = |other: &ActorId| other.main() == actor.main() && other != actor;
                    let has_others = self.trying.iter().any(is_other);
                    self.alone.retain(|other| !is_other(other));
                    let is_own = |owner: &SessionId| self.owner(*owner) == Some(actor.main());
                    let is_alone = !has_others && self.nodes.values().all(is_own);
                    self.alone.extend(is_alone.then_some(*actor));
                    if self.trying.is_empty() {
                        self.is_had = !is_alone;
                    }
                    self.trying.insert(*actor);
                }
                Observation::Granted { lock, .. } | Observation::Shares { lock, .. }
                    if **lock == *self.lock =>
                {
                    found.extend(self.alone.remove(actor).then_some(Finding::Tested));
                    self.is_had = true;
                }
                Observation::Released { lock } if **lock == *self.lock => drop(self.trying.remove(actor)),
                Observation::GivesUp { lock, .. } if **lock == *self.lock => {
                    let alone = self.alone.remove(actor);
                    let assumption =
                        self.tracker.lost_to_administrator(*actor).then_some(Assumption::NoAdministrator);
                    let what = || format!("{actor} did not get {}, and was alone", self.lock);
                    found.extend(alone.then(|| broken(what(), assumption)));
                    if self.trying.remove(actor) && self.trying.is_empty() && !self.is_had && !alone {
                        let what =
                            format!("{actor} did not get {}, nor did any who tried with it", self.lock);
                        found.push(broken(what, None));
                    }
                }
                _ => {}
            },
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const A: &str = "/lock/a-lock-0000000000";
    const B: &str = "/lock/b-lock-0000000001";

    fn judge(events: Vec<Event>) -> Vec<Finding> {
        findings(TrySucceedsUncontended::of(LOCK), [vec![opened(0), opened(1)], events].concat())
    }

    #[test]
    fn who_was_alone_and_does_not_get_it_breaks_it() {
        let found = judge(vec![attempts(0), created(A, 0), deleted(A, 0, 0), gives_up(0)]);
        assert_eq!(broken_by(&found), [("p0 did not get /lock, and was alone", None)]);
    }

    #[test]
    fn who_was_alone_and_gets_it_is_a_test_it_passes() {
        assert_eq!(judge(vec![attempts(0), created(A, 0), granted(0)]), [Finding::Tested]);
    }

    #[test]
    fn of_those_who_try_together_one_gets_it() {
        let both = || vec![attempts(0), attempts(1), created(A, 0), created(B, 1)];
        let give_up = || vec![deleted(A, 0, 0), gives_up(0), deleted(B, 1, 1), gives_up(1)];
        let what = "p1 did not get /lock, nor did any who tried with it";
        assert_eq!(broken_by(&judge([both(), give_up()].concat())), [(what, None)]);
        let has_had = vec![granted(0), deleted(B, 1, 1), gives_up(1), deleted(A, 0, 0), released(0)];
        assert_eq!(broken_by(&judge([both(), has_had].concat())), []);
        let disconnected = Event::Is(GroundTruth::Disconnected { actor: actor(0) });
        let third = created("/lock/c-lock-0000000002", 2);
        for spoils in [disconnected, closed(0), deleted(B, 50, 1), opened(2), third] {
            let is_none = spoils != opened(2);
            let found = judge([vec![opened(2)], both(), vec![spoils], give_up()].concat());
            assert_eq!(broken_by(&found).is_empty(), is_none);
        }
    }

    #[test]
    fn who_met_another_may_do_without() {
        assert_eq!(judge(vec![created(B, 1), attempts(0), created(A, 0), gives_up(0)]), []);
        assert_eq!(judge(vec![attempts(0), created(B, 1), vanished(B, 1), gives_up(0)]), []);
    }
}
