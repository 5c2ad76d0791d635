//! `sharers-meet`.

use super::{Crew, below, broken};
use crate::context::Standing;
use crate::event::{ActorId, Event, Fact};
use crate::promise::{Finding, Promise};
use std::collections::BTreeSet;
use zk_api::EventType;

/// Whoever may share the lock does so beside others, and waits for none of them: it is put to the test when two live actors
/// share it at a time, and broken by one that the deletion of a sharer's znode wakes as it asks for a share itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharersMeet {
    lock: &'static str,
    /// What the names of those have in them who want it alone.
    exclusive: &'static str,
    crew: Crew,
    /// Who has a znode there by which it asks for a share, or has one.
    sharing: BTreeSet<ActorId>,
}

impl SharersMeet {
    /// For one lock; whoever wants it alone has `exclusive` in the name of its znode.
    pub fn of(lock: &'static str, exclusive: &'static str) -> Self {
        SharersMeet { lock, exclusive, crew: Crew::of(lock), sharing: BTreeSet::new() }
    }

    fn learn(&mut self, fact: &Fact, found: &mut Vec<Finding>) {
        match fact {
            Fact::NodeCreated { path, owner, .. } if below(self.lock, path) => {
                if let Some(actor) = self.crew.live.get(owner) {
                    match path.contains(self.exclusive) {
                        true => self.sharing.remove(actor),
                        false => self.sharing.insert(*actor),
                    };
                }
            }
            // A server that lags tells of it later, when its owner may ask anew.
            Fact::NodeDeleted { path, owner, .. } if below(self.lock, path) => {
                if let Some(actor) = self.crew.live.get(owner) {
                    self.sharing.remove(actor);
                }
            }
            Fact::Fired { path, kind: EventType::NodeDeleted, woken }
                if below(self.lock, path) && !path.contains(self.exclusive) =>
            {
                let waits = |actor: &&ActorId| {
                    let asks = self.crew.standing.get(*actor) == Some(&Standing::Waits);
                    asks && self.sharing.contains(*actor) && !self.crew.is_robbed(**actor)
                };
                let what = |actor| format!("{actor} waits for {path}, which only shares the lock as well");
                found.extend(woken.iter().find(waits).map(|actor| broken(what(actor), None)));
            }
            _ => {}
        }
    }
}

impl Promise for SharersMeet {
    fn name(&self) -> &'static str {
        "sharers-meet"
    }

    fn about(&self) -> &'static str {
        "Those who may share the lock share it at the same time, and wait for none of each other."
    }

    fn tested_when(&self) -> &'static str {
        "Two actors whose sessions live share the lock at a time."
    }

    fn judged_from_outside(&self) -> bool {
        true
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let sharers = |crew: &Crew| crew.standing.values().filter(|how| **how == Standing::Shares).count();
        let before = sharers(&self.crew);
        if let Some(dead) = self.crew.see(event) {
            self.sharing.remove(&dead);
        }
        if let Event::Is(fact) = event {
            self.learn(fact, found);
        }
        let now = sharers(&self.crew);
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
        assert_eq!(findings(lock(), vec![shares(0), shares(1)]), [Finding::Tested]);
    }

    fn found(events: Vec<Event>) -> Vec<Finding> {
        findings(SharersMeet::of(LOCK, "-write-"), events)
    }

    #[test]
    fn a_reader_that_is_woken_by_another_s_end_waits_for_it() {
        let (first, second) = ("/lock/a-read-0000000000", "/lock/b-read-0000000001");
        let wakes = fired(first, EventType::NodeDeleted, &[1]);
        let events = vec![opened(0), opened(1), created(first, 0), attempts(1), created(second, 1), wakes];
        let what = "p1 waits for /lock/a-read-0000000000, which only shares the lock as well";
        assert_eq!(broken_by(&found(events)), [(what, None)]);
    }

    /// The right revocable lock was broken by it in 233 of 1,000 seeds whose servers lag.
    #[test]
    fn who_is_told_late_of_its_own_former_znode_waits_for_nobody() {
        let own = "/lock/a-read-0000000000";
        let late = fired(own, EventType::NodeDeleted, &[0]);
        let events = vec![opened(0), attempts(0), created(own, 0), deleted(own, 0, 0), attempts(0), late];
        assert_eq!(found(events), []);
    }
}
