//! Promises that are owed as long as no administrator has changed anything.

use crate::event::{Event, Fact};
use crate::promise::{Assumption, Finding, Promise, Rest};
use std::collections::BTreeSet;
use zk_api::SessionId;

/// A promise of a recipe whose znodes carry what it knows, and that cannot make it anew: what an administrator has
/// deleted or written before a violation excuses it, by [`Assumption::NoAdministrator`].
///
/// What the change was and whom it concerned is not asked: a version that he has moved on or a claim that he has taken away
/// has consequences for others, and much later. All znodes of a trial are the recipe's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Undisturbed<P> {
    promise: P,
    /// Before the names, behind which nothing may stand that is none of theirs: where processes are taken for each other, it
    /// would be the last one's.
    disturbed: bool,
    /// Those of actors; all others are administrators'.
    sessions: BTreeSet<SessionId>,
}

impl<P: Promise> Undisturbed<P> {
    /// Panics if the promise has assumptions of its own.
    pub fn of(promise: P) -> Self {
        assert!(promise.assumes().is_empty(), "{} says itself what excuses it", promise.name());
        Undisturbed { promise, sessions: BTreeSet::new(), disturbed: false }
    }

    fn excuses(&self, found: &mut [Finding]) {
        if !self.disturbed {
            return;
        }
        for finding in found {
            if let Finding::Broken(violation) = finding {
                violation.excuse.get_or_insert(Assumption::NoAdministrator);
            }
        }
    }
}

impl<P: Promise> Promise for Undisturbed<P> {
    fn name(&self) -> &'static str {
        self.promise.name()
    }

    fn about(&self) -> &'static str {
        self.promise.about()
    }

    fn assumes(&self) -> &'static [Assumption] {
        &[Assumption::NoAdministrator]
    }

    fn judged_from_outside(&self) -> bool {
        self.promise.judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(Fact::SessionOpened { session, .. }) => {
                self.sessions.insert(*session);
            }
            Event::Is(Fact::NodeDeleted { by, .. } | Fact::NodeWritten { by, .. }) => {
                self.disturbed |= *by != SessionId::NONE && !self.sessions.contains(by);
            }
            Event::Is(_) | Event::Says { .. } => {}
        }
        let before = found.len();
        self.promise.see(event, found);
        self.excuses(&mut found[before..]);
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let before = found.len();
        self.promise.at_rest(rest, found);
        self.excuses(&mut found[before..]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::NoWaiterStuck;
    use super::super::testing::*;
    use super::*;

    fn stuck_after(events: Vec<Event>) -> Option<Assumption> {
        let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        let found = resting(Undisturbed::of(NoWaiterStuck), [vec![opened(0)], events].concat(), &rest);
        broken_by(&found)[0].1
    }

    fn writes(path: &str, p: u16) -> Event {
        let (path, by, mzxid) = (path.into(), session(p), zk_api::Zxid::new(1, 7));
        Event::Is(Fact::NodeWritten { path, by, data: "abort".into(), mzxid })
    }

    #[test]
    fn what_an_administrator_has_deleted_or_written_is_an_excuse() {
        for change in [deleted("/tx/1", 99, 0), deleted("/tx/1", 99, 98), writes("/tx/1/p0", 99)] {
            assert_eq!(stuck_after(vec![change]), Some(Assumption::NoAdministrator));
        }
    }

    #[test]
    fn what_the_own_people_or_the_ensemble_do_is_none() {
        for change in [deleted("/tx/1", 0, 0), vanished("/tx/1", 0), writes("/tx/1", 0)] {
            assert_eq!(stuck_after(vec![change]), None);
        }
    }

    #[test]
    fn an_excuse_is_for_what_comes_after() {
        let fails = |p| Event::Is(Fact::Finished { actor: actor(p), end: crate::event::End::Failed });
        let events = vec![opened(0), fails(0), deleted("/tx/1", 99, 0), fails(1)];
        let found = findings(Undisturbed::of(super::super::NoFailure), events);
        assert_eq!(broken_by(&found), [("p0 fails", None), ("p1 fails", Some(Assumption::NoAdministrator))]);
    }
}
