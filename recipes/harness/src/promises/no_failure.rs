//! `no-failure`.

use super::findings::broken_for;
use crate::event::{ActorId, End, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Terms};
use crate::words::{self, Word};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// Nobody's code fails in a way that it does not handle, or ends without a word of what has come of what it began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoFailure {
    sessions: BTreeMap<SessionId, ActorId>,
    /// Which of them live.
    live: BTreeSet<SessionId>,
    /// Who has ever told of something, or changed a znode.
    busy: BTreeSet<ActorId>,
    /// Who has closed its last session itself.
    closed: BTreeSet<ActorId>,
    /// What a main thread has begun, and has not told the end of; whether its client has opened another session since,
    /// and whether it puts that, or leaves it: who puts or joins something else has left the former as it is, whatever
    /// has come of it. What promises have no words for may go on for ever, and so may membership; and many that attempt
    /// tell no more of it. Other threads may end with their process, or be told of by others.
    open: BTreeMap<(ActorId, Text), (bool, bool)>,
}

/// The promise as it begins.
#[expect(non_upper_case_globals, reason = "trials name it as if it had no state")]
pub const NoFailure: NoFailure = NoFailure {
    sessions: BTreeMap::new(),
    live: BTreeSet::new(),
    busy: BTreeSet::new(),
    closed: BTreeSet::new(),
    open: BTreeMap::new(),
};

/// What is noted when somebody begins what comes to an end, and what is when that is over.
pub(super) const OPEN: [Word<'static>; 9] = [
    words::COMES_TO,
    words::ARRIVES_AT,
    words::ASKS_TO_LEAVE,
    words::PUTS,
    words::BEGINS_TO_PUT_INTO,
    words::RAISES,
    words::LOWERS,
    words::SETS,
    words::ADDS,
];
pub(super) const OVER: [Word<'static>; 9] = [
    words::PASSES,
    words::GIVES_UP,
    words::HAS_LEFT,
    words::HAS_PUT,
    words::HAS_PUT_INTO,
    words::HAS_RAISED,
    words::HAS_LOWERED,
    words::HAS_SET,
    words::HAS_ADDED,
];

impl NoFailure {
    fn hear(&mut self, actor: ActorId, what: &Observation) {
        self.busy.insert(actor.main());
        if actor != actor.main() {
            return;
        }
        let (about, word) = ((actor, what.subject().clone()), what.word());
        let (opens, ends) = match what {
            Observation::Begins { .. } => (word.is_of_the_library() && word != words::IS_A_MEMBER_BY, false),
            Observation::Notes { .. } => (OPEN.contains(&word), OVER.contains(&word)),
            Observation::Attempts { .. } | Observation::Leaves { .. } => (false, false),
            Observation::Granted { .. }
            | Observation::Shares { .. }
            | Observation::Enters { .. }
            | Observation::GivesUp { .. }
            | Observation::Released { .. }
            | Observation::Ends { .. } => (false, true),
        };
        // Who tries something else has left the former as it is.
        let puts = [words::PUTS, words::SETS].contains(&word);
        if puts || word == words::JOINS {
            self.open.retain(|(other, _), (_, puts)| *other != actor || !*puts);
        }
        if word == words::LEAVES {
            self.open.entry(about.clone()).and_modify(|(_, leaves)| *leaves = true);
        }
        if ends {
            self.open.remove(&about);
        } else if opens && !self.has_lost_session(actor) {
            // Who has lost its session fails by that.
            self.open.insert(about, (false, puts));
        }
    }

    /// It has come to its end, and says that all is done.
    fn is_done(&mut self, actor: ActorId) -> Option<Finding> {
        let silent = self.open.keys().find(|(other, _)| *other == actor).map(|(_, about)| {
            let what = "it ends without a word of what has come of";
            broken_for(format!("{actor} fails: {what} {about}, which it has begun"), &[actor])
        });
        silent.or_else(|| self.busy.contains(&actor).then_some(Finding::Tested))
    }

    fn has_live_session(&self, actor: ActorId) -> bool {
        self.live.iter().any(|session| self.sessions.get(session) == Some(&actor.main()))
    }

    /// It has closed none of its sessions itself, and none of them lives.
    fn has_lost_session(&self, actor: ActorId) -> bool {
        let had = self.sessions.values().any(|other| *other == actor.main());
        had && !self.has_live_session(actor) && !self.closed.contains(&actor.main())
    }
}

