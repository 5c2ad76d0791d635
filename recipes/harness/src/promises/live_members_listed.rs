//! `live-members-listed`.

use super::findings::broken_at;
use crate::context::below;
use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// At rest, whoever has joined the group, has not left it and has a live session is listed by a znode of that session;
/// and nobody takes itself for a member before it has made that znode, or makes one that would outlive its session.
///
/// A member says "joins" and "leaves" with the path of its znode, and begins to be a member about that path. Joining
/// counts from its beginning: an actor that is still trying at rest is not listed either. Who learns the path only when
/// it is made, as its name is a number, may say so then.
///
/// Whose client has another session is to join again in it: who goes on telling of this and that there, and then ends
/// as a member, has taken itself for one all the while.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LiveMembersListed {
    group: &'static str,
    /// The last session of each process, while it lives.
    live: BTreeMap<ActorId, SessionId>,
    /// Whose last session has ended.
    lost: BTreeSet<ActorId>,
    /// Who has joined, and where: by several znodes at a time, if all are there.
    members: BTreeMap<(ActorId, Text), Listed>,
    /// Who has another session in the place of one that has ended, and has not joined again: how many things they have
    /// told of in it.
    elsewhere: BTreeMap<ActorId, u8>,
    /// The znodes below the group, and by whom and of whom they are.
    there: BTreeMap<Text, (SessionId, SessionId)>,
}

/// Whether the znode was made by which a member joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Listed {
    No,
    Yes,
    /// It was, and the code has come to its end: it is listed as long as that session lives.
    ToItsEnd,
    /// By a session that has ended, if at all.
    Before,
}

/// So many things are told of by whoever has had its time to join again, the end of its round among them: what its
/// watches see first may come before its own turn.
const MOST: u8 = 4;

impl LiveMembersListed {
    /// For one group.
    pub fn of(group: &'static str) -> Self {
        let (live, lost, members) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        LiveMembersListed { group, live, lost, members, elsewhere: BTreeMap::new(), there: BTreeMap::new() }
    }

    fn hear(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        let is_unmade = |about: &Text| {
            let its = self.members.iter().filter(|((member, _), _)| *member == actor);
            let at = its.clone().find(|((_, path), _)| path == about);
            at.or(its.clone().next()).is_some_and(|(_, listed)| *listed == Listed::No)
        };
        let (about, is_member) = (what.subject(), what.word() == words::IS_A_MEMBER_BY);
        let is_begun = is_member || matches!(what, Observation::Begins { .. });
        match what {
            _ if is_begun && below(self.group, about) && is_unmade(about) => {
                found.push(has_not_made(actor, about));
            }
            _ if is_member && below(self.group, about) && !self.has_joined(actor) => {
                self.is_in_untold(actor, about, found);
            }
            what => match what.told() {
                Some((words::JOINS, node, _)) if below(self.group, node) => {
                    self.elsewhere.remove(&actor.main());
                    let there = &self.there;
                    self.members.retain(|(member, path), listed| {
                        *member != actor || *listed == Listed::Yes && there.contains_key(path)
                    });
                    // Who tells it once the znode is made may not have learned yet that this has gone with its session.
                    let listed = if self.lost.contains(&actor.main()) { Listed::Before } else { Listed::No };
                    self.members.insert((actor, node.into()), listed);
                    if let Some((by, owner)) = self.there.get(node).copied()
                        && self.live.get(&actor.main()) == Some(&by)
                    {
                        self.makes(&node.into(), owner, found);
                    }
                }
                Some((words::LEAVES, node, _)) if below(self.group, node) => {
                    self.stays_away(actor, found);
                    self.members.remove(&(actor, node.into()));
                }
                // With its session it has lost what it would have left.
                Some((words::ENDS_ITS_ROUND_WITH, node, _)) if below(self.group, node) => {
                    self.stays_away(actor, found);
                    self.members.retain(|(member, _), listed| *member != actor || *listed != Listed::Before);
                }
                _ => {}
            },
        }
    }

    fn goes_on_elsewhere(&mut self, process: ActorId) {
        if self.members.keys().any(|(member, _)| member.main() == process) {
            self.elsewhere.insert(process, 0);
        }
    }

