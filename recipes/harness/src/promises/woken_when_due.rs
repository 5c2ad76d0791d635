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
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.waiting.remove(actor);
            }
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

    fn says(p: u16, what: words::Word<'_>, about: &str) -> Event {
        Event::Observed { actor: actor(p), what: Observation::note(what, about, 2) }
    }

    /// How often p0, which arrives, is woken too early when something else has happened too.
    fn early(before: &[Event], after: &[Event]) -> usize {
        let arrives = [opened(0), opened(1), says(0, words::ARRIVES_AT, LOCK), created("/lock/p0", 0)];
        let woken = [fired(LOCK, EventType::NodeChildrenChanged, &[0])];
        broken_by(&findings(WokenWhenDue::of(LOCK), [before, &arrives, after, &woken].concat())).len()
    }

    #[test]
    fn only_members_there_at_a_time_make_a_round() {
        let lasting = |path: &str| {
            let (by, owner, czxid) = (session(1), SessionId::NONE, zk_api::Zxid::new(1, 1));
            Event::Is(GroundTruth::NodeCreated { path: path.into(), by, owner, czxid })
        };
        let one = || created("/lock/p1", 1);
        assert_eq!((early(&[], &[one()]), early(&[one()], &[])), (0, 0));
        assert_eq!(early(&[one(), deleted("/lock/p1", 1, 1)], &[]), 1, "it has gone before");
        assert_eq!((early(&[], &[lasting("/lock/ready")]), early(&[], &[created("/other/p1", 1)])), (1, 1));
    }

    /// Who had failed was blamed for what its client was told of later.
    #[test]
    fn who_is_through_or_gone_waits_no_more() {
        for through in [says(0, words::PASSES, LOCK), says(0, words::GIVES_UP, LOCK), finished(0), crashed(0)]
        {
            assert_eq!(early(&[], std::slice::from_ref(&through)), 0, "{through:?}");
        }
        assert_eq!(early(&[], &[closed(0), opened(0)]), 0, "it was in another session");
        let others = [closed(1), crashed(1), finished(1), says(1, words::PASSES, LOCK)];
        for other in others.into_iter().chain([says(0, words::PASSES, "/other"), says(0, words::SEES, LOCK)])
        {
            assert_eq!(early(&[], std::slice::from_ref(&other)), 1, "{other:?}");
        }
    }
}
