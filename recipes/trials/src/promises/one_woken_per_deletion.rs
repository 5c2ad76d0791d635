//! `one-woken-per-deletion`.

use super::{Crew, broken, within};
use crate::event::{Event, Fact};
use crate::promise::{Assumption, Finding, Promise};
use zk_api::{EventType, Text};

/// The deletion of a contender's znode wakes one client at most: no herd.
///
/// Watches of the list of contenders count as well, where the change of the list comes of a deletion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OneWokenPerDeletion {
    lock: &'static str,
    crew: Crew,
    /// The last event was the deletion of this znode, or a watch that it fired.
    deleted: Option<Text>,
    /// An administrator has deleted a contender's znode: its contender may wait on where he waits, and the
    /// next one with him.
    meddled: bool,
}

impl OneWokenPerDeletion {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        OneWokenPerDeletion { lock, crew: Crew::default(), deleted: None, meddled: false }
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
        let Event::Is(fact) = event else {
            self.deleted = None;
            return;
        };
        match fact {
            Fact::NodeDeleted { path, .. } => {
                self.meddled |= within(self.lock, path) && self.crew.robbed(fact).is_some();
                self.deleted = within(self.lock, path).then(|| path.clone());
            }
            Fact::Fired { path, kind, woken } if within(self.lock, path) => {
                let of_deletion = match kind {
                    EventType::NodeDeleted => Some(path),
                    EventType::NodeChildrenChanged => self.deleted.as_ref(),
                    EventType::None | EventType::NodeCreated | EventType::NodeDataChanged => None,
                };
                match (of_deletion, woken.len()) {
                    (None, _) | (_, 0) => {}
                    (Some(_), 1) => found.push(Finding::Tested),
                    (Some(deleted), n) => {
                        let excuse = self.meddled.then_some(Assumption::NoAdministrator);
                        found.push(broken(format!("the deletion of {deleted} woke {n} clients"), excuse));
                    }
                }
            }
            Fact::Fired { .. } => {}
            _ => self.deleted = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use EventType::{NodeChildrenChanged, NodeDeleted};

    const A: &str = "/lock/a-lock-0000000000";

    #[test]
    fn two_woken_by_a_deletion_break_it() {
        let found = findings(OneWokenPerDeletion::of(LOCK), vec![fired(A, NodeDeleted, &[1, 2])]);
        assert_eq!(broken_by(&found), [("the deletion of /lock/a-lock-0000000000 woke 2 clients", None)]);
    }

    #[test]
    fn a_herd_at_the_list_of_contenders_breaks_it() {
        let events =
            vec![deleted(A, 0, 0), fired(A, NodeDeleted, &[]), fired(LOCK, NodeChildrenChanged, &[1, 2])];
        let found = findings(OneWokenPerDeletion::of(LOCK), events);
        assert_eq!(broken_by(&found), [("the deletion of /lock/a-lock-0000000000 woke 2 clients", None)]);
    }

    #[test]
    fn one_woken_is_a_test_it_passes_and_nobody_is_none() {
        let events = vec![fired(A, NodeDeleted, &[1]), fired(A, NodeDeleted, &[])];
        assert_eq!(findings(OneWokenPerDeletion::of(LOCK), events), [Finding::Tested]);
    }

    #[test]
    fn a_change_that_is_no_deletion_may_wake_many() {
        let events = vec![created(A, 0), fired(LOCK, NodeChildrenChanged, &[1, 2])];
        assert_eq!(findings(OneWokenPerDeletion::of(LOCK), events), []);
    }

    #[test]
    fn an_administrator_excuses_it() {
        let events = vec![opened(0), deleted(A, 99, 0), fired(A, NodeDeleted, &[1, 2])];
        let found = findings(OneWokenPerDeletion::of(LOCK), events);
        assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
    }
}
