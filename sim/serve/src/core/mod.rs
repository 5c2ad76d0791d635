//! The server and everything that must happen in one order: its disk, its timers, its connections, and what is
//! always watched. Synchronous and without sockets: time is an argument, and what is to be sent goes into
//! [`Link`]s.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod` | [`Core`]: steps of the server, and what it wants done |
//! | `conns` | connections: frames become events, messages become frames |
//! | `disk` | a disk in memory |

mod conns;
mod disk;

use crate::{Limits, Options};
use conns::{Conn, Session};
use disk::Disk;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::ConnId;
use zk_proto::prepare::TreeConfig;
use zk_proto::server::{Event, Input, Note, Output, Server, ServerConfig, ServerId, Timer};
use zk_proto::txn::{Txn, TxnBody};
use zk_watched::{Invariant, Watched};

/// Nanoseconds since the start, by a clock that nobody sets.
pub(crate) type Nanos = u64;

const MS: Nanos = 1_000_000;

/// A snapshot is begun after so many transactions, so that the log does not fill the memory.
const SNAPSHOT_EVERY: u32 = 20_000;

/// So many znodes are written at a time, once in a millisecond.
const SNAPSHOT_STEP: u32 = 200;

/// A server behind its connections.
pub(crate) struct Core {
    config: ServerConfig,
    limits: Limits,
    /// The wall clock at the start, and by how much it was set since, in milliseconds.
    wall_ms: i64,
    /// `None` while it is down.
    server: Option<Server>,
    disk: Disk,
    /// When the server's timers come.
    timers: BTreeMap<Timer, Nanos>,
    conns: BTreeMap<ConnId, Conn>,
    sessions: BTreeMap<SessionId, Session>,
    /// The last session id that was offered.
    offered: i64,
    /// Proposed, and not applied.
    proposed: BTreeMap<Zxid, Arc<Txn>>,
    watched: Watched,
    /// What happens next to the server, in this order.
    events: VecDeque<Event>,
    /// Connections whose frames are to be looked at when nothing more happens.
    look_again: VecDeque<ConnId>,
}

impl Core {
    /// A server with an empty disk, not started yet. `wall_ms` is the time at the start.
    pub(crate) fn new(options: &Options, wall_ms: i64) -> Core {
        let config = ServerConfig {
            id: ServerId(0),
            tick_ms: options.tick_ms,
            snapshot_every: SNAPSHOT_EVERY,
            snapshot_step: SNAPSHOT_STEP,
            snapshots_kept: 1,
            snapshot_bytes: 0,
            container_check_ms: options.container_check_ms,
            super_digest: Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".into()),
            tree: TreeConfig { extended_types: true, order_salt: wall_ms.cast_unsigned() },
        };
        Core {
            config,
            limits: options.limits,
            wall_ms,
            server: None,
            disk: Disk::default(),
            timers: BTreeMap::new(),
            conns: BTreeMap::new(),
            sessions: BTreeMap::new(),
            // As ZooKeeper makes them: the time in the middle, so that no later run's are the same.
            offered: (wall_ms << 16) & 0x00ff_ffff_ffff_ffff,
            proposed: BTreeMap::new(),
            watched: {
                let mut watched = Watched::new();
                watched.super_user(Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".into()));
                watched
            },
            events: VecDeque::new(),
            look_again: VecDeque::new(),
        }
    }

    /// Starts the server from its disk.
    pub(crate) fn start(&mut self, now: Nanos) {
        self.watched.started(steady_ms(now));
        match Server::start(self.config.clone(), self.disk.files(), self.now_ms(now)) {
            Ok((server, mut out)) => {
                let last = server.tree().last_zxid();
                self.server = Some(server);
                self.recovered(last);
                self.outputs(now, &mut out);
                self.run(now);
            }
            Err(error) => {
                let what = format!("the server does not start: {error}");
                self.watched.report.broken(Invariant::AcknowledgedWritesSurvive, what);
            }
        }
    }

    /// What was replayed and had not been applied before the crash is committed by that.
    fn recovered(&mut self, last: Zxid) {
        let replayed: Vec<Arc<Txn>> = self.proposed.range(..=last).map(|(_, txn)| txn.clone()).collect();
        for txn in replayed {
            self.watched.committed(&txn, true);
            self.applied(&txn);
        }
        self.proposed.clear();
        if let Some(server) = &self.server {
            self.watched.recovered(server.tree());
            // A server that starts gives each session the timeout that it was opened with.
            let open = server.sessions().iter();
            self.sessions = open
                .map(|(id, session)| {
                    let before = self.sessions.get(&id).copied().unwrap_or_default();
                    (id, Session { timeout_ms: session.timeout_ms, ..before })
                })
                .collect();
        }
    }

    /// The server's wall clock.
    fn now_ms(&self, now: Nanos) -> i64 {
        self.wall_ms + steady_ms(now)
    }

    /// When something is to happen by itself.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.timers.values().min().copied()
    }

