//! `exclusion-at-fenced-resource` and `exclusion-at-unfenced-resource`.

use super::{Crew, broken};
use crate::event::{ActorId, Event, Fact, Observation, Resource};
use crate::promise::{Assumption, Finding, Promise};
use std::collections::BTreeMap;

/// At an outside resource, the accepted writes of one grant are never interrupted by those of another.
///
/// An accepted write supersedes every other actor that was granted the lock; an accepted write of a superseded
/// actor breaks the promise, until the actor is granted the lock again. Beliefs do not count, effects do: two
/// that hold it at a time and write one after the other have done no harm.
///
/// Actors stay in the state after they have left or crashed, as their writes may still arrive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct AtResource {
    lock: &'static str,
    resource: Resource,
    crew: Crew,
    /// Who was granted the lock, and whether somebody else has written since.
    granted: BTreeMap<ActorId, Since>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Since {
    Undisturbed,
    Superseded,
}

/// What a write does to the promise.
enum Effect {
    /// Nothing that could matter.
    None,
    /// It passes though it might not have.
    Passes,
    /// A superseded actor's write was accepted.
    Breaks(ActorId),
}

impl AtResource {
    fn of(lock: &'static str, resource: Resource) -> Self {
        AtResource { lock, resource, crew: Crew::default(), granted: BTreeMap::new() }
    }

    fn see(&mut self, event: &Event) -> Effect {
        self.crew.see(event);
        match event {
            Event::Says { actor, what: Observation::Granted { lock, .. } } if **lock == *self.lock => {
                self.granted.insert(*actor, Since::Undisturbed);
                Effect::None
            }
            Event::Is(Fact::Wrote { resource, actor, accepted, .. }) if *resource == self.resource => {
                let superseded = self.granted.get(actor) == Some(&Since::Superseded);
                match (superseded, *accepted) {
                    (true, true) => Effect::Breaks(*actor),
                    (true, false) => Effect::Passes,
                    (false, true) => self.supersede_others(*actor),
                    (false, false) => Effect::None,
                }
            }
            _ => Effect::None,
        }
    }

    fn supersede_others(&mut self, writer: ActorId) -> Effect {
        let mut effect = Effect::None;
        for (_, since) in self.granted.iter_mut().filter(|(actor, _)| **actor != writer) {
            *since = Since::Superseded;
            effect = Effect::Passes;
        }
        effect
    }

    fn what(&self, actor: ActorId) -> String {
        let kind = match self.resource {
            Resource::Fenced => "fenced",
            Resource::Unfenced => "unfenced",
        };
        format!("a write of {actor} was accepted at the {kind} resource after another holder had written")
    }
}

/// [Exclusion by effects](self) at the resource that compares tokens. It is owed whatever happens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExclusionAtFencedResource(AtResource);

impl ExclusionAtFencedResource {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        ExclusionAtFencedResource(AtResource::of(lock, Resource::Fenced))
    }
}

impl Promise for ExclusionAtFencedResource {
    fn name(&self) -> &'static str {
        "exclusion-at-fenced-resource"
    }

    fn about(&self) -> &'static str {
        "At a resource that compares tokens, no holder's writes are accepted after a later holder's."
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match self.0.see(event) {
            Effect::None => {}
            Effect::Passes => found.push(Finding::Tested),
            Effect::Breaks(actor) => found.push(broken(self.0.what(actor), None)),
        }
    }
}

/// [Exclusion by effects](self) at the resource that accepts everything. No lock can promise it to those who
/// write after their session has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExclusionAtUnfencedResource(AtResource);

impl ExclusionAtUnfencedResource {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        ExclusionAtUnfencedResource(AtResource::of(lock, Resource::Unfenced))
    }
}

impl Promise for ExclusionAtUnfencedResource {
    fn name(&self) -> &'static str {
        "exclusion-at-unfenced-resource"
    }

    fn about(&self) -> &'static str {
        "At a resource that accepts every write, no holder's writes arrive after a later holder's."
    }

    fn assumes(&self) -> &'static [Assumption] {
        &[Assumption::NoActionAfterSessionEnd]
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match self.0.see(event) {
            Effect::None => {}
            Effect::Passes => found.push(Finding::Tested),
            Effect::Breaks(actor) => {
                let dead = self.0.crew.has_ended(actor);
                let excuse = dead.then_some(Assumption::NoActionAfterSessionEnd);
                found.push(broken(self.0.what(actor), excuse));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use Resource::{Fenced, Unfenced};

    const FENCED: &str = "a write of p0 was accepted at the fenced resource after another holder had written";
    const UNFENCED: &str =
        "a write of p0 was accepted at the unfenced resource after another holder had written";

    /// p0 writes, p1 is granted the lock and writes, p0 writes again.
    fn aba(resource: Resource, last_accepted: bool, before_p1: Vec<Event>) -> Vec<Event> {
        let mut events = vec![opened(0), opened(1), granted(0), wrote(resource, 0, true)];
        events.extend(before_p1);
        events.extend([granted(1), wrote(resource, 1, true), wrote(resource, 0, last_accepted)]);
        events
    }

    #[test]
    fn a_write_by_turns_breaks_it_at_the_fenced_resource() {
        let found = findings(ExclusionAtFencedResource::of(LOCK), aba(Fenced, true, vec![closed(0)]));
        assert_eq!(broken_by(&found), [(FENCED, None)], "a dead session is no excuse here");
    }

    #[test]
    fn a_late_write_that_is_refused_is_a_test_it_passes() {
        let found = findings(ExclusionAtFencedResource::of(LOCK), aba(Fenced, false, vec![closed(0)]));
        assert_eq!(found, [Finding::Tested, Finding::Tested]);
    }

    #[test]
    fn a_write_by_turns_of_a_live_session_is_a_defect_at_the_unfenced_resource() {
        let found = findings(ExclusionAtUnfencedResource::of(LOCK), aba(Unfenced, true, vec![]));
        assert_eq!(broken_by(&found), [(UNFENCED, None)]);
    }

    #[test]
    fn a_late_write_of_an_ended_session_is_excused_at_the_unfenced_resource() {
        let found = findings(ExclusionAtUnfencedResource::of(LOCK), aba(Unfenced, true, vec![closed(0)]));
        assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]);
    }

    #[test]
    fn a_crash_alone_is_no_excuse_while_the_session_lives() {
        let found = findings(ExclusionAtUnfencedResource::of(LOCK), aba(Unfenced, true, vec![crashed(0)]));
        assert_eq!(broken_by(&found), [(UNFENCED, None)]);
    }

    #[test]
    fn a_new_grant_lets_an_actor_write_again() {
        let events =
            vec![granted(0), wrote(Unfenced, 0, true), granted(1), wrote(Unfenced, 1, true), granted(0)];
        let events = [events, vec![wrote(Unfenced, 0, true), wrote(Fenced, 1, true)]].concat();
        let found = findings(ExclusionAtUnfencedResource::of(LOCK), events);
        assert_eq!(broken_by(&found), []);
    }
}
