//! `aborts-early`.

use super::commitment::{Told, told, transaction_of};
use super::findings::broken_for;
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;
use std::collections::BTreeSet;
use zk_api::Text;

/// One vote to abort is enough: no site that has voted then waits for another's vote. It is put to the test when a site
/// aborts while another has yet to vote.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbortsEarly {
    root: &'static str,
    /// The transactions in which something is written to abort.
    aborted: BTreeSet<Text>,
    /// Their children, as long as nothing is written there: the votes that are to come, and the decision.
    empty: BTreeSet<Text>,
    /// Who has voted in which transaction, and has not done as was decided.
    waiting: BTreeSet<(ActorId, Text)>,
}

impl AbortsEarly {
    /// For the transactions below one znode, with one child for each vote.
    pub fn of(root: &'static str) -> Self {
        let (aborted, empty) = (BTreeSet::new(), BTreeSet::new());
        AbortsEarly { root, aborted, empty, waiting: BTreeSet::new() }
    }
}

impl Promise for AbortsEarly {
    fn terms(&self) -> Terms {
        Terms::of("aborts-early")
            .about("At rest, no site that has voted waits where one vote is to abort.")
            .tested_when("A site aborts while another has yet to vote.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match (told(self.root, event), event) {
            (Some(Told::Written(path, commits, _)), _) => {
                self.empty.remove(path);
                let transaction = transaction_of(self.root, path).expect("it is told of those");
                self.aborted.extend((!commits).then(|| transaction.into()));
            }
            (Some(Told::Done(transaction, _, commits)), Event::Observed { actor, .. }) => {
                self.waiting.remove(&(*actor, transaction.into()));
                let is_vote = |path: &&Text| {
                    transaction_of(self.root, path) == Some(transaction) && !path.ends_with("/decision")
                };
                let is_early = !commits && self.empty.iter().any(|path| is_vote(&path));
                found.extend(is_early.then_some(Finding::Tested));
            }
            (Some(Told::Impatient(transaction)), Event::Observed { actor, .. }) => {
                self.waiting.remove(&(*actor, transaction.into()));
            }
            (Some(Told::Failed(actor)), _) => self.waiting.retain(|(waits, _)| waits.main() != actor),
            (_, Event::Observed { actor, what }) => {
                if let Some((words::VOTES_TO_COMMIT | words::VOTES_TO_ABORT, transaction, _)) = what.told() {
                    self.waiting.insert((*actor, transaction.into()));
                }
            }
            (_, Event::Is(GroundTruth::NodeCreated { path, .. }))
                if transaction_of(self.root, path).is_some() =>
            {
                self.empty.insert(path.clone());
            }
            (_, Event::Is(GroundTruth::NodeDeleted { path, .. })) => {
                self.empty.remove(path);
            }
            (_, Event::Is(GroundTruth::ThreadEnded { actor })) => {
                self.waiting.retain(|(waits, _)| waits != actor)
            }
            (_, Event::Is(_)) => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let waits = |(actor, of): &&(ActorId, Text)| rest.goes_on(*actor) && self.aborted.contains(of);
        for (actor, transaction) in self.waiting.iter().filter(waits) {
            let what = format!("{actor} waits for votes in {transaction}, where one is to abort");
            found.push(broken_for(what, &[*actor]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::{does, impatient, written};
    use super::super::testing::*;
    use super::*;

    const VOTES: [&str; 2] = ["/tx/1/p0", "/tx/1/p1"];

    fn impatient_in(transaction: &str) -> Event {
        notes(0, words::WAITS_NO_LONGER.text(), transaction)
    }

    fn begun() -> Vec<Event> {
        let made = VOTES.map(|path| created(path, 0));
        [made.into(), vec![notes(0, "votes to abort", "/tx/1"), written(VOTES[0], "abort")]].concat()
    }

    #[test]
    fn who_waits_though_one_vote_is_to_abort_breaks_it() {
        let waits = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        let found = resting(AbortsEarly::of("/tx"), begun(), &waits);
        assert_eq!(broken_by(&found), [("p0 waits for votes in /tx/1, where one is to abort", None)]);
        // Another's end does not change that, its own does.
        let judge = |dies| resting(AbortsEarly::of("/tx"), [begun(), vec![dies]].concat(), &waits);
        assert_eq!(judge(crashed(1)), found);
        assert_eq!(judge(crashed(0)), []);
        // Nor does that it goes on in another transaction, of which it waits for nothing.
        let next = [notes(0, "votes to commit", "/tx/2"), impatient_in("/tx/2")];
        assert_eq!(resting(AbortsEarly::of("/tx"), [begun(), next.to_vec()].concat(), &waits), found);
        // Nor does it wait for votes once it has aborted, or has said that it waits no longer.
        assert_eq!(judge(does(0, "aborts")), []);
        assert_eq!(judge(impatient(0)), []);
        assert_eq!(judge(impatient(1)), found);
    }

    #[test]
    fn who_has_ended_waits_for_nothing_and_who_waits_where_nobody_aborts_may() {
        let waits = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        assert_eq!(resting(AbortsEarly::of("/tx"), begun(), &Rest::default()), []);
        let agreed = vec![notes(0, "votes to commit", "/tx/1"), written(VOTES[0], "commit")];
        assert_eq!(resting(AbortsEarly::of("/tx"), agreed, &waits), []);
    }

    #[test]
    fn to_abort_before_all_have_voted_is_a_test_and_later_is_none() {
        let early = [begun(), vec![does(0, "aborts")]].concat();
        assert_eq!(findings(AbortsEarly::of("/tx"), early), [Finding::Tested]);
        let late = [begun(), vec![written(VOTES[1], "commit"), does(0, "aborts")]].concat();
        assert_eq!(findings(AbortsEarly::of("/tx"), late), []);
        let gone = [begun(), vec![deleted(VOTES[1], 1, NOBODY), does(0, "aborts")]].concat();
        assert_eq!(findings(AbortsEarly::of("/tx"), gone), [], "nobody is to vote there any more");
        let commits = [begun(), vec![does(0, "commits")]].concat();
        assert_eq!(findings(AbortsEarly::of("/tx"), commits), []);
        // Neither a decision that is to come is a vote, nor one of another transaction.
        for other in ["/tx/1/decision", "/tx/2/p1"] {
            let all = vec![written(VOTES[1], "commit"), created(other, 0), does(0, "aborts")];
            assert_eq!(findings(AbortsEarly::of("/tx"), [begun(), all].concat()), []);
        }
    }
}