impl Promise for NoFailure {
    fn terms(&self) -> Terms {
        Terms::of("no-failure")
            .about("Nobody gives up because of an error that it does not handle, or without a word.")
            .tested_when("Somebody that has told of something, or changed a znode, comes to its end.")
            // It hears of ends, and of who told of something before.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => self.hear(*actor, what),
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.sessions.insert(*session, *actor);
                self.live.insert(*session);
                self.closed.remove(actor);
                let own = self.open.iter_mut().filter(|((other, _), _)| other.main() == *actor);
                own.for_each(|(_, (is_before, _))| *is_before = true);
            }
            Event::Is(GroundTruth::SessionClosed { session, actor, expired }) => {
                self.live.remove(session);
                let goes_on = self.has_live_session(*actor);
                self.open
                    .retain(|(other, _), (is_before, _)| other.main() != *actor || goes_on && !*is_before);
                self.closed.extend((!expired && !goes_on).then_some(*actor));
            }
            Event::Is(GroundTruth::Crashed { actor }) => {
                self.open.retain(|(other, _), _| other.main() != *actor);
            }
            Event::Is(
                GroundTruth::NodeCreated { by, .. }
                | GroundTruth::NodeWritten { by, .. }
                | GroundTruth::NodeDeleted { by, .. },
            ) => self.busy.extend(self.sessions.get(by)),
            Event::Is(GroundTruth::Finished { actor, end }) => match end {
                End::Done => found.extend(self.is_done(*actor)),
                End::SessionLost if self.closed.contains(actor) => {
                    let what = format!("{actor} fails: it goes on without the session that it has closed");
                    found.push(broken_for(what, &[*actor]));
                }
                End::SessionLost | End::Exited => {}
                End::Failed => found.push(broken_for(format!("{actor} fails"), &[*actor])),
            },
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_failure_breaks_it_and_an_end_is_a_test_it_passes() {
        let failed = Event::Is(GroundTruth::Finished { actor: actor(1), end: End::Failed });
        let found = findings(NoFailure, vec![enters(0), finished(0), failed]);
        assert_eq!(found[0], Finding::Tested);
        assert_eq!(broken_by(&found), [("p1 fails", None)]);
    }

    /// An end for want of a session was believed, whoever had closed it.
    #[test]
    fn who_goes_on_without_a_session_that_it_has_closed_fails() {
        let lost = Event::Is(GroundTruth::Finished { actor: actor(1), end: End::SessionLost });
        let what = "p1 fails: it goes on without the session that it has closed";
        let found = findings(NoFailure, vec![opened(1), closes(1), lost.clone()]);
        assert_eq!(broken_by(&found), [(what, None)]);
        assert_eq!(findings(NoFailure, vec![opened(1), closed(1), lost.clone()]), []);
        assert_eq!(findings(NoFailure, vec![opened(1), closes(1), opened(1), closed(1), lost.clone()]), []);
        // Its client had opened the other one before.
        let end =
            Event::Is(GroundTruth::SessionClosed { session: session(7), actor: actor(1), expired: true });
        let events = vec![opened(1), opened_anew(1), closes(1), end, lost];
        assert_eq!(findings(NoFailure, events), []);
    }

    fn arrives(p: u16) -> Event {
        notes(p, "arrives at", "/barrier")
    }

    /// As main threads do it; of others, it is not known how they end.
    fn judged(events: Vec<Event>) -> Vec<Finding> {
        let (mut promise, mut found) = (NoFailure, Vec::new());
        events.iter().for_each(|event| promise.see(event, &mut found));
        found
    }

    /// Who returned in the midst of an addition was taken for done.
    #[test]
    fn who_ends_without_a_word_of_what_it_asked_for_fails() {
        let adds = |actor| Event::Observed { actor, what: Observation::begins(words::ADDS, "/counter", 1) };
        let what = "p1 fails: it ends without a word of what has come of /counter, which it has begun";
        assert_eq!(broken_by(&judged(vec![opened(1), adds(actor(1)), finished(1)])), [(what, None)]);
        let silent = judged(vec![arrives(0), finished(1), finished(0)]);
        assert_eq!(broken_by(&silent).len(), 1);
        for told in [notes(0, "passes", "/barrier"), closed(0), crashed(0)] {
            assert_eq!(judged(vec![opened(0), arrives(0), told, finished(0)]), [Finding::Tested]);
        }
        // What is told of a lock is of what was begun with the same znode.
        let begun = |told| vec![notes(0, "comes to", LOCK), told, finished(0)];
        for (told, is_over) in
            [(gives_up(0), true), (enters(0), true), (attempts(0), false), (leaves(0), false)]
        {
            assert_eq!(judged(begun(told.clone())) == [Finding::Tested], is_over, "{told:?}");
        }
        // Many only ask, and tell no more of it.
        assert_eq!(judged(vec![opened(0), attempts(0), finished(0)]), [Finding::Tested]);
        // Nobody knows how long what promises have no word for goes on, and members stay.
        for word in [words::Word::own("rings"), words::IS_A_MEMBER_BY] {
            let begins = Event::Observed { actor: actor(0), what: Observation::begins(word, "/bell", 1) };
            assert_eq!(judged(vec![begins, finished(0)]), [Finding::Tested]);
        }
        let told = |words: &[&str]| {
            let told = words.iter().map(|word| notes(0, word, "/barrier"));
            broken_by(&judged(told.chain([finished(0)]).collect())).len()
        };
        assert_eq!(
            (told(&["arrives at"]), told(&["comes to", "sees"]), told(&["puts", "has left"])),
            (1, 1, 0)
        );
        assert_eq!((told(&["arrives at", "gives up"]), told(&["asks", "follows", "sees"])), (0, 0));
        // A thread that goes on may tell later.
        assert_eq!(judged(vec![by_thread(1, arrives(0)), finished(0)]), [Finding::Tested]);
    }

