//! `commit-validity`.

use super::commitment::{Told, told, transaction_of};
use super::findings::broken_at;
use crate::event::{ActorId, Event};
use crate::promise::{Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// A site commits only if the votes of all sites were written before, and all are to commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommitValidity {
    root: &'static str,
    /// Among how many sites it is.
    among: BTreeMap<Text, i64>,
    /// The sessions of each, in their order.
    sessions: BTreeMap<ActorId, Vec<SessionId>>,
    /// The votes, by their znodes: whether they are to commit, and who wrote them.
    votes: BTreeMap<Text, (bool, SessionId)>,
    /// By which session a site has voted to commit, by its own word.
    agreed: BTreeSet<(Text, SessionId)>,
    /// Who has voted to abort by its own word, and by which session.
    refused: BTreeSet<(Text, ActorId, SessionId)>,
}

impl CommitValidity {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        CommitValidity {
            root,
            among: BTreeMap::new(),
            sessions: BTreeMap::new(),
            votes: BTreeMap::new(),
            agreed: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }

    /// Who wrote the votes to commit of a transaction.
    fn ayes(&self, transaction: &str) -> impl Iterator<Item = SessionId> {
        let is_of = move |path: &str| transaction_of(self.root, path) == Some(transaction);
        self.votes.iter().filter(move |(path, (commits, _))| *commits && is_of(path)).map(|(_, (_, by))| *by)
    }

    /// Who has voted to abort, whatever stands in its znode: unless it is the vote to commit that an earlier session of
    /// the same process has announced and written, which stands.
    fn refuser(&self, transaction: &str) -> Option<ActorId> {
        let is_of = |by, process| {
            self.sessions.iter().any(|(writer, all)| writer.process == process && all.contains(&by))
        };
        let stands = |by, actor: ActorId, session| {
            by != session && is_of(by, actor.process) && self.agreed.contains(&(transaction.into(), by))
        };
        let has_refused = |(of, actor, session): &&(Text, ActorId, SessionId)| {
            **of == *transaction && !self.ayes(transaction).any(|by| stands(by, *actor, *session))
        };
        self.refused.iter().find(has_refused).map(|(_, actor, _)| *actor)
    }

    /// The session that an actor has now.
    fn session_of(&self, actor: ActorId) -> SessionId {
        self.sessions.get(&actor).and_then(|all| all.last()).copied().unwrap_or(SessionId::NONE)
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
            Some(Told::Begun(actor, session)) => self.sessions.entry(actor).or_default().push(session),
            Some(Told::Written(path, commits, by)) if !path.ends_with("/decision") => {
                self.votes.insert(path.clone(), (commits, by));
            }
            Some(Told::Voted(transaction, actor, true)) => {
                self.agreed.insert((transaction.into(), self.session_of(actor)));
            }
            Some(Told::Voted(transaction, actor, false)) => {
                self.refused.insert((transaction.into(), actor, self.session_of(actor)));
            }
            // Its next life may vote otherwise, if its word was not written.
            Some(Told::Failed(actor)) => self.refused.retain(|(_, other, _)| *other != actor),
            Some(Told::Done(transaction, by, true)) => {
                if let Some(site) = self.refuser(transaction) {
                    let what = format!("p{by} commits {transaction}, which {site} has voted to abort");
                    found.push(broken_at(what, [transaction]));
                    return;
                }
                let Some(among) = self.among.get(transaction) else { return };
                let ayes = self.ayes(transaction).count();
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
            Some(Told::Done(_, _, false) | Told::Written(..) | Told::Impatient(_)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::*;
    use super::super::testing::*;
    use super::*;
    use crate::event::{GroundTruth, Observation};
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
        let next = session(7);
        // In a next life, or in the same one with a renewed session, as its former one has expired.
        let judge = |life, former, by, last| {
            let [first, then] = [actor(1), ActorId { life, ..actor(1) }];
            let vote = |actor, what| Event::Observed { actor, what: Observation::note(what, "/tx/1", 1) };
            let ends = if life == 0 { closed(1) } else { crashed(1) };
            let opens = Event::Is(GroundTruth::SessionOpened { session: next, actor: then });
            let said = [vote(first, former), ends, opens, vote(then, words::VOTES_TO_ABORT)];
            let votes = [written("/tx/1/p0", "commit"), written_by(by, "/tx/1/p1", last)];
            let before = vec![opened(0), opened(1), proposes(2)];
            let events = [before, said.to_vec(), votes.to_vec(), vec![does(0, "commits")]].concat();
            findings(CommitValidity::of("/tx"), events)
        };
        let (aye, nay) = (words::VOTES_TO_COMMIT, words::VOTES_TO_ABORT);
        for (life, site) in [(0, "p1"), (1, "p1.1")] {
            assert_eq!(judge(life, aye, session(1), "commit"), [Finding::Tested]);
            let refused = format!("p0 commits /tx/1, which {site} has voted to abort");
            // The one who commits writes what the former life only said; and so does the one who said otherwise.
            for (former, by) in [(nay, session(1)), (aye, session(0)), (aye, next), (aye, session(ADMIN))] {
                assert_eq!(broken_by(&judge(life, former, by, "commit")), [(&*refused, None)], "{by:?}");
            }
            assert_eq!(broken_by(&judge(life, aye, session(1), "abort")), [(&*refused, None)]);
        }
    }

    #[test]
    fn all_votes_to_commit_are_a_test_it_passes() {
        assert_eq!(after(&[("/tx/1/p0", "commit"), ("/tx/1/p1", "commit")]), [Finding::Tested]);
        let alone = vec![proposes(1), written("/tx/1/p0", "commit"), does(0, "commits")];
        assert_eq!(findings(CommitValidity::of("/tx"), alone), [], "one site needs no vote but its own");
    }
}
