//! `abort-validity`.

use super::broken_at;
use super::commitment::{Told, told, transaction_of};
use crate::event::Event;
use crate::promise::{Finding, Promise};
use std::collections::BTreeSet;
use zk_api::Text;

/// Where nobody has failed and all vote to commit, all commit.
///
/// To fail is to lose one's session, to crash, or to be slow enough that another says it waits no longer. Once that has
/// happened nothing is judged any more: what a failure is the cause of cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbortValidity {
    root: &'static str,
    /// Whoever has no znode below this one is not waited for.
    sites: &'static str,
    failed: bool,
    /// Transactions with a vote to abort.
    refused: BTreeSet<Text>,
    /// Transactions of one site, which has nobody to fail it.
    alone: BTreeSet<Text>,
}

impl AbortValidity {
    /// For the transactions below one znode, whose sites are present below another.
    pub fn of(root: &'static str, sites: &'static str) -> Self {
        AbortValidity { root, sites, failed: false, refused: BTreeSet::new(), alone: BTreeSet::new() }
    }
}

impl Promise for AbortValidity {
    fn name(&self) -> &'static str {
        "abort-validity"
    }

    fn about(&self) -> &'static str {
        "Where nobody fails and all vote to commit, nobody aborts (AC4)."
    }

    fn tested_when(&self) -> &'static str {
        "A site commits in a transaction of two sites or more, before anybody has failed."
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if self.failed {
            return;
        }
        match told(self.root, event) {
            Some(Told::Failed) => {
                self.failed = true;
                self.refused.clear();
                self.alone.clear();
            }
            Some(Told::Written(path, false)) if !path.ends_with("/decision") => {
                self.refused.extend(transaction_of(self.root, path).map(Text::from));
            }
            Some(Told::Proposed(transaction, ..2)) => {
                self.alone.insert(transaction.into());
            }
            Some(Told::Done(transaction, _, true)) => {
                found.extend((!self.alone.contains(transaction)).then_some(Finding::Tested));
            }
            Some(Told::Done(transaction, by, false)) if !self.refused.contains(transaction) => {
                let what = format!("p{by} aborts {transaction}, though nobody has failed or voted so");
                found.push(broken_at(what, [transaction, self.sites]));
            }
            Some(Told::Done(..) | Told::Written(..) | Told::Proposed(..)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::*;
    use super::super::testing::*;
    use super::*;

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
            assert_eq!(aborts_after(vec![cause]), []);
        }
    }

    #[test]
    fn to_commit_is_a_test_it_passes() {
        assert_eq!(findings(AbortValidity::of("/tx", "/sites"), vec![does(0, "commits")]), [Finding::Tested]);
        let alone = vec![proposes(1), does(0, "commits")];
        assert_eq!(findings(AbortValidity::of("/tx", "/sites"), alone), [], "one site has nobody to fail it");
    }
}
