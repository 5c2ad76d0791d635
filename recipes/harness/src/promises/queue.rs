//! `nothing-lost`, `taken-once`, `takes-in-order` and `queue-progress`.
//!
//! An item is a znode below the queue's items, and not below another item, whose data is not empty; the data is its
//! payload. What is in an ephemeral znode is a payload only if its owner is putting it: a consumer may mark by one that
//! it is there, or what it has taken; and what is written into an item, only if it has been put. A producer *puts* a
//! payload with a priority, and *has put* it. A consumer *asks* the items' parent, *takes* an item, *has worked off*
//! the item. It may say as well which payload it *is given*: `ITEM: PAYLOAD`.

mod ears;

use super::findings::{broken_at, broken_for};
use crate::event::{ActorId, Event, GroundTruth};
use crate::promise::{Finding, Promise, Rest, Terms};
use ears::{Ears, QueueStep, broken_of, fate};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{Data, SessionId, Text};
use zk_recipes::queue::Delivery;

/// Each item that was put is worked off, or is there still. A producer that says it has put a payload is right: an item
/// with that payload was there then, or has appeared since it began to.
///
/// Where items are removed before they are given, at most one is lost with each consumer that dies while it asks, or
/// loses its session and asks on in another one; an item that was taken counts as worked off.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NothingLost {
    ears: Ears,
    delivery: Delivery,
    /// Payloads that somebody has begun to put, and that were not there yet.
    begun: BTreeSet<Text>,
    /// What was in items and is not worked off, by item: what was put last is in it, or was.
    pending: BTreeMap<Text, Vec<Data>>,
    /// Items that were worked off by being taken.
    taken: BTreeSet<Text>,
    /// How many items with that payload there have been.
    appeared: BTreeMap<Data, usize>,
    /// The same, but an administrator has deleted them.
    removed: BTreeSet<Text>,
    asking: BTreeSet<ActorId>,
    /// How often somebody died as it asked, or lost its session.
    fallen: usize,
}

impl NothingLost {
    /// For the items below this znode.
    pub fn of(items: &'static str, delivery: Delivery) -> Self {
        let (begun, pending, appeared) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let (ears, removed, asking) = (Ears::of(items), BTreeSet::new(), BTreeSet::new());
        let taken = BTreeSet::new();
        NothingLost { ears, delivery, begun, pending, taken, appeared, removed, asking, fallen: 0 }
    }
}

impl NothingLost {
    /// One item may be lost with each of those.
    fn may_lose(&mut self, are_those: impl Fn(ActorId) -> bool) {
        if self.delivery == Delivery::AtMostOnce {
            self.fallen += self.asking.iter().filter(|actor| are_those(**actor)).count();
        }
    }

    /// Those ask no more. What may be lost with a session that has ended was counted then.
    fn fall(&mut self, process: ActorId, are_those: impl Fn(ActorId) -> bool) {
        if !self.ears.tracker.has_ended(process) {
            self.may_lose(&are_those);
        }
        self.asking.retain(|actor| !are_those(*actor));
    }

    /// What is put is there.
    fn is_put(&mut self, payload: &Data) {
        self.begun.remove(&*String::from_utf8_lossy(payload.bytes()));
    }

    /// It is in the item from now on. Of what was in it before, it is to be told yet that it was taken, unless it
    /// stands elsewhere as well, or was never put.
    fn holds(&mut self, item: &Text, payload: &Data) {
        self.is_put(payload);
        let all = self.pending.entry(item.clone()).or_default();
        let is_owed = |before: &Data| {
            before != payload
                && self.ears.times_put(before) >= self.appeared.get(before).copied().unwrap_or(1)
        };
        if !all.last().is_some_and(is_owed) {
            all.pop();
        }
        all.push(payload.clone());
    }

    /// An item was worked off: what was the first in it. Gives whether it was there until then.
    fn settle(&mut self, item: &str) -> bool {
        self.removed.remove(item);
        let Some(all) = self.pending.get_mut(item) else { return false };
        all.remove(0);
        if all.is_empty() {
            self.pending.remove(item);
        }
        true
    }

