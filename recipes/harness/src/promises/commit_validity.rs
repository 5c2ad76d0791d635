//! `commit-validity`.

use super::commitment::{Told, told, transaction_of};
use super::findings::broken_at;
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// A site commits only if the votes of all sites were written before, and all are to commit. A vote is a child of the
/// transaction's znode, other than `decision`, in which `commit` or `abort` is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommitValidity {
    root: &'static str,
    /// Among how many sites it is.
    among: BTreeMap<Text, i64>,
    /// The sessions of each, in their order.
    sessions: BTreeMap<ActorId, Vec<SessionId>>,
    /// The votes, by their znodes.
    votes: BTreeMap<Text, Vote>,
    /// Who has voted to commit, by its own word.
    agreed: BTreeSet<(Text, ActorId)>,
    /// Who has voted to abort by its own word, and by which session: unless a [vote of its own](Self::voter) to commit
    /// stands, which another of its sessions has written.
    refused: BTreeSet<(Text, ActorId, SessionId)>,
}

/// What was written last as a vote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Vote {
    commits: bool,
    /// Who has written it, as long as it is there.
    by: BTreeSet<SessionId>,
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

    /// The votes to commit in a transaction.
    fn ayes(&self, transaction: &str) -> impl Iterator<Item = &Vote> {
        let is_of = move |path: &Text| transaction_of(self.root, path) == Some(transaction);
        self.votes.iter().filter(move |(path, vote)| vote.commits && is_of(path)).map(|(_, vote)| vote)
    }

    /// Which process says that it votes to commit, of which this session is. Whether it writes its own vote or another
    /// site's nobody knows.
    fn voter(&self, transaction: &str, session: SessionId) -> Option<u16> {
        let (actor, _) = self.sessions.iter().find(|(_, all)| all.contains(&session))?;
        self.agreed.contains(&(transaction.into(), *actor)).then_some(actor.process)
    }

    fn is_written(&mut self, transaction: &str, path: &Text, commits: bool, by: SessionId) {
        let vote = self.votes.entry(path.clone()).or_default();
        if vote.commits != commits {
            *vote = Vote { commits, by: BTreeSet::new() };
        }
        vote.by.insert(by);
        if commits && let Some(voter) = self.voter(transaction, by) {
            self.refused.retain(|(of, actor, session)| {
                **of != *transaction || actor.process != voter || *session == by
            });
        }
    }

    fn refuses(&mut self, transaction: &str, actor: ActorId) {
        let session =
            self.sessions.get(&actor).and_then(|all| all.last()).copied().unwrap_or(SessionId::NONE);
        let is_its = |by: &SessionId| *by != session && self.voter(transaction, *by) == Some(actor.process);
        if !self.ayes(transaction).flat_map(|vote| &vote.by).any(is_its) {
            self.refused.insert((transaction.into(), actor, session));
        }
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
                let transaction = transaction_of(self.root, path).expect("it is told of those");
                self.is_written(transaction, path, commits, by);
            }
            Some(Told::Voted(transaction, actor, true)) => {
                self.agreed.insert((transaction.into(), actor));
            }
            Some(Told::Voted(transaction, actor, false)) => self.refuses(transaction, actor),
            Some(Told::Done(transaction, by, true)) => {
                if let Some((_, site, _)) = self.refused.iter().find(|(of, ..)| **of == *transaction) {
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
            Some(Told::Done(_, _, false) | Told::Written(..) | Told::Impatient(_) | Told::Failed(_)) => {}
            None => {
                if let Event::Is(GroundTruth::NodeDeleted { path, .. }) = event
                    && let Some(vote) = self.votes.get_mut(path)
                {
                    vote.by.clear();
                }
            }
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

    /// What p0 finds as it commits, after these events and its own vote.
    fn committing(events: Vec<Event>) -> Vec<Finding> {
        let before = vec![opened(0), opened(1), proposes(2), written("/tx/1/p0", "commit")];
        findings(CommitValidity::of("/tx"), [before, events, vec![does(0, "commits")]].concat())
    }

    fn votes(actor: ActorId, word: words::Word) -> Event {
        Event::Observed { actor, what: Observation::note(word, "/tx/1", 1) }
    }

    const AYE: words::Word = words::VOTES_TO_COMMIT;
    const NAY: words::Word = words::VOTES_TO_ABORT;
    const VOTE: &str = "/tx/1/p1";
    const REFUSED: [(&str, Option<crate::promise::Assumption>); 1] =
        [("p0 commits /tx/1, which p1 has voted to abort", None)];

    /// A coordinator may write what the site did not vote; that its session is over, or its process, changes nothing.
    #[test]
    fn one_that_has_said_so_breaks_it_whatever_is_written() {
        for ends in [vec![], vec![closes(1)], vec![closed(1)], vec![crashed(1)]] {
            for by in [0, 1, ADMIN] {
                let last = vec![written_by(session(by), VOTE, "commit")];
                let events = [vec![votes(actor(0), AYE), votes(actor(1), NAY)], ends.clone(), last].concat();
                assert_eq!(broken_by(&committing(events)), REFUSED, "{by}, after {ends:?}");
            }
        }
        let both = vec![votes(actor(1), AYE), written_by(session(1), VOTE, "commit"), votes(actor(1), NAY)];
        assert_eq!(broken_by(&committing(both)), REFUSED, "by the same session");
    }

    /// Seed 190 of two-phase-commit: the next life was not ready in time, and the vote of the former one stood.
    #[test]
    fn what_a_former_session_has_voted_stands() {
        let next = session(7);
        // In a next life, or in the same one with a renewed session. What the former one has asked for may come late.
        for (life, site) in [(0, "p1"), (1, "p1.1")] {
            let (first, then) = (actor(1), ActorId { life, ..actor(1) });
            let opens = Event::Is(GroundTruth::SessionOpened { session: next, actor: then });
            let writes = |by, vote| written_by(by, VOTE, vote);
            let refused = format!("p0 commits /tx/1, which {site} has voted to abort");
            for [before, after] in
                [[vec![crashed(1)], vec![]], [vec![closed(1)], vec![]], [vec![], vec![closed(1)]]]
            {
                let judge = |words: [words::Word; 2], early: Vec<Event>, late: Vec<Event>| {
                    let said = vec![votes(actor(0), AYE), votes(first, words[0])];
                    let again = vec![opens.clone(), votes(then, words[1])];
                    committing([said, early, before.clone(), again, after.clone(), late].concat())
                };
                let aye = || vec![writes(session(1), "commit")];
                assert_eq!(judge([AYE, NAY], vec![], aye()), [Finding::Tested]);
                assert_eq!(judge([AYE, NAY], aye(), vec![]), [Finding::Tested]);
                let again = || writes(session(0), "commit");
                assert_eq!(judge([AYE, NAY], aye(), vec![again()]), [Finding::Tested]);
                assert_eq!(judge([AYE, NAY], [aye(), vec![again()]].concat(), vec![]), [Finding::Tested]);
                assert_eq!(judge([NAY, AYE], vec![], vec![writes(next, "commit")]), [Finding::Tested]);
                // Who commits writes what the former session only said; and so does the one who says otherwise now.
                for by in [session(0), next, session(ADMIN)] {
                    let found = judge([AYE, NAY], vec![], vec![writes(by, "commit")]);
                    assert_eq!(broken_by(&found), [(&*refused, None)], "{by:?}");
                }
                for word in [NAY, words::Word::own("looks at")] {
                    let found = judge([word, NAY], vec![], aye());
                    assert_eq!(broken_by(&found).len(), 1, "it wrote what it did not say");
                }
                // So does one that changes its vote to abort, and not one that votes in another transaction.
                let says_no = vec![writes(session(1), "abort"), again()];
                let elsewhere = Observation::note(AYE, "/tx/2", 1);
                let votes_elsewhere = vec![
                    Event::Observed { actor: first, what: elsewhere },
                    written_by(session(1), "/tx/2/p1", "commit"),
                    again(),
                ];
                for late in [says_no, votes_elsewhere] {
                    assert_eq!(broken_by(&judge([AYE, NAY], vec![], late)), [(&*refused, None)]);
                }
                // It is changed, or gone, before the other word.
                let changed = || writes(session(0), "abort");
                for gone in [vec![changed()], vec![changed(), again()], vec![vanished(VOTE, 1)]] {
                    let early = [aye(), gone].concat();
                    assert_eq!(broken_by(&judge([AYE, NAY], early, vec![])), [(&*refused, None)]);
                }
            }
        }
    }

    #[test]
    fn all_votes_to_commit_are_a_test_it_passes() {
        assert_eq!(after(&[("/tx/1/p0", "commit"), ("/tx/1/p1", "commit")]), [Finding::Tested]);
        let alone = vec![proposes(1), written("/tx/1/p0", "commit"), does(0, "commits")];
        assert_eq!(findings(CommitValidity::of("/tx"), alone), [], "one site needs no vote but its own");
    }
}