    /// It ends as a member: it has had its time to join again.
    fn stays_away(&mut self, actor: ActorId, found: &mut Vec<Finding>) {
        let was_listed = |((member, _), listed): (&(ActorId, Text), &Listed)| {
            *member == actor && *listed == Listed::Before
        };
        if self.elsewhere.get(&actor.main()) == Some(&MOST) && self.members.iter().any(was_listed) {
            let group = self.group;
            let what =
                format!("{actor} ends as a member of {group}, and has not joined it in its new session");
            found.push(broken_at(what, [group]));
        }
    }

    fn has_joined(&self, actor: ActorId) -> bool {
        self.members.keys().any(|(member, _)| *member == actor)
    }

    /// It has not told that it joins, and has by now if its session has made the znode.
    fn is_in_untold(&mut self, actor: ActorId, node: &Text, found: &mut Vec<Finding>) {
        let Some(session) = self.live.get(&actor.main()) else { return };
        match self.there.get(node).copied() {
            Some((by, owner)) if by == *session => {
                self.members.insert((actor, node.clone()), Listed::Yes);
                self.makes(node, owner, found);
            }
            _ => found.push(has_not_made(actor, node)),
        }
    }

    fn ends(&mut self, process: ActorId) {
        self.elsewhere.remove(&process);
        self.members.retain(|(member, _), _| member.main() != process);
    }

    fn makes(&mut self, node: &Text, owner: SessionId, found: &mut Vec<Finding>) {
        for ((actor, _), listed) in self.members.iter_mut().filter(|((_, path), _)| path == node) {
            *listed = Listed::Yes;
            self.elsewhere.remove(&actor.main());
            if owner == SessionId::NONE {
                let what = format!("{actor} is a member, and {node} would outlive its session");
                found.push(broken_at(what, [&**node]));
            }
        }
    }
}

fn has_not_made(actor: ActorId, node: &Text) -> Finding {
    broken_at(format!("{actor} takes itself for a member, and has not made {node}"), [&**node])
}

impl Promise for LiveMembersListed {
    fn terms(&self) -> Terms {
        Terms::of("live-members-listed")
            .about("Members are listed by a znode of their session: once they take themselves for members, and at rest.")
            .tested_when("At rest, somebody whose session lives has joined and not left.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Observed { actor, what } => {
                let told = self.elsewhere.get_mut(&actor.main());
                told.into_iter().for_each(|told| *told = MOST.min(*told + 1));
                self.hear(*actor, what, found);
            }
            Event::Is(GroundTruth::NodeCreated { path, by, owner, .. }) if below(self.group, path) => {
                self.there.insert(path.clone(), (*by, *owner));
                self.makes(path, *owner, found);
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) => drop(self.there.remove(path)),
            Event::Is(GroundTruth::SessionOpened { session, actor }) => {
                self.live.insert(*actor, *session);
                if self.lost.remove(actor) {
                    self.goes_on_elsewhere(*actor);
                }
            }
            // Its client may go on in another one.
            Event::Is(GroundTruth::SessionClosed { session, actor, .. }) => {
                if self.live.get(actor) == Some(session) {
                    self.live.remove(actor);
                    self.lost.insert(*actor);
                    self.elsewhere.remove(actor);
                } else if self.live.contains_key(actor) {
                    self.goes_on_elsewhere(*actor);
                }
                self.members
                    .retain(|(member, _), listed| member.main() != *actor || *listed != Listed::ToItsEnd);
                let its = self.members.iter_mut().filter(|((member, _), _)| member.main() == *actor);
                its.for_each(|(_, listed)| *listed = Listed::Before);
            }
            Event::Is(GroundTruth::Finished { actor, end }) if end.leaves_nothing_running() => {
                self.ends(*actor);
            }
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                // It need not have learned of the end of its session, and nobody is left who could join again.
                let lives = self.live.contains_key(&actor.main());
                self.members
                    .retain(|(member, _), listed| member != actor || lives || *listed != Listed::Before);
                let its = self.members.iter_mut().filter(|((member, _), _)| member == actor);
                its.filter(|(_, listed)| **listed == Listed::Yes)
                    .for_each(|(_, listed)| *listed = Listed::ToItsEnd);
            }
            Event::Is(GroundTruth::Crashed { actor }) => {
                self.ends(*actor);
                self.lost.remove(actor);
            }
            Event::Is(_) => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        for (actor, node) in self.members.keys() {
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
        promise.at_rest(&Rest { nodes, sessions, ..Rest::default() }, &mut found);
        found
    }

