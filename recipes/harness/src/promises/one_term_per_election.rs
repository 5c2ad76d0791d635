//! `one-term-per-election`.

use super::findings::broken;
use crate::event::{Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Terms};
use std::collections::BTreeSet;
use zk_api::Text;

/// Being elected once means leading once: with one candidate's znode, an actor begins to lead only once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OneTermPerElection {
    election: &'static str,
    /// The candidates' znodes that exist and by which somebody has led.
    led: BTreeSet<Text>,
}

impl OneTermPerElection {
    /// For one election.
    pub fn of(election: &'static str) -> Self {
        OneTermPerElection { election, led: BTreeSet::new() }
    }
}

impl Promise for OneTermPerElection {
    fn terms(&self) -> Terms {
        Terms::of("one-term-per-election")
            .about("By one candidate's znode, somebody begins to lead a single time.")
            .tested_when("Somebody begins to lead.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what: Observation::Granted { lock, node, .. } }
                // Not everybody tells by which znode.
                if **lock == *self.election && !node.is_empty() =>
            {
                found.push(match self.led.insert(node.clone()) {
                    true => Finding::Tested,
                    false => broken(format!("{actor} begins to lead by {node} once more"), None),
                });
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) => {
                self.led.remove(path);
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn leading_twice_by_one_election_breaks_it() {
        let found = findings(OneTermPerElection::of(LOCK), vec![granted(0), leaves(0), granted(0)]);
        let what = "p0 begins to lead by /lock/a-lock-0000000000 once more";
        assert_eq!((&found[0], broken_by(&found)), (&Finding::Tested, vec![(what, None)]));
    }

    /// A znode that is the election itself was led by for ever, and so was one that nobody tells of.
    #[test]
    fn leading_by_another_znode_or_by_one_that_is_made_anew_or_not_told_is_another_term() {
        let leads = |node| granted_as(0, node, None);
        for node in ["/lock/a-lock-0000000000", LOCK] {
            let other = leads("/lock/b-lock-0000000001");
            let terms = vec![leads(node), deleted(node, 0, 0), other, leads(node), vanished("/lock/b", 0)];
            assert_eq!(
                findings(OneTermPerElection::of(LOCK), terms.clone()),
                [Finding::Tested, Finding::Tested, Finding::Tested]
            );
            let again = [terms, vec![leads(node)]].concat();
            assert_eq!(broken_by(&findings(OneTermPerElection::of(LOCK), again)).len(), 1);
        }
        assert_eq!(findings(OneTermPerElection::of(LOCK), vec![leads(""), leads("")]), []);
        assert_eq!(findings(OneTermPerElection::of("/other"), vec![leads(LOCK), leads(LOCK)]), []);
    }
}
