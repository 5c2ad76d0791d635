//! `sharers-meet`.

use super::findings::broken;
use crate::context::{SessionTracker, below};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use crate::standing::Standing;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{EventType, Text};

/// Actors that may share the lock do so side by side, and wait for no sharer. The promise is put to the test when two
/// live actors share the lock at the same time, and broken when the deletion of a sharer's znode wakes an actor that
/// asks for a share itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharersMeet {
    lock: &'static str,
    /// What the names of those have in them who want it alone; that of everybody, where names do not tell.
    exclusive: &'static str,
    tracker: SessionTracker,
    /// Who has a znode there by which it asks for a share, or has one.
    sharing: BTreeSet<ActorId>,
    /// Who asked for a share when this znode, which had one, was deleted, and asks still. That a deletion has woken
    /// somebody is told again with each other whom a server that lags tells of it later.
    asked: BTreeMap<Text, BTreeSet<ActorId>>,
}

impl SharersMeet {
    /// For one lock; whoever wants it alone has `exclusive` in the name of its znode.
    pub fn of(lock: &'static str, exclusive: &'static str) -> Self {
        let (sharing, asked) = (BTreeSet::new(), BTreeMap::new());
        SharersMeet { lock, exclusive, tracker: SessionTracker::of(lock), sharing, asked }
    }

    /// For a lock whose znodes do not show which contenders want it alone: nobody is then known to wait for a sharer.
    pub fn of_any(lock: &'static str) -> Self {
        SharersMeet::of(lock, "")
    }

    fn learn(&mut self, truth: &GroundTruth, found: &mut Vec<Finding>) {
        match truth {
            GroundTruth::NodeCreated { path, owner, .. } if below(self.lock, path) => {
                if let Some(actor) = self.tracker.live.get(owner) {
                    match path.contains(self.exclusive) {
                        true => self.sharing.remove(actor),
                        false => self.sharing.insert(*actor),
                    };
                }
            }
            GroundTruth::NodeDeleted { path, owner, .. } if below(self.lock, path) => {
                if let Some(actor) = self.tracker.live.get(owner) {
                    self.sharing.remove(actor);
                }
                if !path.contains(self.exclusive) {
                    self.asked.insert(path.clone(), self.sharing.clone());
                }
            }
            GroundTruth::Fired { path, kind: EventType::NodeDeleted, woken } => {
                let asked =
                    |actor: &&ActorId| self.asked.get(path).is_some_and(|asked| asked.contains(*actor));
                let waits = |actor: &&ActorId| asked(actor) && !self.tracker.lost_to_administrator(**actor);
                let what = |actor| format!("{actor} waits for {path}, which only shares the lock as well");
                found.extend(woken.iter().find(waits).map(|actor| broken(what(actor), None)));
            }
            _ => {}
        }
    }
}