    #[test]
    fn a_member_that_is_not_listed_or_by_a_ghost_breaks_it() {
        let found = rests(vec![says("joins")], &[]);
        assert_eq!(broken_by(&found), [("p0 is a member, and /lock/p0 is not there", None)]);
        let found = rests(vec![says("joins")], &[(NODE, 7)]);
        assert_eq!(broken_by(&found), [("p0 is a member, and /lock/p0 is of session 0x8", None)]);
    }

    /// Of a znode whose name is a number, the path is known when it is there; and of two, the first was forgotten.
    #[test]
    fn who_joins_by_what_it_has_made_is_listed_by_that_and_by_each_of_several() {
        const OTHER: &str = "/lock/other";
        let says = |what: &str, node: &str| Event::Observed {
            actor: actor(0),
            what: Observation::note(crate::words::Word::own(what), node, 0),
        };
        let is = |node| Event::Observed {
            actor: actor(0),
            what: Observation::begins(words::IS_A_MEMBER_BY, node, 0),
        };
        let by = |node| vec![created(node, 0), says("joins", node), is(node)];
        let both = [vec![opened(0), opened(1)], by(NODE), by(OTHER)].concat();
        let there = [(NODE, 0), (OTHER, 0)];
        assert_eq!(rests(both.clone(), &there), [Finding::Tested, Finding::Tested]);
        let one_gone = [both.clone(), vec![vanished(NODE, 0)]].concat();
        let what = "p0 is a member, and /lock/p0 is not there";
        assert_eq!(broken_by(&rests(one_gone.clone(), &there[1..])), [(what, None)]);
        let left = [both, vec![says("leaves", NODE), vanished(NODE, 0)]].concat();
        assert_eq!(rests(left, &there[1..]), [Finding::Tested]);
        let again = [one_gone, by("/lock/third")].concat();
        let there = [(OTHER, 0), ("/lock/third", 0)];
        assert_eq!(
            rests(again, &there),
            [Finding::Tested, Finding::Tested],
            "it has joined by another one instead"
        );
        let of_another = vec![opened(0), opened(1), created(NODE, 1), says("joins", NODE), is(NODE)];
        let what = "p0 takes itself for a member, and has not made /lock/p0";
        assert_eq!(broken_by(&findings(LiveMembersListed::of(LOCK), of_another)), [(what, None)]);
        let has_gone = vec![created(NODE, 0), vanished(NODE, 0), closed(0), says("joins", NODE), is(NODE)];
        let has_gone = [vec![opened(0), opened(1)], has_gone].concat();
        assert_eq!(findings(LiveMembersListed::of(LOCK), has_gone), [], "it has not learned of that yet");
        let ghost = vec![opened(0), created(NODE, 0), opened_anew(0), says("joins", NODE), is(NODE)];
        let found = findings(LiveMembersListed::of(LOCK), ghost);
        assert_eq!(broken_by(&found), [(what, None)], "it is of a former session");
    }

    #[test]
    fn who_takes_itself_for_a_member_has_made_a_znode_that_goes_with_its_session() {
        let is_member =
            || Event::Observed { actor: actor(0), what: Observation::begins(words::IS_A_MEMBER_BY, NODE, 0) };
        let promise = || LiveMembersListed::of(LOCK);
        // It tells that it joins before it has a session, and others before they have one.
        let found = findings(promise(), vec![says("joins"), opened(0), opened(1), is_member()]);
        assert_eq!(broken_by(&found).len(), 1);
        let found = findings(promise(), vec![says("joins"), is_member()]);
        let what = "p0 takes itself for a member, and has not made /lock/p0";
        assert_eq!(broken_by(&found), [(what, None)]);
        assert_eq!(findings(promise(), vec![says("joins"), created(NODE, 0), is_member()]), []);
        assert_eq!(findings(promise(), vec![says("joins"), closed(0), is_member()]), []);
        let elsewhere = Observation::begins(words::TAKES, "/queue/item-0000000000", 0);
        let begins = Event::Observed { actor: actor(0), what: elsewhere };
        assert_eq!(findings(promise(), vec![says("joins"), begins]), []);
        let noted = vec![says("joins"), opened(0), opened(1), says("is a member by")];
        assert_eq!(broken_by(&findings(promise(), noted)), [(what, None)], "by whatever verb");
        let (path, by, owner) = (NODE.into(), session(0), SessionId::NONE);
        let created = Event::Is(GroundTruth::NodeCreated { path, by, owner, czxid: zk_api::Zxid::new(1, 1) });
        let found = findings(promise(), vec![says("joins"), created]);
        let what = "p0 is a member, and /lock/p0 would outlive its session";
        assert_eq!(broken_by(&found), [(what, None)]);
    }

