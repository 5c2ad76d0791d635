//! The servers and everything that must happen in one order: their disks, their timers, their connections, what
//! goes between them, and their invariants. Synchronous and without sockets: time is an argument, and what
//! is to be sent goes into [`ClientLink`]s.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod` | [`Core`]: steps of the servers, and what they want done |
//! | `host` | one server and its machine |
//! | `conn` | one connection, and its session |
//! | `event` | what happens to servers: next, at its time, or as a request comes |
//! | `ensemble` | what goes from server to server, who leads, and what always holds among them |
//! | `late` | what is late between two servers |
//! | `zab_watch` | what is followed to judge Zab by |
//! | `conns` | connections: frames become events |
//! | `sending` | messages become frames; connections end |
//! | `faults` | faults strike |
//! | `later` | what happens at its time, and what waits while a process stands still |
//! | `show` | what is told of all this |

mod conn;
mod conns;
mod ensemble;
mod event;
mod faults;
mod host;
mod late;
mod later;
mod sending;
mod show;
#[cfg(test)]
mod tests;
mod zab_watch;

use crate::link::{ClientLink, State};
use crate::listener::Entrance;
use crate::observer::Observer;
use crate::record::{Record, What};
use crate::time::{Nanos, steady_ms};
use crate::{Limits, Options};
use conn::{Conn, Session};
use event::{AddressedEvent, Armed, Later};
use host::{Host, Machine};
use late::Late;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use zab_watch::ZabWatch;
use zk_api::{SessionId, Zxid};
use zk_cluster::cluster::Cluster;
use zk_invariants::{Invariant, Invariants, Setup};
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::ConnId;
use zk_proto::server::{Event, Input, Note, Output, Timer};
use zk_proto::txn::{Txn, TxnBody};

/// Servers behind their connections: one, or an ensemble.
pub(crate) struct Core {
    limits: Limits,
    tick_ms: u32,
    /// Links keep whether they are broken: what goes there is lost, though an end may not have heard of it.
    cluster: Cluster<Machine, bool, AddressedEvent>,
    late: Late,
    /// What happens when, and in which order if at once; and to which server, whose crash undoes it.
    later: BTreeMap<(Nanos, u64), (Option<u8>, Later)>,
    laters: u64,
    /// Faults that wait for a session's requests.
    armed: BTreeMap<SessionId, Vec<Armed>>,
    conns: BTreeMap<ConnId, Conn>,
    /// Connections that are silent until their clients close them, also when the server has forgotten them.
    silent: Vec<Weak<ClientLink>>,
    sessions: BTreeMap<SessionId, Session>,
    /// The last session id that was offered, by whichever server.
    offered: i64,
    /// Numbers for requests of sessions that are over.
    strays: i32,
    /// Proposed, and not applied.
    proposed: BTreeMap<Zxid, Arc<Txn>>,
    /// The newest epoch that was ever established.
    epoch: u32,
    /// The last that was ever committed, and the last that was ever applied.
    committed: Zxid,
    applied: Zxid,
    invariants: Invariants,
    zab: ZabWatch,
    record: Record,
    observer: Option<Arc<dyn Observer>>,
    /// When a client last connected or asked for something, or a session ended.
    moved: Nanos,
    /// Requests taken, also those before the statistics were reset.
    requests: u64,
    /// What happens next to the servers, in this order.
    events: VecDeque<AddressedEvent>,
    /// Connections whose frames are to be looked at when nothing more happens.
    look_again: VecDeque<ConnId>,
    /// Servers that are wrong: they say something else.
    #[cfg(test)]
    plant: tests::Plant,
}

impl Core {
    /// Servers with empty disks, not started yet. `wall_ms` is the time at the start.
    pub(crate) fn new(options: &Options, entrances: Vec<Entrance>, record: Record, wall_ms: i64) -> Core {
        let servers = u8::try_from(entrances.len()).expect("there are few servers");
        let mut invariants =
            Invariants::new(Setup { voters: servers, tick_ms: options.tick_ms, ..Setup::default() });
        invariants.super_user(options.super_digest.as_deref().map(Into::into));
        let hosts = (0..servers)
            .zip(entrances)
            .map(|(id, entrance)| Machine::host(id, servers, options, entrance, wall_ms));
        Core {
            limits: options.limits,
            tick_ms: options.tick_ms,
            cluster: Cluster::new(hosts),
            late: Late::default(),
            later: BTreeMap::new(),
            laters: 0,
            armed: BTreeMap::new(),
            conns: BTreeMap::new(),
            silent: Vec::new(),
            sessions: BTreeMap::new(),
            // As ZooKeeper makes them: the time in the middle, so that no later run's are the same.
            offered: (wall_ms << 16) & 0x00ff_ffff_ffff_ffff,
            strays: i32::MAX / 2,
            proposed: BTreeMap::new(),
            epoch: 0,
            committed: Zxid::ZERO,
            applied: Zxid::ZERO,
            invariants,
            zab: ZabWatch::default(),
            record,
            observer: options.observer.clone(),
            moved: 0,
            requests: 0,
            events: VecDeque::new(),
            look_again: VecDeque::new(),
            #[cfg(test)]
            plant: Box::new(|_, _| {}),
        }
    }

