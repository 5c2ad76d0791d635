//! `exclusion-at-fenced-resource`, `exclusion-at-unfenced-resource`, `exclusion-at-checked-resource` and
//! `exclusion-behind-lock-delay`.

use super::findings::broken;
use crate::context::{Overwritten, SessionTracker};
use crate::event::{ActorId, Event, GroundTruth, Observation, Resource};
use crate::promise::{Assumption, Finding, Promise, Terms};
use crate::standing::Standing;
use crate::words::{self, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zk_api::{SessionId, Text, Zxid};

/// At an outside resource, no holder's write is accepted once a later holder's was.
///
/// Beliefs do not count, effects do: two actors that hold the lock at the same time and write one after the other, in
/// the order of their grants, have done no harm. An actor breaks the promise if it writes after another that was
/// granted the lock later than it; it may write again once it is granted the lock anew.
///
/// Actors stay in the state after they have left or crashed, so that a late write of theirs is recognised: a write that
/// nobody waits for may be sent before that and arrive after it.
///
/// An actor that holds the lock in shared mode contradicts no other sharer: its writes, which stand for reads there,
/// come too late only after those of a later exclusive holder. An exclusive holder's come too late after those of any
/// later holder.
///
/// Where tokens are not compared, nobody writes there at all whose process was never granted the lock, while another
/// process holds it alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExclusionAtResource {
    lock: &'static str,
    at: At,
    tracker: SessionTracker,
    overwritten: Overwritten,
    /// Who asks for the lock.
    asking: BTreeSet<ActorId>,
    /// Who was granted the lock, in this order, from the last one who has written. Who loses its znode while it
    /// asks, or is written over, is put here then: it may learn later of a grant that it had before.
    order: Vec<ActorId>,
    /// Who was granted the lock earlier than that, and whether an exclusive holder has written since: then their
    /// writes come too late, and those of exclusive ones in any case.
    superseded: BTreeMap<ActorId, bool>,
    /// Who was ever granted it, or has entered; whether it was in shared mode the last time, and by which session.
    granted: BTreeMap<ActorId, (bool, SessionId)>,
    /// Whose code has ended, and by which sessions somebody was granted it who has closed them before that.
    finished: BTreeSet<ActorId>,
    closed: BTreeSet<SessionId>,
    /// Who waits for a lock-delay, and who had outlived its session as it began to.
    waits: BTreeMap<ActorId, BTreeSet<ActorId>>,
    /// Whose sessions, by which they were granted it, ended longer ago than the lock-delay.
    long_ended: BTreeSet<ActorId>,
}

/// What a write does to the promise.
enum Effect {
    /// Nothing that could matter.
    None,
    /// It passes though it might not have.
    Passes,
    /// A superseded actor's write was accepted.
    Breaks(ActorId),
    /// The first one's write was accepted, which never had the lock, while the second one holds it.
    Intrudes(ActorId, ActorId),
}

/// Which resource it is, and what is owed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Fenced,
    Unfenced,
    Checked,
    /// The unfenced one, where those that have died are waited for.
    Delayed(Duration),
}

impl ExclusionAtResource {
    /// At the resource that compares tokens. It is owed whatever happens.
    pub fn fenced(lock: &'static str) -> Self {
        ExclusionAtResource::of(lock, At::Fenced)
    }

    /// At the resource that accepts everything. No lock can promise it to those who write after their session has
    /// ended.
    pub fn unfenced(lock: &'static str) -> Self {
        ExclusionAtResource::of(lock, At::Unfenced)
    }

    /// At a resource that asks the ensemble before each write whether its writer still holds the lock, and then accepts
    /// it. A recipe that claims to be safe in this way owes the promise whatever happens. The writes are those at the
    /// resource that accepts everything, but each is sent only after a check.
    pub fn checked(lock: &'static str) -> Self {
        ExclusionAtResource::of(lock, At::Checked)
    }