    /// Which items are gone, but for as many of each payload as there have been more than were put: in their stand
    /// others.
    fn lost(&self, is_there: impl Fn(&Text) -> bool) -> Vec<&Text> {
        let mut more = BTreeMap::new();
        let gone = self.pending.iter().flat_map(|(item, all)| {
            let before = all.len() - usize::from(is_there(item));
            all[..before].iter().map(move |payload| (item, payload))
        });
        let lost = gone.filter(|(_, payload)| {
            let put = self.ears.times_put(payload);
            let of_it = more.entry(*payload).or_insert_with(|| self.appeared[*payload].saturating_sub(put));
            let is_lost = put == 0 || *of_it == 0;
            *of_it = of_it.saturating_sub(1);
            is_lost
        });
        lost.map(|(item, _)| item).collect()
    }
}

impl Promise for NothingLost {
    fn terms(&self) -> Terms {
        Terms::of("nothing-lost")
            .about("What is said to be put was there; at rest, each item was worked off, or is there still.")
            .tested_when("An item that was put is worked off.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Event::Is(GroundTruth::NodeDeleted { path, by, .. }) = event
            && *by != SessionId::NONE
            && !self.ears.tracker.knows(*by)
            && self.settle(path)
        {
            self.removed.insert(path.clone());
        }
        match self.ears.hear(event) {
            Some(QueueStep::Puts(payload, _)) => {
                let is_there = self.pending.iter().any(|(item, all)| {
                    let is_it = |last: &Data| *last.bytes() == *payload.as_bytes();
                    all.last().is_some_and(is_it) && self.ears.there.contains(item)
                });
                self.begun.extend((!is_there).then(|| payload.into()));
            }
            Some(QueueStep::HasPut(actor, payload)) => {
                if self.begun.remove(payload) {
                    let what = format!(
                        "{actor} says that it has put {payload}, and no item has had that data since it began to"
                    );
                    found.push(broken_for(what, &[actor]));
                }
            }
            Some(QueueStep::Appears(item, payload) | QueueStep::Changes(item, payload)) => {
                self.holds(item, payload);
                *self.appeared.entry(payload.clone()).or_default() += 1;
            }
            Some(QueueStep::Asks(actor)) => {
                self.asking.insert(actor);
            }
            Some(QueueStep::Takes(actor, item)) => {
                self.asking.remove(&actor);
                if self.delivery == Delivery::AtMostOnce && self.settle(item) {
                    self.taken.insert(item.into());
                    found.push(Finding::Tested);
                }
            }
            Some(QueueStep::WorkedOff(item)) => {
                if !self.taken.remove(item) && self.settle(item) {
                    found.push(Finding::Tested);
                }
            }
            // It may ask on.
            Some(QueueStep::Lapses(actor)) => self.may_lose(|other| other.main() == actor),
            Some(QueueStep::Ends(actor)) => self.fall(actor, |other| other.main() == actor),
            Some(QueueStep::Fails(actor)) => self.fall(actor, |other| other == actor),
            Some(QueueStep::IsDone(actor)) => {
                self.asking.remove(&actor);
            }
            Some(QueueStep::Vanishes(_) | QueueStep::IsGiven(..) | QueueStep::IsDoneWith(..)) | None => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let is_there = |item: &Text| rest.nodes.iter().any(|(path, _)| path == item);
        let lost = self.lost(is_there);
        let owed = if lost.len() > self.fallen { lost } else { Vec::new() };
        let all = owed.into_iter().chain(self.removed.iter().filter(|item| !is_there(item)));
        found.extend(all.map(|item| broken_of(format!("{item} is lost"), item)));
    }
}

/// No payload is taken more often than it was put. With at-least-once delivery, no payload is taken again while the
/// session in which it was taken lives, unless that has worked it off and is done with it; its taker may have opened
/// another session since. Who is done with an item, and has not worked it off, has given it back. Who says what it is
/// given has what is in the item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TakenOnce {
    ears: Ears,
    delivery: Delivery,
    payloads: BTreeMap<Text, Data>,
    /// Who has taken which payload, by which item.
    takers: BTreeMap<(Data, Text), Taker>,
    /// What was in the items that processes have deleted, and not said that they take: others may be put in their
    /// place.
    deleted: BTreeMap<(Text, ActorId), Data>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Taker {
    actor: ActorId,
    /// Its client has opened another session since.
    before: bool,
    worked_off: bool,
    /// It has worked it off, and is done with it: whatever becomes of it, nobody is to take that again.
    done: bool,
    /// The item has made room for another one of its name.
    gone: bool,
}

impl TakenOnce {
    /// For the items below this znode.
    pub fn of(items: &'static str, delivery: Delivery) -> Self {
        let (payloads, takers, deleted) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        TakenOnce { ears: Ears::of(items), delivery, payloads, takers, deleted }
    }

    /// An item is deleted by one that may say only later that it takes what was in it.
    fn is_deleted(&mut self, item: &Text, by: SessionId) {
        if let Some(process) = self.ears.tracker.live.get(&by)
            && let Some(payload) = self.payloads.get(item)
            && !self.takers.contains_key(&(payload.clone(), item.clone()))
        {
            self.deleted.insert((item.clone(), *process), payload.clone());
        }
    }

    /// What an ended session has taken is given again. A client may have opened the next one before it ends.
    fn forget(&mut self, event: &Event) {
        match event {
            Event::Is(GroundTruth::SessionOpened { actor, .. }) => {
                let those = self.takers.values_mut().filter(|taker| taker.actor.main() == *actor);
                those.for_each(|taker| taker.before = true);
            }
            Event::Is(GroundTruth::SessionClosed { actor, .. }) if self.delivery == Delivery::AtLeastOnce => {
                let was_last = self.ears.tracker.is_dead(*actor);
                self.takers.retain(|_, taker| {
                    taker.done || taker.actor.main() != *actor || !(was_last || taker.before)
                });
            }
            Event::Is(GroundTruth::Crashed { actor }) => {
                self.deleted.retain(|(_, process), _| process != actor);
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
    }
}

impl Promise for TakenOnce {
    fn terms(&self) -> Terms {
        Terms::of("taken-once")
            .about("Nothing is taken more often than it was put: not at all, or not while its taker lives, as is declared.")
            .tested_when("An item that was put is taken.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let step = self.ears.hear(event);
        self.forget(event);
        if let Event::Is(GroundTruth::NodeDeleted { path, by, .. }) = event {
            self.is_deleted(path, *by);
        }
        match step {
            Some(QueueStep::Appears(item, payload)) => {
                if self.ears.times_put(payload) > 0 {
                    let of_name = self.takers.iter_mut().filter(|((_, taken), _)| taken == item);
                    of_name.for_each(|((other, _), taker)| taker.gone |= other != payload);
                }
                self.payloads.insert(item.clone(), payload.clone());
            }
            Some(QueueStep::Changes(item, payload)) => {
                self.payloads.insert(item.clone(), payload.clone());
            }
            Some(QueueStep::Takes(actor, item)) => {
                let dead = |actor| self.ears.tracker.is_dead(actor) && self.delivery == Delivery::AtLeastOnce;
                let Some((item, now)) = self.payloads.get_key_value(item) else { return };
                if dead(actor) {
                    return;
                }
                let before = self.deleted.remove(&(item.clone(), actor.main()));
                let payload = before.as_ref().unwrap_or(now);
                self.takers.retain(|_, former| former.done || !dead(former.actor));
                let equal = || self.takers.keys().filter(|(other, _)| other == payload);
                let all_taken = equal().count() >= self.ears.times_put(payload).max(1);
                // A consumer may have marked it, so that it has other data now; and one that is done with may be put
                // again.
                let mut of_item = self.takers.iter().filter(|((_, other), _)| other == item);
                let is_former = |taker: &Taker| !taker.gone && (!taker.done || all_taken);
                let same = of_item.find(|(_, taker)| is_former(taker)).map(|(taken, _)| taken);
                let one_of = equal().next().filter(|_| all_taken);
                let former = same.or(one_of).cloned().and_then(|taken| self.takers.remove(&taken));
                let gone = payload != now;
                let taker = Taker { actor, before: false, worked_off: false, done: false, gone };
                self.takers.insert((payload.clone(), item.clone()), taker);
                found.push(match former {
                    Some(Taker { actor: former, .. }) => {
                        let what = format!("{actor} takes {item}, whose payload {former} has taken");
                        let same = self.payloads.iter().filter(|(_, other)| *other == payload);
                        let fates: Vec<Text> = same.flat_map(|(item, _)| fate(item)).collect();
                        broken_at(what, fates.iter().map(|znode| &**znode))
                    }
                    None => Finding::Tested,
                });
            }
            Some(QueueStep::WorkedOff(item)) => {
                let those = self.takers.iter_mut().filter(|((_, taken), _)| **taken == *item);
                those.for_each(|(_, taker)| taker.worked_off = true);
            }
            Some(QueueStep::IsDoneWith(actor, item)) if self.delivery == Delivery::AtLeastOnce => {
                self.takers.retain(|(_, taken), taker| {
                    let is_its = **taken == *item && taker.actor == actor;
                    taker.done |= is_its && taker.worked_off;
                    !is_its || taker.done
                });
            }
            Some(QueueStep::IsGiven(actor, item, payload)) => {
                let is_other = |put: &Data| String::from_utf8_lossy(put.bytes()) != payload;
                if self.payloads.get(item).is_some_and(is_other) {
                    let what = format!("{actor} is given '{payload}' for what is in {item}");
                    found.push(broken_of(what, item));
                }
            }
            _ => {}
        }
    }
}

/// Of the items that are there, the first is taken first: by priority, and then by the order of creation.
///
/// An item may be taken before another that comes first if that other was put after the consumer had asked, unless both
/// have the same priority; or if a consumer that asked meanwhile turns out to have it. A consumer that asks later must
/// not get it. An item that a dead consumer may have had is not judged, nor is one into which what was taken is put.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TakesInOrder {
    ears: Ears,
    priorities: BTreeMap<Text, i64>,
    /// How often each payload was taken.
    taken: BTreeMap<Data, usize>,
    /// Not taken yet, oldest first.
    waiting: Vec<Waiting>,
    /// How many items there have been.
    count: u32,
    /// Who has asked.
    asking: BTreeMap<ActorId, Asked>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asked {
    /// How many items there had been then.
    count: u32,
    /// It has taken one since. It may ask for the next without telling.
    took: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    item: Text,
    payload: Data,
    /// Its place: the priority, and which of all items it is.
    place: (i64, u32),
    is_there: bool,
    /// Another was taken before it. These were asking then, and may have it.
    overtaken: Option<BTreeSet<ActorId>>,
}

impl TakesInOrder {
    /// For the items below this znode.
    pub fn of(items: &'static str) -> Self {
        let (ears, waiting) = (Ears::of(items), Vec::new());
        let (priorities, taken, asking) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        TakesInOrder { ears, priorities, taken, waiting, count: 0, asking }
    }

    /// Those ask no more. What one of them may have had is not judged: of one that has died, what nobody else gets
    /// until its session is over.
    fn forget(&mut self, is_dead: bool, are_those: impl Fn(ActorId) -> bool) {
        self.may_have_had(&are_those);
        if is_dead && self.asking.keys().any(|actor| are_those(*actor)) {
            self.waiting.retain(|waiting| waiting.overtaken.is_some());
        }
        self.asking.retain(|actor, _| !are_those(*actor));
    }

    /// What one of those may have had is not judged: anything, or what one that has taken some may have taken instead.
    fn may_have_had(&mut self, are_those: impl Fn(ActorId) -> bool) {
        if self.asking.iter().any(|(actor, asked)| are_those(*actor) && !asked.took) {
            self.waiting.clear();
        }
        for waiting in &mut self.waiting {
            waiting.overtaken.take_if(|others| others.iter().any(|other| are_those(*other)));
        }
    }

    fn takes(&mut self, actor: ActorId, item: &str, found: &mut Vec<Finding>) {
        let Some(at) = self.waiting.iter().position(|waiting| *waiting.item == *item) else { return };
        let taken = self.waiting.remove(at);
        *self.taken.entry(taken.payload).or_default() += 1;
        // Who has never told that it asks may have had this one for long; it asks on from now.
        let is_untold = !self.asking.contains_key(&actor);
        let asked = self.asking.entry(actor).or_insert(Asked { count: self.count, took: false });
        asked.took = true;
        let count = asked.count;
        if is_untold {
            // Nor is it a test.
        } else if taken.overtaken.is_some_and(|others| !others.contains(&actor)) {
            let what = format!("{actor} takes {item} only after one that comes behind it");
            found.push(broken_of(what, item));
        } else if self.waiting.iter().any(|other| other.is_there) {
            found.push(Finding::Tested);
        }
        let asking: BTreeSet<_> = self.asking.keys().copied().filter(|other| *other != actor).collect();
        for other in self.waiting.iter_mut().filter(|other| other.is_there && other.place < taken.place) {
            if other.place.0 == taken.place.0 || other.place.1 < count {
                let may_have = other.overtaken.take();
                other.overtaken = Some(may_have.map_or(asking.clone(), |old| &old & &asking));
            }
        }
    }
}

impl Promise for TakesInOrder {
    fn terms(&self) -> Terms {
        Terms::of("takes-in-order")
            .about(
                "Items are taken by priority, and those of one priority in the order in which they were put.",
            )
            .tested_when("An item is taken while another one is there.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match self.ears.hear(event) {
            Some(QueueStep::Puts(payload, priority)) => {
                self.priorities.insert(payload.into(), priority);
            }
            Some(QueueStep::Appears(item, payload)) => {
                let text = String::from_utf8_lossy(payload.bytes());
                let priority = self.priorities.get(&*text).copied().unwrap_or_default();
                let (item, payload, place) = (item.clone(), payload.clone(), (priority, self.count));
                self.count += 1;
                let was_taken =
                    self.taken.get(&payload).is_some_and(|taken| *taken >= self.ears.times_put(&payload));
                if !was_taken {
                    self.waiting.push(Waiting { item, payload, place, is_there: true, overtaken: None });
                }
            }
            Some(QueueStep::Vanishes(item)) => {
                self.waiting
                    .iter_mut()
                    .filter(|other| other.item == *item)
                    .for_each(|it| it.is_there = false);
            }
            Some(QueueStep::Asks(actor)) => {
                self.asking.insert(actor, Asked { count: self.count, took: false });
                for may_have in self.waiting.iter_mut().filter_map(|other| other.overtaken.as_mut()) {
                    may_have.remove(&actor);
                }
            }
            Some(QueueStep::Takes(actor, item)) if !self.ears.tracker.is_dead(actor) => {
                self.takes(actor, item, found)
            }
            // It may ask on, and what it has by then is given back when that session ends.
            Some(QueueStep::Lapses(actor)) => self.may_have_had(|other| other.main() == actor),
            Some(QueueStep::Ends(actor)) => self.forget(true, |other| other.main() == actor),
            Some(QueueStep::Fails(actor)) => self.forget(true, |other| other == actor),
            Some(QueueStep::IsDone(actor)) => self.forget(false, |other| other == actor),
            Some(
                QueueStep::Takes(..)
                | QueueStep::WorkedOff(_)
                | QueueStep::IsDoneWith(..)
                | QueueStep::HasPut(..)
                | QueueStep::IsGiven(..)
                | QueueStep::Changes(..),
            )
            | None => {}
        }
    }

    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        let skipped = self.waiting.iter().filter(|other| other.is_there && other.overtaken.is_some());
        let what = |item| format!("{item} is there still, though one that it comes before was taken");
        found.extend(skipped.map(|other| broken_of(what(&other.item), &other.item)));
    }
}

/// At rest, no live consumer is still asking while an item is there that nobody has worked off; nor, with at-most-once
/// delivery, taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueueProgress {
    ears: Ears,
    delivery: Delivery,
    asking: BTreeSet<ActorId>,
    /// Items that are there though they were worked off, or given.
    kept: BTreeSet<Text>,
}

impl QueueProgress {
    /// For the items below this znode.
    pub fn of(items: &'static str, delivery: Delivery) -> Self {
        QueueProgress { ears: Ears::of(items), delivery, asking: BTreeSet::new(), kept: BTreeSet::new() }
    }
}

impl QueueProgress {
    /// Nobody is to take it, though it is there.
    fn keep(&mut self, item: &str) {
        self.kept.extend(self.ears.there.get(item).cloned());
    }
}

impl Promise for QueueProgress {
    fn terms(&self) -> Terms {
        Terms::of("queue-progress")
            .about("At rest, no consumer whose session lives waits while an item is there that is not worked off.")
            .tested_when("Somebody that asks takes an item that was put.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match self.ears.hear(event) {
            Some(QueueStep::Asks(actor)) => {
                self.asking.insert(actor);
            }
            Some(QueueStep::Takes(actor, item)) => {
                found.extend(self.asking.remove(&actor).then_some(Finding::Tested));
                if self.delivery == Delivery::AtMostOnce {
                    self.keep(item);
                }
            }
            Some(QueueStep::Ends(actor) | QueueStep::Fails(actor) | QueueStep::IsDone(actor)) => {
                self.asking.remove(&actor);
            }
            Some(QueueStep::WorkedOff(item)) => self.keep(item),
            Some(QueueStep::Vanishes(item)) => {
                self.kept.remove(item);
            }
            // At rest, it waits on if it has another one.
            _ => {}
        }
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        if let Some(actor) = self.asking.iter().find(|actor| rest.goes_on(**actor)) {
            let what = |item| format!("{actor} waits for ever though {item} is there");
            let waits = self.ears.there.difference(&self.kept);
            found.extend(waits.map(|item| broken_of(what(item), item)));
        }
    }
}

#[cfg(test)]
mod tests;
