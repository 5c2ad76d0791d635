//! `enters-together`, `leaves-together`, `rounds-do-not-mix` and `barrier-opens`.
//!
//! A member says of the barrier's znode that it *arrives at* it (the number is how many members a round needs),
//! *passes*, *asks to leave*, *has left*; or *gives up*. A member is registered while its session has an ephemeral
//! znode below that one; or, if it has none, once it has made a persistent one as it arrives. A round is all members
//! that are registered when the first of them passes; a member that registers later is in the next round.
//!
//! Whatever results from an administrator's act in that round and for that member is expected: others may begin or end
//! a round as if a member whose znode was deleted were not there, and that member may wait for a round that they have
//! gone through. After a change of the barrier's own znode, whose version is all that the barrier knows, or of one that
//! is no member's, every violation is expected. What is written into a member's znode does not matter.
//!
//! A member that makes its znode again in a new session, and has not passed, gathers as before. If a round has begun
//! since it was registered, nobody can tell which round the member is in, and nothing is judged any more, unless it has
//! said again that it arrives.

use super::findings::{broken, promise_of_barrier};
use crate::context::{SessionTracker, below, within};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Assumption, Finding, Promise, Rest, Terms};
use crate::words::{self, Word};
use std::collections::BTreeMap;
use zk_api::SessionId;

/// Who is where at a double barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Rounds {
    parent: &'static str,
    /// How many a round needs.
    size: i64,
    /// An administrator has changed what is no member's.
    tainted: bool,
    /// Since the last round began, one has died whose znode he had deleted.
    deleted_externally: bool,
    tracker: SessionTracker,
    /// Whose session lives, crashed or not.
    members: BTreeMap<ActorId, Member>,
    /// How many were registered for the round that gathers and have died since.
    fallen: i64,
    /// Who had not passed when its session ended, and may go on in another one.
    may_return: BTreeMap<ActorId, Fell>,
    /// Nothing is judged any more.
    ambiguous: bool,
    /// Who was the last to leave, and the round, if no other has begun since.
    left: Option<(u32, ActorId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Member {
    place: Place,
    /// By which session, and how many ephemeral znodes: none, if a persistent one stands for it.
    registered: Option<(SessionId, u8)>,
    /// Of those who are registered for the round that gathers, so many were at one time, itself among them.
    beside: i64,
    /// An administrator has deleted its znode, and it has not made a new one to enter by, or arrived again.
    deleted_externally: bool,
    /// It has lost its znode to him and has registered anew: if a round ran that it missed, those of that may wait for
    /// it as they leave.
    missed: bool,
    /// The round whose first member passed while this one was registered. Numbers begin anew when nobody is in one.
    round: Option<u32>,
}

impl Member {
    const ARRIVING: Member = Member {
        place: Place::Arriving,
        registered: None,
        beside: 0,
        deleted_externally: false,
        missed: false,
        round: None,
    };

    /// It is not registered yet.
    fn comes(self) -> bool {
        self.place == Place::Arriving && self.registered.is_none()
    }

    /// It is registered, and for no round that has begun.
    fn gathers(self) -> bool {
        self.place == Place::Arriving && self.registered.is_some() && self.round.is_none()
    }
}

/// How the session of one that had not passed ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fell {
    Unregistered,
    /// It counts as fallen.
    Registered,
    /// A round has begun that it may be in when it comes again.
    Unclear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Arriving,
    Inside,
    Leaving,
}

/// What somebody has just done.
enum RoundStep {
    /// Passes as the first of a round, with so many registered, itself among them; and somebody who is inside still.
    /// `externally`: an administrator has deleted the znode of one that would be registered.
    Opens { actor: ActorId, with: i64, inside: Option<ActorId>, externally: bool, follows: bool },
    /// Passes after the first, though somebody of the round has left already.
    Joins { actor: ActorId, left: Option<ActorId> },
    /// Has left, though somebody of the round has not asked to. `beside`: another of the round is there, or has left.
    Leaves { actor: ActorId, inside: Option<ActorId>, beside: bool },
}

