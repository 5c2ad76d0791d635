//! `sharers-wake-together`.

use super::findings::broken;
use crate::context::{SessionTracker, below, within};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Assumption, Finding, Promise, Terms};
use std::collections::BTreeSet;
use zk_api::{EventType, Text};

/// A change of a contender's znode wakes one client, or only clients that ask for a share and so go on together. A
/// change of the list wakes nobody.
///
/// A client that loses its znode to an administrator may go on waiting where it waits, and others may wait in its
/// place. Others may be woken together with it if, without it, they would go on together or be only one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharersWakeTogether {
    lock: &'static str,
    tracker: SessionTracker,
    /// What the names of those have in them who do not only ask for a share.
    exclusive: &'static str,
    /// Whose newest znode is such a one. Where several of its threads ask, another may have been woken.
    alone: BTreeSet<ActorId>,
    /// What was changed last, and no znode was made since. A server that is behind fires its watches later, when those
    /// who were woken may ask for something else already: then that is not judged.
    changed: Option<Text>,
}

impl SharersWakeTogether {
    /// For one lock; whoever wants it alone has `exclusive` in the name of its znode.
    pub fn of(lock: &'static str, exclusive: &'static str) -> Self {
        let tracker = SessionTracker::of(lock);
        SharersWakeTogether { lock, tracker, exclusive, alone: BTreeSet::new(), changed: None }
    }
}