    /// At the resource that accepts everything, behind a lock-delay: owed to whoever writes no more than the delay
    /// after its session has ended. Who waits for the delay says so: nobody has a clock here.
    pub fn delayed(lock: &'static str, delay: Duration) -> Self {
        ExclusionAtResource::of(lock, At::Delayed(delay))
    }

    fn of(lock: &'static str, at: At) -> Self {
        ExclusionAtResource {
            lock,
            at,
            tracker: SessionTracker::of(lock),
            overwritten: Overwritten::default(),
            asking: BTreeSet::new(),
            order: Vec::new(),
            superseded: BTreeMap::new(),
            granted: BTreeMap::new(),
            finished: BTreeSet::new(),
            closed: BTreeSet::new(),
            waits: BTreeMap::new(),
            long_ended: BTreeSet::new(),
        }
    }

    fn effect(&mut self, event: &Event) -> Effect {
        // Who has lost a znode as it asked has its place already.
        let had_lost = match event {
            Event::Is(GroundTruth::SessionClosed { actor, .. }) => {
                self.tracker.lost_a_znode(*actor) || self.overwritten.has_lost(*actor)
            }
            Event::Is(_) | Event::Observed { .. } => false,
        };
        if let Event::Is(GroundTruth::SessionClosed { session, actor, expired: false }) = event
            && !self.finished.contains(actor)
            && self.granted.values().any(|(_, by)| by == session)
        {
            self.closed.insert(*session);
        }
        let dies = self.tracker.see(event);
        // Elsewhere a late write by an earlier grant would pass for one by this.
        let is_told = self.at == At::Fenced;
        let overwritten = is_told.then(|| self.overwritten.see(event, &self.tracker)).flatten();
        match event {
            Event::Observed { actor, what } => self.hear(*actor, what),
            Event::Is(GroundTruth::Wrote { resource, actor, accepted, .. }) if self.is_at(*resource) => {
                let holder = self.by_whose_grant(*actor);
                return match (self.is_late(holder), *accepted) {
                    (true, true) => Effect::Breaks(*actor),
                    (true, false) => Effect::Passes,
                    (false, true) => match self.intruded_upon_by(*actor) {
                        Some(holder) => Effect::Intrudes(*actor, holder),
                        None => self.supersede_before(holder),
                    },
                    (false, false) => Effect::None,
                };
            }
            Event::Is(GroundTruth::Crashed { actor }) => self.asking.retain(|other| other.main() != *actor),
            // Its other threads go on.
            Event::Is(truth @ (GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor })) => {
                self.asking.retain(|other| other != actor);
                self.finished.extend(matches!(truth, GroundTruth::Finished { .. }).then_some(*actor));
            }
            Event::Is(truth) => {
                if let Some(actor) = dies.or(self.tracker.loser(truth)).or(overwritten) {
                    // Of several threads one can have been granted it, as it stands before the others.
                    let asking = self.asking.iter().copied().filter(|other| other.main() == actor);
                    let new: Vec<_> = asking.filter(|other| !had_lost || !self.has_place(*other)).collect();
                    new.into_iter().for_each(|actor| self.put_last(actor));
                }
            }
        }
        Effect::None
    }

    fn hear(&mut self, actor: ActorId, what: &Observation) {
        match what {
            Observation::Attempts { lock } if **lock == *self.lock => {
                self.asking.insert(actor);
            }
            Observation::Granted { lock, node, token } if **lock == *self.lock => {
                self.granted(actor, (node, *token), false);
            }
            Observation::Shares { lock, node, token } if **lock == *self.lock => {
                self.granted(actor, (node, *token), true);
            }
            // Who tells no grant has it by then.
            Observation::Enters { lock } if **lock == *self.lock && self.asking.contains(&actor) => {
                self.granted(actor, (&"".into(), None), false);
            }
            Observation::Enters { lock } if **lock == *self.lock => {
                let by = self.tracker.standing.newest(actor.main());
                self.granted.entry(actor).or_insert((false, by));
            }
            Observation::Leaves { lock } | Observation::GivesUp { lock, .. } if **lock == *self.lock => {
                self.asking.remove(&actor);
            }
            Observation::Notes { what, about, number } if **about == *self.lock => {
                self.waits(actor, Word::own(what), *number);
            }
            _ => {}
        }
    }

    fn waits(&mut self, actor: ActorId, what: Word<'_>, millis: i64) {
        let At::Delayed(delay) = self.at else { return };
        match what {
            words::WAITS_FOR_DELAY => {
                let all = self.order.iter().chain(self.superseded.keys());
                let ended = all.filter(|other| self.outlived_its_session(**other));
                self.waits.insert(actor, ended.copied().collect());
            }
            words::HAS_WAITED => {
                let ended = self.waits.remove(&actor).unwrap_or_default();
                if u128::try_from(millis).is_ok_and(|millis| millis >= delay.as_millis()) {
                    self.long_ended.extend(ended);
                }
            }
            _ => {}
        }
    }

    fn granted(&mut self, actor: ActorId, (node, token): (&Text, Option<Zxid>), shares: bool) {
        let was_before = self.overwritten.tells(actor, token);
        let lost = self.tracker.has_ended(actor) || self.tracker.lost_to_another(actor, node);
        // Who has held it alone and makes do with a share now has its place, and has it by the session that it had.
        let makes_do = !self.asking.remove(&actor) && shares && self.has_place(actor);
        let had = self.granted.get(&actor).map(|(_, by)| *by).filter(|_| makes_do);
        let by = had.unwrap_or_else(|| self.tracker.standing.newest(actor.main()));
        self.granted.insert(actor, (shares, by));
        // Who has lost it already has its place as well.
        if !(lost || makes_do) {
            self.long_ended.remove(&actor);
            for ended in self.waits.values_mut() {
                ended.remove(&actor);
            }
            if !was_before {
                self.put_last(actor);
            }
        }
    }

    fn has_place(&self, actor: ActorId) -> bool {
        self.order.contains(&actor) || self.superseded.contains_key(&actor)
    }

    fn shares(&self, actor: ActorId) -> bool {
        self.granted.get(&actor).is_some_and(|(shares, _)| *shares)
    }

    fn is_at(&self, resource: Resource) -> bool {
        (self.at == At::Fenced) == (resource != Resource::Unfenced)
    }

    /// A thread that was never granted it writes by the last grant of its process.
    fn by_whose_grant(&self, writer: ActorId) -> ActorId {
        let is_its = |other: &&ActorId| other.main() == writer.main();
        match self.has_place(writer) {
            true => writer,
            false => {
                self.order.iter().rev().chain(self.superseded.keys()).find(is_its).copied().unwrap_or(writer)
            }
        }
    }

    fn is_late(&self, writer: ActorId) -> bool {
        let by_exclusive = self.superseded.get(&writer);
        by_exclusive.is_some_and(|by_exclusive| *by_exclusive || !self.shares(writer))
    }

    /// Who holds the lock beside a writer that never had it. Of a process, one thread may write for another.
    fn intruded_upon_by(&self, writer: ActorId) -> Option<ActorId> {
        let had = self.granted.keys().any(|other| other.main() == writer.main());
        let is_judged = self.at != At::Fenced && !had;
        let is_hurt =
            |(other, how): &(ActorId, Standing)| *how == Standing::Holds && other.main() != writer.main();
        self.tracker.standing.iter().find(|holder| is_judged && is_hurt(holder)).map(|(holder, _)| holder)
    }

    fn put_last(&mut self, actor: ActorId) {
        self.order.retain(|other| *other != actor);
        self.superseded.remove(&actor);
        self.order.push(actor);
    }

    fn supersede_before(&mut self, writer: ActorId) -> Effect {
        let exclusive = !self.shares(writer);
        // Sharers do not contradict each other.
        let placed = || self.granted.iter().filter(|(actor, _)| self.has_place(**actor));
        let passes = match placed().count() > 1 && placed().any(|(_, (shares, _))| !shares) {
            true => Effect::Passes,
            false => Effect::None,
        };
        let Some(at) = self.order.iter().position(|actor| *actor == writer) else {
            // Where a fellow sharer has written, it was put aside and is none the worse for it.
            return if self.superseded.contains_key(&writer) { passes } else { Effect::None };
        };
        for earlier in self.order.drain(..at) {
            self.superseded.insert(earlier, false);
        }
        if exclusive {
            self.superseded.values_mut().for_each(|by_exclusive| *by_exclusive = true);
        }
        passes
    }

    /// Whether the session has ended that it was granted the lock by.
    fn outlived_its_session(&self, writer: ActorId) -> bool {
        match self.granted.get(&self.by_whose_grant(writer)) {
            // To close it is to give the lock back. From outside, sessions are not known.
            Some((_, by)) => {
                *by != SessionId::NONE && !self.tracker.live.contains_key(by) && !self.closed.contains(by)
            }
            None => self.tracker.has_ended(writer),
        }
    }

    fn kind(&self) -> &'static str {
        match self.at {
            At::Fenced => "fenced",
            At::Unfenced | At::Delayed(_) => "unfenced",
            At::Checked => "checked",
        }
    }

    /// The assumption that a late writer violates.
    fn assumption(&self, writer: ActorId) -> Option<Assumption> {
        match self.at {
            At::Fenced | At::Checked => None,
            At::Unfenced if self.outlived_its_session(writer) => Some(Assumption::NoActionAfterSessionEnd),
            At::Delayed(_) if self.long_ended.contains(&self.by_whose_grant(writer)) => {
                Some(Assumption::NoActionAfterSessionEnd)
            }
            At::Unfenced | At::Delayed(_) => {
                self.tracker.lost_its_claim(writer).then_some(Assumption::NoAdministrator)
            }
        }
    }
}

