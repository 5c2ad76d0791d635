//! `sequencer-names-a-holder`.

use super::findings::broken;
use crate::context::below;
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use crate::words;
use std::collections::BTreeMap;
use zk_api::{SessionId, Text, Zxid, sequence_of};

/// Between the path of a znode and what created it.
const OF: &str = " of ";

/// A sequencer is accepted only if its znode held the lock, in the mode that is asked for, at some moment since it was
/// presented; and refused only if at some moment it did not.
///
/// Trials note `presents` about the znode, with 1 where exclusive mode is asked for and 0 where shared mode will do,
/// and then `is accepted with` about the same. Where a znode may be made anew under the same path, the note says which
/// of them the sequencer names, by its czxid: [`named`](SequencerNamesAHolder::named).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SequencerNamesAHolder {
    lock: &'static str,
    /// What the names of those have in them who hold it alone.
    exclusive: &'static str,
    /// The contenders' znodes that exist, by their numbers, and what created them.
    line: BTreeMap<(Option<i32>, Text), Zxid>,
    /// What is presented, by whom.
    presented: BTreeMap<ActorId, Presented>,
}

/// What is presented, for which mode, and whether it was good at some moment since, and at every one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Presented {
    named: Text,
    alone: bool,
    once: bool,
    always: bool,
}

impl SequencerNamesAHolder {
    /// For one lock; whoever holds it alone has `exclusive` in the name of its znode.
    pub fn of(lock: &'static str, exclusive: &'static str) -> Self {
        SequencerNamesAHolder { lock, exclusive, line: BTreeMap::new(), presented: BTreeMap::new() }
    }

    /// The text to note for a sequencer that names the `node` created by `czxid`.
    pub fn named(node: &str, czxid: Zxid) -> String {
        format!("{node}{OF}{czxid}")
    }

    fn is_held(&self, named: &str, alone: bool) -> bool {
        let (node, czxid) = match named.rsplit_once(OF) {
            Some((node, czxid)) => (Text::from(node), Some(czxid)),
            None => (Text::from(named), None),
        };
        let own = (sequence_of(&node), node.clone());
        let is_exclusive = |path: &Text| path.contains(self.exclusive);
        let mut before = self.line.range(..own.clone()).map(|((_, path), _)| path);
        let is_it = |zxid: &Zxid| czxid.is_none_or(|czxid| *czxid == zxid.to_string());
        self.line.get(&own).is_some_and(is_it)
            && match (is_exclusive(&node), alone) {
                (true, _) => before.next().is_none(),
                (false, false) => !before.any(is_exclusive),
                (false, true) => false,
            }
    }

    fn look(&mut self) {
        let mut presented = std::mem::take(&mut self.presented);
        for one in presented.values_mut() {
            let good = self.is_held(&one.named, one.alone);
            (one.once, one.always) = (one.once || good, one.always && good);
        }
        self.presented = presented;
    }
}

