//! The ensemble: what goes from server to server, who leads, and what always holds among them.
//!
//! What a server sends to another is there at once, behind all that was sent before, unless it comes to a cut or a
//! server lags.

use super::Core;
use super::event::{AddressedEvent, Held, Later};
use super::host::note_shown;
use crate::time::{MS, Nanos, steady_ms};
use zk_api::Zxid;
use zk_proto::message::ToPeer;
use zk_proto::server::{Event, ServerId};
use zk_proto::zab::Note;
use zk_proto::zab::message::{LinkId, Notification};

impl Core {
    /// Something comes to a server. Gives it if the server takes it now: it may be cut off, or its process may stand
    /// still, or it may have hung up.
    pub(super) fn arrives(&mut self, now: Nanos, addressed: AddressedEvent) -> Option<AddressedEvent> {
        let to = addressed.to;
        let link = match &addressed.event {
            Event::FromPeer { link, .. }
            | Event::Unlinked { link }
            | Event::Dialled { link, .. }
            | Event::Accepted { link, .. } => Some(*link),
            _ => None,
        };
        if link.is_some_and(|link| !self.cluster.links.has(ServerId(to), link)) {
            return None;
        }
        let from = match &addressed.event {
            Event::Notified { from, .. } => Some(from.0),
            Event::FromPeer { link, .. } | Event::Unlinked { link } => self.cluster.other_end(to, *link),
            _ => None,
        };
        if let Some(from) = from.filter(|from| !addressed.is_here && self.cluster.is_cut(*from, to)) {
            if link.is_some() {
                self.cluster.partitions.stall(ServerId(from), ServerId(to), addressed);
            }
            return None;
        }
        let host = self.host(to);
        host.server.as_ref()?;
        // A process that goes on finds what has waited before what comes now.
        let is_behind = link.is_some() && !addressed.is_here && !host.own.held.is_empty();
        if host.own.paused_until.is_some() || is_behind {
            host.own.held.push_back(Held::Event(AddressedEvent { is_here: true, ..addressed }));
            return None;
        }
        match &addressed.event {
            Event::FromPeer { link, message } => {
                let from = self.cluster.other_end(to, *link).unwrap_or(to);
                self.invariants.peer_reads(to, from, *link, message, steady_ms(now));
            }
            Event::Unlinked { link } => self.cluster.links.close(ServerId(to), *link),
            _ => {}
        }
        Some(addressed)
    }

    /// A datagram of the election.
    pub(super) fn notify(&mut self, now: Nanos, from: u8, to: u8, notification: Notification) {
        if self.cluster.is_cut(from, to) {
            return;
        }
        self.go(now, from, to, Event::Notified { from: ServerId(from), notification });
    }

    /// Something goes from one server to another.
    fn go(&mut self, now: Nanos, from: u8, to: u8, event: Event) {
        let delay = self.host(from).own.delay(now).max(self.host(to).own.delay(now));
        match self.late.sent(from, to, now, now + delay) {
            Some(due) => self.later(due, None, Later::Happens { from: Some(from), to, event }),
            None => self.next(to, event),
        }
    }

    /// A server says something over a link.
    pub(super) fn send_to_peer(&mut self, now: Nanos, from: u8, link: LinkId, message: ToPeer) {
        let to = self.cluster.other_end(from, link).filter(|to| self.cluster.links.has(ServerId(*to), link));
        if let Some(to) =
            to.filter(|_| self.cluster.links.link(link).is_some_and(|link| link.to == [false; 2]))
        {
            self.invariants.peer_sends(from, link, &message);
            self.go(now, from, to, Event::FromPeer { link, message });
        }
    }

    /// A server hangs up; the other end hears of it behind all that was sent.
    pub(super) fn hang(&mut self, now: Nanos, from: u8, link: LinkId) {
        let Some(to) = self.cluster.other_end(from, link) else { return };
        self.cluster.links.close(ServerId(from), link);
        if self.cluster.links.has(ServerId(to), link) {
            self.go(now, from, to, Event::Unlinked { link });
        }
    }

    /// A server's process is gone: what it had sent still arrives.
    pub(super) fn break_links_of(&mut self, now: Nanos, server: u8) {
        for link in self.cluster.links.of(ServerId(server)) {
            self.hang(now, server, link);
        }
    }

    /// A server wants a link to another.
    pub(super) fn dial(&mut self, now: Nanos, from: u8, to: u8) {
        let delay = self.host(from).own.delay(now).max(self.host(to).own.delay(now));
        if delay > 0 {
            // There and back.
            self.later(now + 2 * delay, Some(from), Later::Dialled { from, to });
        } else {
            self.dialled(from, to);
        }
    }

