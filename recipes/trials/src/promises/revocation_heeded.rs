//! `revocation-heeded`.

use super::{below, broken};
use crate::event::{Event, Fact};
use crate::promise::{Finding, Promise, Rest};
use std::collections::BTreeSet;
use zk_api::{SessionId, Text};

/// What to write to a contender's znode to ask for it back.
const UNLOCK: &[u8] = b"unlock";

/// Whoever is asked to give back what it holds does so while it lives.
///
/// It is put to the test when the owner of a znode that asks for it back deletes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RevocationHeeded {
    lock: &'static str,
    /// The contenders' znodes that are asked back.
    asked: BTreeSet<Text>,
}

impl RevocationHeeded {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        RevocationHeeded { lock, asked: BTreeSet::new() }
    }
}

impl Promise for RevocationHeeded {
    fn name(&self) -> &'static str {
        "revocation-heeded"
    }

    fn about(&self) -> &'static str {
        "Whoever is asked to give back what it holds does so while its session lives."
    }

    fn tested_when(&self) -> &'static str {
        "The owner of a znode that was asked back deletes it."
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(Fact::NodeWritten { path, data, .. }) if below(self.lock, path) => {
                if data.bytes() == UNLOCK {
                    self.asked.insert(path.clone());
                } else {
                    self.asked.remove(path);
                }
            }
            Event::Is(Fact::NodeDeleted { path, by, owner, .. }) => {
                let given_back = self.asked.remove(path) && by == owner;
                found.extend(given_back.then_some(Finding::Tested));
            }
            Event::Is(_) | Event::Says { .. } => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let owned =
            rest.nodes.iter().filter(|(path, owner)| *owner != SessionId::NONE && self.asked.contains(path));
        for (path, owner) in owned {
            if let Some((_, actor)) = rest.sessions.iter().find(|(session, _)| session == owner) {
                found.push(broken(format!("{actor} was asked to give back {path}, and did not"), None));
            }
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
        let found = findings(RevocationHeeded::of(LOCK), vec![asked_back(A), deleted(A, 0, 0)]);
        assert_eq!(found, [Finding::Tested]);
        assert_eq!(findings(RevocationHeeded::of(LOCK), vec![asked_back(A), deleted(A, 1, 0)]), []);
    }
}