impl Promise for SharersMeet {
    fn terms(&self) -> Terms {
        Terms::of("sharers-meet")
            .about("Those who may share the lock share it at the same time, and wait for none of each other.")
            .tested_when("Two actors whose sessions live share the lock at a time.")
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let sharers = |tracker: &SessionTracker| {
            tracker.standing.iter().filter(|(_, how)| *how == Standing::Shares).count()
        };
        let before = sharers(&self.tracker);
        if let Some(dead) = self.tracker.see(event) {
            self.sharing.remove(&dead);
        }
        if let Event::Is(truth) = event {
            self.learn(truth, found);
        }
        // Of several threads that ask, another may want it alone, and wait for all.
        self.asked.retain(|_, asked| {
            asked.retain(|actor| self.tracker.asking(*actor) == 1);
            !asked.is_empty()
        });
        let now = sharers(&self.tracker);
        found.extend((now > before && now > 1).then_some(Finding::Tested));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn only_two_at_a_time_are_a_test() {
        let one_by_one = vec![shares(0), leaves(0), shares(1), closed(1), shares(2)];
        let lock = || SharersMeet::of(LOCK, "-write-");
        assert_eq!(findings(lock(), one_by_one), []);
        assert_eq!(findings(lock(), vec![shares(0), shares(1), notes(2, "hums", LOCK)]), [Finding::Tested]);
    }

    fn found(events: Vec<Event>) -> Vec<Finding> {
        findings(SharersMeet::of(LOCK, "-write-"), events)
    }

    #[test]
    fn a_reader_that_is_woken_by_another_s_end_waits_for_it() {
        let (first, second) = ("/lock/a-read-0000000000", "/lock/b-read-0000000001");
        let what = "p1 waits for /lock/a-read-0000000000, which only shares the lock as well";
        // Also where it wakes others, who may wait for it.
        for woken in [&[1][..], &[1, 2]] {
            let mut events = vec![opened(0), opened(1), created(first, 0), attempts(1), created(second, 1)];
            events.extend([deleted(first, 0, 0), fired(first, EventType::NodeDeleted, woken)]);
            assert_eq!(broken_by(&found(events)), [(what, None)]);
        }
    }

    /// The right revocable lock was broken by it in 233 of 1,000 seeds whose servers lag.
    #[test]
    fn who_is_told_late_of_its_own_former_znode_waits_for_nobody() {
        let own = "/lock/a-read-0000000000";
        let late = fired(own, EventType::NodeDeleted, &[0]);
        let events = vec![opened(0), attempts(0), created(own, 0), deleted(own, 0, 0), attempts(0), late];
        assert_eq!(found(events), []);
        // A writer is woken by the end of a reader, and that is told again when it asks anew as a reader itself.
        let (write, read) = ("/lock/b-write-0000000001", "/lock/b-read-0000000002");
        let (wakes, again) = ([1], [1, 2]);
        let ends = |woken: &[u16]| fired(own, EventType::NodeDeleted, woken);
        let mut events =
            vec![opened(0), opened(1), attempts(0), created(own, 0), attempts(1), created(write, 1)];
        events.extend([
            deleted(own, 0, 0),
            ends(&wakes),
            granted(1),
            leaves(1),
            deleted(write, 1, 1),
            released(1),
        ]);
        events.extend([attempts(1), created(read, 1), ends(&again)]);
        assert_eq!(found(events), []);
    }

    const FIRST: &str = "/lock/a-read-0000000000";
    const SECOND: &str = "/lock/b-read-0000000001";

    /// How often p1 is blamed if it is woken by the end of the first reader.
    fn blamed(before: &[Event], then: &[Event]) -> usize {
        let opened = [opened(0), opened(1), opened(2), created(FIRST, 0), attempts(2)];
        let woken = [fired(FIRST, EventType::NodeDeleted, &[1])];
        broken_by(&found([&opened, before, &[deleted(FIRST, 0, 0)], then, &woken].concat())).len()
    }

    #[test]
    fn who_asks_no_more_or_in_another_session_waits_for_no_sharer() {
        let asks = || vec![attempts(1), created(SECOND, 1)];
        assert_eq!(blamed(&asks(), &[]), 1);
        assert_eq!((blamed(&asks(), &[shares(1)]), blamed(&asks(), &[gives_up(1)])), (0, 0));
        assert_eq!(blamed(&asks(), &[shares(1), released(1), attempts(1)]), 0, "it asks anew");
        let anew = [asks(), vec![closed(1), opened(1), attempts(1)]].concat();
        assert_eq!(blamed(&anew, &[]), 0, "it has no znode yet");
        let writes = [asks(), vec![deleted(SECOND, 1, 1), created("/lock/b-write-0000000002", 1)]].concat();
        assert_eq!(blamed(&writes, &[]), 0);
    }

    #[test]
    fn one_of_several_threads_may_have_lost_its_place_to_an_administrator() {
        let [one, other] = [1, 2].map(|thread| by_thread(thread, attempts(1)));
        let third = || created("/lock/c-read-0000000002", 1);
        let shares = by_thread(2, shares(1));
        let loses = |by| [one.clone(), created(SECOND, 1), deleted(SECOND, by, 1)];
        let before = |by| [&loses(by)[..], &[other.clone(), third(), shares.clone()]].concat();
        assert_eq!((blamed(&before(1), &[]), blamed(&before(ADMIN), &[])), (1, 0));
    }

    /// A right writer was broken by it if another thread of its process asked for a share.
    #[test]
    fn of_two_threads_that_ask_the_one_that_waits_may_want_it_alone() {
        let [writer, reader] = [1, 2].map(|thread| by_thread(thread, attempts(1)));
        let write = [writer, created("/lock/b-write-0000000001", 1)];
        let read = [reader, created("/lock/c-read-0000000002", 1)];
        assert_eq!((blamed(&[&write[..], &read].concat(), &[]), blamed(&read, &[])), (0, 1));
    }
}
