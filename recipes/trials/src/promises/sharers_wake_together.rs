//! `sharers-wake-together`.

use super::{Crew, below, broken, within};
use crate::event::{ActorId, Event, Fact};
use crate::promise::{Assumption, Finding, Promise};
use std::collections::BTreeSet;
use zk_api::{EventType, Text};

/// The deletion of a contender's znode wakes one client, or only such as ask for a share: these go on together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharersWakeTogether {
    lock: &'static str,
    crew: Crew,
    /// What the names of those have in them who do not only ask for a share.
    exclusive: &'static str,
    /// Whose newest znode is such a one.
    alone: BTreeSet<ActorId>,
    meddled: bool,
    /// What was deleted last, and no znode was made since. A server that is behind fires its watches later, when those who
    /// were woken may ask for something else already: then that is not judged.
    deleted: Option<Text>,
}

impl SharersWakeTogether {
    /// For one lock; whoever wants it alone has `exclusive` in the name of its znode.
    pub fn of(lock: &'static str, exclusive: &'static str) -> Self {
        let crew = Crew::of(lock);
        SharersWakeTogether { lock, crew, exclusive, alone: BTreeSet::new(), meddled: false, deleted: None }
    }
}

impl Promise for SharersWakeTogether {
    fn name(&self) -> &'static str {
        "sharers-wake-together"
    }

    fn about(&self) -> &'static str {
        "The deletion of a contender's znode wakes one client at most, or only such as go on together."
    }

    fn assumes(&self) -> &'static [Assumption] {
        &[Assumption::NoAdministrator]
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.crew.see(event) {
            self.alone.remove(&dead);
        }
        match event {
            Event::Is(Fact::NodeCreated { path, owner, .. }) if below(self.lock, path) => {
                self.deleted = None;
                if let Some(actor) = self.crew.live.get(owner) {
                    if path.contains(self.exclusive) {
                        self.alone.insert(*actor);
                    } else {
                        self.alone.remove(actor);
                    }
                }
            }
            Event::Is(fact @ Fact::NodeDeleted { path, .. }) if within(self.lock, path) => {
                self.meddled |= self.crew.loser(fact).is_some();
                self.deleted = Some(path.clone());
            }
            Event::Is(Fact::Fired { path, kind: EventType::NodeDeleted, woken })
                if self.deleted.as_ref() == Some(path) =>
            {
                let woken = || woken.iter().filter(|actor| !self.crew.is_dead(**actor));
                match (woken().count(), woken().any(|actor| self.alone.contains(actor))) {
                    (0, _) => {}
                    (1, _) | (_, false) => found.push(Finding::Tested),
                    (n, true) => {
                        let excuse = self.meddled.then_some(Assumption::NoAdministrator);
                        let what =
                            format!("the deletion of {path} woke {n} clients, and one that wants it alone");
                        found.push(broken(what, excuse));
                    }
                }
            }
            Event::Is(_) | Event::Says { .. } => {}
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
}
