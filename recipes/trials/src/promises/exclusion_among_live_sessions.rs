//! `exclusion-among-live-sessions`.

use super::{Crew, broken};
use crate::event::{ActorId, Event, Fact, Observation};
use crate::promise::{Assumption, Finding, Promise};
use std::collections::BTreeMap;

/// At most one actor with a live session believes that it holds the lock.
///
/// What an actor says after its session was closed, or after it crashed, does not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExclusionAmongLiveSessions {
    lock: &'static str,
    crew: Crew,
    /// Live actors only.
    actors: BTreeMap<ActorId, Standing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Standing {
    Waits,
    Holds,
}

impl ExclusionAmongLiveSessions {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        ExclusionAmongLiveSessions { lock, crew: Crew::of(lock), actors: BTreeMap::new() }
    }

    fn holds(&mut self, actor: ActorId, found: &mut Vec<Finding>) {
        if self.actors.insert(actor, Standing::Holds) == Some(Standing::Holds) {
            return;
        }
        let others = || self.actors.iter().filter(|(other, _)| **other != actor);
        let holders = others().filter(|(_, standing)| **standing == Standing::Holds).map(|(other, _)| *other);
        // A holder that nobody robbed leaves no excuse.
        match holders.max_by_key(|other| !self.crew.is_robbed(*other)) {
            Some(other) => {
                let robbed = self.crew.is_robbed(actor) || self.crew.is_robbed(other);
                let what = format!("{actor} holds {} while {other} still holds it", self.lock);
                found.push(broken(what, robbed.then_some(Assumption::NoAdministrator)));
            }
            None if others().next().is_some() => found.push(Finding::Tested),
            None => {}
        }
    }
}

impl Promise for ExclusionAmongLiveSessions {
    fn name(&self) -> &'static str {
        "exclusion-among-live-sessions"
    }

    fn about(&self) -> &'static str {
        "At most one actor whose session lives believes that it holds the lock."
    }

    fn assumes(&self) -> &'static [Assumption] {
        &[Assumption::NoAdministrator]
    }

    /// What it hears is what actors believe. Two who hold at a time, and whose sessions live on after that, had live
    /// sessions then.
    fn judged_from_outside(&self) -> bool {
        true
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.crew.see(event) {
            self.actors.remove(&dead);
        }
        match event {
            Event::Says { actor, .. } if self.crew.is_dead(*actor) => {}
            Event::Says { actor, what } => match what {
                Observation::Attempts { lock } if **lock == *self.lock => {
                    self.actors.insert(*actor, Standing::Waits);
                }
                Observation::Granted { lock, .. } | Observation::Enters { lock } if **lock == *self.lock => {
                    self.holds(*actor, found);
                }
                Observation::Leaves { lock }
                | Observation::Released { lock }
                | Observation::GivesUp { lock, .. }
                    if **lock == *self.lock =>
                {
                    self.actors.remove(actor);
                }
                _ => {}
            },
            Event::Is(Fact::Finished { actor, .. }) => {
                self.actors.remove(actor);
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn judge(events: Vec<Event>) -> Vec<Finding> {
        findings(ExclusionAmongLiveSessions::of(LOCK), events)
    }

    #[test]
    fn two_live_holders_break_it() {
        let found = judge(vec![opened(0), opened(1), attempts(0), attempts(1), granted(0), granted(1)]);
        assert_eq!(found[0], Finding::Tested);
        assert_eq!(broken_by(&found), [("p1 holds /lock while p0 still holds it", None)]);
    }

    #[test]
    fn a_holder_whose_session_has_ended_does_not_count() {
        let found = judge(vec![opened(0), opened(1), granted(0), closed(0), granted(1), enters(0)]);
        assert_eq!(broken_by(&found), []);
    }

    #[test]
    fn a_crashed_holder_does_not_count() {
        let found = judge(vec![opened(0), granted(0), crashed(0), granted(1)]);
        assert_eq!(broken_by(&found), []);
    }

    #[test]
    fn one_after_the_other_is_a_test_it_passes() {
        let found = judge(vec![attempts(0), attempts(1), granted(0), leaves(0), granted(1), leaves(1)]);
        assert_eq!(found, [Finding::Tested]);
    }

    #[test]
    fn a_holder_robbed_by_an_administrator_is_an_excuse() {
        let events =
            vec![opened(0), opened(1), granted(0), deleted("/lock/a-lock-0000000000", 99, 0), granted(1)];
        assert_eq!(broken_by(&judge(events))[0].1, Some(Assumption::NoAdministrator));
    }

    #[test]
    fn a_waiter_robbed_just_before_its_grant_is_an_excuse_until_it_has_a_new_znode() {
        let robbed = vec![opened(0), opened(1), attempts(0), deleted("/lock/a-lock-0000000000", 99, 0)];
        let both = vec![granted(1), granted(0)];
        let found = judge([robbed.clone(), both.clone()].concat());
        assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
        let anew = vec![created("/lock/a-lock-0000000002", 0)];
        assert_eq!(broken_by(&judge([robbed, anew, both].concat()))[0].1, None);
    }

    #[test]
    fn a_holder_robbed_by_another_actor_is_none() {
        let events =
            vec![opened(0), opened(1), granted(0), deleted("/lock/a-lock-0000000000", 1, 0), granted(1)];
        assert_eq!(broken_by(&judge(events))[0].1, None);
    }
}