    /// It was never judged.
    #[test]
    fn who_is_a_member_and_has_not_told_that_it_joins_has_made_its_znode() {
        let is =
            || Event::Observed { actor: actor(0), what: Observation::begins(words::IS_A_MEMBER_BY, NODE, 0) };
        let live = |then: Vec<Event>| [vec![opened(0), opened(1)], then].concat();
        let ghost = "p0 takes itself for a member, and has not made /lock/p0";
        for wrong in
            [vec![is()], vec![created(NODE, 1), is()], vec![created(NODE, 0), vanished(NODE, 0), is()]]
        {
            assert_eq!(broken_by(&rests(live(wrong), &[])), [(ghost, None)]);
        }
        let right = live(vec![created(NODE, 0), is()]);
        assert_eq!(rests(right.clone(), &[(NODE, 0)]), [Finding::Tested]);
        assert_eq!(broken_by(&rests(right, &[])), [("p0 is a member, and /lock/p0 is not there", None)]);
        let takes = Observation::begins(words::TAKES, NODE, 0);
        assert_eq!(rests(live(vec![Event::Observed { actor: actor(0), what: takes }]), &[]), []);
        assert_eq!(rests(live(vec![closed(0), is()]), &[]), [], "it has not learned of it yet");
    }

    /// It was forgotten with the session that it had joined in, and nobody saw that it was listed no more.
    #[test]
    fn who_goes_on_in_another_session_is_to_be_listed_by_that() {
        let what = "p0 is a member, and /lock/p0 is not there";
        for renews in [vec![closed(0), opened(0)], vec![opened_anew(0), closed(0)]] {
            let once = [vec![opened(0), says("joins"), created(NODE, 0)], renews].concat();
            assert_eq!(broken_by(&rests(once.clone(), &[])), [(what, None)]);
            let again = [once.clone(), vec![says("joins"), created(NODE, 0)]].concat();
            assert_eq!(rests(again, &[(NODE, 0)]), [Finding::Tested]);
            for ends in [says("ends its round with"), says("leaves"), crashed(0), lost(0)] {
                assert_eq!(rests([once.clone(), vec![ends]].concat(), &[]), []);
            }
            let sees = |times| vec![notes(0, "sees", "/lock{p1}"); times];
            let what = "p0 ends as a member of /lock, and has not joined it in its new session";
            for ends in ["ends its round with", "leaves"].map(says) {
                let stays = |times| [once.clone(), sees(times), vec![ends.clone()]].concat();
                assert_eq!(broken_by(&rests(stays(3), &[])), [(what, None)]);
                assert_eq!(rests(stays(2), &[]), [], "it has not had its turn yet");
                let again = vec![says("joins"), created(NODE, 0)];
                let joins = [once.clone(), sees(3), again, sees(3), vec![ends]].concat();
                assert_eq!(broken_by(&rests(joins, &[(NODE, 0)])), []);
            }
        }
        let done = || vec![says("joins"), created(NODE, 0), finished(0)];
        assert_eq!(broken_by(&rests(done(), &[])), [(what, None)]);
        let then = [done(), vec![closed(0), opened(0)]].concat();
        assert_eq!(rests(then, &[]), [], "nobody is left who could join again");
        let unknown = vec![says("joins"), created(NODE, 0), closed(0), finished(0), opened(0)];
        assert_eq!(rests(unknown, &[]), [], "nor if it has ended a moment before");
        let ends = vec![says("joins"), created(NODE, 0), says("ends its round with")];
        assert_eq!(broken_by(&rests(ends, &[])), [(what, None)], "in the session in which it has joined");
    }

    fn lost(p: u16) -> Event {
        Event::Is(GroundTruth::Finished { actor: actor(p), end: crate::event::End::SessionLost })
    }

    #[test]
    fn who_is_listed_passes_and_who_left_or_is_dead_is_not_judged() {
        assert_eq!(rests(vec![says("joins")], &[(NODE, 0)]), [Finding::Tested]);
        for end in [says("leaves"), crashed(0)] {
            assert_eq!(rests(vec![says("joins"), end], &[]), []);
        }
        let (mut promise, mut found) = (LiveMembersListed::of(LOCK), Vec::new());
        [says("joins"), closed(0)].iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest::default(), &mut found);
        assert_eq!(found, []);
    }
}