impl Rounds {
    fn of(parent: &'static str) -> Rounds {
        Rounds { parent, tracker: SessionTracker::of(parent), ..Rounds::default() }
    }

    fn see(&mut self, event: &Event) -> Option<RoundStep> {
        self.take_note(event).filter(|_| !self.ambiguous)
    }

    fn take_note(&mut self, event: &Event) -> Option<RoundStep> {
        if let Event::Is(GroundTruth::SessionClosed { session, actor, .. }) = event {
            // Who has crashed is another one when it comes again.
            let may_return = !self.tracker.is_dead(*actor);
            self.tracker.see(event);
            self.falls(*session, *actor, may_return);
            return None;
        }
        self.tracker.see(event);
        match event {
            Event::Observed { actor, .. } if self.tracker.is_dead(*actor) => None,
            Event::Observed { actor, what } => match what.told()? {
                (what, about, number) if about == self.parent => self.hear(*actor, what, number),
                _ => None,
            },
            Event::Is(GroundTruth::NodeCreated { path, by, owner, .. }) if below(self.parent, path) => {
                match *owner {
                    SessionId::NONE => self.register_for_good(*by),
                    owner => self.register(owner),
                }
                self.meet();
                None
            }
            Event::Is(GroundTruth::NodeDeleted { path, by, owner, .. })
                if within(self.parent, path) && *by != SessionId::NONE =>
            {
                self.unregister(*owner, !self.tracker.knows(*by));
                None
            }
            Event::Is(GroundTruth::NodeWritten { path, by, owner, .. }) if within(self.parent, path) => {
                self.tainted |= *owner == SessionId::NONE && !self.tracker.knows(*by);
                None
            }
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.may_return.remove(actor);
                None
            }
            Event::Is(_) => None,
        }
    }

    /// The threads of a process that are members.
    fn members_of(&self, process: ActorId) -> impl Iterator<Item = (ActorId, Member)> {
        let all = self.members.iter().map(|(member, how)| (*member, *how));
        all.filter(move |(member, _)| member.main() == process)
    }

    /// Of the threads of a process that are members, nobody can tell whose a znode is: the first of those that it may
    /// be of, or of all.
    fn member(&self, process: ActorId, may_be: impl Fn(Member) -> bool) -> ActorId {
        let first = self.members_of(process).min_by_key(|(_, member)| !may_be(*member));
        first.map_or(process, |(member, _)| member)
    }

    /// The session of a process has ended, and what it was registered by.
    fn falls(&mut self, session: SessionId, process: ActorId, may_return: bool) {
        let lives_on = self.tracker.live.values().any(|other| *other == process);
        // By another session it is there still.
        let falls = |member: Member| !lives_on || member.registered.is_some_and(|(by, _)| by == session);
        let all: Vec<_> = self.members_of(process).filter(|(_, member)| falls(*member)).collect();
        all.into_iter().for_each(|(actor, member)| self.fall(actor, member, may_return));
    }

    fn fall(&mut self, actor: ActorId, member: Member, may_return: bool) {
        self.members.remove(&actor);
        self.fallen += i64::from(member.gathers());
        if may_return && member.place == Place::Arriving {
            let fell = match (member.round, member.registered) {
                (Some(_), _) => Fell::Unclear,
                (None, Some(_)) => Fell::Registered,
                (None, None) => Fell::Unregistered,
            };
            self.may_return.insert(actor, fell);
        }
        self.deleted_externally |= member.deleted_externally;
    }

    /// A process makes a znode: in a new session, it may go on as the member that has fallen.
    fn return_as_member(&mut self, process: ActorId) {
        let mut fallen = self.may_return.iter().map(|(member, fell)| (*member, *fell));
        let Some((member, fell)) = fallen.find(|(member, _)| member.main() == process) else { return };
        self.may_return.remove(&member);
        self.fallen -= i64::from(fell == Fell::Registered);
        // Who has said again that it arrives is a member, and for the round that gathers now.
        if self.members_of(process).next().is_some() {
            return;
        }
        match fell {
            Fell::Unclear => self.ambiguous = true,
            Fell::Registered | Fell::Unregistered => drop(self.members.insert(member, Member::ARRIVING)),
        }
    }

    /// Whether an administrator has deleted the znode of this one.
    fn lost_to_administrator(&self, actor: ActorId) -> bool {
        self.members.get(&actor).is_some_and(|member| member.deleted_externally)
    }

    /// What breaks a promise and may come of his doing.
    fn broken(&self, what: String, by_him: bool) -> Finding {
        broken(what, (self.tainted || by_him).then_some(Assumption::NoAdministrator))
    }

    /// A session has made a znode.
    fn register(&mut self, owner: SessionId) {
        let Some(actor) = self.tracker.live.get(&owner).copied() else { return };
        self.return_as_member(actor);
        let member = self.member(actor, Member::comes);
        self.members.entry(member).and_modify(|member| {
            if member.deleted_externally && member.place == Place::Arriving {
                // Anew, for the round that gathers now.
                (member.deleted_externally, member.missed, member.round) = (false, true, None);
            }
            let before = member.registered.filter(|(by, _)| *by == owner);
            member.registered = Some((owner, before.map_or(0, |(_, znodes)| znodes).saturating_add(1)));
        });
    }

    /// A session has made a znode that outlives it.
    fn register_for_good(&mut self, by: SessionId) {
        let Some(actor) = self.tracker.live.get(&by).copied() else { return };
        let member = self.member(actor, Member::comes);
        self.members.entry(member).and_modify(|member| {
            member.registered.get_or_insert((by, 0));
        });
    }

    /// Those who are registered for one round are there at one time.
    fn meet(&mut self) {
        let beside = self.gathered();
        for member in self.members.values_mut().filter(|member| member.gathers()) {
            member.beside = member.beside.max(beside);
        }
    }

    /// Somebody has deleted a session's znode, or one that is nobody's.
    fn unregister(&mut self, owner: SessionId, externally: bool) {
        self.tainted |= externally && owner == SessionId::NONE;
        let Some(actor) = self.tracker.live.get(&owner) else { return };
        let goes = |member: Member| member.place == Place::Leaving && member.registered.is_some();
        let member = self.member(*actor, goes);
        self.members.entry(member).and_modify(|member| {
            let left = |(by, znodes): (_, u8)| (by, znodes.saturating_sub(u8::from(by == owner)));
            member.registered = member.registered.map(left).filter(|(_, znodes)| *znodes > 0);
            member.deleted_externally |= externally;
        });
    }

    fn hear(&mut self, actor: ActorId, what: Word<'_>, number: i64) -> Option<RoundStep> {
        match what {
            words::ARRIVES_AT => {
                self.size = number;
                self.members.insert(actor, Member::ARRIVING);
                None
            }
            words::PASSES => {
                self.had_another_znode(actor);
                let step = match self.members.get(&actor)?.round {
                    Some(round) => {
                        let left = self.left.filter(|(of, _)| *of == round).map(|(_, other)| other);
                        RoundStep::Joins { actor, left }
                    }
                    None => self.opens(actor),
                };
                self.members.entry(actor).and_modify(|member| member.place = Place::Inside);
                Some(step)
            }
            words::ASKS_TO_LEAVE => {
                self.members.entry(actor).and_modify(|member| member.place = Place::Leaving);
                None
            }
            words::HAS_LEFT => {
                let round = self.members.remove(&actor)?.round?;
                let beside = self.left.is_some_and(|(of, _)| of == round)
                    || self.members.values().any(|member| member.round == Some(round));
                self.left = Some((round, actor));
                Some(RoundStep::Leaves { actor, inside: self.inside(round), beside })
            }
            words::GIVES_UP => {
                self.members.remove(&actor);
                None
            }
            _ => None,
        }
    }

    /// A thread that passes has made a znode: what counts as another thread's was its own, if it has none.
    fn had_another_znode(&mut self, actor: ActorId) {
        let Some(own) = self.members.get(&actor).copied().filter(|own| own.comes()) else { return };
        let may_be = |(_, member): &(ActorId, Member)| member.place == Place::Arriving && !member.comes();
        let other = self.members_of(actor.main()).find(may_be);
        if let Some((other, member)) = other {
            self.members.extend([(actor, member), (other, own)]);
        }
    }

    fn opens(&mut self, actor: ActorId) -> RoundStep {
        let inside = self.passed();
        let externally =
            self.deleted_externally || self.members.values().any(|member| member.deleted_externally);
        // Who has gone before another came was never there with it.
        let beside = self.members.get(&actor).map_or(0, |member| member.beside);
        let with = beside.min(self.gathered() + self.fallen);
        if self.lost_to_administrator(actor) {
            // Which round it was in nobody can tell: it may come late, when those of another one gather.
            return RoundStep::Opens { actor, with, inside, externally, follows: false };
        }
        let round = self.members.values().filter_map(|member| member.round).max().map_or(0, |last| last + 1);
        for member in self.members.values_mut().filter(|member| member.gathers()) {
            member.round = Some(round);
        }
        (self.fallen, self.deleted_externally) = (0, false);
        self.may_return.values_mut().for_each(|fell| *fell = Fell::Unclear);
        let follows = self.left.take().is_some();
        RoundStep::Opens { actor, with, inside, externally, follows }
    }

    /// How many are registered for the round that gathers.
    fn gathered(&self) -> i64 {
        self.members.values().filter(|member| member.gathers()).count() as i64
    }

    fn live(&self) -> impl Iterator<Item = (ActorId, Member)> {
        self.members.iter().map(|(a, m)| (*a, *m)).filter(|(a, _)| !self.tracker.is_dead(*a))
    }

    /// One of these who live; one whose znode an administrator has deleted only if there is no other.
    fn one(&self, of: impl Fn(&Member) -> bool) -> Option<ActorId> {
        let those = self.live().filter(|(_, member)| of(member));
        those.min_by_key(|(_, member)| member.deleted_externally).map(|(actor, _)| actor)
    }

    /// Somebody who lives, has passed, and has not asked to leave.
    fn passed(&self) -> Option<ActorId> {
        self.one(|member| member.place == Place::Inside)
    }

    /// The same of one round, or somebody who has yet to learn that it runs.
    fn inside(&self, round: u32) -> Option<ActorId> {
        self.one(|member| member.round == Some(round) && member.place != Place::Leaving)
    }
}