    /// Lets happen what is due.
    pub(crate) fn pass(&mut self, now: Nanos) {
        while let Some(timer) = self.due_timer(now) {
            self.timers.remove(&timer);
            self.step(now, Event::Timer(timer));
        }
    }

    fn due_timer(&self, now: Nanos) -> Option<Timer> {
        let next = self.timers.iter().min_by_key(|(_, due)| **due);
        next.filter(|(_, due)| **due <= now).map(|(timer, _)| *timer)
    }

    /// Something happens to the server.
    fn step(&mut self, now: Nanos, event: Event) {
        self.events.push_back(event);
        self.run(now);
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
                self.watched.synced(*file, length);
            }
            let now_ms = self.now_ms(now);
            let Some(server) = &mut self.server else { continue };
            let stepped = catch_unwind(AssertUnwindSafe(|| server.step(Input { now_ms, event }, &mut out)));
            self.watched.report.tested(Invariant::NoPanic);
            match stepped {
                Ok(()) => self.outputs(now, &mut out),
                Err(_) => {
                    out.clear();
                    self.watched.report.broken(Invariant::NoPanic, "the server panicked".to_owned());
                    self.crash();
                }
            }
        }
    }

    /// Does what the server wants done.
    fn outputs(&mut self, now: Nanos, out: &mut Vec<Output>) {
        let mut logged = None;
        for output in out.drain(..) {
            match output {
                Output::Send { conn, message } => self.send(conn, message),
                Output::Close { conn } => self.closed_by_server(conn),
                Output::Disk(op) => self.disk_op(op, &mut logged),
                Output::SetTimer { timer, after_ms } => {
                    self.timers.insert(timer, now + u64::from(after_ms) * MS);
                }
                Output::Note(Note::Proposed(txn)) => {
                    let timeout_ms = self.sessions.get(&txn.session).map_or(0, |s| s.timeout_ms);
                    self.watched.proposed(&txn, timeout_ms, steady_ms(now));
                    self.proposed.insert(txn.zxid, txn);
                }
                Output::Note(Note::Committed(zxid)) => {
                    if let Some(txn) = self.proposed.get(&zxid) {
                        self.watched.committed(txn, false);
                    }
                }
                Output::Note(Note::Applied(zxid)) => {
                    if let Some(txn) = self.proposed.remove(&zxid) {
                        self.applied(&txn);
                    }
                }
            }
        }
        if let Some((file, end)) = logged {
            self.watched.logged(file, end);
        }
    }

    fn applied(&mut self, txn: &Txn) {
        if let Some(server) = &self.server {
            self.watched.applied(txn, server.tree());
        }
        match txn.body {
            TxnBody::CreateSession { timeout_ms, .. } => {
                self.sessions.entry(txn.session).or_default().timeout_ms = timeout_ms;
            }
            TxnBody::CloseSession { .. } => _ = self.sessions.remove(&txn.session),
            _ => {}
        }
    }

    /// Syncs are done at once.
    fn disk_op(&mut self, op: DiskOp, logged: &mut Option<(FileId, usize)>) {
        match op {
            DiskOp::Append { file, bytes } => {
                let end = self.disk.append(file, &bytes);
                if matches!(file, FileId::Log(_)) {
                    *logged = Some((file, end));
                }
            }
            DiskOp::Sync { file, ticket } => {
                self.disk.begin_sync(file, ticket);
                self.events.push_back(Event::Synced { file, ticket });
            }
            DiskOp::Truncate { file, len } => self.disk.truncate(file, len),
            DiskOp::Replace { file, bytes, ticket } => {
                self.disk.begin_replace(file, ticket, bytes);
                self.events.push_back(Event::Synced { file, ticket });
            }
            DiskOp::Remove { file } => self.disk.remove(file),
        }
    }

    /// The server's process is gone, with all its connections.
    pub(crate) fn crash(&mut self) {
        if self.server.take().is_none() {
            return;
        }
        self.timers.clear();
        self.events.clear();
        self.disk.crash();
        self.watched.crashed();
        self.abort_all();
    }

    /// Whether clients can connect.
    pub(crate) fn is_up(&self) -> bool {
        self.server.is_some()
    }
}

/// Milliseconds of the clock that nobody sets.
fn steady_ms(now: Nanos) -> i64 {
    i64::try_from(now / MS).unwrap_or(i64::MAX)
}
