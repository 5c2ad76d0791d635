//! `tells-in-order`.

use super::findings::broken_for;
use crate::context::RunningThreads;
use crate::event::{ActorId, End, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Terms};
use crate::words::{self, Word};
use std::collections::BTreeMap;

/// Stands for the time before the first word of a life.
pub const START: Word<'static> = Word::own("");
/// Stands for the end: the code has done all it was to do.
pub const DONE: Word<'static> = Word::own("is done");

/// Words, each with those that it may follow.
pub type Order = &'static [(Word<'static>, &'static [Word<'static>])];

/// The words of a lock: asked for, granted, entered, left, released, or given up.
pub const OF_LOCKS: Order = &[
    (words::ATTEMPTS, &[START, words::RELEASED]),
    (words::IS_GRANTED, &[words::ATTEMPTS]),
    (words::ENTERS, &[words::IS_GRANTED]),
    (words::LEAVES, &[words::ENTERS]),
    (words::GIVES_UP, &[words::ATTEMPTS, words::IS_GRANTED, words::ENTERS, words::LEAVES]),
    (words::RELEASED, &[words::LEAVES, words::GIVES_UP]),
    (DONE, &[words::RELEASED]),
];

/// Every thread reports all that the other promises listen for, each thing once and in order: they cannot judge a
/// thread that they never hear of.
///
/// It hears only the words that it is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TellsInOrder {
    order: Order,
    /// The last word of each thread.
    last: BTreeMap<ActorId, Word<'static>>,
    running: RunningThreads,
}

impl TellsInOrder {
    /// For the words of this order.
    pub fn of(order: Order) -> Self {
        TellsInOrder { order, last: BTreeMap::new(), running: RunningThreads::default() }
    }

    fn says(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        let said = what.word();
        let Some((word, after)) = self.order.iter().find(|(word, _)| *word == said) else { return };
        let before = self.last.insert(actor, *word).unwrap_or(START);
        if !after.contains(&before) {
            found.push(broken_for(format!("{actor} tells \"{what}\" after {}", told(before)), &[actor]));
        }
    }
}

fn told(word: Word<'_>) -> String {
    if word == START { "nothing".to_owned() } else { format!("\"{word}\"") }
}

impl Promise for TellsInOrder {
    fn terms(&self) -> Terms {
        Terms::of("tells-in-order")
            .about("Everybody tells what the other promises listen for, each thing once, and in order.")
            .tested_when("Somebody that has told of something has done all it was to do.")
            // It hears of words and ends alone.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.running.see(event);
        match event {
            Event::Observed { actor, what } => self.says(*actor, what, found),
            Event::Is(GroundTruth::Finished { actor, end: End::Done }) => {
                let (_, may_end) = self.order.iter().find(|(word, _)| *word == DONE).unwrap_or(&(DONE, &[]));
                self.last.retain(|thread, word| {
                    let goes_on = !self.running.end_with(*actor, *thread);
                    if !goes_on {
                        found.push(match may_end.contains(word) {
                            true => Finding::Tested,
                            false => {
                                broken_for(format!("{thread} is done after {}", told(*word)), &[*thread])
                            }
                        });
                    }
                    goes_on
                });
            }
            // Its other threads go on.
            Event::Is(GroundTruth::Finished { actor, end: End::Failed }) => {
                self.last.retain(|thread, _| !self.running.end_with(*actor, *thread));
            }
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::Crashed { actor }) => {
                self.last.retain(|thread, _| thread.main() != *actor);
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn found(events: Vec<Event>) -> Vec<Finding> {
        findings(TellsInOrder::of(OF_LOCKS), events)
    }

    #[test]
    fn a_turn_that_is_told_whole_is_a_test() {
        let turn = vec![attempts(0), granted(0), enters(0), leaves(0), released(0), finished(0)];
        assert_eq!(found(turn), [Finding::Tested]);
    }

    #[test]
    fn what_is_told_twice_or_left_out_breaks_it() {
        let twice = found(vec![attempts(0), granted(0), granted(0)]);
        let what = "p0 tells \"is granted /lock by /lock/a-lock-0000000000\" after \"is granted\"";
        assert_eq!(broken_by(&twice), [(what, None)]);
        let left_out = found(vec![attempts(0), enters(0)]);
        let what = "p0 tells \"enters the critical section of /lock\" after \"attempts\"";
        assert_eq!(broken_by(&left_out), [(what, None)]);
        let unended = found(vec![attempts(0), granted(0), enters(0), leaves(0), finished(0)]);
        assert_eq!(broken_by(&unended), [("p0 is done after \"leaves\"", None)]);
    }

    #[test]
    fn a_thread_that_goes_on_is_not_done_with_the_main_one() {
        let broken = |ended: Vec<Event>| {
            let half = [attempts(0), granted(0)].map(|event| by_thread(1, event));
            let (mut promise, mut found) = (TellsInOrder::of(OF_LOCKS), Vec::new());
            let events = [half.to_vec(), ended, vec![finished(0)]].concat();
            events.iter().for_each(|event| promise.see(event, &mut found));
            broken_by(&found).into_iter().map(|(what, _)| what.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(broken(vec![]), [""; 0]);
        let ended = Event::Is(GroundTruth::ThreadEnded { actor: actor(0).of_thread(1) });
        assert_eq!(broken(vec![ended]), ["p0/1 is done after \"is granted\""]);
    }

    #[test]
    fn who_crashes_or_loses_its_session_may_stop_anywhere() {
        let crashed = Event::Is(GroundTruth::Crashed { actor: actor(0) });
        let lost = Event::Is(GroundTruth::Finished { actor: actor(1), end: End::SessionLost });
        let events = [attempts(0), attempts(1), crashed, granted(1), attempts(2), lost, granted(2)];
        assert_eq!(found(events.to_vec()), []);
        let mut promise = TellsInOrder::of(OF_LOCKS);
        events.iter().for_each(|event| promise.see(event, &mut Vec::new()));
        assert_eq!(promise.last.keys().copied().collect::<Vec<_>>(), [actor(2)], "no other says more");
    }

    /// What it told next was the first that it told.
    #[test]
    fn a_thread_that_goes_on_when_the_main_one_has_failed_tells_on() {
        let failed = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::Failed });
        let [asks, gets] = [attempts(0), granted(0)].map(|event| by_thread(1, event));
        let mut promise = TellsInOrder::of(OF_LOCKS);
        let mut found = Vec::new();
        let events = [attempts(0), asks, failed, gets];
        events.iter().for_each(|event| promise.see(event, &mut found));
        assert_eq!(found, []);
        assert_eq!(promise.last.keys().copied().collect::<Vec<_>>(), [actor(0).of_thread(1)]);
    }

    #[test]
    fn what_may_come_last_is_said_by_the_order() {
        const ORDER: Order = &[(words::ATTEMPTS, &[START]), (DONE, &[words::ATTEMPTS])];
        let found = |order| findings(TellsInOrder::of(order), vec![attempts(0), finished(0)]);
        assert_eq!(found(ORDER), [Finding::Tested]);
        assert_eq!(broken_by(&found(&ORDER[..1])).len(), 1, "nothing may");
    }
}
