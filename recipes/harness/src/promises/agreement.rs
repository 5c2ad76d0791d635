//! `agreement`.

use super::commitment::{Told, told, verb};
use super::findings::broken_at;
use crate::event::Event;
use crate::promise::{Finding, Promise, Terms};
use std::collections::BTreeMap;
use zk_api::Text;

/// No two sites act differently in one transaction.
///
/// This is uniform agreement: what a site does counts even if it dies in the act or its session has ended, since it may
/// have been done for good.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agreement {
    root: &'static str,
    /// What each process has done in a transaction: whether it commits.
    done: BTreeMap<(Text, i64), bool>,
}

impl Agreement {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        Agreement { root, done: BTreeMap::new() }
    }
}

impl Promise for Agreement {
    fn terms(&self) -> Terms {
        Terms::of("agreement")
            .about("No site commits what another aborts, whether they live or not (AC1).")
            .tested_when("Two sites have done as was decided in one transaction.")
            // It goes by what sites say they do.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let Some(Told::Done(transaction, by, commits)) = told(self.root, event) else { return };
        let others = || self.done.iter().filter(|((of, _), _)| **of == *transaction);
        if others().any(|(_, other)| *other != commits) {
            let (one, two) = (verb(commits), verb(!commits));
            let what = format!("p{by} {one} {transaction}, which another {two}");
            found.push(broken_at(what, [transaction]));
        } else if others().any(|((_, site), _)| *site != by) {
            found.push(Finding::Tested);
        }
        self.done.insert((transaction.into(), by), commits);
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::*;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn one_that_commits_what_another_aborts_breaks_it_dead_or_alive() {
        let found = findings(Agreement::of("/tx"), vec![does(0, "aborts"), closed(0), does(1, "commits")]);
        assert_eq!(broken_by(&found), [("p1 commits /tx/1, which another aborts", None)]);
    }

    #[test]
    fn two_that_do_the_same_are_a_test_it_passes() {
        let found = findings(Agreement::of("/tx"), vec![does(0, "aborts"), does(1, "aborts")]);
        assert_eq!(found, [Finding::Tested]);
        let one = vec![does(0, "aborts"), does(0, "aborts")];
        assert_eq!(findings(Agreement::of("/tx"), one), [], "one site agrees with nobody");
    }
}
