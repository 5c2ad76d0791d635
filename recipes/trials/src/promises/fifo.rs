//! `fifo`.

use super::{Crew, below, broken};
use crate::event::{Event, Fact, Observation};
use crate::promise::{Finding, Promise};
use zk_api::{SessionId, Text};

/// Whoever is granted the lock has the oldest of the contenders' znodes that exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fifo {
    lock: &'static str,
    crew: Crew,
    /// The ephemeral znodes below the lock that exist, oldest first.
    queue: Vec<Text>,
}

impl Fifo {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        Fifo { lock, crew: Crew::of(lock), queue: Vec::new() }
    }
}

impl Promise for Fifo {
    fn name(&self) -> &'static str {
        "fifo"
    }

    fn about(&self) -> &'static str {
        "The lock is granted in the order in which the contenders' znodes were created."
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.crew.see(event);
        match event {
            Event::Is(Fact::NodeCreated { path, owner, .. })
                if *owner != SessionId::NONE && below(self.lock, path) =>
            {
                self.queue.push(path.clone());
            }
            Event::Is(Fact::NodeDeleted { path, .. }) if below(self.lock, path) => {
                self.queue.retain(|queued| queued != path);
            }
            Event::Says { actor, what: Observation::Granted { lock, node, .. } }
                if **lock == *self.lock && !self.crew.is_dead(*actor) =>
            {
                // A znode that is gone already says nothing of the order.
                match self.queue.iter().position(|queued| queued == node) {
                    None => {}
                    Some(0) if self.queue.len() == 1 => {}
                    Some(0) => found.push(Finding::Tested),
                    Some(_) => {
                        let what = format!("{actor} was granted {node} before {}", self.queue[0]);
                        found.push(broken(what, None));
                    }
                }
            }
            Event::Is(_) | Event::Says { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const A: &str = "/lock/z-lock-0000000000";
    const B: &str = "/lock/a-lock-0000000001";

    #[test]
    fn a_grant_before_an_older_znode_breaks_it() {
        let found = findings(Fifo::of(LOCK), vec![created(A, 0), created(B, 1), granted_as(1, B, None)]);
        assert_eq!(
            broken_by(&found),
            [("p1 was granted /lock/a-lock-0000000001 before /lock/z-lock-0000000000", None)]
        );
    }

    #[test]
    fn the_oldest_znode_may_be_granted() {
        let found = findings(Fifo::of(LOCK), vec![created(A, 0), created(B, 1), granted_as(0, A, None)]);
        assert_eq!(found, [Finding::Tested]);
    }

    #[test]
    fn a_znode_that_is_gone_does_not_stand_before_others() {
        let events = vec![created(A, 0), created(B, 1), vanished(A, 0), granted_as(1, B, None)];
        assert_eq!(broken_by(&findings(Fifo::of(LOCK), events)), []);
    }
}
