//! `revocation-heeded`.

use super::findings::broken;
use crate::context::below;
use crate::event::{Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use std::collections::BTreeMap;
use zk_api::{EventType, Text};

/// What to write to a contender's znode to ask for it back.
pub(super) const UNLOCK: &[u8] = b"unlock";

/// Whoever is asked to give back what it holds does so while it lives.
///
/// It is put to the test when the owner of a znode was woken by the request to give it back, and deletes it: a release
/// that would have come anyhow is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RevocationHeeded {
    lock: &'static str,
    /// The contenders' znodes that are asked back, and whether somebody was woken by that.
    asked: BTreeMap<Text, bool>,
}

impl RevocationHeeded {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        RevocationHeeded { lock, asked: BTreeMap::new() }
    }
}

impl Promise for RevocationHeeded {
    fn terms(&self) -> Terms {
        Terms::of("revocation-heeded")
            .about("Whoever is asked to give back what it holds does so while its session lives.")
            .tested_when("The owner of a znode that was asked back is told of it, and deletes it.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeWritten { path, data, .. }) if below(self.lock, path) => {
                if data.bytes() == UNLOCK {
                    self.asked.entry(path.clone()).or_default();
                } else {
                    self.asked.remove(path);
                }
            }
            Event::Is(GroundTruth::Fired { path, kind: EventType::NodeDataChanged, woken }) => {
                self.asked.entry(path.clone()).and_modify(|told| *told |= !woken.is_empty());
            }
            Event::Is(GroundTruth::NodeDeleted { path, by, owner, .. }) => {
                let given_back = self.asked.remove(path) == Some(true) && by == owner;
                found.extend(given_back.then_some(Finding::Tested));
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (path, actor) in rest.owned().filter(|(path, _)| self.asked.contains_key(*path)) {
            found.push(broken(format!("{actor} was asked to give back {path}, and did not"), None));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const A: &str = "/lock/a-lock-0000000000";

    #[test]
    fn what_was_asked_back_and_is_still_held_at_rest_breaks_it() {
        let mut promise = RevocationHeeded::of(LOCK);
        let mut found = Vec::new();
        promise.see(&asked_back(A), &mut found);
        let rest = |owner| Rest {
            nodes: vec![(A.into(), session(owner))],
            sessions: vec![(session(0), actor(0))],
            ..Rest::default()
        };
        promise.at_rest(&rest(7), &mut found);
        assert_eq!(found, [], "a session that is dead is nobody's fault");
        promise.at_rest(&rest(0), &mut found);
        assert_eq!(
            broken_by(&found),
            [("p0 was asked to give back /lock/a-lock-0000000000, and did not", None)]
        );
    }

    #[test]
    fn giving_it_back_is_a_test_it_passes_and_having_it_taken_is_none() {
        let told = || fired(A, EventType::NodeDataChanged, &[0]);
        let found = findings(RevocationHeeded::of(LOCK), vec![asked_back(A), told(), deleted(A, 0, 0)]);
        assert_eq!(found, [Finding::Tested]);
        assert_eq!(findings(RevocationHeeded::of(LOCK), vec![asked_back(A), told(), deleted(A, 1, 0)]), []);
    }

    #[test]
    fn what_is_given_back_unasked_or_asked_back_no_more_is_no_matter() {
        let told = || fired(A, EventType::NodeDataChanged, &[0]);
        let judged = |events| findings(RevocationHeeded::of(LOCK), events);
        assert_eq!(judged(vec![told(), deleted(A, 0, 0)]), []);
        assert_eq!(judged(vec![asked_back(A), deleted(A, 0, 0)]), [], "nobody was told");
        let (path, by, mzxid) = (A.into(), session(50), zk_api::Zxid::new(1, 10));
        let kept = Event::Is(GroundTruth::NodeWritten {
            path,
            by,
            owner: session(0),
            data: "keep it".into(),
            mzxid,
        });
        let rest = Rest {
            nodes: vec![(A.into(), session(0))],
            sessions: vec![(session(0), actor(0))],
            ..Rest::default()
        };
        assert_eq!(resting(RevocationHeeded::of(LOCK), vec![asked_back(A), kept], &rest), []);
    }
}
