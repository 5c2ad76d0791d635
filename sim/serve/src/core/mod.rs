//! The server and everything that must happen in one order: its disk, its timers, its connections, and what is
//! always watched. Synchronous and without sockets: time is an argument, and what is to be sent goes into
//! [`Link`]s.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod` | [`Core`]: steps of the server, and what it wants done |
//! | `conns` | connections: frames become events |
//! | `sending` | messages become frames; connections end |
//! | `faults` | faults strike |
//! | `later` | what happens at its time |
//! | `disk` | a disk in memory |
//! | `show` | what is told of all this |

mod conns;
mod disk;
mod faults;
mod later;
mod sending;
mod show;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod tests;

use crate::link::{Link, State};
use crate::listener::Gate;
use crate::record::{Record, What};
use crate::words::Counts;
use crate::{Limits, Options};
use conns::{Conn, Latency, Session};
use disk::Disk;
use faults::Armed;
use later::Later;
pub use show::SessionInfo;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use zk_api::{SessionId, Zxid};
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::ConnId;
use zk_proto::prepare::TreeConfig;
use zk_proto::server::{Event, Input, Note, Output, Server, ServerConfig, ServerId, Timer};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::{self, PeerConfig};
use zk_watched::{Invariant, Watched};

/// Nanoseconds since the start, by a clock that nobody sets.
pub(crate) type Nanos = u64;

const MS: Nanos = 1_000_000;

/// The only server.
const ALONE: u8 = 0;

/// A snapshot is begun after so many transactions, so that the log does not fill the memory.
const SNAPSHOT_EVERY: u32 = 20_000;

/// So many znodes are written at a time, once in a millisecond.
const SNAPSHOT_STEP: u32 = 200;

/// A snapshot is begun after so many bytes of transactions as well.
const SNAPSHOT_BYTES: u64 = 64 << 20;

/// A server behind its connections.
pub(crate) struct Core {
    config: ServerConfig,
    limits: Limits,
    /// Where clients connect.
    port: u16,
    /// The wall clock at the start, and by how much it was set since, in milliseconds.
    wall_ms: i64,
    /// `None` while it is down.
    server: Option<Server>,
    /// How often it has started.
    starts: u64,
    /// Where clients come in.
    gate: Arc<Gate>,
    disk: Disk,
    slow_disk: SlowDisk,
    /// It is to crash in the middle of the next sync of its log, and to be down for so long.
    crash_at_sync_ms: Option<u64>,
    /// Whether that sync has begun in this step.
    crash_now: bool,
    /// Its process has stopped, until then.
    paused_until: Option<Nanos>,
    /// When the server's timers come.
    timers: BTreeMap<Timer, Nanos>,
    /// What happens when, and in which order if at once.
    later: BTreeMap<(Nanos, u64), Later>,
    laters: u64,
    /// Faults that wait for a session's requests.
    armed: BTreeMap<SessionId, Vec<Armed>>,
    conns: BTreeMap<ConnId, Conn>,
    /// Connections that are silent until their clients close them, also when the server has forgotten them.
    silent: Vec<Weak<Link>>,
    sessions: BTreeMap<SessionId, Session>,
    /// The last session id that was offered.
    offered: i64,
    /// Proposed, and not applied.
    proposed: BTreeMap<Zxid, Arc<Txn>>,
    /// The last that was ever applied.
    applied: Zxid,
    /// Whether it has begun to serve since it started.
    is_serving: bool,
    watched: Watched,
    record: Record,
    stats: Totals,
    /// Requests taken, also those before the statistics were reset.
    requests: u64,
    /// What happens next to the server, in this order.
    events: VecDeque<Event>,
    /// Connections whose frames are to be looked at when nothing more happens.
    look_again: VecDeque<ConnId>,
    /// A server that is wrong: it says something else.
    #[cfg(test)]
    plant: tests::Plant,
}

/// How slow the disk is.
#[derive(Clone, Copy, Debug, Default)]
struct SlowDisk {
    /// A sync takes so long.
    takes: Nanos,
    /// Until then.
    until: Nanos,
    /// When the last operation will be done: the disk does them in order.
    busy_until: Nanos,
}

/// What all connections have done.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    received: u64,
    sent: u64,
    latency: Latency,
    counts: Counts,
}

