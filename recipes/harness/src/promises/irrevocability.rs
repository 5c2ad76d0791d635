//! `irrevocability`.

use super::commitment::{Told, told, transaction_of, verb};
use super::findings::broken_at;
use crate::event::Event;
use crate::promise::{Finding, Promise, Terms};
use std::collections::BTreeMap;
use zk_api::Text;

/// A written vote or decision never changes, and no site does first one thing and then the other.
///
/// A site is a process, through all its lives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Irrevocability {
    root: &'static str,
    /// What is written in each znode: whether it is to commit.
    written: BTreeMap<Text, bool>,
    /// What each process has done in a transaction.
    done: BTreeMap<(Text, i64), bool>,
}

impl Irrevocability {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        Irrevocability { root, written: BTreeMap::new(), done: BTreeMap::new() }
    }
}

impl Promise for Irrevocability {
    fn terms(&self) -> Terms {
        Terms::of("irrevocability").about("No vote and no decision is ever changed (AC3).").tested_when(
            "A site does as was decided in a transaction in which a vote or a decision is written.",
        )
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match told(self.root, event) {
            Some(Told::Written(path, commits, _)) => {
                let before = self.written.insert(path.clone(), commits);
                if before == Some(!commits) {
                    let (now, then) = (verb(commits), verb(!commits));
                    let what = format!("{path} {now}, where it was written that it {then}");
                    found.push(broken_at(what, [&**path]));
                }
            }
            Some(Told::Done(transaction, by, commits)) => {
                let before = self.done.insert((transaction.into(), by), commits);
                // What it goes by was written, and could have been changed until now.
                let is_of = |(path, _): (&Text, _)| transaction_of(self.root, path) == Some(transaction);
                match before == Some(!commits) {
                    true => {
                        let (now, then) = (verb(commits), verb(!commits));
                        let what = format!("p{by} {now} {transaction}, of which it has said that it {then}");
                        found.push(broken_at(what, [transaction]));
                    }
                    false => found.extend(self.written.iter().any(is_of).then_some(Finding::Tested)),
                }
            }
            Some(
                Told::Proposed(..) | Told::Impatient(_) | Told::Failed(_) | Told::Begun(..) | Told::Voted(..),
            )
            | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::*;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_vote_or_decision_written_otherwise_breaks_it() {
        for path in ["/tx/1/p0", "/tx/1/decision"] {
            let events = vec![written(path, ""), written(path, "commit"), written(path, "abort")];
            let found = findings(Irrevocability::of("/tx"), events);
            let what = format!("{path} aborts, where it was written that it commits");
            assert_eq!(broken_by(&found), [(&*what, None)]);
        }
    }

    #[test]
    fn a_process_that_does_the_other_thing_in_another_life_breaks_it() {
        let found = findings(Irrevocability::of("/tx"), vec![does(1, "commits"), does(1, "aborts")]);
        assert_eq!(broken_by(&found), [("p1 aborts /tx/1, of which it has said that it commits", None)]);
    }

    #[test]
    fn what_stands_until_it_is_done_is_a_test_it_passes() {
        let events = vec![written("/tx/1/p0", "abort"), written("/tx/1/p0", "abort"), does(1, "aborts")];
        assert_eq!(findings(Irrevocability::of("/tx"), events), [Finding::Tested]);
    }
}
