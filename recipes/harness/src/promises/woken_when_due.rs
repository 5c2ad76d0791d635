//! `woken-when-due`.

use super::findings::broken_for;
use crate::context::{SessionTracker, below, within};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// A member that waits to enter a double barrier is woken once all members of a round have been there since it came,
/// and not before.
///
/// Members say the same as for [`EntersTogether`](super::EntersTogether).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WokenWhenDue {
    barrier: &'static str,
    tracker: SessionTracker,
    /// The members' znodes.
    members: BTreeSet<Text>,
    /// Who waits to enter, how many a round needs, and whether so many have been there since it came.
    waiting: BTreeMap<ActorId, (i64, bool)>,
}

impl WokenWhenDue {
    /// For the barrier that is this znode.
    pub fn of(barrier: &'static str) -> Self {
        let (tracker, members, waiting) = (SessionTracker::of(barrier), BTreeSet::new(), BTreeMap::new());
        WokenWhenDue { barrier, tracker, members, waiting }
    }
}

impl Promise for WokenWhenDue {
    fn terms(&self) -> Terms {
        Terms::of("woken-when-due")
            .about(
                "Who waits to enter is woken when all members that a round needs are there, and not before.",
            )
            .tested_when("Somebody that waits to enter is woken.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(dead) = self.tracker.see(event) {
            self.waiting.retain(|waits, _| waits.main() != dead);
        }
        match event {
            Event::Observed { actor, what } => match what.told() {
                Some((words::ARRIVES_AT, about, size)) if about == self.barrier => {
                    self.waiting.insert(*actor, (size, false));
                }
                Some((words::PASSES | words::GIVES_UP, about, _)) if about == self.barrier => {
                    self.waiting.remove(actor);
                }
                _ => {}
            },
            Event::Is(GroundTruth::NodeCreated { path, owner, .. })
                if *owner != SessionId::NONE && below(self.barrier, path) =>
            {
                self.members.insert(path.clone());
                let there = self.members.len() as i64;
                self.waiting.values_mut().for_each(|(size, due)| *due |= there >= *size);
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) => {
                self.members.remove(path);
            }
            Event::Is(GroundTruth::Fired { path, woken, .. }) if within(self.barrier, path) => {
                for actor in woken {
                    let mut threads = self.waiting.iter().filter(|(waits, _)| waits.main() == *actor);
                    // Which of several is woken, nobody knows.
                    let (Some((waits, (size, due))), None) = (threads.next(), threads.next()) else {
                        continue;
                    };
                    found.push(match due {
                        true => Finding::Tested,
                        false => {
                            let there = self.members.len();
                            let what = format!(
                                "{waits} is woken by a change of {path}, with {there} of {size} there"
                            );
                            broken_for(what, &[*waits])
                        }
                    });
                }
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::event::Observation;
    use zk_api::EventType;

    fn woken_after(members: u16) -> Vec<Finding> {
        let arrives =
            |p| Event::Observed { actor: actor(p), what: Observation::note(words::ARRIVES_AT, LOCK, 2) };
        let comes = |p| [opened(p), arrives(p), created(&format!("/lock/p{p}"), p)];
        let events = (0..members).flat_map(comes);
        findings(
            WokenWhenDue::of(LOCK),
            events.chain([fired(LOCK, EventType::NodeChildrenChanged, &[0])]).collect(),
        )
    }

    #[test]
    fn who_is_woken_before_all_are_there_breaks_it() {
        let what = "p0 is woken by a change of /lock, with 1 of 2 there";
        assert_eq!(broken_by(&woken_after(1)), [(what, None)]);
        assert_eq!(woken_after(2), [Finding::Tested]);
    }
}
