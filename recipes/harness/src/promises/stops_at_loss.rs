//! `stops-at-loss`.

use super::findings::broken;
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Terms};
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::OnDisconnect;

/// An actor that holds something and is told that it may have lost it stops at once.
///
/// It is told by the end of its session or, with [`OnDisconnect::Stop`], by a lost connection. It must say
/// [`STOPS`](words::STOPS), or leave, before it writes again and before another is granted the same thing: an actor
/// that listens does so in the step in which it is told. A write that was on its way may still arrive. Where it is
/// owed, nobody says that it stops who was not told so.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StopsAtLoss {
    lock: &'static str,
    on: OnDisconnect,
    /// Who was granted it and has not entered yet.
    granted: BTreeSet<ActorId>,
    /// Who is inside, and whether it was told and has not stopped yet.
    inside: BTreeMap<ActorId, bool>,
    /// What processes were told, and have not heard to be over.
    told: BTreeMap<ActorId, Told>,
    /// Nobody may stop without being told to.
    only_if_told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Told {
    /// Before it was granted it anew.
    Before,
    Disconnected,
    SessionOver,
}

impl StopsAtLoss {
    /// For one lock or election.
    pub fn of(lock: &'static str, on: OnDisconnect) -> Self {
        let (granted, inside, told) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        StopsAtLoss { lock, on, granted, inside, told, only_if_told: false }
    }

    /// Nobody says that it stops for another reason. Not for those who watch their znodes.
    #[must_use]
    pub fn and_for_nothing_else(self) -> Self {
        StopsAtLoss { only_if_told: true, ..self }
    }

    fn told(&mut self, actor: ActorId, what: Told) {
        let told = self.told.entry(actor).or_insert(what);
        *told = what.max(*told);
        for (_, told) in self.inside.iter_mut().filter(|(inside, _)| inside.main() == actor) {
            *told = true;
        }
    }

    fn hear(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        let lock = self.lock;
        match what {
            Observation::Granted { lock: of, .. } if **of == *lock => {
                self.is_granted(actor);
                self.begins(actor, found);
            }
            Observation::Shares { lock: of, .. } if **of == *lock => {
                self.is_granted(actor);
            }
            Observation::Enters { lock: of } if **of == *lock => {
                if !self.granted.remove(&actor) && !self.inside.contains_key(&actor) {
                    self.begins(actor, found);
                }
                let told = self.told.get(&actor.main()).is_some_and(|told| *told != Told::Before);
                *self.inside.entry(actor).or_default() |= told;
            }
            Observation::Notes { about, .. } if what.word() == words::STOPS && **about == *lock => {
                // Who was told inside may stop when it is connected again.
                let is_told = self.told.contains_key(&actor.main()) || self.inside.get(&actor) == Some(&true);
                if self.only_if_told && !is_told {
                    found.push(broken(format!("{actor} stops though nobody has told it to"), None));
                }
                self.stops(actor, found);
            }
            Observation::Leaves { lock: of }
            | Observation::Released { lock: of }
            | Observation::GivesUp { lock: of, .. }
                if **of == *lock =>
            {
                self.stops(actor, found);
            }
            _ => {}
        }
    }

    fn is_granted(&mut self, actor: ActorId) {
        self.granted.insert(actor);
        self.told.entry(actor.main()).and_modify(|told| *told = Told::Before);
    }

    /// Whoever goes on as this one begins is to have stopped.
    fn begins(&mut self, actor: ActorId, found: &mut Vec<Finding>) {
        for (other, told) in self.inside.iter_mut().filter(|(other, told)| **other != actor && **told) {
            *told = false;
            found.push(broken(format!("{other} goes on though it was told, and {actor} begins"), None));
        }
    }

    fn ends(&mut self, process: ActorId) {
        self.granted.retain(|granted| granted.main() != process);
        self.inside.retain(|inside, _| inside.main() != process);
    }

    fn stops(&mut self, actor: ActorId, found: &mut Vec<Finding>) {
        self.granted.remove(&actor);
        if self.inside.remove(&actor) == Some(true) {
            found.push(Finding::Tested);
        }
    }
}

