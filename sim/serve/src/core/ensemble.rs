//! The ensemble: what goes from server to server, who leads, and what always holds among them.
//!
//! What a server sends to another is there at once, behind all that was sent before, unless it comes to a cut or a
//! server lags.

use super::event::{AddressedEvent, Held, Later};
use super::host::{Host, Machine, note_shown};
use super::late::Late;
use super::stage::Stage;
use super::zab_watch::ZabWatch;
use crate::time::{MS, Nanos, steady_ms};
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::Zxid;
use zk_cluster::cluster::Cluster;
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::ToPeer;
use zk_proto::server::{Event, Server, ServerId, Timer};
use zk_proto::txn::Txn;
use zk_proto::zab::Note;
use zk_proto::zab::message::{LinkId, Notification};

/// The servers on their machines, and what is between them.
pub(super) struct Ensemble {
    /// Links keep whether they are broken: what goes there is lost, though an end may not have heard of it.
    pub(super) cluster: Cluster<Machine, bool, AddressedEvent>,
    late: Late,
    /// Proposed, and not applied.
    pub(super) proposed: BTreeMap<Zxid, Arc<Txn>>,
    /// The newest epoch that was ever established.
    epoch: u32,
    /// The last that was ever committed, and the last that was ever applied.
    committed: Zxid,
    applied: Zxid,
    pub(super) zab: ZabWatch,
}

impl Ensemble {
    /// Servers that have not started.
    pub(super) fn new(hosts: impl IntoIterator<Item = Host>) -> Ensemble {
        Ensemble {
            cluster: Cluster::new(hosts),
            late: Late::default(),
            proposed: BTreeMap::new(),
            epoch: 0,
            committed: Zxid::ZERO,
            applied: Zxid::ZERO,
            zab: ZabWatch::default(),
        }
    }

    /// Whether there are several.
    pub(super) fn is_ensemble(&self) -> bool {
        self.cluster.hosts.len() > 1
    }

    /// A server's number, where there are several.
    pub(super) fn name_of(&self, id: u8) -> Option<u8> {
        self.is_ensemble().then_some(id)
    }

    /// A machine.
    pub(super) fn host(&mut self, id: u8) -> &mut Host {
        self.cluster.host(id)
    }

    /// Whether the clients of a server can connect.
    pub(super) fn is_up(&self, id: u8) -> bool {
        self.cluster.server(id).is_some()
    }

    /// Whether all servers serve.
    pub(super) fn all_serve(&self) -> bool {
        self.cluster.hosts.iter().all(|host| host.is_serving)
    }

    /// Who leads. A server that is alone leads whenever it is up.
    pub(super) fn leading(&self) -> Result<u8, String> {
        match self.cluster.leader() {
            Some((leader, _)) => Ok(leader),
            None if self.is_ensemble() => Err("no server leads now; GET /leader tells".into()),
            None => Ok(0),
        }
    }

    /// The server that has applied most.
    pub(super) fn newest(&self) -> Option<&Server> {
        let servers = self.cluster.hosts.iter().filter_map(|host| host.server.as_ref());
        servers.max_by_key(|server| server.tree().last_zxid())
    }

    /// The timer that comes next of those that have come, of servers that do not stand still.
    pub(super) fn due_timer(&self, now: Nanos, is_of: impl Fn(&u8) -> bool) -> Option<(u8, Timer)> {
        let going =
            (0..).zip(&self.cluster.hosts).filter(|(id, host)| is_of(id) && host.own.paused_until.is_none());
        let timers =
            going.flat_map(|(id, host)| host.own.timers.iter().map(move |(timer, due)| (*due, id, *timer)));
        timers.min().filter(|(due, _, _)| *due <= now).map(|(_, id, timer)| (id, timer))
    }

    /// Sets one of a server's timers.
    pub(super) fn set_timer(&mut self, stage: &mut Stage, id: u8, timer: Timer, after_ms: u32) {
        self.host(id).own.timers.insert(timer, stage.now + u64::from(after_ms) * MS);
    }

