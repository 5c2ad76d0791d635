//! `no-orphan-transaction`.

use super::commitment::transaction_of;
use super::findings::broken_at;
use crate::context::below;
use crate::event::{ActorId, End, Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use std::collections::BTreeMap;
use zk_api::{SessionId, Text};

/// At rest, a transaction exists only for a site that has not acknowledged it because it did not come to its end.
///
/// Site `p1` is process 1, in its last life; one of another name is the process that has written its znode last. The
/// last one that acknowledges may die before it removes the transaction: so a transaction without any sites is an
/// orphan only if all sites have come to their ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoOrphanTransaction {
    root: &'static str,
    /// The last lives of the processes that there are, and how far they are.
    sites: BTreeMap<ActorId, Site>,
    /// Whose the live sessions are.
    sessions: BTreeMap<SessionId, ActorId>,
    /// Which process has written the znodes of sites last whose names tell of none.
    written_by: BTreeMap<Text, u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Site {
    /// It has told of no transaction.
    Idle,
    /// It has.
    Busy,
    /// It has done all it was to do.
    Done,
}

impl NoOrphanTransaction {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        let (sites, sessions, written_by) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        NoOrphanTransaction { root, sites, sessions, written_by }
    }

    /// Which process a site is, by the path of its znode.
    fn process_of(&self, path: &str) -> Option<u16> {
        by_name(path).or_else(|| self.written_by.get(path).copied())
    }

    fn is_done(&self, path: &str) -> bool {
        let process = self.process_of(path);
        self.sites.iter().any(|(actor, far)| Some(actor.process) == process && *far == Site::Done)
    }
}

/// `p1` is process 1.
fn by_name(path: &str) -> Option<u16> {
    path.rsplit('/').next()?.strip_prefix('p')?.parse().ok()
}

impl Promise for NoOrphanTransaction {
    fn terms(&self) -> Terms {
        Terms::of("no-orphan-transaction")
            .about("At rest, a transaction is left only for sites that did not live to acknowledge it.")
            .tested_when("A site that has told of a transaction comes to its end.")
            // It looks at what is left at rest, and at who has come to an end.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                // A life may have several, one after the other.
                self.sites.retain(|other, _| other.process != actor.process || other == actor);
                self.sites.entry(*actor).or_insert(Site::Idle);
                self.sessions.insert(*session, *actor);
            }
            Event::Is(GroundTruth::SessionClosed { session, .. }) => drop(self.sessions.remove(session)),
            Event::Is(GroundTruth::NodeWritten { path, by, .. })
                if transaction_of(self.root, path).is_some() && by_name(path).is_none() =>
            {
                if let Some(actor) = self.sessions.get(by) {
                    self.written_by.insert(path.clone(), actor.process);
                }
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) => drop(self.written_by.remove(path)),
            Event::Is(GroundTruth::Finished { actor, end: End::Done }) => {
                let before = self.sites.insert(*actor, Site::Done);
                found.extend((before == Some(Site::Busy)).then_some(Finding::Tested));
            }
            Event::Observed { actor, what } if what.told().is_some_and(|(_, of, _)| below(self.root, of)) => {
                self.sites.insert(actor.main(), Site::Busy);
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
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
            if self.is_done(path) {
                let what = format!("{path} is left, though {site} has done all it was to do");
                found.push(broken_at(what, [transaction]));
            }
        }
        let all_done = self.sites.values().all(|site| *site == Site::Done);
        for (transaction, _) in waiting.iter().filter(|(_, waits)| all_done && !**waits) {
            let what = format!("{transaction} is left, and nobody has yet to acknowledge it");
            found.push(broken_at(what, [*transaction]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment;
    use super::super::testing::*;
    use super::*;

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
        assert_eq!(left(vec![finished(0)], &paths), []);
    }

    #[test]
    fn one_that_waits_for_the_dead_is_as_documented() {
        assert_eq!(left(vec![finished(0), crashed(1)], &["/tx/1", "/tx/1/p1"]), []);
        assert_eq!(left(vec![finished(0), finished(1)], &["/sites/p0"]), []);
        assert_eq!(left(vec![opened(10), finished(1)], &["/tx/1", "/tx/1/p10"]), []);
        assert_eq!(left(vec![finished(0), finished(1)], &["/tx/1", "/tx/1/p7"]), [], "it never came");
        let next = Event::Is(GroundTruth::SessionOpened {
            session: session(7),
            actor: ActorId { life: 1, ..actor(0) },
        });
        assert_eq!(left(vec![finished(0), next], &["/tx/1", "/tx/1/p0"]), [], "its last life is under way");
    }

    /// A site of another name was nobody, and an excuse for its transaction.
    #[test]
    fn a_site_whose_name_tells_nothing_is_who_has_written_its_vote() {
        let votes = |p: u16| commitment::testing::written_by(session(p), "/tx/1/site-a", "commit");
        let paths = ["/tx/1", "/tx/1/site-a"];
        let found = left(vec![votes(0), finished(0)], &paths);
        assert_eq!(
            broken_by(&found),
            [("/tx/1/site-a is left, though site-a has done all it was to do", None)]
        );
        assert_eq!(left(vec![votes(1), finished(0)], &paths), [], "it is another's");
        assert_eq!(left(vec![finished(0)], &paths), [], "nobody has voted there");
        assert_eq!(broken_by(&left(vec![votes(1), votes(0), finished(0)], &paths)).len(), 1);
    }

    /// Who had come to its end was held to nothing once its client had opened another session.
    #[test]
    fn who_goes_on_in_a_new_session_has_done_what_it_did_in_the_former_one() {
        let next = Event::Is(GroundTruth::SessionOpened { session: session(7), actor: actor(0) });
        let found = left(vec![finished(0), closed(0), next.clone(), opened(2)], &["/tx/1", "/tx/1/p0"]);
        assert_eq!(broken_by(&found), [("/tx/1/p0 is left, though p0 has done all it was to do", None)]);
        let took_part = vec![notes(0, "proposes", "/tx/1"), closed(0), next, finished(0)];
        assert_eq!(left(took_part, &[]), [Finding::Tested]);
    }

    /// Any quiet rest was a test of it, and a trial whose actors return at once was green.
    #[test]
    fn it_takes_a_site_that_took_part_and_came_to_its_end() {
        assert_eq!(left(vec![notes(0, "proposes", "/tx/1"), finished(0)], &[]), [Finding::Tested]);
        assert_eq!(left(vec![notes(0, "proposes", "/elsewhere/1"), finished(0)], &[]), []);
        assert_eq!(left(vec![notes(0, "proposes", "/tx/1"), crashed(0)], &[]), []);
    }
}