promise_of_barrier!(
    /// Nobody passes before all members that a round needs are registered for the same round. A member that has died
    /// since still counts.
    EntersTogether(Rounds)
);

impl Promise for EntersTogether {
    fn terms(&self) -> Terms {
        Terms::of("enters-together")
            .about("Nobody passes before all members that a round needs are registered for it.")
            .tested_when("Somebody passes as the first of a round of two members or more.")
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(RoundStep::Opens { actor, with, externally, .. }) = self.0.see(event) {
            let (parent, size) = (self.0.parent, self.0.size);
            if with < size {
                found.push(
                    self.0.broken(format!("{actor} passes {parent} with {with} of {size}"), externally),
                );
            } else if size > 1 {
                found.push(Finding::Tested);
            }
        }
    }
}

promise_of_barrier!(
    /// Nobody has left before all live members of its round have asked to leave.
    LeavesTogether(Rounds)
);

impl Promise for LeavesTogether {
    fn terms(&self) -> Terms {
        Terms::of("leaves-together")
            .about("Nobody leaves while a member of its round that lives has not asked to.")
            .tested_when("Somebody has left of whose round another is, or was, there as well.")
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let parent = self.0.parent;
        match self.0.see(event) {
            Some(RoundStep::Leaves { actor, inside: Some(other), .. }) => {
                let what = format!("{actor} has left {parent} while {other} has not asked to");
                found.push(self.0.broken(what, self.0.lost_to_administrator(other)));
            }
            Some(RoundStep::Joins { actor, left: Some(other) }) => {
                let what = format!("{actor} passes {parent} though {other} has left already");
                found.push(self.0.broken(what, self.0.lost_to_administrator(actor)));
            }
            Some(RoundStep::Leaves { beside: true, .. }) => found.push(Finding::Tested),
            Some(
                RoundStep::Leaves { beside: false, .. }
                | RoundStep::Joins { left: None, .. }
                | RoundStep::Opens { .. },
            )
            | None => {}
        }
    }
}

