//! `leavers-unlisted`.

use super::findings::broken;
use crate::context::below;
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use crate::words;
use std::collections::BTreeMap;
use zk_api::{SessionId, Text};

/// Whoever has left the group has no znode there any more.
///
/// A member says "leaves" with the path of its znode, and "ends its round with" the same path when it has left. The
/// znode of another session, that of a former life or of somebody with the same name, is not the member's to remove.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaversUnlisted {
    group: &'static str,
    sessions: BTreeMap<SessionId, ActorId>,
    /// The members' znodes that exist, and whose they are.
    listed: BTreeMap<Text, SessionId>,
    /// Who leaves, by which znode, and whether it was listed by that when it began to.
    leaving: BTreeMap<(ActorId, Text), bool>,
}

impl LeaversUnlisted {
    /// For one group.
    pub fn of(group: &'static str) -> Self {
        LeaversUnlisted {
            group,
            sessions: BTreeMap::new(),
            listed: BTreeMap::new(),
            leaving: BTreeMap::new(),
        }
    }

    fn has_left(&mut self, actor: ActorId, node: &str, found: &mut Vec<Finding>) {
        let Some(was_listed) = self.leaving.remove(&(actor, node.into())) else { return };
        match self.is_listed(actor, node) {
            true => found.push(broken(format!("{actor} says that it has left, and {node} is there"), None)),
            false => found.extend(was_listed.then_some(Finding::Tested)),
        }
    }

    fn is_listed(&self, actor: ActorId, node: &str) -> bool {
        self.listed.get(node).and_then(|session| self.sessions.get(session)) == Some(&actor.main())
    }
}

impl Promise for LeaversUnlisted {
    fn terms(&self) -> Terms {
        Terms::of("leavers-unlisted")
            .about("Whoever has left the group is not listed by a znode of its own any more.")
            .tested_when("A member that was listed as it began to leave says that it has left.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => match what.told() {
                Some((words::JOINS, node, _)) if below(self.group, node) => {
                    self.leaving.remove(&(*actor, node.into()));
                }
                Some((words::LEAVES, node, _)) if below(self.group, node) => {
                    self.leaving.insert((*actor, node.into()), self.is_listed(*actor, node));
                }
                Some((words::ENDS_ITS_ROUND_WITH, node, _)) => self.has_left(*actor, node, found),
                _ => {}
            },
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.sessions.insert(*session, *actor);
            }
            Event::Is(GroundTruth::SessionClosed { session, actor, .. }) => {
                self.sessions.remove(session);
                // It may leave by another one.
                if !self.sessions.values().any(|other| other == actor) {
                    self.leaving.retain(|(leaves, _), _| leaves.main() != *actor);
                }
            }
            Event::Is(GroundTruth::Crashed { actor }) => {
                self.leaving.retain(|(leaves, _), _| leaves.main() != *actor);
            }
            // Its other threads go on.
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.leaving.retain(|(leaves, _), _| leaves != actor);
            }
            Event::Is(GroundTruth::NodeCreated { path, owner, .. }) if below(self.group, path) => {
                self.listed.insert(path.clone(), *owner);
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) => {
                self.listed.remove(path);
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const NODE: &str = "/lock/p0";

    fn judged(events: Vec<Event>) -> Vec<Finding> {
        let leaves = ["leaves", "ends its round with"].map(|what| notes(0, what, NODE));
        let [leaves, ends] = leaves;
        let all = [vec![opened(0), created(NODE, 0), leaves], events, vec![ends]].concat();
        findings(LeaversUnlisted::of(LOCK), all)
    }

    #[test]
    fn who_has_left_and_is_listed_still_breaks_it() {
        let found = judged(vec![]);
        assert_eq!(broken_by(&found), [("p0 says that it has left, and /lock/p0 is there", None)]);
    }

    #[test]
    fn who_is_gone_passes_also_if_another_has_the_name_by_now() {
        assert_eq!(judged(vec![deleted(NODE, 0, 0)]), [Finding::Tested]);
        let another = vec![deleted(NODE, 0, 0), created(NODE, 1)];
        assert_eq!(judged(another), [Finding::Tested]);
    }

    #[test]
    fn who_stays_or_is_dead_is_not_judged() {
        assert_eq!(judged(vec![closed(0)]), []);
        assert_eq!(judged(vec![notes(0, "joins", NODE)]), []);
        assert_eq!(judged(vec![crashed(0)]), []);
        assert_eq!(judged(vec![finished(0)]), []);
        for dies in [crashed(1), closed(1), finished(1)] {
            assert_eq!(broken_by(&judged(vec![dies])).len(), 1, "another one");
        }
    }

    /// Whoever left by two znodes was judged by one.
    #[test]
    fn who_leaves_by_several_znodes_is_judged_by_each() {
        const OTHER: &str = "/lock/other";
        let leave =
            vec![notes(0, "leaves", OTHER), deleted(NODE, 0, 0), notes(0, "ends its round with", OTHER)];
        let found = judged([vec![created(OTHER, 0)], leave].concat());
        let what = "p0 says that it has left, and /lock/other is there";
        assert_eq!((broken_by(&found), found.len()), (vec![(what, None)], 2));
        let stays = judged(vec![created(OTHER, 0), notes(0, "joins", OTHER)]);
        assert_eq!(broken_by(&stays).len(), 1, "by the other one");
    }

    #[test]
    fn who_says_once_more_that_it_has_left_is_not_judged_again() {
        let ends = notes(0, "ends its round with", NODE);
        assert_eq!(judged(vec![deleted(NODE, 0, 0), ends, created(NODE, 0)]), [Finding::Tested]);
    }

    /// Whoever left by one session was not judged any more when another one of its had ended.
    #[test]
    fn who_has_two_sessions_is_judged_by_the_one_that_lives() {
        let next = Event::Is(GroundTruth::SessionOpened { session: session(50), actor: actor(0) });
        let [leaves, ends] = ["leaves", "ends its round with"].map(|what| notes(0, what, NODE));
        let judged = |events: Vec<Event>| {
            let all = [vec![opened(0), next.clone()], events, vec![ends.clone()]].concat();
            findings(LeaversUnlisted::of(LOCK), all)
        };
        let by_next = Event::Is(GroundTruth::NodeCreated {
            path: NODE.into(),
            by: session(50),
            owner: session(50),
            czxid: zk_api::Zxid::new(1, 1),
        });
        let found = judged(vec![by_next, leaves.clone(), closed(0)]);
        assert_eq!(broken_by(&found), [("p0 says that it has left, and /lock/p0 is there", None)]);
        assert_eq!(judged(vec![created(NODE, 0), closed(0), leaves]), [], "it goes with the former one");
    }
}