impl Core {
    /// A server with an empty disk, not started yet. `wall_ms` is the time at the start.
    pub(crate) fn new(options: &Options, port: u16, gate: Arc<Gate>, record: Record, wall_ms: i64) -> Core {
        let super_digest = options.super_digest.as_deref().map(Into::into);
        let mut watched = Watched::new(1, 0);
        watched.super_user(super_digest.clone());
        let config = ServerConfig {
            zab: PeerConfig::for_server(ServerId(0), [ServerId(0)], [], options.tick_ms),
            tick_ms: options.tick_ms,
            snapshot_every: SNAPSHOT_EVERY,
            snapshot_step: SNAPSHOT_STEP,
            snapshots_kept: 1,
            snapshot_bytes: SNAPSHOT_BYTES,
            container_check_ms: options.container_check_ms,
            super_digest,
            tree: TreeConfig { extended_types: true, order_salt: wall_ms.cast_unsigned() },
        };
        Core {
            config,
            limits: options.limits,
            port,
            wall_ms,
            server: None,
            starts: 0,
            gate,
            disk: Disk::default(),
            slow_disk: SlowDisk::default(),
            crash_at_sync_ms: None,
            crash_now: false,
            paused_until: None,
            timers: BTreeMap::new(),
            later: BTreeMap::new(),
            laters: 0,
            armed: BTreeMap::new(),
            conns: BTreeMap::new(),
            silent: Vec::new(),
            sessions: BTreeMap::new(),
            // As ZooKeeper makes them: the time in the middle, so that no later run's are the same.
            offered: (wall_ms << 16) & 0x00ff_ffff_ffff_ffff,
            proposed: BTreeMap::new(),
            applied: Zxid::ZERO,
            is_serving: false,
            watched,
            record,
            stats: Totals::default(),
            requests: 0,
            events: VecDeque::new(),
            look_again: VecDeque::new(),
            #[cfg(test)]
            plant: Box::new(|_| {}),
        }
    }

    /// Starts the server from its disk.
    pub(crate) fn start(&mut self, now: Nanos) {
        match Server::start(self.config.clone(), self.disk.files(), self.now_ms(now)) {
            Ok((server, mut out)) => {
                self.watched.started(ALONE, server.tree().last_zxid(), server.tree());
                self.server = Some(server);
                self.starts += 1;
                self.record.add_own(now, What::Started);
                self.outputs(now, &mut out);
                self.run(now);
            }
            Err(error) => {
                let what = format!("the server does not start: {error}");
                self.watched.report.broken(Invariant::AcknowledgedWritesSurvive, what);
            }
        }
    }

    /// The server begins to lead. What it has replayed and had not applied before a crash is committed by that.
    fn established(&mut self, now: Nanos, epoch: u32) {
        let Some(server) = &self.server else { return };
        let last = server.peer().history().last();
        self.watched.established(ALONE, epoch, last, steady_ms(now));
        self.proposed = self.proposed.split_off(&self.applied);
        self.proposed.remove(&self.applied);
        self.proposed.retain(|zxid, _| *zxid <= last);
        for txn in self.proposed.values() {
            self.watched.committed(txn, true);
        }
    }

    /// The server serves from now on.
    fn serves(&mut self) {
        let Some(server) = &self.server else { return };
        self.watched.serves(ALONE, server.tree());
        // A server that starts gives each session the timeout that it was opened with.
        let open = server.sessions().iter();
        self.sessions = open
            .map(|(id, session)| {
                let before = self.sessions.get(&id).copied().unwrap_or_default();
                (id, before.with_timeout(session.timeout_ms))
            })
            .collect();
    }

    /// The server's wall clock.
    fn now_ms(&self, now: Nanos) -> i64 {
        self.wall_ms + steady_ms(now)
    }

    /// Lets everything happen that follows.
    fn run(&mut self, now: Nanos) {
        self.run_events(now);
        while let Some(conn) = self.look_again.pop_front() {
            self.look(now, conn);
            self.run_events(now);
        }
    }

    /// Steps the server until nothing more happens.
    fn run_events(&mut self, now: Nanos) {
        let mut out = Vec::new();
        while let Some(event) = self.events.pop_front() {
            if let Event::Synced { file, ticket } = &event {
                let length = self.disk.done(*file, *ticket);
                self.watched.synced(ALONE, *file, length);
            }
            let now_ms = self.now_ms(now);
            let Some(server) = &mut self.server else { continue };
            let stepped = catch_unwind(AssertUnwindSafe(|| {
                server.step(Input { now_ms, event }, &mut out);
                #[cfg(test)]
                (self.plant)(&mut out);
            }));
            self.watched.report.tested(Invariant::NoPanic);
            match stepped {
                Ok(()) => self.outputs(now, &mut out),
                Err(_) => {
                    out.clear();
                    self.watched.report.broken(Invariant::NoPanic, "the server panicked".to_owned());
                    self.crash(now);
                }
            }
            if std::mem::take(&mut self.crash_now) {
                self.crash_mid_sync(now);
            }
        }
    }

