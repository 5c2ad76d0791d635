//! `sharers-meet`.

use super::Crew;
use crate::event::{ActorId, Event, Fact, Observation};
use crate::promise::{Finding, Promise};
use std::collections::BTreeSet;

/// Whoever may share the lock does so beside others: it is put to the test when two live actors share it at a time.
///
/// No event breaks it. A lock that never lets two share it never puts it to the test, which is no green either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharersMeet {
    lock: &'static str,
    crew: Crew,
    sharers: BTreeSet<ActorId>,
}

impl SharersMeet {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        SharersMeet { lock, crew: Crew::of(lock), sharers: BTreeSet::new() }
    }
}

impl Promise for SharersMeet {
    fn name(&self) -> &'static str {
        "sharers-meet"
    }

    fn about(&self) -> &'static str {
        "Those who may share the lock share it at the same time."
    }

    fn tested_when(&self) -> &'static str {
        "Two actors whose sessions live share the lock at a time."
    }

    fn judged_from_outside(&self) -> bool {
        true
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.crew.see(event) {
            self.sharers.remove(&dead);
        }
        match event {
            Event::Says { actor, .. } if self.crew.is_dead(*actor) => {}
            Event::Says { actor, what } => match what {
                Observation::Shares { lock, .. } if **lock == *self.lock => {
                    let is_new = self.sharers.insert(*actor);
                    found.extend((is_new && self.sharers.len() > 1).then_some(Finding::Tested));
                }
                Observation::Leaves { lock }
                | Observation::Released { lock }
                | Observation::GivesUp { lock, .. }
                    if **lock == *self.lock =>
                {
                    self.sharers.remove(actor);
                }
                _ => {}
            },
            Event::Is(Fact::Finished { actor, .. }) => {
                self.sharers.remove(actor);
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn only_two_at_a_time_are_a_test() {
        let one_by_one = vec![shares(0), leaves(0), shares(1), closed(1), shares(2)];
        assert_eq!(findings(SharersMeet::of(LOCK), one_by_one), []);
        assert_eq!(findings(SharersMeet::of(LOCK), vec![shares(0), shares(1)]), [Finding::Tested]);
    }
}
