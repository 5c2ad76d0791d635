//! `voters-learn`.

use super::commitment::{Told, told};
use super::findings::broken_at;
use crate::context::{RunningThreads, below};
use crate::event::{ActorId, End, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use crate::words;
use std::collections::BTreeSet;
use zk_api::Text;

/// A site that has voted and ends as if all were done has done what was decided.
///
/// A site that waits for ever breaks `no-waiter-stuck`; one that gives up waiting, and ends, breaks this. A site says
/// "votes to commit" or "votes to abort", and then "commits", "aborts" or, if its former life has done so and
/// acknowledged it already, "is through with". If it ends because its session is over, its next life must do so.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VotersLearn {
    root: &'static str,
    /// Who has voted in which transaction, and has not done anything yet.
    voted: BTreeSet<(ActorId, Text)>,
    /// The first life of who has done as was decided, in which transaction.
    did: BTreeSet<(ActorId, Text)>,
    running: RunningThreads,
}

impl VotersLearn {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        VotersLearn { root, voted: BTreeSet::new(), did: BTreeSet::new(), running: RunningThreads::default() }
    }

    /// What the threads that end with a process have voted in: the first one's first.
    fn forget(&mut self, process: ActorId) -> Option<(ActorId, Text)> {
        let ended = |(voter, _): &&(ActorId, Text)| self.running.end_with(process, *voter);
        let first = self.voted.iter().find(ended).cloned();
        self.voted.retain(|(voter, _)| !self.running.end_with(process, *voter));
        first
    }
}

fn first_life(actor: ActorId) -> ActorId {
    ActorId { life: 0, thread: 0, ..actor }
}

impl Promise for VotersLearn {
    fn terms(&self) -> Terms {
        Terms::of("voters-learn")
            .about("Whoever has voted, and ends as done, has done as was decided (AC5).")
            .tested_when("Somebody that has voted does as was decided.")
            // It goes by what sites say they do.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.running.see(event);
        match event {
            Event::Observed { actor, what } => match (told(self.root, event), what.told()) {
                (Some(Told::Done(transaction, ..)), _) => {
                    self.did.insert((first_life(*actor), transaction.into()));
                    let done = self.voted.remove(&(*actor, transaction.into()));
                    found.extend(done.then_some(Finding::Tested));
                }
                (_, Some((words::IS_THROUGH_WITH, transaction, _))) if below(self.root, transaction) => {
                    let done = self.voted.remove(&(*actor, transaction.into()));
                    found.push(match self.did.contains(&(first_life(*actor), transaction.into())) {
                        true if done => Finding::Tested,
                        true => return,
                        false => broken_at(
                            format!(
                                "{actor} is through with {transaction}, and has never done as was decided"
                            ),
                            [transaction],
                        ),
                    });
                }
                (_, Some((words::VOTES_TO_COMMIT | words::VOTES_TO_ABORT, transaction, _)))
                    if below(self.root, transaction) =>
                {
                    self.voted.insert((*actor, transaction.into()));
                }
                _ => {}
            },
            Event::Is(GroundTruth::Finished { actor, end }) => {
                let Some((voter, transaction)) = self.forget(*actor) else { return };
                match end {
                    End::Done => {
                        let what = format!("{voter} has voted in {transaction}, and ends without a decision");
                        found.push(broken_at(what, [&*transaction]));
                    }
                    End::SessionLost | End::Failed | End::Exited => {}
                }
            }
            Event::Is(GroundTruth::Crashed { actor }) => {
                self.voted.retain(|(voter, _)| voter.main() != *actor);
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

    fn judged(then: Vec<Event>) -> Vec<Finding> {
        findings(VotersLearn::of("/tx"), [vec![notes(1, "votes to commit", "/tx/1")], then].concat())
    }

    #[test]
    fn to_end_without_a_decision_breaks_it() {
        let what = "p1 has voted in /tx/1, and ends without a decision";
        for before in [vec![], vec![notes(1, "commits", "/tx/2")], vec![notes(0, "commits", "/tx/1")]] {
            let found = judged([before, vec![finished(1)]].concat());
            assert_eq!(broken_by(&found), [(what, None)]);
        }
    }

    #[test]
    fn who_has_done_as_was_decided_passes() {
        for done in ["commits", "aborts"] {
            assert_eq!(judged(vec![notes(1, done, "/tx/1"), finished(1)]), [Finding::Tested], "{done}");
        }
    }

    /// That was believed of a life that had acknowledged the transaction, and of none that had done anything.
    #[test]
    fn who_is_through_with_what_no_life_of_it_has_done_breaks_it() {
        let is_through = || Event::Observed {
            actor: ActorId { life: 1, ..actor(1) },
            what: Observation::note(words::IS_THROUGH_WITH, "/tx/1", 1),
        };
        assert_eq!(judged(vec![crashed(1), is_through()]).len(), 1);
        let what = "p1.1 is through with /tx/1, and has never done as was decided";
        assert_eq!(broken_by(&judged(vec![crashed(1), is_through()])), [(what, None)]);
        // That another has done so says nothing of it.
        let of_another = vec![notes(0, "commits", "/tx/1"), crashed(1), is_through()];
        assert_eq!(broken_by(&judged(of_another)), [(what, None)]);
        let done = vec![notes(1, "commits", "/tx/1"), crashed(1), is_through()];
        assert_eq!(judged(done), [Finding::Tested]);
    }

    #[test]
    fn who_dies_leaves_it_to_its_next_life() {
        let loses = Event::Is(GroundTruth::Finished { actor: actor(1), end: End::SessionLost });
        assert_eq!(judged(vec![crashed(1), finished(1)]), []);
        assert_eq!(judged(vec![closed(1), loses, finished(1)]), []);
    }

    /// The end of its session, or closing it itself, was taken for the end of its life.
    #[test]
    fn who_ends_as_done_without_its_session_has_learnt_nothing_either() {
        let what = "p1 has voted in /tx/1, and ends without a decision";
        assert_eq!(broken_by(&judged(vec![closed(1), finished(1)])), [(what, None)]);
        assert_eq!(judged(vec![closed(1), notes(1, "aborts", "/tx/1"), finished(1)]), [Finding::Tested]);
    }

    #[test]
    fn a_thread_that_goes_on_may_learn_yet_and_the_end_of_another_process_is_no_matter() {
        let votes = by_thread(1, notes(1, "votes to commit", "/tx/1"));
        let ends = Event::Is(GroundTruth::ThreadEnded { actor: actor(1).of_thread(1) });
        let found = |before: Vec<Event>| {
            let (mut promise, mut found) = (VotersLearn::of("/tx"), Vec::new());
            before.iter().for_each(|event| promise.see(event, &mut found));
            (broken_by(&found).len(), promise.voted.len())
        };
        assert_eq!(found(vec![votes.clone(), finished(1)]), (0, 1));
        assert_eq!(found(vec![votes, ends, finished(1)]), (1, 0));
        assert_eq!(broken_by(&judged(vec![finished(0), finished(1)])).len(), 1);
    }
}
