//! What is heard of a queue.

use super::super::findings::broken_at;
use crate::context::{SessionTracker, below, name, parent};
use crate::event::{ActorId, End, Event, GroundTruth, Observation};
use crate::promise::Finding;
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{Data, SessionId, Text};
use zk_recipes::queue::CLAIM;

/// What happens at a queue.
pub(super) enum QueueStep<'a> {
    /// A payload is about to be put with a priority.
    Puts(&'a str, i64),
    /// A payload is said to have been put.
    HasPut(ActorId, &'a str),
    /// An item is there.
    Appears(&'a Text, &'a Data),
    /// One that is there is given other data.
    Changes(&'a Text, &'a Data),
    /// An item, or a claim, is gone.
    Vanishes(&'a Text),
    Asks(ActorId),
    Takes(ActorId, &'a str),
    /// It has found this payload in an item.
    IsGiven(ActorId, &'a str, &'a str),
    WorkedOff(&'a str),
    /// Its consumer does no more about an item.
    IsDoneWith(ActorId, &'a str),
    /// It asks no more, nor does any of its threads: it is dead, or has given up.
    Ends(ActorId),
    /// It asks no more, as it has failed. Its other threads go on.
    Fails(ActorId),
    /// One of its sessions is over; it may go on in another one.
    Lapses(ActorId),
    /// It asks no more, as it has done all it was to do.
    IsDone(ActorId),
}

/// Reads events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ears {
    items: &'static str,
    pub(super) tracker: SessionTracker,
    /// The items that are there.
    pub(super) there: BTreeSet<Text>,
    /// How often each payload was put, and who is putting it. Who tells again that it puts it, and not that it has,
    /// tries again.
    put: BTreeMap<Text, (usize, BTreeSet<ActorId>)>,
}

impl Ears {
    pub(super) fn of(items: &'static str) -> Ears {
        Ears { items, tracker: SessionTracker::of(items), there: BTreeSet::new(), put: BTreeMap::new() }
    }

    pub(super) fn hear<'a>(&mut self, event: &'a Event) -> Option<QueueStep<'a>> {
        let dead = self.tracker.see(event);
        if let Event::Is(GroundTruth::SessionClosed { actor, .. }) = event {
            return Some(QueueStep::Lapses(*actor));
        }
        if let Some(dead) = dead {
            return Some(QueueStep::Ends(dead));
        }
        match event {
            // It was refused.
            Event::Observed { actor, what: Observation::GivesUp { lock: payload, .. } } => {
                self.put.get_mut(payload)?.1.remove(actor);
                None
            }
            Event::Observed { actor, what } => match what.told()? {
                (words::PUTS, payload, priority) => {
                    self.put.entry(payload.into()).or_default().1.insert(*actor);
                    Some(QueueStep::Puts(payload, priority))
                }
                (words::HAS_PUT, payload, _) => {
                    let (times, putting) = self.put.entry(payload.into()).or_default();
                    *times += usize::from(putting.remove(actor));
                    Some(QueueStep::HasPut(*actor, payload))
                }
                (words::ASKS, items, _) if items == self.items => Some(QueueStep::Asks(*actor)),
                (words::TAKES, item, _) if below(self.items, item) => Some(QueueStep::Takes(*actor, item)),
                (words::IS_GIVEN, about, _) if below(self.items, about) => {
                    about.split_once(": ").map(|(item, payload)| QueueStep::IsGiven(*actor, item, payload))
                }
                (words::HAS_WORKED_OFF, item, _) if below(self.items, item) => {
                    Some(QueueStep::WorkedOff(item))
                }
                (words::IS_DONE_WITH, item, _) if below(self.items, item) => {
                    Some(QueueStep::IsDoneWith(*actor, item))
                }
                _ => None,
            },
            Event::Is(GroundTruth::NodeWritten { path, owner, data, .. })
                if below(self.items, path)
                    && !data.bytes().is_empty()
                    && (*owner == SessionId::NONE || self.puts(*owner, data)) =>
            {
                if self.there.contains(path) {
                    return (self.times_put(data) > 0).then_some(QueueStep::Changes(path, data));
                }
                let is_within = self.there.iter().any(|item| below(item, path));
                (!is_within).then(|| {
                    self.there.insert(path.clone());
                    QueueStep::Appears(path, data)
                })
            }
            Event::Is(GroundTruth::NodeDeleted { path, .. }) if below(self.items, path) => {
                self.there.remove(path);
                Some(QueueStep::Vanishes(path))
            }
            Event::Is(
                GroundTruth::Finished { actor, end: End::Done } | GroundTruth::ThreadEnded { actor },
            ) => Some(QueueStep::IsDone(*actor)),
            Event::Is(GroundTruth::Finished { actor, end: End::Failed }) => Some(QueueStep::Fails(*actor)),
            Event::Is(GroundTruth::Finished { actor, .. }) => Some(QueueStep::Ends(*actor)),
            Event::Is(_) => None,
        }
    }

    /// Whether whoever has this session is putting it.
    fn puts(&self, session: SessionId, payload: &Data) -> bool {
        let put = self.put.get(&*String::from_utf8_lossy(payload.bytes()));
        let actor = self.tracker.opened.get(&session);
        put.is_some_and(|(_, putting)| putting.iter().any(|putting| Some(&putting.main()) == actor))
    }

    /// How many items may have a payload.
    pub(super) fn times_put(&self, payload: &Data) -> usize {
        let put = self.put.get(&*String::from_utf8_lossy(payload.bytes()));
        put.map_or(0, |(times, putting)| times + putting.len())
    }
}

/// What the fate of an item hangs on: its znode, and that of a claim to it.
pub(super) fn fate(item: &str) -> [Text; 2] {
    [item.into(), format!("{}/{CLAIM}{}", parent(item), name(item)).into()]
}

/// Broken, and about an item.
pub(super) fn broken_of(what: String, item: &str) -> Finding {
    broken_at(what, fate(item).iter().map(|znode| &**znode))
}
