//! `try-succeeds-uncontended`.

use super::findings::broken;
use crate::context::{SessionTracker, below, within};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Assumption, Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// Whoever only tries to take the lock gets it, if nobody else had a contender's znode while it tried. Of those who try
/// together, one gets it.
///
/// It is owed to an attempt that ends with [`Observation::GivesUp`] and in which there was a connection from the
/// beginning on, which was never lost. Nobody who tries waits for an event.
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
    /// Who has lost its connection and has no other one yet.
    away: BTreeSet<ActorId>,
}

impl TrySucceedsUncontended {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        TrySucceedsUncontended {
            lock,
            tracker: SessionTracker::of(lock),
            nodes: BTreeMap::new(),
            alone: BTreeSet::new(),
            trying: BTreeSet::new(),
            is_had: false,
            away: BTreeSet::new(),
        }
    }

    /// Something may have kept those from it who try, if this one is among them or is none of them.
    fn spoils(&mut self, who: Option<ActorId>, is_among: bool) {
        self.is_had |= who.is_some_and(|who| self.trying.iter().any(|actor| actor.main() == who)) == is_among;
    }

    fn gets(&mut self, actor: ActorId, found: &mut Vec<Finding>) {
        found.extend(self.alone.remove(&actor).then_some(Finding::Tested));
        self.is_had = true;
    }

    fn hear(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        match what {
            Observation::Attempts { lock } if **lock == *self.lock => {
                let is_other = |other: &ActorId| other.main() == actor.main() && *other != actor;
                let has_others = self.trying.iter().any(is_other);
                self.alone.retain(|other| !is_other(other));
                let is_own = |owner: &SessionId| self.owner(*owner) == Some(actor.main());
                let has_session = self.tracker.live.values().any(|other| *other == actor.main());
                let is_connected = has_session && !self.away.contains(&actor.main());
                let is_alone = is_connected && !has_others && self.nodes.values().all(is_own);
                self.alone.extend(is_alone.then_some(actor));
                if self.trying.is_empty() {
                    self.is_had = !is_alone;
                }
                self.is_had |= !is_connected;
                self.trying.insert(actor);
            }
            Observation::Granted { lock, .. } | Observation::Shares { lock, .. } if **lock == *self.lock => {
                self.gets(actor, found);
            }
            // Not everybody tells of a grant.
            Observation::Enters { lock } if **lock == *self.lock && self.trying.contains(&actor) => {
                self.gets(actor, found);
            }
            Observation::Released { lock } if **lock == *self.lock => drop(self.trying.remove(&actor)),
            Observation::GivesUp { lock, .. } if **lock == *self.lock => {
                let alone = self.alone.remove(&actor);
                let assumption =
                    self.tracker.lost_to_administrator(actor).then_some(Assumption::NoAdministrator);
                let what = || format!("{actor} did not get {}, and was alone", self.lock);
                found.extend(alone.then(|| broken(what(), assumption)));
                if self.trying.remove(&actor) && self.trying.is_empty() && !self.is_had && !alone {
                    let what = format!("{actor} did not get {}, nor did any who tried with it", self.lock);
                    found.push(broken(what, None));
                }
            }
            _ => {}
        }
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
                // Another thread, which has it, may watch what it has.
                let waits = |actor: &&ActorId| match self.tracker.asking(**actor) {
                    0 => false,
                    asking => self.tracker.standings(**actor).count() == asking,
                };
                let what = |actor| format!("{actor} only tries to take {}, and waits", self.lock);
                found.extend(woken.iter().find(waits).map(|actor| broken(what(actor), None)));
            }
            Event::Is(GroundTruth::Disconnected { actor }) => {
                self.alone.retain(|other| other.main() != *actor);
                self.spoils(Some(*actor), true);
                self.away.insert(*actor);
            }
            Event::Is(GroundTruth::Connected { actor }) => drop(self.away.remove(actor)),
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.alone.remove(actor);
                self.is_had |= self.trying.remove(actor);
            }
            Event::Observed { actor, what } if !self.tracker.is_dead(*actor) => {
                self.hear(*actor, what, found)
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use zk_api::{EventType, Zxid};

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
        let third = created("/lock/c-lock-0000000002", 2);
        for spoils in [disconnected(0), closed(0), deleted(B, 50, 1), opened(2), third] {
            let is_none = spoils != opened(2);
            let found = judge([vec![opened(2)], both(), vec![spoils], give_up()].concat());
            assert_eq!(broken_by(&found).is_empty(), is_none);
        }
    }

    /// Those who tried with one that told no more than that were blamed.
    #[test]
    fn who_enters_has_got_it() {
        assert_eq!(judge(vec![attempts(0), created(A, 0), enters(0)]), [Finding::Tested]);
        let both = vec![attempts(0), attempts(1), created(A, 0), enters(0), leaves(0), deleted(A, 0, 0)];
        assert_eq!(broken_by(&judge([both.clone(), vec![released(0), gives_up(1)]].concat())), []);
        assert_eq!(broken_by(&judge([both, vec![gives_up(1), released(0)]].concat())), []);
        // Who does not try, and says that it enters, keeps nobody from it.
        let other = vec![attempts(0), attempts(1), enters(2), gives_up(0), gives_up(1)];
        assert_eq!(broken_by(&judge(other)).len(), 2);
    }

    /// Who tried before its first connection was made was blamed, and who tried while it had lost it.
    #[test]
    fn who_is_not_connected_as_it_begins_may_do_without() {
        let tries = || vec![attempts(0), created(A, 0), deleted(A, 0, 0), gives_up(0)];
        let unopened = [vec![attempts(0), opened(0)], tries().split_off(1)].concat();
        assert_eq!(findings(TrySucceedsUncontended::of(LOCK), unopened), []);
        assert_eq!(judge([vec![disconnected(0)], tries()].concat()), []);
        let again = Event::Is(GroundTruth::Connected { actor: actor(0) });
        assert_eq!(broken_by(&judge([vec![disconnected(0), again], tries()].concat())).len(), 1);
    }

    #[test]
    fn who_met_another_may_do_without() {
        assert_eq!(judge(vec![created(B, 1), attempts(0), created(A, 0), gives_up(0)]), []);
        assert_eq!(judge(vec![attempts(0), created(B, 1), vanished(B, 1), gives_up(0)]), []);
    }

    fn says(events: Vec<Event>) -> Vec<String> {
        broken_by(&judge(events)).into_iter().map(|(what, _)| what.to_owned()).collect()
    }

    fn disconnected(p: u16) -> Event {
        Event::Is(GroundTruth::Disconnected { actor: actor(p) })
    }

    const ALONE: &str = "p0 did not get /lock, and was alone";
    const NEITHER: &str = "p1 did not get /lock, nor did any who tried with it";

    #[test]
    fn what_is_no_contenders_znode_of_this_lock_leaves_one_alone() {
        let (by, none) = (session(1), SessionId::NONE);
        let lasting = |path: &str| {
            Event::Is(GroundTruth::NodeCreated { path: path.into(), by, owner: none, czxid: Zxid::new(1, 1) })
        };
        let other = created("/other/b-lock-0000000001", 1);
        for meanwhile in [lasting(B), other, attempts(1), disconnected(1), closed(1), notes(1, "hums", LOCK)]
        {
            assert_eq!(says(vec![attempts(0), meanwhile, gives_up(0)]), [ALONE]);
        }
        assert_eq!(
            says(vec![attempts(0), attempts(0), gives_up(0), gives_up(0)]),
            [ALONE],
            "it is told once"
        );
        assert_eq!(says(vec![attempts(0), disconnected(0), gives_up(0)]), [""; 0]);
        assert_eq!(
            says(vec![attempts(0), closed(0), opened(0), gives_up(0)]),
            [""; 0],
            "it was in a session"
        );
    }

    #[test]
    fn who_tries_and_is_woken_waits_if_it_is_by_this_lock() {
        let woken =
            |before: Event, path: &str| says(vec![before, fired(path, EventType::NodeDeleted, &[1, 0])]);
        assert_eq!(woken(attempts(0), A), ["p0 only tries to take /lock, and waits"]);
        assert_eq!(woken(attempts(0), LOCK), ["p0 only tries to take /lock, and waits"]);
        assert_eq!(woken(attempts(0), "/other"), [""; 0]);
        assert_eq!(woken(granted(0), A), [""; 0], "it may watch what it has");
    }

    #[test]
    fn each_time_that_some_try_is_judged_by_itself() {
        let both = || vec![attempts(0), attempts(1), created(A, 0), created(B, 1)];
        let give_up = || vec![deleted(A, 0, 0), gives_up(0), deleted(B, 1, 1), gives_up(1)];
        let has_had = || vec![granted(0), deleted(A, 0, 0), released(0), deleted(B, 1, 1), gives_up(1)];
        assert_eq!(says([both(), has_had(), both(), has_had()].concat()), [""; 0]);
        assert_eq!(says([both(), has_had(), both(), give_up()].concat()), [NEITHER]);
        assert_eq!(says([both(), give_up(), both(), give_up()].concat()), [NEITHER; 2]);
        let third = || created("/lock/c-lock-0000000002", 2);
        assert_eq!(says([vec![third()], both(), give_up()].concat()), [""; 0], "that one may have it");
        // What is told of another lock ends nothing here.
        let of_another = |what| Event::Observed { actor: actor(0), what };
        let lock = || "/other".into();
        let other = [
            Observation::Attempts { lock: lock() },
            Observation::Granted { lock: lock(), node: "".into(), token: None },
            Observation::Released { lock: lock() },
            Observation::GivesUp { lock: lock(), why: "".into() },
        ];
        let other = || other.clone().map(of_another).to_vec();
        assert_eq!(says([both(), other(), give_up()].concat()), [NEITHER]);
        let elsewhere = || vec![created("/other/x", 1), deleted("/other/x", 0, 1), deleted("/x", 0, NOBODY)];
        assert_eq!(says([both(), elsewhere(), give_up()].concat()), [NEITHER]);
    }

    #[test]
    fn who_dies_or_ends_as_it_tries_tries_no_more_and_may_have_kept_the_others_from_it() {
        let give_up = || vec![deleted(A, 0, 0), gives_up(0), deleted(B, 1, 1), gives_up(1)];
        for end in [closed(2), crashed(2), finished(2)] {
            let third = || vec![opened(2), attempts(2), created("/lock/c-lock-0000000002", 2)];
            let both = || vec![attempts(0), attempts(1), created(A, 0), created(B, 1)];
            assert_eq!(says([third(), both(), vec![end.clone()], give_up()].concat()), [""; 0], "{end:?}");
            let gone = vec![end.clone(), vanished("/lock/c-lock-0000000002", 2)];
            assert_eq!(says([third(), gone, both(), give_up()].concat()), [NEITHER], "{end:?}");
            let meanwhile = vec![attempts(0), opened(2), end, attempts(1), created(A, 0), created(B, 1)];
            let one_has = vec![deleted(B, 1, 1), gives_up(1), granted(0)];
            assert_eq!(says([meanwhile, one_has].concat()), [""; 0]);
        }
    }

    #[test]
    fn who_has_ended_is_forgotten() {
        let mut promise = TrySucceedsUncontended::of(LOCK);
        let events = [opened(0), attempts(0), finished(0)];
        events.iter().for_each(|event| promise.see(event, &mut Vec::new()));
        assert!(promise.alone.is_empty() && promise.trying.is_empty());
    }

    #[test]
    fn of_the_threads_of_a_process_that_try_together_one_gets_it() {
        let [one, other] = [1, 2].map(|n| move |event| by_thread(n, event));
        let both = || vec![one(attempts(0)), other(attempts(0)), created(A, 0), created(B, 0)];
        assert_eq!(says([both(), vec![one(granted(0)), other(gives_up(0))]].concat()), [""; 0]);
        assert_eq!(says([both(), vec![other(granted(0)), one(gives_up(0))]].concat()), [""; 0]);
        let neither = "p0/2 did not get /lock, nor did any who tried with it";
        assert_eq!(says([both(), vec![one(gives_up(0)), other(gives_up(0))]].concat()), [neither]);
        assert_eq!(judge([both(), vec![one(granted(0))]].concat()), [], "it was not alone");
    }

    /// A right lock was broken by it if one thread tried while another had the lock, and watched it.
    #[test]
    fn of_the_threads_of_a_process_the_one_that_is_woken_may_have_it() {
        let [has, tries] = [by_thread(1, granted(0)), by_thread(2, attempts(0))];
        let woken = || fired(A, EventType::NodeDataChanged, &[0]);
        assert_eq!(says(vec![has, tries.clone(), woken()]), [""; 0]);
        let both = vec![by_thread(1, attempts(0)), tries, woken()];
        assert_eq!(says(both), ["p0 only tries to take /lock, and waits"]);
    }
}
