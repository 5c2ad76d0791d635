//! `abort-validity`.

use super::commitment::{Told, told, transaction_of};
use super::findings::broken_at;
use crate::event::{ActorId, Event};
use crate::promise::{Finding, Promise, Terms};
use std::collections::BTreeSet;
use zk_api::Text;

/// Where nobody has failed and all vote to commit, all commit.
///
/// A site fails if it loses its session, crashes, or is so slow that another says it waits no longer. After a lost
/// session or a crash, every transaction that is under way then may abort, and so may those that begin before the next
/// life of the failed site has a session. If another site waits no longer, only that one transaction may.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbortValidity {
    root: &'static str,
    /// Whoever has no znode below this one is not waited for.
    sites: &'static str,
    /// Who is there, and who has failed and is not there again.
    there: BTreeSet<ActorId>,
    failed: BTreeSet<ActorId>,
    /// Transactions that have begun, and those that somebody may have failed in.
    begun: BTreeSet<Text>,
    exempt: BTreeSet<Text>,
    /// Transactions with a vote to abort.
    refused: BTreeSet<Text>,
    /// Transactions of one site, which has nobody to fail it.
    alone: BTreeSet<Text>,
}

impl AbortValidity {
    /// For the transactions below one znode, whose sites are present below another.
    pub fn of(root: &'static str, sites: &'static str) -> Self {
        let (there, failed) = (BTreeSet::new(), BTreeSet::new());
        let (begun, exempt, refused, alone) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        AbortValidity { root, sites, there, failed, begun, exempt, refused, alone }
    }

    fn begins(&mut self, transaction: &str) {
        if self.begun.insert(transaction.into()) && !self.failed.is_empty() {
            self.exempt.insert(transaction.into());
        }
    }

    fn fails(&mut self, actor: ActorId) {
        self.exempt.extend(self.begun.iter().cloned());
        // The session of a former life ends when the next one is there.
        if self.there.remove(&actor) {
            self.failed.insert(actor);
        }
    }

    fn is_there(&mut self, actor: ActorId) {
        self.failed.retain(|other| other.process != actor.process);
        self.there.retain(|other| other.process != actor.process);
        self.there.insert(actor);
    }
}

impl Promise for AbortValidity {
    fn terms(&self) -> Terms {
        Terms::of("abort-validity")
            .about("Where nobody fails and all vote to commit, nobody aborts (AC4).")
            .tested_when("A site commits in a transaction of two sites or more, in which nobody has failed.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match told(self.root, event) {
            Some(Told::Failed(actor)) => self.fails(actor),
            Some(Told::Begun(actor, _)) => self.is_there(actor),
            Some(Told::Impatient(transaction)) => {
                self.exempt.insert(transaction.into());
            }
            Some(Told::Written(path, commits, _)) => {
                let Some(transaction) = transaction_of(self.root, path) else { return };
                self.begins(transaction);
                if !commits && !path.ends_with("/decision") {
                    self.refused.insert(transaction.into());
                }
            }
            Some(Told::Proposed(transaction, sites)) => {
                self.begins(transaction);
                if sites < 2 {
                    self.alone.insert(transaction.into());
                }
            }
            Some(Told::Done(transaction, ..)) if self.exempt.contains(transaction) => {}
            Some(Told::Done(transaction, _, true)) => {
                found.extend((!self.alone.contains(transaction)).then_some(Finding::Tested));
            }
            Some(Told::Done(transaction, by, false)) if !self.refused.contains(transaction) => {
                let what = format!("p{by} aborts {transaction}, though nobody has failed or voted so");
                found.push(broken_at(what, [transaction, self.sites]));
            }
            Some(Told::Done(..) | Told::Voted(..)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::*;
    use super::super::testing::*;
    use super::*;
    use crate::event::GroundTruth;

    fn aborts_after(mut events: Vec<Event>) -> Vec<Finding> {
        events.extend([written("/tx/1/decision", "abort"), does(1, "aborts")]);
        findings(AbortValidity::of("/tx", "/sites"), events)
    }

    #[test]
    fn to_abort_without_a_cause_breaks_it() {
        for events in [vec![], vec![written("/tx/1/p0", "commit")], vec![written("/tx/2/p0", "abort")]] {
            let what = "p1 aborts /tx/1, though nobody has failed or voted so";
            assert_eq!(broken_by(&aborts_after(events)), [(what, None)]);
        }
    }

    #[test]
    fn a_vote_to_abort_or_a_failure_is_a_cause() {
        for cause in [written("/tx/1/p0", "abort"), crashed(0), closed(2), impatient(0)] {
            assert_eq!(aborts_after(vec![opened(0), opened(2), written("/tx/1/p1", "commit"), cause]), []);
        }
        // Whoever comes later finds nobody there.
        assert_eq!(aborts_after(vec![opened(0), crashed(0)]), []);
    }

    /// Nothing was judged any more once anybody had failed: a site that came back could abort all there was.
    #[test]
    fn a_failure_is_no_cause_once_the_next_life_is_there() {
        let next = Event::Is(GroundTruth::SessionOpened {
            session: session(7),
            actor: ActorId { life: 1, ..actor(0) },
        });
        let what = "p1 aborts /tx/1, though nobody has failed or voted so";
        let found = aborts_after(vec![opened(0), crashed(0), next.clone()]);
        assert_eq!(broken_by(&found), [(what, None)]);
        // That its former session ends meanwhile is a cause of what is under way.
        let under_way = written("/tx/1/p1", "commit");
        assert_eq!(aborts_after(vec![opened(0), crashed(0), next.clone(), under_way, closed(0)]), []);
        let found = aborts_after(vec![opened(0), crashed(0), next, closed(0)]);
        assert_eq!(broken_by(&found), [(what, None)]);
    }

    #[test]
    fn to_commit_is_a_test_it_passes() {
        assert_eq!(findings(AbortValidity::of("/tx", "/sites"), vec![does(0, "commits")]), [Finding::Tested]);
        let alone = vec![proposes(1), does(0, "commits")];
        assert_eq!(findings(AbortValidity::of("/tx", "/sites"), alone), [], "one site has nobody to fail it");
    }
}