promise_of_barrier!(
    /// Nobody begins a round while a member of the previous one is inside.
    RoundsDoNotMix(Rounds)
);

impl Promise for RoundsDoNotMix {
    fn terms(&self) -> Terms {
        Terms::of("rounds-do-not-mix")
            .about("Nobody begins a round while a live member of the one before is inside.")
            .tested_when(
                "Somebody passes as the first of a round of two members or more that follows another one.",
            )
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Some(RoundStep::Opens { actor, inside, follows, .. }) = self.0.see(event) {
            match inside {
                Some(other) => {
                    let what =
                        format!("{actor} begins a round at {} while {other} is in another", self.0.parent);
                    // Who lost its znode to him as it gathered is not counted to the round that it comes to be in.
                    let by_him = self.0.lost_to_administrator(other) || self.0.lost_to_administrator(actor);
                    found.push(self.0.broken(what, by_him));
                }
                None => found.extend((follows && self.0.size > 1).then_some(Finding::Tested)),
            }
        }
    }
}

promise_of_barrier!(
    /// A member that still waits at rest waits for members that are not there.
    BarrierOpens(Rounds)
);

impl Promise for BarrierOpens {
    fn terms(&self) -> Terms {
        Terms::of("barrier-opens")
            .about("At rest, nobody waits to enter with enough others, or to leave when all have asked to.")
            .tested_when("A round of two members or more begins, or one of them leaves it.")
            .assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let is_tested = match self.0.see(event) {
            Some(RoundStep::Opens { .. }) => self.0.size > 1,
            Some(RoundStep::Leaves { beside, .. }) => beside,
            Some(RoundStep::Joins { .. }) | None => false,
        };
        found.extend(is_tested.then_some(Finding::Tested));
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        if self.0.ambiguous {
            return;
        }
        let stuck: Vec<_> = self.0.live().filter(|(actor, _)| rest.goes_on(*actor)).collect();
        let arriving =
            stuck.iter().filter(|(_, m)| m.place == Place::Arriving && m.round.is_none()).count() as i64;
        let runs = |round: Option<u32>| {
            stuck.iter().any(|(_, m)| m.place == Place::Inside && (round == m.round || round.is_none()))
        };
        let externally = stuck.iter().any(|(_, member)| member.deleted_externally || member.missed);
        for (actor, member) in &stuck {
            let what = match member.place {
                Place::Arriving if member.round.is_some() => "to enter a round that runs",
                Place::Arriving if arriving >= self.0.size && !runs(None) => "to enter, with enough others",
                Place::Leaving if !runs(member.round) => "to leave, and nobody of its round is inside",
                Place::Arriving | Place::Inside | Place::Leaving => continue,
            };
            found.push(
                self.0.broken(format!("{actor} waits for ever at {} {what}", self.0.parent), externally),
            );
        }
    }
}

#[cfg(test)]
mod tests;