    /// Starts all servers from their disks.
    pub(crate) fn start_all(&mut self, now: Nanos) {
        self.zab.ghost.remember();
        (0..self.cluster.hosts.len() as u8).for_each(|id| self.start(now, id));
    }

    /// Starts a server from its disk.
    fn start(&mut self, now: Nanos, id: u8) {
        let host = &mut self.cluster.hosts[usize::from(id)];
        match host.start(host.own.now_ms(now)) {
            Ok((server, mut out)) => {
                self.invariants.started(id, server.tree().last_zxid(), server.tree());
                if server.peer().config().voters.len() > 1 {
                    self.zab.ghost.started(server.peer());
                }
                self.record.add_server(now, self.name_of(id), What::Started);
                self.outputs(now, id, &mut out);
                self.run(now);
            }
            Err(error) => {
                let what = format!("s{id} does not start: {error}");
                self.invariants.report.broken(Invariant::AcknowledgedWritesSurvive, what);
            }
        }
    }

    /// Whether there are several.
    fn is_ensemble(&self) -> bool {
        self.cluster.hosts.len() > 1
    }

    /// A server's number, where there are several.
    fn name_of(&self, id: u8) -> Option<u8> {
        self.is_ensemble().then_some(id)
    }

    fn host(&mut self, id: u8) -> &mut Host {
        self.cluster.host(id)
    }

    /// To which server a connection goes.
    fn server_of(&self, conn: ConnId) -> Option<u8> {
        self.conns.get(&conn).map(|conn| conn.server)
    }

    /// A server serves from now on, or does no more.
    fn is_it_serving(&mut self, id: u8) {
        let Some(serves) = self.host(id).serves_anew() else { return };
        self.zab.is_due = true;
        if !serves {
            return self.invariants.stopped(id);
        }
        let Some(server) = self.cluster.server(id) else { return };
        self.invariants.serves(id, server.tree());
        if self.cluster.hosts.len() > 1 {
            return;
        }
        // A server that is alone and starts gives each session the timeout that it was opened with.
        let open = server.sessions().iter();
        self.sessions = open
            .map(|(id, session)| {
                let before = self.sessions.get(&id).copied().unwrap_or_default();
                (id, Session { timeout_ms: session.timeout_ms, ..before })
            })
            .collect();
    }

    /// Lets everything happen that follows.
    fn run(&mut self, now: Nanos) {
        self.run_events(now);
        while let Some(conn) = self.look_again.pop_front() {
            self.look(now, conn);
            self.run_events(now);
        }
        self.check_ensemble();
    }

    /// Something happens to a server next.
    fn next(&mut self, to: u8, event: Event) {
        self.events.push_back(AddressedEvent { to, event, is_here: false });
    }

    /// Steps servers until nothing more happens.
    fn run_events(&mut self, now: Nanos) {
        while let Some(addressed) = self.events.pop_front() {
            if let Some(AddressedEvent { to, event, .. }) = self.arrives(now, addressed) {
                self.step(now, to, event);
            }
        }
    }

