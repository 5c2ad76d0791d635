//! `live-members-listed`.

use super::broken_at;
use crate::event::{ActorId, Event, Fact};
use crate::promise::{Finding, Promise, Rest};
use std::collections::BTreeMap;
use zk_api::Text;

/// At rest, whoever has joined the group, has not left it and has a live session is listed by a znode of that session.
///
/// Members say that one "joins" and "leaves", with the path of the member's znode. Joining counts from when it begins:
/// who still tries at rest is not listed either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LiveMembersListed {
    group: &'static str,
    /// Who has joined, and where.
    members: BTreeMap<ActorId, Text>,
}

impl LiveMembersListed {
    /// For one group.
    pub fn of(group: &'static str) -> Self {
        LiveMembersListed { group, members: BTreeMap::new() }
    }
}

impl Promise for LiveMembersListed {
    fn name(&self) -> &'static str {
        "live-members-listed"
    }

    fn about(&self) -> &'static str {
        "At rest, every member whose session lives is listed by a znode of that session."
    }

    fn tested_when(&self) -> &'static str {
        "At rest, somebody whose session lives has joined and not left."
    }

    fn see(&mut self, event: &Event, _found: &mut Vec<Finding>) {
        match event {
            Event::Says { actor, what } => match what.told() {
                Some(("joins", node, _)) if super::below(self.group, node) => {
                    self.members.insert(*actor, node.into());
                }
                Some(("leaves", node, _)) if super::below(self.group, node) => {
                    self.members.remove(actor);
                }
                _ => {}
            },
            Event::Is(Fact::SessionClosed { actor, .. } | Fact::Crashed { actor }) => {
                self.members.remove(actor);
            }
            Event::Is(_) => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (actor, node) in &self.members {
            let Some((session, _)) = rest.sessions.iter().find(|(_, of)| of == actor) else { continue };
            found.push(match rest.nodes.iter().find(|(path, _)| path == node) {
                Some((_, owner)) if owner == session => Finding::Tested,
                Some((_, owner)) => {
                    broken_at(format!("{actor} is a member, and {node} is of session {owner}"), [&**node])
                }
                None => broken_at(format!("{actor} is a member, and {node} is not there"), [&**node]),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::event::Observation;

    const NODE: &str = "/lock/p0";

    fn says(what: &str) -> Event {
        Event::Says { actor: actor(0), what: Observation::note(what, NODE, 0) }
    }

    fn rests(events: Vec<Event>, nodes: &[(&str, u16)]) -> Vec<Finding> {
        let mut promise = LiveMembersListed::of(LOCK);
        let mut found = Vec::new();
        events.iter().for_each(|event| promise.see(event, &mut found));
        let nodes = nodes.iter().map(|(path, p)| ((*path).into(), session(*p))).collect();
        let sessions = vec![(session(0), actor(0))];
        promise.at_rest(&Rest { unfinished: Vec::new(), nodes, sessions }, &mut found);
        found
    }

    #[test]
    fn a_member_that_is_not_listed_or_by_a_ghost_breaks_it() {
        let found = rests(vec![says("joins")], &[]);
        assert_eq!(broken_by(&found), [("p0 is a member, and /lock/p0 is not there", None)]);
        let found = rests(vec![says("joins")], &[(NODE, 7)]);
        assert_eq!(broken_by(&found), [("p0 is a member, and /lock/p0 is of session 0x8", None)]);
    }

    #[test]
    fn who_is_listed_passes_and_who_left_or_is_dead_is_not_judged() {
        assert_eq!(rests(vec![says("joins")], &[(NODE, 0)]), [Finding::Tested]);
        for end in [says("leaves"), closed(0), crashed(0)] {
            assert_eq!(rests(vec![says("joins"), end], &[]), []);
        }
    }
}