impl Promise for SequencerNamesAHolder {
    fn terms(&self) -> Terms {
        Terms::of("sequencer-names-a-holder")
            .about("A sequencer is accepted only if its holder held the lock in that mode since it was presented, and else refused.")
            .tested_when("A sequencer is accepted.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeCreated { path, owner, czxid, .. })
                if *owner != SessionId::NONE && below(self.lock, path) =>
            {
                self.line.insert((sequence_of(path), path.clone()), *czxid);
                self.look();
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if below(self.lock, path) => {
                self.line.remove(&(sequence_of(path), path.clone()));
                self.look();
            }
            Event::Is(GroundTruth::Crashed { actor }) => self.presented.retain(|by, _| by.main() != *actor),
            Event::Is(GroundTruth::ThreadEnded { actor } | GroundTruth::Finished { actor, .. }) => {
                self.presented.remove(actor);
            }
            Event::Observed { actor, what } => match what.told() {
                Some((words::PRESENTS, about, number)) => {
                    let (named, alone) = (Text::from(about), number == 1);
                    let good = self.is_held(about, alone);
                    self.presented.insert(*actor, Presented { named, alone, once: good, always: good });
                }
                Some((words::IS_ACCEPTED_WITH, about, _)) => match self.presented.remove(actor) {
                    Some(one) if one.once && *one.named == *about => found.push(Finding::Tested),
                    Some(_) | None => {
                        let what =
                            format!("{actor} was accepted with {about}, which did not hold the lock so");
                        found.push(broken(what, None));
                    }
                },
                Some((words::IS_REFUSED_WITH, about, _)) => {
                    let one = self.presented.remove(actor).filter(|one| one.always && *one.named == *about);
                    let what =
                        || format!("{actor} was refused with {about}, which held the lock so all the time");
                    found.extend(one.map(|_| broken(what(), None)));
                }
                _ => {}
            },
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const W: &str = "/lock/a-write-0000000000";
    const R: &str = "/lock/b-read-0000000001";

    fn judge(events: Vec<Event>) -> Vec<Finding> {
        findings(SequencerNamesAHolder::of(LOCK, "-write-"), events)
    }

    fn presented(p: u16, node: &str, alone: i64) -> Vec<Event> {
        ["presents", "is accepted with"]
            .map(|what| Event::Observed {
                actor: actor(p),
                what: crate::event::Observation::note(crate::words::Word::own(what), node, alone),
            })
            .into()
    }

    #[test]
    fn a_waiters_znode_breaks_it_and_a_holders_is_a_test_it_passes() {
        let line = vec![created(W, 0), created(R, 1)];
        let what = "p1 was accepted with /lock/b-read-0000000001, which did not hold the lock so";
        assert_eq!(broken_by(&judge([line.clone(), presented(1, R, 0)].concat())), [(what, None)]);
        assert_eq!(judge([line, presented(0, W, 1)].concat()), [Finding::Tested]);
    }

    #[test]
    fn a_readers_znode_breaks_it_where_writing_is_asked_for() {
        assert_eq!(judge([vec![created(R, 1)], presented(1, R, 0)].concat()), [Finding::Tested]);
        assert_eq!(broken_by(&judge([vec![created(R, 1)], presented(1, R, 1)].concat())).len(), 1);
    }

    #[test]
    fn a_znode_that_was_made_anew_under_the_same_path_is_another_one() {
        let named = |counter| SequencerNamesAHolder::named(W, Zxid::new(1, counter));
        // Whatever is created here is so by 1:1.
        let there = vec![created(W, 0)];
        assert_eq!(judge([there.clone(), presented(1, &named(1), 1)].concat()), [Finding::Tested]);
        let what = "p1 was accepted with /lock/a-write-0000000000 of 1:0, which did not hold the lock so";
        assert_eq!(broken_by(&judge([there, presented(1, &named(0), 1)].concat())), [(what, None)]);
    }

    #[test]
    fn what_is_gone_breaks_it_unless_it_held_since_it_was_presented() {
        let [presents, accepted] = [0, 1].map(|at| presented(0, W, 1)[at].clone());
        let gone = vec![created(W, 0), deleted(W, 0, 0), presents.clone(), accepted.clone()];
        assert_eq!(broken_by(&judge(gone)).len(), 1);
        let just = vec![created(W, 0), presents, deleted(W, 0, 0), accepted];
        assert_eq!(judge(just), [Finding::Tested]);
    }

    fn says(what: &str, node: &str, alone: i64) -> Event {
        let what = crate::event::Observation::note(crate::words::Word::own(what), node, alone);
        Event::Observed { actor: actor(0), what }
    }

    #[test]
    fn to_be_refused_with_what_held_all_the_time_breaks_it_and_with_nothing_less() {
        let refused = |there: &[Event], then: &[Event]| {
            let events = [there, &[says("presents", W, 1)], then, &[says("is refused with", W, 1)]].concat();
            broken_by(&judge(events)).len()
        };
        let there = [created(W, 0)];
        let what = "p0 was refused with /lock/a-write-0000000000, which held the lock so all the time";
        let events = vec![created(W, 0), says("presents", W, 1), says("is refused with", W, 1)];
        assert_eq!(broken_by(&judge(events)), [(what, None)]);
        assert_eq!(refused(&there, &[created(R, 1), deleted(R, 1, 1)]), 1, "it comes behind");
        assert_eq!(refused(&there, &[deleted(W, 0, 0)]), 0);
        assert_eq!(refused(&[], &[created(W, 0)]), 0, "it did not hold at first");
        assert_eq!(refused(&there, &[deleted(W, 0, 0), created(W, 0)]), 0, "it did not hold for a while");
        assert_eq!(refused(&there, &[says("presents", R, 0)]), 0, "that is refused which was presented last");
        assert_eq!(
            judge(vec![created(W, 0), says("is refused with", W, 1)]),
            [],
            "it was presented to nobody"
        );
    }

    #[test]
    fn to_be_refused_with_another_than_was_presented_is_no_matter() {
        let another = vec![created(R, 1), says("presents", R, 0), says("is refused with", W, 0)];
        assert_eq!(judge(another), []);
    }

    #[test]
    fn what_was_presented_is_accepted_if_it_holds_since() {
        let accepted = |there: &[Event], then: &[Event], with| {
            let events =
                [there, &[says("presents", R, 0)], then, &[says("is accepted with", with, 0)]].concat();
            broken_by(&judge(events)).len()
        };
        let there = [created(W, 0), created(R, 1)];
        assert_eq!((accepted(&there, &[], R), accepted(&there, &[deleted(W, 0, 0)], R)), (1, 0));
        assert_eq!(accepted(&[], &[created(R, 1)], R), 0);
        assert_eq!(accepted(&there[1..], &[], W), 1, "another one was presented");
        for gone in [crashed(0), finished(0)] {
            assert_eq!(accepted(&there, &[deleted(W, 0, 0), gone], R), 1, "to somebody else");
        }
    }

    #[test]
    fn what_is_no_contenders_znode_of_this_lock_stands_before_nobody() {
        let lasting = |path: &str| {
            let (by, owner) = (session(1), SessionId::NONE);
            Event::Is(GroundTruth::NodeCreated { path: path.into(), by, owner, czxid: Zxid::new(1, 1) })
        };
        let second = "/lock/b-write-0000000001";
        for other in [lasting(W), created("/other/a-write-0000000000", 1)] {
            assert_eq!(
                judge([vec![other, created(second, 0)], presented(0, second, 1)].concat()),
                [Finding::Tested]
            );
        }
    }
}