impl Promise for StopsAtLoss {
    fn terms(&self) -> Terms {
        Terms::of("stops-at-loss")
            .about("Who is told that it may have lost what it holds stops at once.")
            .tested_when("Somebody inside is told that it may have lost what it holds, and stops.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => self.hear(*actor, what, found),
            Event::Is(GroundTruth::LearnsExpiry { actor }) => self.told(*actor, Told::SessionOver),
            Event::Is(GroundTruth::Disconnected { actor }) => match self.on {
                OnDisconnect::Stop => self.told(*actor, Told::Disconnected),
                OnDisconnect::KeepUntilExpired => {}
            },
            Event::Is(GroundTruth::Connected { actor }) => {
                self.told.retain(|process, told| process != actor || *told == Told::SessionOver);
            }
            Event::Is(GroundTruth::SessionOpened { actor, .. }) => drop(self.told.remove(actor)),
            Event::Is(GroundTruth::Wrote { actor, .. }) => {
                if let Some(told @ true) = self.inside.get_mut(actor) {
                    *told = false;
                    found.push(broken(format!("{actor} goes on though it was told, and writes"), None));
                }
            }
            Event::Is(GroundTruth::Finished { actor, end }) if end.leaves_nothing_running() => {
                self.ends(*actor)
            }
            Event::Is(GroundTruth::Crashed { actor }) => self.ends(*actor),
            // Its other threads go on.
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.granted.remove(actor);
                self.inside.remove(actor);
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::event::{End, Resource};

    fn judge(on: OnDisconnect, events: Vec<Event>) -> Vec<Finding> {
        findings(StopsAtLoss::of(LOCK, on), events)
    }

    fn learns(p: u16) -> Event {
        Event::Is(GroundTruth::LearnsExpiry { actor: actor(p) })
    }

    fn disconnected(p: u16) -> Event {
        Event::Is(GroundTruth::Disconnected { actor: actor(p) })
    }

    #[test]
    fn going_on_while_another_begins_breaks_it() {
        let found = judge(OnDisconnect::KeepUntilExpired, vec![enters(0), learns(0), granted(1), leaves(0)]);
        assert_eq!(broken_by(&found), [("p0 goes on though it was told, and p1 begins", None)]);
    }

    #[test]
    fn a_write_after_it_was_told_breaks_it() {
        let found =
            judge(OnDisconnect::Stop, vec![enters(0), disconnected(0), wrote(Resource::Unfenced, 0, true)]);
        assert_eq!(broken_by(&found), [("p0 goes on though it was told, and writes", None)]);
    }

    #[test]
    fn stopping_is_a_test_it_passes_and_what_was_on_its_way_may_arrive() {
        let stops = Event::Observed { actor: actor(0), what: Observation::note(words::STOPS, LOCK, 0) };
        let events = vec![enters(0), learns(0), stops, wrote(Resource::Unfenced, 0, true), granted(1)];
        assert_eq!(judge(OnDisconnect::Stop, events), [Finding::Tested]);
    }

    #[test]
    fn who_stops_without_a_cause_breaks_it_where_that_is_owed() {
        let connected = || Event::Is(GroundTruth::Connected { actor: actor(0) });
        let stops = |before: Vec<Event>| {
            let events = [before, vec![notes(0, "stops", LOCK)]].concat();
            assert_eq!(broken_by(&judge(OnDisconnect::Stop, events.clone())), []);
            let promise = StopsAtLoss::of(LOCK, OnDisconnect::Stop).and_for_nothing_else();
            broken_by(&findings(promise, events)).iter().map(|(what, _)| what.to_string()).collect::<Vec<_>>()
        };
        let what = ["p0 stops though nobody has told it to"];
        assert_eq!(stops(vec![enters(0)]), what);
        assert_eq!(stops(vec![enters(0), disconnected(1)]), what);
        assert_eq!(stops(vec![disconnected(0), connected(), enters(0)]), what);
        for told in [learns(0), disconnected(0)] {
            assert_eq!(stops(vec![enters(0), told.clone()]), [""; 0]);
            assert_eq!(stops(vec![enters(0), told.clone(), connected()]), [""; 0], "it stops late");
            assert_eq!(stops(vec![told, enters(0)]), [""; 0], "it was told as it entered");
        }
    }

    #[test]
    fn who_keeps_on_until_expired_is_told_by_nothing_less() {
        let events = vec![enters(0), disconnected(0), wrote(Resource::Unfenced, 0, true), leaves(0)];
        assert_eq!(judge(OnDisconnect::KeepUntilExpired, events), []);
    }

    #[test]
    fn who_goes_on_is_told_of_once_and_has_not_stopped_in_time() {
        let writes = |p| wrote(Resource::Unfenced, p, true);
        let begins = judge(OnDisconnect::Stop, vec![enters(0), learns(0), granted(1), granted(2), leaves(0)]);
        assert_eq!((begins.len(), broken_by(&begins).len()), (1, 1));
        let writes = judge(OnDisconnect::Stop, vec![enters(0), learns(0), writes(0), writes(0), leaves(0)]);
        assert_eq!((writes.len(), broken_by(&writes).len()), (1, 1));
    }

    #[test]
    fn who_was_not_told_or_is_inside_no_more_need_not_stop() {
        let others = [enters(0), enters(2), disconnected(2)];
        let judged = |then: &[Event]| judge(OnDisconnect::Stop, [&others, then].concat());
        assert_eq!(judged(&[granted(0), wrote(Resource::Unfenced, 0, true)]).len(), 1, "p2 was told alone");
        assert_eq!(judged(&[granted(2)]), [], "it begins anew itself");
        for gone in [crashed(2), finished(2)] {
            assert_eq!(judged(&[gone, granted(1)]), []);
        }
        assert_eq!(judged(&[crashed(0), finished(1), granted(1)]).len(), 1);
    }

    #[test]
    fn to_stop_is_to_say_so_or_to_leave_and_of_this_lock() {
        let stops = notes(0, "stops", LOCK);
        let of_other = |what| Event::Observed { actor: actor(0), what };
        let other = || "/other".into();
        let others = [
            Observation::Leaves { lock: other() },
            Observation::Released { lock: other() },
            Observation::GivesUp { lock: other(), why: "".into() },
        ];
        let told = |then: &[Event]| judge(OnDisconnect::Stop, [&[enters(0), learns(0)], then].concat());
        for stop in [stops, leaves(0), released(0), gives_up(0)] {
            assert_eq!(told(&[stop, granted(1)]), [Finding::Tested]);
        }
        let none = [notes(0, "stops", "/other"), notes(0, "hums", LOCK)];
        for none in none.into_iter().chain(others.map(of_other)) {
            assert_eq!(broken_by(&told(&[none, granted(1)])).len(), 1);
        }
    }

    fn connected(p: u16) -> Event {
        Event::Is(GroundTruth::Connected { actor: actor(p) })
    }

    /// Whatever it was told before it entered was forgotten.
    #[test]
    fn who_is_told_between_its_grant_and_its_entry_is_not_to_go_on_inside() {
        let enters = |told: Vec<Event>| [vec![granted(0)], told, vec![enters(0)]].concat();
        let goes_on = |on, told, then| broken_by(&judge(on, [enters(told), vec![then]].concat())).len();
        let writes = || wrote(Resource::Unfenced, 0, true);
        for then in [writes(), granted(1)] {
            for on in [OnDisconnect::Stop, OnDisconnect::KeepUntilExpired] {
                let loses = usize::from(on == OnDisconnect::Stop);
                assert_eq!(goes_on(on, vec![disconnected(0)], then.clone()), loses);
                assert_eq!(goes_on(on, vec![disconnected(0), connected(0)], then.clone()), 0);
                assert_eq!(goes_on(on, vec![learns(0)], then.clone()), 1);
                assert_eq!(goes_on(on, vec![learns(0), disconnected(0), connected(0)], then.clone()), 1);
                assert_eq!(goes_on(on, vec![learns(1)], then.clone()), 0);
                // It is granted it anew.
                assert_eq!(goes_on(on, vec![learns(0), granted(0)], then.clone()), 0);
                assert_eq!(goes_on(on, vec![learns(0), leaves(0), granted(0)], then.clone()), 0);
            }
        }
        let stops = judge(OnDisconnect::Stop, [enters(vec![disconnected(0)]), vec![leaves(0)]].concat());
        assert_eq!(stops, [Finding::Tested]);
    }

    /// Who tells no more than that it enters was nobody that begins.
    #[test]
    fn who_enters_without_a_word_of_a_grant_begins() {
        let then = |begins: Vec<Event>| {
            let events = [vec![enters(0), learns(0)], begins].concat();
            broken_by(&judge(OnDisconnect::KeepUntilExpired, events)).len()
        };
        assert_eq!((then(vec![enters(1)]), then(vec![granted(1), enters(1)])), (1, 1));
        assert_eq!(then(vec![shares(1), enters(1)]), 0);
        let within = vec![enters(1), enters(0), learns(0), enters(1)];
        assert_eq!(broken_by(&judge(OnDisconnect::KeepUntilExpired, within)), [], "it is inside");
    }

    /// What it was told in one section, or outside, was nothing in the next.
    #[test]
    fn who_has_no_connection_is_not_to_go_on_in_another_section_of_its_grant() {
        let writes = || wrote(Resource::Unfenced, 0, true);
        let judged = |then: Vec<Event>| {
            let first = vec![opened(0), granted(0), enters(0), disconnected(0)];
            broken_by(&judge(OnDisconnect::Stop, [first, then].concat())).len()
        };
        assert_eq!(judged(vec![leaves(0), enters(0), writes()]), 1);
        assert_eq!(judged(vec![enters(0), writes()]), 1, "within the first");
        assert_eq!(judged(vec![leaves(0), connected(0), enters(0), writes()]), 0);
        assert_eq!(judged(vec![leaves(0), opened(0), enters(0), writes()]), 0);
        assert_eq!(judged(vec![leaves(0), granted(0), enters(0), writes()]), 0);
    }

    /// It was blamed for going on as the next one began.
    #[test]
    fn a_thread_that_ends_with_its_process_stops_by_that() {
        let went_on = |end| {
            let ends = Event::Is(GroundTruth::Finished { actor: actor(0), end });
            let events = vec![by_thread(1, enters(0)), enters(2), learns(0), learns(2), ends, granted(1)];
            broken_by(&judge(OnDisconnect::Stop, events)).len()
        };
        assert_eq!([End::SessionLost, End::Done, End::Failed].map(went_on), [1, 2, 2]);
    }
}