    /// Does what the server wants done.
    fn outputs(&mut self, now: Nanos, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            match output {
                Output::Send { conn, message } => self.send(now, conn, message),
                Output::Close { conn } => self.closed_by_server(now, conn),
                Output::Disk(op) => self.disk_op(now, op),
                Output::SetTimer { timer, after_ms } => {
                    self.set_timer(now, timer, after_ms);
                }
                Output::Note(Note::Zab(note)) => self.noted(now, note),
                Output::Note(Note::Applied(txn)) => self.applied(now, &txn),
                Output::Note(Note::Writes(_) | Note::Written) => {}
                Output::Note(Note::Restored(_))
                | Output::Notify { .. }
                | Output::SendPeer { .. }
                | Output::Dial { .. }
                | Output::Hang { .. } => unreachable!("a server that is alone has nobody to talk to"),
            }
        }
        let serves = self.server.as_ref().is_some_and(Server::is_serving);
        if serves && !std::mem::replace(&mut self.is_serving, serves) {
            self.serves();
        }
        self.is_serving = serves;
    }

    fn noted(&mut self, now: Nanos, note: zab::Note) {
        match note {
            zab::Note::Established { epoch } => self.established(now, epoch),
            zab::Note::Proposed(txn) => {
                let timeout_ms = self.sessions.get(&txn.session).map_or(0, |s| s.timeout_ms);
                self.watched.proposed(ALONE, &txn, timeout_ms, steady_ms(now));
                self.proposed.insert(txn.zxid, txn);
            }
            zab::Note::Committed(txn) => self.watched.committed(&txn, false),
            zab::Note::Promised { .. }
            | zab::Note::Cut(_)
            | zab::Note::Violated(_)
            | zab::Note::Deviated(_) => {}
        }
    }

    fn applied(&mut self, now: Nanos, txn: &Arc<Txn>) {
        // What no snapshot shows is applied again after a start.
        if txn.zxid <= self.applied {
            return;
        }
        self.applied = txn.zxid;
        self.proposed.remove(&txn.zxid);
        if let Some(server) = &self.server {
            self.watched.applied(ALONE, txn, server.tree());
        }
        match txn.body {
            TxnBody::CreateSession { timeout_ms, .. } => {
                self.sessions.entry(txn.session).or_default().timeout_ms = timeout_ms;
            }
            TxnBody::CloseSession { expired, .. } => {
                self.sessions.remove(&txn.session);
                self.armed.remove(&txn.session);
                if expired {
                    self.stats.counts.expired += 1;
                    self.record.add_own(now, What::Expired { session: txn.session });
                }
            }
            _ => {}
        }
    }

    fn disk_op(&mut self, now: Nanos, op: DiskOp) {
        match op {
            DiskOp::Append { file, bytes } => {
                let end = self.disk.append(file, &bytes);
                self.watched.appended(ALONE, file, end, &bytes);
            }
            DiskOp::Sync { file, ticket } => {
                self.disk.begin_sync(file, ticket);
                if matches!(file, FileId::Log(_)) && self.crash_at_sync_ms.is_some() {
                    self.crash_now = true;
                } else {
                    self.disk_busy(now, file, ticket);
                }
            }
            DiskOp::Truncate { file, len } => {
                self.disk.truncate(file, len);
                self.watched.truncated(ALONE, file, usize::try_from(len).unwrap_or(usize::MAX));
            }
            DiskOp::Replace { file, bytes, ticket } => {
                self.disk.begin_replace(file, ticket, bytes);
                self.disk_busy(now, file, ticket);
            }
            DiskOp::Remove { file } => self.disk.remove(file),
        }
    }

    /// The disk does one thing after the other: at once, unless it is slow.
    fn disk_busy(&mut self, now: Nanos, file: FileId, ticket: u64) {
        let disk = &mut self.slow_disk;
        if now < disk.until {
            disk.busy_until = disk.busy_until.max(now) + disk.takes;
        }
        let due = disk.busy_until;
        if due > now {
            self.later(due, Later::Synced { file, ticket });
        } else {
            self.events.push_back(Event::Synced { file, ticket });
        }
    }

    /// The server's process is gone, with all its connections.
    pub(crate) fn crash(&mut self, now: Nanos) {
        if self.server.take().is_none() {
            return;
        }
        self.gate.close();
        self.record.add_own(now, What::Down);
        self.timers.clear();
        self.events.clear();
        for (_, late) in std::mem::take(&mut self.later) {
            if let Later::End { link } = late {
                link.turn(State::Aborted);
            }
        }
        self.paused_until = None;
        self.crash_at_sync_ms = None;
        self.slow_disk.busy_until = 0;
        self.disk.crash();
        self.is_serving = false;
        self.watched.crashed(ALONE);
        self.abort_all(now);
        // What the connections would have been told.
        self.events.clear();
        self.look_again.clear();
    }

    /// Whether clients can connect.
    fn is_up(&self) -> bool {
        self.server.is_some()
    }

    /// How often the server has started, while it is up.
    pub(crate) fn up(&self) -> Option<u64> {
        self.is_up().then_some(self.starts)
    }
}

/// Whoever is connected learns that the server is gone, however it went.
impl Drop for Core {
    fn drop(&mut self) {
        self.gate.close();
        let conns = self.conns.values().map(|conn| conn.link.clone());
        let late = self.later.values().filter_map(|late| match late {
            Later::End { link } => Some(link.clone()),
            Later::Up
            | Later::Synced { .. }
            | Later::Frames { .. }
            | Later::Out { .. }
            | Later::Arrive { .. } => None,
        });
        for link in conns.chain(late).chain(self.silent.iter().filter_map(Weak::upgrade)) {
            link.turn(State::Aborted);
        }
    }
}

/// Milliseconds of the clock that nobody sets.
fn steady_ms(now: Nanos) -> i64 {
    i64::try_from(now / MS).unwrap_or(i64::MAX)
}
