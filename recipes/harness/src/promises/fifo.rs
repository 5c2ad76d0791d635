//! `fifo`.

use super::findings::broken;
use crate::context::{SessionTracker, below};
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Terms};
use std::collections::BTreeMap;
use zk_api::{SessionId, Text, sequence_of};

/// Whoever is granted the lock has the oldest of the contenders' znodes that exist. Whoever is granted a share of it
/// may pass others that only ask for a share. Where the lock is granted by no znode that is told, it is by the only one
/// of its process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fifo {
    lock: &'static str,
    tracker: SessionTracker,
    /// The ephemeral znodes below the lock that exist, lowest number first, and whose they are. What has no number is a
    /// contender's if its session has none with a number, and comes behind what was there.
    queue: Vec<(Text, SessionId)>,
    /// What the names of those have in them who do not only ask for a share.
    exclusive: &'static str,
    /// Some may tell by no znode.
    may_pass: bool,
    /// Who stood there and asked as others began to ask that have made no znode since.
    ahead: BTreeMap<ActorId, Vec<Text>>,
}

impl Fifo {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        Fifo::of_shared(lock, "")
    }

    /// For one that is shared too: whoever wants it alone has this in the name of its znode.
    pub fn of_shared(lock: &'static str, exclusive: &'static str) -> Self {
        let (tracker, ahead) = (SessionTracker::of(lock), BTreeMap::new());
        Fifo { lock, tracker, queue: Vec::new(), exclusive, may_pass: false, ahead }
    }

    /// Whoever is granted the lock by no znode that is told, and has made none since it asked, is judged as well.
    pub fn of_all(lock: &'static str) -> Self {
        Fifo { may_pass: true, ..Fifo::of(lock) }
    }

    /// The znodes of those that ask.
    fn asking(&self) -> impl Iterator<Item = &Text> {
        let asks =
            |owner| self.tracker.live.get(owner).is_some_and(|process| self.tracker.asking(*process) > 0);
        self.queue.iter().filter(move |(_, owner)| asks(owner)).map(|(path, _)| path)
    }

    /// The znodes of a process.
    fn znodes_of(&self, process: ActorId) -> impl Iterator<Item = &Text> {
        let is_its = move |owner| self.tracker.live.get(owner) == Some(&process);
        self.queue.iter().filter(move |(_, owner)| is_its(owner)).map(|(path, _)| path)
    }

    /// The only znode by which it can have been granted the lock.
    fn only_of(&self, actor: ActorId) -> Option<&Text> {
        let mut its = self.znodes_of(actor.main());
        let is_alone = self.tracker.standings(actor.main()).count() == 1;
        its.next().filter(|_| is_alone && its.next().is_none())
    }

    fn is_granted(&mut self, actor: ActorId, node: &Text, found: &mut Vec<Finding>) {
        let ahead = self.ahead.remove(&actor).unwrap_or_default();
        let node = if node.is_empty() { self.only_of(actor).unwrap_or(node) } else { node };
        // A znode that is gone already says nothing of the order.
        match self.queue.iter().position(|(queued, _)| queued == node) {
            None => {
                let passed = self.asking().find(|path| node.is_empty() && ahead.contains(path));
                found.extend(passed.map(|passed| {
                    let lock = self.lock;
                    let what = format!(
                        "{actor} was granted {lock} by no znode of its own before {passed}, which was there as it \
                         began to ask"
                    );
                    broken(what, None)
                }));
            }
            Some(0) if self.queue.len() == 1 => {}
            Some(0) => found.push(Finding::Tested),
            Some(_) => {
                let what = format!("{actor} was granted {node} before {}", self.queue[0].0);
                found.push(broken(what, None));
            }
        }
    }
}

