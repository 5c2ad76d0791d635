//! What servers and connections share: the time, what is to happen, and who is told of it.

use super::event::{AddressedEvent, Later};
use crate::observer::Observer;
use crate::record::Record;
use crate::time::Nanos;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_invariants::Invariants;
use zk_proto::message::ConnId;
use zk_proto::server::Event;

/// See the module.
pub(super) struct Stage {
    pub(super) now: Nanos,
    /// What happens when, and in which order if at once; and to which server, whose crash undoes it.
    later: BTreeMap<(Nanos, u64), (Option<u8>, Later)>,
    laters: u64,
    /// What happens next to the servers, in this order.
    pub(super) events: VecDeque<AddressedEvent>,
    /// Connections whose frames are to be looked at when nothing more happens.
    pub(super) look_again: VecDeque<ConnId>,
    pub(super) invariants: Invariants,
    pub(super) record: Record,
    pub(super) observer: Option<Arc<dyn Observer>>,
    /// When a client last connected, or a znode or a session last changed.
    pub(super) moved: Nanos,
    /// Requests taken, also those before the statistics were reset.
    pub(super) requests: u64,
}

impl Stage {
    /// Nothing has happened yet.
    pub(super) fn new(invariants: Invariants, record: Record, observer: Option<Arc<dyn Observer>>) -> Stage {
        Stage {
            now: 0,
            later: BTreeMap::new(),
            laters: 0,
            events: VecDeque::new(),
            look_again: VecDeque::new(),
            invariants,
            record,
            observer,
            moved: 0,
            requests: 0,
        }
    }

    /// Something happens to a server next.
    pub(super) fn next(&mut self, to: u8, event: Event) {
        self.events.push_back(AddressedEvent { to, event, is_here: false });
    }

    /// Puts something off; a crash of the server `of` undoes it.
    pub(super) fn later(&mut self, due: Nanos, of: Option<u8>, what: Later) {
        self.laters += 1;
        self.later.insert((due, self.laters), (of, what));
    }

    /// All that is put off.
    pub(super) fn put_off(&self) -> impl Iterator<Item = &Later> {
        self.later.values().map(|(_, late)| late)
    }

    /// When the first of that is due.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.later.keys().next().map(|(due, _)| *due)
    }

    /// Takes the next that is due.
    pub(super) fn take_due(&mut self) -> Option<Later> {
        let entry = self.later.first_entry().filter(|entry| entry.key().0 <= self.now)?;
        Some(entry.remove().1)
    }

    /// Undoes what is put off, but for what is to be kept.
    pub(super) fn retain_later(&mut self, mut keeps: impl FnMut(Option<u8>, &Later) -> bool) {
        self.later.retain(|_, (of, late)| keeps(*of, late));
    }
}