impl Promise for ExclusionAtResource {
    fn terms(&self) -> Terms {
        let terms = match self.at {
            At::Fenced => Terms::of("exclusion-at-fenced-resource").about(
                "At a resource that compares tokens, no holder's writes are accepted after a later holder's.",
            ),
            At::Unfenced => Terms::of("exclusion-at-unfenced-resource")
                .about("Where all writes are accepted, none comes after a later holder's, or from who never had the lock.")
                .assumes(&[Assumption::NoActionAfterSessionEnd, Assumption::NoAdministrator]),
            At::Checked => Terms::of("exclusion-at-checked-resource").about(
                "At a resource that asks whether the writer holds the lock, no holder's writes arrive after a later holder's.",
            ),
            At::Delayed(_) => Terms::of("exclusion-behind-lock-delay")
                .about(
                    "Where every write is accepted, no holder's writes arrive after a later holder's, \
                     unless the lock-delay had passed since its session ended.",
                )
                .assumes(&[Assumption::NoActionAfterSessionEnd, Assumption::NoAdministrator]),
        };
        let terms = terms.tested_when(
            "Of two that were granted the lock, not both to share it, one writes to the resource.",
        );
        match self.at {
            // The resource is outside. Without the ends of sessions, the order of grants is that in which they are
            // told, which is theirs where all who have a part in it live on.
            At::Fenced | At::Unfenced => terms.judged_from_outside(),
            At::Checked | At::Delayed(_) => terms,
        }
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match self.effect(event) {
            Effect::None => {}
            Effect::Passes => found.push(Finding::Tested),
            Effect::Breaks(actor) => {
                let kind = self.kind();
                let what =
                    format!("a write of {actor} was accepted at the {kind} resource after a later holder's");
                found.push(broken(what, self.assumption(actor)));
            }
            Effect::Intrudes(writer, holder) => {
                let (lock, kind) = (self.lock, self.kind());
                let what = format!(
                    "a write of {writer}, which was never granted {lock}, was accepted at the {kind} resource \
                     while {holder} holds {lock}"
                );
                found.push(broken(what, None));
            }
        }
    }
}

#[cfg(test)]
mod tests;
