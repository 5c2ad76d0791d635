//! `no-orphan-transaction`.

use super::broken_at;
use super::commitment::transaction_of;
use crate::event::{End, Event, Fact};
use crate::promise::{Finding, Promise, Rest};
use std::collections::BTreeMap;

/// At rest, a transaction is there only for a site that has not acknowledged it, and that has a reason: it did not come
/// to its end.
///
/// Site `p1` is process 1, in its last life. The last one that acknowledges may die before it removes the transaction:
/// so one without any sites is left of nobody only if all have come to their ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoOrphanTransaction {
    root: &'static str,
    /// Which processes there are, and whether they have done all they were to do.
    done: BTreeMap<u16, bool>,
}

impl NoOrphanTransaction {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        NoOrphanTransaction { root, done: BTreeMap::new() }
    }

    fn is_done(&self, site: &str) -> bool {
        let process = site.strip_prefix('p').and_then(|number| number.parse().ok());
        process.and_then(|process: u16| self.done.get(&process)) == Some(&true)
    }
}

impl Promise for NoOrphanTransaction {
    fn name(&self) -> &'static str {
        "no-orphan-transaction"
    }

    fn about(&self) -> &'static str {
        "At rest, a transaction is left only for sites that did not live to acknowledge it."
    }

    /// It looks at what is left at rest, and at who has come to an end.
    fn judged_from_outside(&self) -> bool {
        true
    }

    fn see(&mut self, event: &Event, _found: &mut Vec<Finding>) {
        match event {
            Event::Is(Fact::SessionOpened { actor, .. }) => {
                self.done.insert(actor.process, false);
            }
            Event::Is(Fact::Finished { actor, end }) => {
                self.done.insert(actor.process, *end == End::Done);
            }
            Event::Is(_) | Event::Says { .. } => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let before = found.len();
        let mut waiting: BTreeMap<&str, bool> = BTreeMap::new();
        for (path, _) in &rest.nodes {
            if path.rsplit_once('/').is_some_and(|(parent, _)| parent == self.root) {
                waiting.entry(path).or_default();
            }
            let Some(transaction) = transaction_of(self.root, path) else { continue };
            let site = &path[transaction.len() + 1..];
            if site == "decision" {
                continue;
            }
            *waiting.entry(transaction).or_default() = true;
            if self.is_done(site) {
                let what = format!("{path} is left, though {site} has done all it was to do");
                found.push(broken_at(what, [transaction]));
            }
        }
        let all_done = self.done.values().all(|done| *done);
        for (transaction, _) in waiting.iter().filter(|(_, waits)| all_done && !**waits) {
            let what = format!("{transaction} is left, and nobody has yet to acknowledge it");
            found.push(broken_at(what, [*transaction]));
        }
        if found.len() == before {
            found.push(Finding::Tested);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use zk_api::SessionId;

    fn left(events: Vec<Event>, paths: &[&str]) -> Vec<Finding> {
        let mut promise = NoOrphanTransaction::of("/tx");
        let mut found = Vec::new();
        for event in [vec![opened(0), opened(1)], events].concat() {
            promise.see(&event, &mut found);
        }
        let nodes = paths.iter().map(|path| ((*path).into(), SessionId::NONE)).collect();
        promise.at_rest(&Rest { nodes, ..Rest::default() }, &mut found);
        found
    }

    #[test]
    fn one_that_waits_for_a_site_that_is_done_breaks_it() {
        let found = left(vec![finished(0)], &["/tx/1", "/tx/1/decision", "/tx/1/p0", "/tx/1/p1"]);
        assert_eq!(broken_by(&found), [("/tx/1/p0 is left, though p0 has done all it was to do", None)]);
    }

    #[test]
    fn one_that_waits_for_nobody_breaks_it_if_all_are_done() {
        let paths = ["/tx/1", "/tx/1/decision"];
        let found = left(vec![finished(0), finished(1)], &paths);
        assert_eq!(broken_by(&found), [("/tx/1 is left, and nobody has yet to acknowledge it", None)]);
        assert_eq!(left(vec![finished(0)], &paths), [Finding::Tested]);
    }

    #[test]
    fn one_that_waits_for_the_dead_is_as_documented() {
        assert_eq!(left(vec![finished(0), crashed(1)], &["/tx/1", "/tx/1/p1"]), [Finding::Tested]);
        assert_eq!(left(vec![finished(0), finished(1)], &["/sites/p0"]), [Finding::Tested]);
        assert_eq!(left(vec![opened(10), finished(1)], &["/tx/1", "/tx/1/p10"]), [Finding::Tested]);
    }
}