impl Promise for SharersWakeTogether {
    fn terms(&self) -> Terms {
        Terms::of("sharers-wake-together")
            .about("A change of a contender's znode wakes one client at most, or only such as go on together; that of the list, nobody.")
            .tested_when("The deletion of a contender's znode wakes somebody whose session lives.")
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.tracker.see(event) {
            self.alone.remove(&dead);
        }
        match event {
            Event::Is(GroundTruth::NodeCreated { path, owner, .. }) if below(self.lock, path) => {
                self.changed = None;
                if let Some(actor) = self.tracker.live.get(owner) {
                    if path.contains(self.exclusive) {
                        self.alone.insert(*actor);
                    } else {
                        self.alone.remove(actor);
                    }
                }
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. } | GroundTruth::NodeWritten { path, .. })
                if within(self.lock, path) =>
            {
                self.changed = Some(path.clone());
            }
            Event::Is(GroundTruth::Fired { path, kind: EventType::NodeChildrenChanged, woken })
                if **path == *self.lock =>
            {
                let told = woken.iter().filter(|actor| !self.tracker.is_dead(**actor)).count();
                let what = format!("a change of the list of {path} woke {told} clients");
                found.extend((told > 0).then(|| broken(what, None)));
            }
            Event::Is(GroundTruth::Fired { path, kind, woken }) if self.changed.as_ref() == Some(path) => {
                let change = match kind {
                    EventType::NodeDeleted => "the deletion",
                    EventType::NodeCreated
                    | EventType::NodeDataChanged
                    | EventType::NodeChildrenChanged
                    | EventType::None => "a change",
                };
                let woken = || woken.iter().filter(|actor| !self.tracker.is_dead(**actor));
                let is_alone =
                    |actor: &ActorId| self.alone.contains(actor) && self.tracker.asking(*actor) < 2;
                match (woken().count(), woken().any(is_alone)) {
                    (0, _) => {}
                    (1, _) | (_, false) => found.push(Finding::Tested),
                    (n, true) => {
                        let others = || woken().filter(|actor| !self.tracker.lost_to_administrator(**actor));
                        let go_on = others().count() < 2 || !others().any(is_alone);
                        let assumption = go_on.then_some(Assumption::NoAdministrator);
                        let what =
                            format!("{change} of {path} woke {n} clients, and one that wants it alone");
                        found.push(broken(what, assumption));
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
    use EventType::NodeDeleted;

    const W: &str = "/lock/a-write-0000000000";

    fn judge(kinds: [&str; 2]) -> Vec<Finding> {
        let nodes =
            [(1, kinds[0]), (2, kinds[1])].map(|(p, kind)| created(&format!("/lock/{kind}-000000000{p}"), p));
        let before = vec![opened(0), opened(1), opened(2), created(W, 0)];
        let fires = vec![deleted(W, 0, 0), fired(W, NodeDeleted, &[1, 2])];
        let events = [before, nodes.into(), fires].concat();
        findings(SharersWakeTogether::of(LOCK, "-write-"), events)
    }

    #[test]
    fn who_wakes_elsewhere_wakes_together_until_somebody_asks_anew() {
        let before =
            vec![opened(0), opened(1), opened(2), created(W, 0), created("/lock/c-write-0000000002", 2)];
        let one = vec![deleted(W, 0, 0), fired(W, NodeDeleted, &[1])];
        let two = vec![fired(W, NodeDeleted, &[1, 2])];
        let asks = vec![created("/lock/b-read-0000000003", 1)];
        let judged = |events: Vec<Vec<Event>>| {
            let found = findings(SharersWakeTogether::of(LOCK, "-write-"), events.concat());
            broken_by(&found).len()
        };
        assert_eq!(judged(vec![before.clone(), one.clone(), two.clone()]), 1);
        assert_eq!(judged(vec![before, one, asks, two]), 0);
    }

    #[test]
    fn readers_wake_together_and_writers_do_not() {
        assert_eq!(judge(["b-read", "c-read"]), [Finding::Tested]);
        let what = "the deletion of /lock/a-write-0000000000 woke 2 clients, and one that wants it alone";
        assert_eq!(broken_by(&judge(["b-read", "c-write"])), [(what, None)]);
    }

    #[test]
    fn those_in_the_place_of_who_waits_on_without_its_znode_are_expected_and_nobody_else() {
        let assumption = |p: u16| {
            let node = format!("/lock/x-write-000000000{p}");
            let waiting = (1..4).map(|p| created(&format!("/lock/x-write-000000000{p}"), p));
            let before = (0..4).map(opened).chain(waiting).chain([deleted(&node, 99, p), deleted(W, 0, 0)]);
            let events = before.chain([fired(W, NodeDeleted, &[1, 2])]).collect();
            broken_by(&findings(SharersWakeTogether::of(LOCK, "-write-"), events))[0].1
        };
        assert_eq!(assumption(2), Some(Assumption::NoAdministrator));
        assert_eq!(assumption(3), None);
    }

    #[test]
    fn a_change_of_data_wakes_sharers_together_and_one_of_the_list_nobody() {
        let before = (0..3).map(opened).chain([created(W, 0), created("/lock/b-write-0000000001", 1)]);
        let asked = [asked_back(W), fired(W, EventType::NodeDataChanged, &[1, 2])];
        let listed = [fired(LOCK, EventType::NodeChildrenChanged, &[2])];
        let judge = |events: Vec<Event>| {
            let found =
                findings(SharersWakeTogether::of(LOCK, "-write-"), before.clone().chain(events).collect());
            broken_by(&found).iter().map(|(what, _)| (*what).to_owned()).collect::<Vec<_>>()
        };
        let alone = "a change of /lock/a-write-0000000000 woke 2 clients, and one that wants it alone";
        assert_eq!(judge(asked.into()), [alone]);
        assert_eq!(judge(listed.into()), ["a change of the list of /lock woke 1 clients"]);
    }

    #[test]
    fn who_makes_a_readers_znode_or_has_another_session_does_not_want_it_alone_any_more() {
        let woke = |then: &[Event]| {
            let (own, read) = ("/lock/b-write-0000000001", created("/lock/c-read-0000000002", 2));
            let before = [opened(0), opened(1), opened(2), created(W, 0), created(own, 1), read];
            let fires = [deleted(W, 0, 0), fired(W, NodeDeleted, &[1, 2])];
            let events = [&before, then, &fires].concat();
            broken_by(&findings(SharersWakeTogether::of(LOCK, "-write-"), events)).len()
        };
        assert_eq!(woke(&[]), 1);
        assert_eq!(woke(&[created("/lock/b-read-0000000003", 1)]), 0);
        assert_eq!(woke(&[closed(1), opened(1)]), 0);
    }

    #[test]
    fn readers_that_are_woken_with_one_that_has_lost_its_znode_would_go_on_together() {
        let nodes = ["b-write-0000000001", "c-read-0000000002", "d-read-0000000003"]
            .map(|node| format!("/lock/{node}"));
        let waiting = (1..4).zip(&nodes).map(|(p, node)| created(node, p));
        let loses = [deleted(&nodes[0], ADMIN, 1), deleted(W, 0, 0), fired(W, NodeDeleted, &[1, 2, 3])];
        let events = (0..4).map(opened).chain([created(W, 0)]).chain(waiting).chain(loses).collect();
        let found = findings(SharersWakeTogether::of(LOCK, "-write-"), events);
        assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
    }

    #[test]
    fn a_change_of_the_list_that_wakes_nobody_is_none() {
        for dead in [closed(1), crashed(1)] {
            let events = vec![opened(1), dead, fired(LOCK, EventType::NodeChildrenChanged, &[1])];
            assert_eq!(findings(SharersWakeTogether::of(LOCK, "-write-"), events), []);
        }
    }

    /// A right reader was broken by it if another thread of its process wanted the lock alone.
    #[test]
    fn of_two_threads_that_ask_the_one_that_is_woken_may_be_the_reader() {
        let woke = |asks: &[Event]| {
            let (read, write) = ("/lock/b-read-0000000001", "/lock/d-write-0000000003");
            let made = [created(read, 1), created("/lock/c-read-0000000002", 2), created(write, 1)];
            let before = [opened(0), opened(1), opened(2), created(W, 0)];
            let fires = [deleted(W, 0, 0), fired(W, NodeDeleted, &[1, 2])];
            let events = [&before, asks, &made, &fires].concat();
            broken_by(&findings(SharersWakeTogether::of(LOCK, "-write-"), events)).len()
        };
        let both = [1, 2].map(|thread| by_thread(thread, attempts(1)));
        assert_eq!((woke(&both), woke(&both[..1])), (0, 1));
    }
}