    /// A put whose answer is lost may be done, and a producer that put another item instead had failed.
    #[test]
    fn who_puts_another_item_leaves_the_former_as_it_is() {
        let puts = |item| vec![notes(0, "puts", item)];
        let has_put = || vec![notes(0, "has put", "2")];
        let judged =
            |told: &[Vec<Event>]| broken_by(&judged([told.concat(), vec![finished(0)]].concat())).len();
        assert_eq!(judged(&[puts("1"), puts("2"), has_put()]), 0);
        assert_eq!(judged(&[puts("1"), puts("2")]), 1);
        assert_eq!(
            judged(&[vec![arrives(0)], puts("1"), puts("2"), has_put()]),
            1,
            "what it arrives at is open"
        );
        assert_eq!(judged(&[puts("1"), vec![notes(1, "puts", "3")], puts("2"), has_put()]), 0);
        assert_eq!(judged(&[puts("2"), vec![notes(1, "puts", "3")]]), 1, "another is no matter of it");
    }

    /// As the README has it, and it had failed.
    #[test]
    fn a_member_that_changes_its_znode_leaves_the_former_one() {
        let begins =
            |word, node| Event::Observed { actor: actor(0), what: Observation::begins(word, node, 1) };
        let [joins, joins_other] = ["/group/a", "/group/b"].map(|node| begins(words::JOINS, node));
        let leaves = notes(0, "leaves", "/group/a");
        let ended = Observation::ends(words::ENDS_ITS_ROUND_WITH, "/group/b", 1);
        let end = [Event::Observed { actor: actor(0), what: ended }, finished(0)];
        let ends = |told: &[&Event]| {
            let told = told.iter().map(|event| (*event).clone());
            broken_by(&judged(told.chain(end.clone()).collect())).len()
        };
        assert_eq!(ends(&[&joins, &leaves, &joins_other]), 0);
        assert_eq!(ends(&[&joins, &joins_other]), 1, "it has not left it");
        assert_eq!(ends(&[&joins, &leaves]), 1, "nor does it join another");
    }

    /// What it had begun by the new session was forgotten with the former one; and what it asked for without any was
    /// not.
    #[test]
    fn who_has_another_session_owes_a_word_of_what_it_asked_for_since() {
        let silent = |events: Vec<Event>| {
            let events = [vec![opened(0)], events, vec![finished(0)]].concat();
            broken_by(&judged(events)).len()
        };
        assert_eq!(silent(vec![opened_anew(0), arrives(0), closed(0)]), 1);
        assert_eq!(silent(vec![arrives(0), opened_anew(0), closed(0)]), 0, "it had lost that session");
        assert_eq!(silent(vec![closed(0), arrives(0)]), 0);
        assert_eq!(silent(vec![closed(0), opened_anew(0), arrives(0)]), 1);
        assert_eq!(silent(vec![closes(0), arrives(0)]), 1, "it knows");
        assert_eq!(silent(vec![opened(1), arrives(0), closed(1)]), 1, "it was another's");
    }

    /// Actors that return at once were a test of it, and a trial of such was green.
    #[test]
    fn the_end_of_one_that_has_done_nothing_is_no_test() {
        assert_eq!(judged(vec![opened(0), finished(0)]), []);
        assert_eq!(judged(vec![opened(0), created("/a", 1), finished(0)]), []);
        let silent = vec![opened(0), created("/a", 0), finished(0)];
        assert_eq!(findings(NoFailure, silent), [Finding::Tested]);
    }
}