    /// It gets it, or nothing comes of it.
    pub(super) fn dialled(&mut self, from: u8, to: u8) {
        if self.host(to).own.paused_until.is_some() {
            return;
        }
        let Some(link) = self.cluster.dialled(from, to) else { return };
        self.next(to, Event::Accepted { link, from: ServerId(from) });
        self.next(from, Event::Dialled { link, to: ServerId(to) });
    }

    /// The links between two servers break under them, with what is on its way.
    pub(super) fn break_links(&mut self, now: Nanos, [a, b]: [u8; 2]) {
        for link in self.cluster.between([a, b]) {
            let Some(at) = self.cluster.links.link(link) else { continue };
            at.to = [true; 2];
            let is_lost = |event: &Event| match event {
                Event::FromPeer { link: over, .. } | Event::Unlinked { link: over } => *over == link,
                _ => false,
            };
            let late_between = &mut self.late;
            self.later.retain(|_, (_, late)| match late {
                Later::Happens { from: Some(from), to, event } if is_lost(event) => {
                    late_between.landed(*from, *to);
                    false
                }
                _ => true,
            });
            self.cluster.partitions.retain_stalled(|addressed| !is_lost(&addressed.event));
            for host in &mut self.cluster.hosts {
                host.own.held.retain(|held| !matches!(held, Held::Event(held) if is_lost(&held.event)));
            }
            for (from, to) in [(a, b), (b, a)] {
                if self.cluster.links.has(ServerId(to), link) {
                    self.go(now, from, to, Event::Unlinked { link });
                }
            }
        }
    }

    /// Nothing gets through from one server to another for a while.
    pub(super) fn partition(&mut self, now: Nanos, cut: &[[u8; 2]], for_ms: u64) {
        self.cluster.cut(cut);
        self.later(now + for_ms * MS, None, Later::PartitionEnds { cut: cut.to_vec() });
    }

    /// That is over: what has waited arrives.
    pub(super) fn partition_ends(&mut self, now: Nanos, cut: &[[u8; 2]]) {
        self.events.extend(self.cluster.mend(cut));
        self.run(now);
    }

    /// A server's peer notes something.
    pub(super) fn noted(&mut self, now: Nanos, id: u8, note: Note) {
        match note {
            Note::Established { epoch } => self.established(now, id, epoch),
            Note::Proposed(txn) => {
                self.invariants.proposed(id, &txn, steady_ms(now));
                self.proposed.insert(txn.zxid, txn);
            }
            Note::Committed(txn) => {
                // Of several servers, more than one may say so.
                if txn.zxid > self.committed || !self.is_ensemble() {
                    self.committed = self.committed.max(txn.zxid);
                    self.invariants.committed(&txn, false);
                }
            }
            Note::Promised { .. } | Note::Cut(_) | Note::Violated(_) => self.zab.is_due = true,
            Note::Deviated(_) => {}
        }
    }

    /// A server begins to lead an epoch. What is in its history stands, and nothing else of what was proposed.
    fn established(&mut self, now: Nanos, id: u8, epoch: u32) {
        let Some(server) = self.cluster.server(id) else { return };
        let history = server.peer().history();
        let last = history.last();
        self.invariants.established(id, epoch, last, steady_ms(now));
        self.zab.is_due = true;
        // What came later is not lost because a leader of a past epoch does not know it.
        if epoch < self.epoch {
            return;
        }
        self.epoch = epoch;
        self.proposed.retain(|zxid, txn| {
            *zxid <= history.base() || history.between(Zxid::ZERO, *zxid).last() == Some(txn)
        });
        for (zxid, txn) in &self.proposed {
            if *zxid > self.committed {
                self.committed = *zxid;
                self.invariants.committed(txn, true);
            }
        }
    }

    /// A server has the state of its leader in the place of its own.
    pub(super) fn restored(&mut self, id: u8, zxid: Zxid) {
        if let Some(server) = self.cluster.server(id) {
            self.invariants.started(id, zxid, server.tree());
        }
    }

    /// What must hold among servers, if it is time to look.
    pub(super) fn check_ensemble(&mut self) {
        if !self.is_ensemble() {
            return;
        }
        if self.zab.is_time() {
            self.zab.check(&self.cluster.peers());
        }
        self.cluster.hosts.iter_mut().for_each(note_shown);
        let shown = self.cluster.hosts.iter().map(|host| host.own.shown).min().unwrap_or_default();
        if shown > self.zab.forgotten {
            self.forget_before(shown);
        }
    }

    /// Forgets what came before `shown`, when it was judged: no server will ever start from less. While one is down, all
    /// that it may lack is kept.
    fn forget_before(&mut self, shown: Zxid) {
        self.zab.check(&self.cluster.peers());
        self.zab.forget_before(shown);
        self.invariants.shown_everywhere(shown);
    }
}