    /// Something comes to a server. Gives it if the server takes it now: it may be cut off, or its process may stand
    /// still, or it may have hung up.
    pub(super) fn arrives(&mut self, stage: &mut Stage, addressed: AddressedEvent) -> Option<AddressedEvent> {
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
                stage.invariants.peer_reads(to, from, *link, message, steady_ms(stage.now));
            }
            Event::Unlinked { link } => self.cluster.links.close(ServerId(to), *link),
            _ => {}
        }
        Some(addressed)
    }

    /// A datagram of the election.
    pub(super) fn notify(&mut self, stage: &mut Stage, from: u8, to: u8, notification: Notification) {
        if self.cluster.is_cut(from, to) {
            return;
        }
        self.go(stage, from, to, Event::Notified { from: ServerId(from), notification });
    }

    /// Something goes from one server to another.
    fn go(&mut self, stage: &mut Stage, from: u8, to: u8, event: Event) {
        let delay = self.host(from).own.delay(stage.now).max(self.host(to).own.delay(stage.now));
        match self.late.sent(from, to, stage.now, stage.now + delay) {
            Some(due) => stage.later(due, None, Later::Happens { from: Some(from), to, event }),
            None => stage.next(to, event),
        }
    }

    /// A server says something over a link.
    pub(super) fn send_to_peer(&mut self, stage: &mut Stage, from: u8, link: LinkId, message: ToPeer) {
        let to = self.cluster.other_end(from, link).filter(|to| self.cluster.links.has(ServerId(*to), link));
        if let Some(to) =
            to.filter(|_| self.cluster.links.link(link).is_some_and(|link| link.to == [false; 2]))
        {
            stage.invariants.peer_sends(from, link, &message);
            self.go(stage, from, to, Event::FromPeer { link, message });
        }
    }

    /// A server hangs up; the other end hears of it behind all that was sent.
    pub(super) fn hang(&mut self, stage: &mut Stage, from: u8, link: LinkId) {
        let Some(to) = self.cluster.other_end(from, link) else { return };
        self.cluster.links.close(ServerId(from), link);
        if self.cluster.links.has(ServerId(to), link) {
            self.go(stage, from, to, Event::Unlinked { link });
        }
    }

    /// A server's process is gone: what it had sent still arrives.
    pub(super) fn break_links_of(&mut self, stage: &mut Stage, server: u8) {
        for link in self.cluster.links.of(ServerId(server)) {
            self.hang(stage, server, link);
        }
    }

    /// A server wants a link to another.
    pub(super) fn dial(&mut self, stage: &mut Stage, from: u8, to: u8) {
        let delay = self.host(from).own.delay(stage.now).max(self.host(to).own.delay(stage.now));
        if delay > 0 {
            // There and back.
            stage.later(stage.now + 2 * delay, Some(from), Later::Dialled { from, to });
        } else {
            self.dialled(stage, from, to);
        }
    }

    /// It gets it, or nothing comes of it.
    pub(super) fn dialled(&mut self, stage: &mut Stage, from: u8, to: u8) {
        if self.host(to).own.paused_until.is_some() {
            return;
        }
        let Some(link) = self.cluster.dialled(from, to) else { return };
        stage.next(to, Event::Accepted { link, from: ServerId(from) });
        stage.next(from, Event::Dialled { link, to: ServerId(to) });
    }

    /// The links between two servers break under them, with what is on its way.
    pub(super) fn break_links(&mut self, stage: &mut Stage, [a, b]: [u8; 2]) {
        for link in self.cluster.between([a, b]) {
            let Some(at) = self.cluster.links.link(link) else { continue };
            at.to = [true; 2];
            let is_lost = |event: &Event| match event {
                Event::FromPeer { link: over, .. } | Event::Unlinked { link: over } => *over == link,
                _ => false,
            };
            let late_between = &mut self.late;
            stage.retain_later(|_, late| match late {
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
                    self.go(stage, from, to, Event::Unlinked { link });
                }
            }
        }
    }

    /// Nothing gets through from one server to another for a while.
    pub(super) fn partition(&mut self, stage: &mut Stage, cut: &[[u8; 2]], for_ms: u64) {
        self.cluster.cut(cut);
        stage.later(stage.now + for_ms * MS, None, Later::PartitionEnds { cut: cut.to_vec() });
    }

    /// A server's peer notes something.
    pub(super) fn noted(&mut self, stage: &mut Stage, id: u8, note: Note) {
        match note {
            Note::Established { epoch } => self.established(stage, id, epoch),
            Note::Proposed(txn) => {
                stage.invariants.proposed(id, &txn, steady_ms(stage.now));
                self.proposed.insert(txn.zxid, txn);
            }
            Note::Committed(txn) => {
                // Of several servers, more than one may say so.
                if txn.zxid > self.committed || !self.is_ensemble() {
                    self.committed = self.committed.max(txn.zxid);
                    stage.invariants.committed(&txn, false);
                }
            }
            Note::Promised { .. } | Note::Cut(_) | Note::Violated(_) => self.zab.is_due = true,
            Note::Deviated(_) => {}
        }
    }

    /// A server begins to lead an epoch. What is in its history stands, and nothing else of what was proposed.
    fn established(&mut self, stage: &mut Stage, id: u8, epoch: u32) {
        let Some(server) = self.cluster.server(id) else { return };
        let history = server.peer().history();
        let last = history.last();
        stage.invariants.established(id, epoch, last, steady_ms(stage.now));
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
                stage.invariants.committed(txn, true);
            }
        }
    }

    /// A server has the state of its leader in the place of its own.
    pub(super) fn restored(&mut self, stage: &mut Stage, id: u8, zxid: Zxid) {
        if let Some(server) = self.cluster.server(id) {
            stage.invariants.started(id, zxid, server.tree());
        }
    }

    /// A server has applied a transaction. Whether that is the first time anywhere.
    pub(super) fn applied(&mut self, stage: &mut Stage, id: u8, txn: &Arc<Txn>) -> bool {
        let is_first = txn.zxid > self.applied;
        if !self.is_ensemble() && !is_first {
            // What no snapshot shows is applied again after a start.
            return false;
        }
        if let Some(server) = self.cluster.server(id) {
            stage.invariants.applied(id, txn, server.tree());
        }
        if is_first {
            self.applied = txn.zxid;
            self.proposed.remove(&txn.zxid);
        }
        is_first
    }

    /// When a process goes on, or a timer of one that does comes.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        let of_hosts = self.cluster.hosts.iter().filter_map(|host| match host.own.paused_until {
            Some(until) => Some(until),
            None => host.own.timers.values().min().copied(),
        });
        of_hosts.min()
    }

    /// What one server has sent to another is late no more.
    pub(super) fn landed(&mut self, from: u8, to: u8) {
        self.late.landed(from, to);
    }

    /// What must hold among servers, if it is time to look.
    pub(super) fn check_ensemble(&mut self, stage: &mut Stage) {
        if !self.is_ensemble() {
            return;
        }
        if self.zab.is_time() {
            self.zab.check(&self.cluster.peers());
        }
        self.cluster.hosts.iter_mut().for_each(note_shown);
        let shown = self.cluster.hosts.iter().map(|host| host.own.shown).min().unwrap_or_default();
        if shown > self.zab.forgotten {
            self.forget_before(stage, shown);
        }
    }

    /// Forgets what came before `shown`, when it was judged: no server will ever start from less. While one is down,
    /// all that it may lack is kept.
    fn forget_before(&mut self, stage: &mut Stage, shown: Zxid) {
        self.zab.check(&self.cluster.peers());
        self.zab.forget_before(shown);
        stage.invariants.shown_everywhere(shown);
    }

    /// A server wants something of its disk.
    pub(super) fn disk_op(&mut self, stage: &mut Stage, id: u8, op: DiskOp) {
        let host = &mut self.cluster.hosts[usize::from(id)];
        stage.invariants.asked(id, &op, host.disk.length(op.file()));
        match op.ticket() {
            Some((FileId::Log(_), _)) if host.crash_at_sync_ms.is_some() => host.own.crash_now = true,
            Some((file, ticket)) => self.disk_busy(stage, id, file, ticket),
            None => {}
        }
        self.host(id).disk.ask(op);
    }

    /// A disk does one thing after the other: at once, unless it is slow.
    fn disk_busy(&mut self, stage: &mut Stage, id: u8, file: FileId, ticket: u64) {
        let disk = &mut self.host(id).own.slow_disk;
        if stage.now < disk.until {
            disk.busy_until = disk.busy_until.max(stage.now) + disk.takes;
        }
        let (due, event) = (disk.busy_until, Event::Synced { file, ticket });
        if due > stage.now {
            stage.later(due, Some(id), Later::Happens { from: None, to: id, event });
        } else {
            stage.next(id, event);
        }
    }
}
