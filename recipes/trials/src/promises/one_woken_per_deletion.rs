//! `one-woken-per-deletion`.

use super::{Crew, broken, within};
use crate::event::{Event, Fact};
use crate::promise::{Assumption, Finding, Promise};
use zk_api::EventType;

/// The deletion of a contender's znode wakes one client at most: no herd.
///
/// A watch of the list of contenders wakes on deletions too, so no two clients may have one: its events are
/// counted whatever the change was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OneWokenPerDeletion {
    lock: &'static str,
    crew: Crew,
    /// An administrator has deleted a contender's znode: that contender may wait on where it waits, and the
    /// next one with it.
    meddled: bool,
}

impl OneWokenPerDeletion {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        OneWokenPerDeletion { lock, crew: Crew::of(lock), meddled: false }
    }
}

impl Promise for OneWokenPerDeletion {
    fn name(&self) -> &'static str {
        "one-woken-per-deletion"
    }

    fn about(&self) -> &'static str {
        "The deletion of a contender's znode wakes one client at most."
    }

    fn assumes(&self) -> &'static [Assumption] {
        &[Assumption::NoAdministrator]
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.crew.see(event);
        match event {
            Event::Is(fact @ Fact::NodeDeleted { path, .. }) if within(self.lock, path) => {
                self.meddled |= self.crew.victim(fact).is_some();
            }
            Event::Is(Fact::Fired { path, kind, woken }) if within(self.lock, path) => {
                let what = match kind {
                    EventType::NodeDeleted => "the deletion",
                    EventType::NodeChildrenChanged => "a change of the list",
                    EventType::None | EventType::NodeCreated | EventType::NodeDataChanged => return,
                };
                // A watch of a session that has ended wakes nobody, removed or not.
                match woken.iter().filter(|actor| !self.crew.is_dead(**actor)).count() {
                    0 => {}
                    1 => found.push(Finding::Tested),
                    n => {
                        let excuse = self.meddled.then_some(Assumption::NoAdministrator);
                        found.push(broken(format!("{what} of {path} woke {n} clients"), excuse));
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
    use EventType::{NodeChildrenChanged, NodeDataChanged, NodeDeleted};

    const A: &str = "/lock/a-lock-0000000000";

    #[test]
    fn two_woken_by_a_deletion_break_it() {
        let found = findings(OneWokenPerDeletion::of(LOCK), vec![fired(A, NodeDeleted, &[1, 2])]);
        assert_eq!(broken_by(&found), [("the deletion of /lock/a-lock-0000000000 woke 2 clients", None)]);
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
    fn a_change_of_data_may_wake_many() {
        assert_eq!(findings(OneWokenPerDeletion::of(LOCK), vec![fired(A, NodeDataChanged, &[1, 2])]), []);
    }

    #[test]
    fn an_administrator_excuses_it() {
        let events = vec![opened(0), deleted(A, 99, 0), fired(A, NodeDeleted, &[1, 2])];
        let found = findings(OneWokenPerDeletion::of(LOCK), events);
        assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
    }
}
