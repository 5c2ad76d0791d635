//! `live-members-listed`.

use super::findings::broken_at;
use crate::context::below;
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;
use std::collections::BTreeMap;
use zk_api::{SessionId, Text};

/// At rest, whoever has joined the group, has not left it and has a live session is listed by a znode of that session; and
/// nobody takes itself for a member before it has made that znode, or makes one that would outlive its session.
///
/// A member says "joins" and "leaves" with the path of its znode, and begins to be a member about that path. Joining
/// counts from its beginning: an actor that is still trying at rest is not listed either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LiveMembersListed {
    group: &'static str,
    /// Who has joined, where, and whether that znode was made since.
    members: BTreeMap<ActorId, (Text, bool)>,
}

impl LiveMembersListed {
    /// For one group.
    pub fn of(group: &'static str) -> Self {
        LiveMembersListed { group, members: BTreeMap::new() }
    }

    fn hear(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        let is_unmade = matches!(self.members.get(&actor), Some((_, false)));
        match what {
            Observation::Begins { about, .. } if below(self.group, about) && is_unmade => {
                let what = format!("{actor} takes itself for a member, and has not made {about}");
                found.push(broken_at(what, [&**about]));
            }
            what => match what.told() {
                Some((words::JOINS, node, _)) if below(self.group, node) => {
                    self.members.insert(actor, (node.into(), false));
                }
                Some((words::LEAVES, node, _)) if below(self.group, node) => {
                    self.members.remove(&actor);
                }
                _ => {}
            },
        }
    }

    fn makes(&mut self, node: &Text, owner: SessionId, found: &mut Vec<Finding>) {
        for (actor, (_, is_made)) in self.members.iter_mut().filter(|(_, (path, _))| path == node) {
            *is_made = true;
            if owner == SessionId::NONE {
                let what = format!("{actor} is a member, and {node} would outlive its session");
                found.push(broken_at(what, [&**node]));
            }
        }
    }
}

impl Promise for LiveMembersListed {
    fn terms(&self) -> Terms {
        Terms::of("live-members-listed")
            .about("Members are listed by a znode of their session: once they take themselves for members, and at rest.")
            .tested_when("At rest, somebody whose session lives has joined and not left.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => self.hear(*actor, what, found),
            Event::Is(GroundTruth::NodeCreated { path, owner, .. }) => self.makes(path, *owner, found),
            Event::Is(GroundTruth::SessionClosed { actor, .. } | GroundTruth::Crashed { actor }) => {
                self.members.retain(|member, _| member.main() != *actor);
            }
            Event::Is(_) => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (actor, (node, _)) in &self.members {
            let Some((session, _)) = rest.sessions.iter().find(|(_, of)| *of == actor.main()) else {
                continue;
            };
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
        Event::Observed { actor: actor(0), what: Observation::note(crate::words::Word::own(what), NODE, 0) }
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
    fn who_takes_itself_for_a_member_has_made_a_znode_that_goes_with_its_session() {
        let is_member =
            || Event::Observed { actor: actor(0), what: Observation::begins(words::IS_A_MEMBER_BY, NODE, 0) };
        let promise = || LiveMembersListed::of(LOCK);
        let found = findings(promise(), vec![says("joins"), is_member()]);
        let what = "p0 takes itself for a member, and has not made /lock/p0";
        assert_eq!(broken_by(&found), [(what, None)]);
        assert_eq!(findings(promise(), vec![says("joins"), created(NODE, 0), is_member()]), []);
        assert_eq!(findings(promise(), vec![says("joins"), closed(0), is_member()]), []);
        let elsewhere = Observation::begins(words::TAKES, "/queue/item-0000000000", 0);
        let begins = Event::Observed { actor: actor(0), what: elsewhere };
        assert_eq!(findings(promise(), vec![says("joins"), begins]), []);
        let (path, by, owner) = (NODE.into(), session(0), SessionId::NONE);
        let created = Event::Is(GroundTruth::NodeCreated { path, by, owner, czxid: zk_api::Zxid::new(1, 1) });
        let found = findings(promise(), vec![says("joins"), created]);
        let what = "p0 is a member, and /lock/p0 would outlive its session";
        assert_eq!(broken_by(&found), [(what, None)]);
    }

    #[test]
    fn who_is_listed_passes_and_who_left_or_is_dead_is_not_judged() {
        assert_eq!(rests(vec![says("joins")], &[(NODE, 0)]), [Finding::Tested]);
        for end in [says("leaves"), closed(0), crashed(0)] {
            assert_eq!(rests(vec![says("joins"), end], &[]), []);
        }
    }
}
