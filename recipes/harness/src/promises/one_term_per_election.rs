//! `one-term-per-election`.

use super::findings::broken;
use crate::context::below;
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
                if **lock == *self.election =>
            {
                found.push(match self.led.insert(node.clone()) {
                    true => Finding::Tested,
                    false => broken(format!("{actor} begins to lead by {node} once more"), None),
                });
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if below(self.election, path) => {
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
}