    fn step(&mut self, now: Nanos, id: u8, event: Event) {
        let host = &mut self.cluster.hosts[usize::from(id)];
        if let Event::Synced { file, ticket } = &event {
            let length = host.disk.done(*file, *ticket);
            self.invariants.synced(id, *file, length);
        }
        let (now_ms, ticks) = (host.own.now_ms(now), event == Event::Timer(Timer::Sessions));
        let Some(server) = &mut host.server else { return };
        let mut out = Vec::new();
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            server.step(Input { now_ms, event }, &mut out);
            #[cfg(test)]
            (self.plant)(id, &mut out);
        }));
        self.invariants.report.tested(Invariant::NoPanic);
        match stepped {
            Ok(()) => {
                self.outputs(now, id, &mut out);
                if ticks {
                    self.invariants.ticked(id, steady_ms(now));
                }
            }
            Err(_) => {
                self.invariants.report.broken(Invariant::NoPanic, format!("s{id} panicked"));
                self.crash(now, id);
            }
        }
        if std::mem::take(&mut self.host(id).own.crash_now) {
            self.crash_mid_sync(now, id);
        }
    }

    /// Does what a server wants done.
    fn outputs(&mut self, now: Nanos, id: u8, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            if self.is_ensemble() {
                self.cluster.tell(id, &output, &mut self.zab.ghost);
            }
            match output {
                Output::Send { conn, message } => self.send(now, conn, message),
                Output::Close { conn } => self.closed_by_server(now, conn),
                Output::Disk(op) => self.disk_op(now, id, op),
                Output::SetTimer { timer, after_ms } => self.set_timer(now, id, timer, after_ms),
                Output::Note(Note::Zab(note)) => self.noted(now, id, note),
                Output::Note(Note::Applied(txn)) => self.applied(now, id, &txn),
                Output::Note(Note::Restored(zxid)) => self.restored(id, zxid),
                Output::Note(Note::Writes(_) | Note::Written) => {}
                Output::Notify { to, notification } => self.notify(now, id, to.0, notification),
                Output::SendPeer { link, message } => self.send_to_peer(now, id, link, message),
                Output::Dial { to } => self.dial(now, id, to.0),
                Output::Hang { link } => self.hang(now, id, link),
            }
        }
        self.is_it_serving(id);
    }

    fn applied(&mut self, now: Nanos, id: u8, txn: &Arc<Txn>) {
        let is_first = txn.zxid > self.applied;
        if !self.is_ensemble() && !is_first {
            // What no snapshot shows is applied again after a start.
            return;
        }
        if let Some(server) = self.cluster.server(id) {
            self.invariants.applied(id, txn, server.tree());
        }
        if !is_first {
            return;
        }
        self.applied = txn.zxid;
        self.proposed.remove(&txn.zxid);
        match txn.body {
            TxnBody::CreateSession { timeout_ms, .. } => {
                self.sessions.insert(txn.session, Session { timeout_ms, last: 0 });
                self.observer.iter().for_each(|observer| observer.opened(txn.session, timeout_ms));
            }
            TxnBody::CloseSession { expired, .. } => {
                self.sessions.remove(&txn.session);
                self.armed.remove(&txn.session);
                self.observer.iter().for_each(|observer| observer.closed(txn.session, expired));
                self.moved = now;
                if expired {
                    self.host(id).own.stats.counts.expired += 1;
                    self.record.add_server(now, None, What::Expired { session: txn.session });
                }
            }
            _ => {}
        }
    }

    fn disk_op(&mut self, now: Nanos, id: u8, op: DiskOp) {
        let host = &mut self.cluster.hosts[usize::from(id)];
        self.invariants.asked(id, &op, host.disk.length(op.file()));
        match op.ticket() {
            Some((FileId::Log(_), _)) if host.crash_at_sync_ms.is_some() => host.own.crash_now = true,
            Some((file, ticket)) => self.disk_busy(now, id, file, ticket),
            None => {}
        }
        self.host(id).disk.ask(op);
    }

    /// A disk does one thing after the other: at once, unless it is slow.
    fn disk_busy(&mut self, now: Nanos, id: u8, file: FileId, ticket: u64) {
        let disk = &mut self.host(id).own.slow_disk;
        if now < disk.until {
            disk.busy_until = disk.busy_until.max(now) + disk.takes;
        }
        let (due, event) = (disk.busy_until, Event::Synced { file, ticket });
        if due > now {
            self.later(due, Some(id), Later::Happens { from: None, to: id, event });
        } else {
            self.next(id, event);
        }
    }

    /// A server's process is gone, with all its connections.
    pub(crate) fn crash(&mut self, now: Nanos, id: u8) {
        let name = self.name_of(id);
        let host = self.host(id);
        // Torn and corrupt ends are the simulator's business; here they are cut clean.
        if host.crash(false, &mut |_| 0).is_none() {
            return;
        }
        host.own.gate.close();
        host.own.timers.clear();
        host.own.held.clear();
        host.own.paused_until = None;
        host.crash_at_sync_ms = None;
        host.own.slow_disk.busy_until = 0;
        self.record.add_server(now, name, What::Down);
        self.events.retain(|addressed| addressed.to != id);
        self.later.retain(|_, (of, late)| {
            let is_undone = *of == Some(id);
            if let (true, Later::End { link }) = (is_undone, late) {
                link.turn(State::Aborted);
            }
            !is_undone
        });
        self.invariants.stopped(id);
        self.abort_all(now, id);
        // What the connections would have been told.
        self.events.retain(|addressed| addressed.to != id);
        self.break_links_of(now, id);
        self.zab.is_due = true;
    }

    /// Whether the clients of a server can connect.
    fn is_up(&self, id: u8) -> bool {
        self.cluster.server(id).is_some()
    }

    /// How often each server has started, while it is up.
    pub(crate) fn up(&self) -> impl Iterator<Item = Option<u64>> {
        self.cluster.hosts.iter().map(|host| host.server.is_some().then_some(host.starts.into()))
    }

    /// Whether all servers serve.
    pub(crate) fn all_serve(&self) -> bool {
        self.cluster.hosts.iter().all(|host| host.is_serving)
    }
}

/// Whoever is connected learns that the servers are gone, however they went.
impl Drop for Core {
    fn drop(&mut self) {
        self.cluster.hosts.iter().for_each(|host| host.own.gate.close());
        let conns = self.conns.values().map(|conn| conn.link.clone());
        let late = self.later.values().filter_map(|(_, late)| match late {
            Later::End { link } => Some(link.clone()),
            Later::Up { .. }
            | Later::Happens { .. }
            | Later::Dialled { .. }
            | Later::PartitionEnds { .. }
            | Later::Frames { .. }
            | Later::Out { .. }
            | Later::Arrive { .. } => None,
        });
        for link in conns.chain(late).chain(self.silent.iter().filter_map(Weak::upgrade)) {
            link.turn(State::Aborted);
        }
    }
}