impl Promise for Fifo {
    fn terms(&self) -> Terms {
        Terms::of("fifo")
            .about("The lock is granted in the order in which the contenders' znodes were created.")
            .tested_when("Somebody is granted the lock while another contender's znode is there that it could have passed wrongly.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.tracker.see(event);
        self.ahead.retain(|actor, _| self.tracker.standing.get(*actor).is_some());
        match event {
            Event::Is(GroundTruth::NodeCreated { path, owner, .. })
                if *owner != SessionId::NONE && below(self.lock, path) =>
            {
                let process = self.tracker.live.get(owner);
                self.ahead.retain(|actor, _| Some(&actor.main()) != process);
                // By number, not by time: who goes on in another mode keeps its number with a new znode.
                let at = match sequence_of(path) {
                    None if self.queue.iter().any(|(_, other)| other == owner) => return,
                    None => self.queue.len(),
                    number => {
                        self.queue.retain(|(queued, other)| other != owner || sequence_of(queued).is_some());
                        let before = |(queued, _): &(Text, _)| sequence_of(queued) <= number;
                        self.queue.iter().rposition(before).map_or(0, |at| at + 1)
                    }
                };
                self.queue.insert(at, (path.clone(), *owner));
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if below(self.lock, path) => {
                self.queue.retain(|(queued, _)| queued != path);
                self.ahead.values_mut().for_each(|ahead| ahead.retain(|other| other != path));
            }
            Event::Observed { actor, what: Observation::Shares { lock, node, .. } }
                if **lock == *self.lock && !self.tracker.is_dead(*actor) =>
            {
                let Some(at) = self.queue.iter().position(|(queued, _)| queued == node) else { return };
                match self.queue[..at].iter().find(|(older, _)| older.contains(self.exclusive)) {
                    Some((older, _)) => {
                        found.push(broken(format!("{actor} was granted {node} before {older}"), None));
                    }
                    // Those who share it may pass each other.
                    None => {
                        let mut others = self.queue.iter().filter(|(queued, _)| queued != node);
                        let could = others.any(|(other, _)| other.contains(self.exclusive));
                        found.extend(could.then_some(Finding::Tested));
                    }
                }
            }
            Event::Observed { actor, what: Observation::Granted { lock, node, .. } }
                if **lock == *self.lock && !self.tracker.is_dead(*actor) =>
            {
                self.is_granted(*actor, node, found);
            }
            Event::Observed { actor, what: Observation::Attempts { lock } }
                if self.may_pass && **lock == *self.lock =>
            {
                let ahead: Vec<Text> = self.asking().cloned().collect();
                let has_none = self.znodes_of(actor.main()).next().is_none();
                self.ahead.extend((has_none && !ahead.is_empty()).then_some((*actor, ahead)));
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const A: &str = "/lock/z-lock-0000000000";
    const B: &str = "/lock/a-lock-0000000001";

    #[test]
    fn a_grant_before_an_older_znode_breaks_it() {
        let found = findings(Fifo::of(LOCK), vec![created(A, 0), created(B, 1), granted_as(1, B, None)]);
        assert_eq!(
            broken_by(&found),
            [("p1 was granted /lock/a-lock-0000000001 before /lock/z-lock-0000000000", None)]
        );
    }

    /// Of a grant that was told without its znode, nobody knew whom it had passed.
    #[test]
    fn a_grant_by_no_znode_that_is_told_is_one_by_its_own_or_passes_those_that_asked_before_it() {
        const LAST: &str = "/lock/c-lock-0000000002";
        let line = || {
            vec![
                opened(0),
                opened(1),
                opened(2),
                attempts(0),
                created(A, 0),
                attempts(1),
                created(B, 1),
                granted_as(0, A, None),
            ]
        };
        let judge = |then: Vec<Event>| findings(Fifo::of_all(LOCK), [line(), then].concat());
        let by_none = || granted_as(2, "", None);
        let passes = "p2 was granted /lock by no znode of its own before /lock/a-lock-0000000001, which was there as it began to ask";
        assert_eq!(broken_by(&judge(vec![attempts(2), leaves(0), by_none()])), [(passes, None)]);
        let by_its_own = "p2 was granted /lock/c-lock-0000000002 before /lock/z-lock-0000000000";
        assert_eq!(broken_by(&judge(vec![attempts(2), created(LAST, 2), by_none()])), [(by_its_own, None)]);
        let as_told = [line(), vec![attempts(2), leaves(0), by_none()]].concat();
        assert_eq!(broken_by(&findings(Fifo::of(LOCK), as_told)), [], "it is not owed that");
        let of_another =
            Event::Observed { actor: actor(2), what: Observation::Attempts { lock: "/b".into() } };
        // Nobody waits any more that has waited then; or it may have been granted it before they asked.
        let ends = vec![vanished(B, 1), by_none()];
        for then in [
            [vec![attempts(2)], ends].concat(),
            vec![attempts(2), gives_up(1), by_none()],
            vec![gives_up(1), attempts(2), attempts(1), by_none()],
            vec![attempts(2), created(LAST, 2), deleted(LAST, 2, 2), by_none()],
            vec![attempts(2), deleted(B, 1, 1), created(LAST, 1), by_none()],
            vec![attempts(2), closed(2), by_none()],
            vec![attempts(2), closed(2), opened_anew(2), by_none()],
            vec![by_none()],
            vec![of_another, by_none()],
            // By a znode that is gone; by one of two, or of two threads; or by one that it had before it asked.
            vec![attempts(2), leaves(0), granted_as(2, "/lock/d-lock-0000000003", None)],
            vec![attempts(2), created(LAST, 2), created("/lock/d-lock-0000000003", 2), by_none()],
            vec![by_thread(1, attempts(2)), attempts(2), created(LAST, 2), by_none()],
            vec![created(LAST, 2), attempts(2), deleted(LAST, 2, 2), by_none()],
            vec![attempts(2), vanished(B, 1), created(B, 1), by_none()],
        ] {
            assert_eq!(broken_by(&judge(then.clone())), [], "{then:?}");
        }
        let first = [vanished(A, 0), granted_as(1, "", None)].to_vec();
        let second = [vec![attempts(2), created(LAST, 2)], first].concat();
        assert_eq!(judge(second).last(), Some(&Finding::Tested), "it is the first");
    }

    #[test]
    fn who_goes_on_in_another_mode_keeps_its_place() {
        let (old, new, next) =
            ("/lock/a-write-0000000000", "/lock/a-read-0000000000", "/lock/b-write-0000000001");
        let multi = vec![created(new, 0), deleted(old, 0, 0), shares_as(0, new, None)];
        let events = [vec![created(old, 0), created(next, 1)], multi].concat();
        assert_eq!(broken_by(&findings(Fifo::of_shared(LOCK, "-write-"), events)), []);
    }

    #[test]
    fn a_share_is_granted_before_other_sharers_and_not_before_who_wants_it_alone() {
        let (read, write, last) =
            ("/lock/r-read-0000000000", "/lock/w-write-0000000001", "/lock/s-read-0000000002");
        let fifo = || Fifo::of_shared(LOCK, "-write-");
        let all = vec![created(read, 0), created(write, 1), created(last, 2), shares_as(2, last, None)];
        let what = "p2 was granted /lock/s-read-0000000002 before /lock/w-write-0000000001";
        assert_eq!(broken_by(&findings(fifo(), all)), [(what, None)]);
        let readers = vec![created(read, 0), created(last, 2), shares_as(2, last, None)];
        assert_eq!(findings(fifo(), readers), [], "readers may pass each other");
        let before = vec![created(read, 0), created(write, 1), shares_as(0, read, None)];
        assert_eq!(findings(fifo(), before), [Finding::Tested]);
    }

    #[test]
    fn what_is_no_contenders_stands_before_nobody() {
        let nobodys = |path: &str| {
            let (path, by, owner, czxid) =
                (path.into(), session(0), SessionId::NONE, zk_api::Zxid::new(1, 1));
            Event::Is(GroundTruth::NodeCreated { path, by, owner, czxid })
        };
        for other in [nobodys("/lock/readme"), created("/locks/a-lock-0000000000", 0)] {
            assert_eq!(findings(Fifo::of(LOCK), vec![other, created(B, 1), granted_as(1, B, None)]), []);
        }
    }

    #[test]
    fn equal_numbers_of_several_lines_stand_in_the_order_in_which_they_were_made() {
        let [one, two] = ["/lock/a/n-0000000000", "/lock/b/n-0000000000"];
        let granted = |p, node| {
            let events = vec![created(one, 0), created(two, 1), granted_as(p, node, None)];
            broken_by(&findings(Fifo::of(LOCK), events)).len()
        };
        assert_eq!((granted(0, one), granted(1, two)), (0, 1));
    }

    #[test]
    fn names_without_numbers_stand_in_the_order_in_which_they_were_made() {
        let made = vec![created("/lock/z", 0), created("/lock/a", 1)];
        let found = findings(Fifo::of(LOCK), [made, vec![granted_as(1, "/lock/a", None)]].concat());
        assert_eq!(broken_by(&found), [("p1 was granted /lock/a before /lock/z", None)]);
    }

    /// What a holder shows of itself stood before its own znode; and who passed the line by without a number was first.
    #[test]
    fn what_has_no_number_is_of_a_contender_that_has_no_other_znode() {
        let shows = vec![created(A, 0), created("/lock/current", 0), created(B, 1)];
        let judge =
            |events: Vec<Event>| broken_by(&findings(Fifo::of(LOCK), [shows.clone(), events].concat())).len();
        assert_eq!(judge(vec![granted_as(0, A, None)]), 0);
        assert_eq!(judge(vec![deleted(A, 0, 0), granted_as(1, B, None)]), 0);
        let shown_before = vec![created("/lock/p0", 0), created(A, 0), granted_as(0, A, None)];
        assert_eq!(findings(Fifo::of(LOCK), shown_before), [], "it had shown itself before it asked");
        assert_eq!(judge(vec![created("/lock/held", 2), granted_as(2, "/lock/held", None)]), 1);
        assert_eq!(
            judge(vec![created("/lock/held", 1), deleted(A, 0, 0), granted_as(1, "/lock/held", None)]),
            0
        );
    }

    #[test]
    fn what_the_dead_say_and_of_which_lock_below_it_is_not_judged() {
        let lines = [created(A, 0), opened(1), created(B, 1), created("/lock/b/n-0000000002", 1)];
        let of_another = |shares| {
            let (lock, node) = ("/lock/b".into(), "/lock/b/n-0000000002".into());
            let what = match shares {
                true => Observation::Shares { lock, node, token: None },
                false => Observation::Granted { lock, node, token: None },
            };
            vec![Event::Observed { actor: actor(1), what }]
        };
        let of_dead = |grant| vec![closed(1), grant];
        let [dead, dead_shares] = [granted_as(1, B, None), shares_as(1, B, None)].map(of_dead);
        for events in [dead, dead_shares, of_another(true), of_another(false)] {
            assert_eq!(findings(Fifo::of(LOCK), [lines.to_vec(), events].concat()), []);
        }
    }

    #[test]
    fn the_oldest_znode_may_be_granted() {
        let found = findings(Fifo::of(LOCK), vec![created(A, 0), created(B, 1), granted_as(0, A, None)]);
        assert_eq!(found, [Finding::Tested]);
    }

    #[test]
    fn a_znode_that_is_gone_does_not_stand_before_others() {
        let gone = vec![created(A, 0), created(B, 1), vanished(A, 0)];
        let judge = |events: Vec<Event>| findings(Fifo::of(LOCK), [gone.clone(), events].concat());
        assert_eq!(judge(vec![granted_as(1, B, None)]), []);
        let last = "/lock/c-lock-0000000002";
        let found = judge(vec![created(last, 2), granted_as(2, last, None)]);
        let what = "p2 was granted /lock/c-lock-0000000002 before /lock/a-lock-0000000001";
        assert_eq!(broken_by(&found), [(what, None)]);
    }
}
