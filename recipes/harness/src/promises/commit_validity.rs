//! `commit-validity`.

use super::commitment::{Told, told, transaction_of};
use super::findings::broken_at;
use crate::event::{ActorId, Event};
use crate::promise::{Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::Text;

/// A site commits only if the votes of all sites were written before, and all are to commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommitValidity {
    root: &'static str,
    /// Among how many sites it is.
    among: BTreeMap<Text, i64>,
    /// The votes, by their znodes: whether they are to commit.
    votes: BTreeMap<Text, bool>,
    /// Who has voted to commit, by its own word.
    agreed: BTreeSet<(Text, ActorId)>,
    /// Who has voted to abort, whatever stands in its znode: unless a former life has voted to commit, whose vote may stand.
    refused: BTreeSet<(Text, ActorId)>,
}

impl CommitValidity {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        CommitValidity {
            root,
            among: BTreeMap::new(),
            votes: BTreeMap::new(),
            agreed: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }

    /// How many sites of a transaction have voted to commit.
    fn ayes(&self, transaction: &str) -> usize {
        let of = |path: &str| transaction_of(self.root, path) == Some(transaction);
        self.votes.iter().filter(|(path, commits)| **commits && of(path)).count()
    }
}

impl Promise for CommitValidity {
    fn terms(&self) -> Terms {
        Terms::of("commit-validity")
            .about("A site commits only if all have voted to commit (AC2).")
            .tested_when("A site commits in a transaction of two sites or more.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match told(self.root, event) {
            Some(Told::Proposed(transaction, among)) => {
                self.among.insert(transaction.into(), among);
            }
            Some(Told::Written(path, commits)) if !path.ends_with("/decision") => {
                self.votes.insert(path.clone(), commits);
            }
            Some(Told::Voted(transaction, actor, true)) => {
                self.agreed.insert((transaction.into(), actor));
            }
            Some(Told::Voted(transaction, actor, false)) => {
                let is_former = |(of, other): &(Text, ActorId)| {
                    **of == *transaction && other.process == actor.process && other.life < actor.life
                };
                if !self.agreed.iter().any(is_former) {
                    self.refused.insert((transaction.into(), actor));
                }
            }
            // Its next life may vote otherwise, if its word was not written.
            Some(Told::Failed(actor)) => self.refused.retain(|(_, other)| *other != actor),
            Some(Told::Done(transaction, by, true)) => {
                if let Some((_, site)) = self.refused.iter().find(|(of, _)| **of == *transaction) {
                    let what = format!("p{by} commits {transaction}, which {site} has voted to abort");
                    found.push(broken_at(what, [transaction]));
                    return;
                }
                let Some(among) = self.among.get(transaction) else { return };
                let ayes = self.ayes(transaction);
                match usize::try_from(*among) == Ok(ayes) {
                    true => found.extend((ayes > 1).then_some(Finding::Tested)),
                    false => {
                        let what = format!(
                            "p{by} commits {transaction}, for which {ayes} of {among} sites have voted"
                        );
                        found.push(broken_at(what, [transaction]));
                    }
                }
            }
            Some(Told::Done(_, _, false) | Told::Written(..) | Told::Impatient(_) | Told::Begun(_))
            | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::*;
    use super::super::testing::*;
    use super::*;
    use crate::event::Observation;
    use crate::words;

    fn after(votes: &[(&str, &str)]) -> Vec<Finding> {
        let mut events = vec![proposes(2), written("/tx/1/decision", "commit")];
        events.extend(votes.iter().map(|(path, vote)| written(path, vote)));
        events.push(does(1, "commits"));
        findings(CommitValidity::of("/tx"), events)
    }

    #[test]
    fn a_missing_vote_or_one_to_abort_breaks_it() {
        for last in [
            ("/tx/1/p1", "abort"),
            ("/tx/1/p1", ""),
            ("/tx/2/p1", "commit"),
            ("/tx/11/p1", "commit"),
            ("/tx/1/p1/x", "commit"),
        ] {
            let found = after(&[("/tx/1/p0", "commit"), last]);
            let what = "p1 commits /tx/1, for which 1 of 2 sites have voted";
            assert_eq!(broken_by(&found), [(what, None)], "{last:?}");
        }
    }

    /// A coordinator may write what the site did not vote.
    #[test]
    fn one_that_has_said_so_breaks_it_whatever_is_written() {
        let votes = [("/tx/1/p0", "commit"), ("/tx/1/p1", "commit")].map(|(path, vote)| written(path, vote));
        let judge = |more: Vec<Event>| {
            let first = vec![proposes(2), notes(1, "votes to abort", "/tx/1")];
            findings(
                CommitValidity::of("/tx"),
                [first, more, votes.to_vec(), vec![does(0, "commits")]].concat(),
            )
        };
        assert_eq!(broken_by(&judge(vec![])), [("p0 commits /tx/1, which p1 has voted to abort", None)]);
        assert_eq!(judge(vec![crashed(1)]), [Finding::Tested], "its next life votes anew");
    }

    /// Seed 190 of two-phase-commit: the next life was not ready in time, and the vote of the former one stood.
    #[test]
    fn what_a_former_life_has_voted_stands() {
        let vote = |life, what| {
            let actor = ActorId { life, ..actor(1) };
            Event::Observed { actor, what: Observation::note(what, "/tx/1", 1) }
        };
        let judge = |former, last| {
            let said = vec![proposes(2), vote(0, former), crashed(1), vote(1, words::VOTES_TO_ABORT)];
            let written =
                [("/tx/1/p0", "commit"), ("/tx/1/p1", last)].map(|(path, vote)| written(path, vote));
            findings(CommitValidity::of("/tx"), [said, written.to_vec(), vec![does(0, "commits")]].concat())
        };
        assert_eq!(judge(words::VOTES_TO_COMMIT, "commit"), [Finding::Tested]);
        let missing = "p0 commits /tx/1, for which 1 of 2 sites have voted";
        assert_eq!(broken_by(&judge(words::VOTES_TO_COMMIT, "abort")), [(missing, None)]);
        let refused = "p0 commits /tx/1, which p1.1 has voted to abort";
        assert_eq!(broken_by(&judge(words::VOTES_TO_ABORT, "commit")), [(refused, None)]);
    }

    #[test]
    fn all_votes_to_commit_are_a_test_it_passes() {
        assert_eq!(after(&[("/tx/1/p0", "commit"), ("/tx/1/p1", "commit")]), [Finding::Tested]);
        let alone = vec![proposes(1), written("/tx/1/p0", "commit"), does(0, "commits")];
        assert_eq!(findings(CommitValidity::of("/tx"), alone), [], "one site needs no vote but its own");
    }
}
