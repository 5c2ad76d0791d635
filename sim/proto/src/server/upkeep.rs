//! What comes round by itself: ticks, containers, snapshots, and the purge of old files.

use super::{Output, Server, ServerConfig, Step, Timer};
use crate::disk::{DiskOp, FileId};
use crate::log::LogWriter;
use crate::message::Xid;
use crate::prepare::close_session;
use crate::sessions::SessionTable;
use crate::snapshot::SnapshotWriter;
use crate::tree::DataTree;
use crate::txn::{Txn, TxnBody};
use std::collections::BTreeSet;
use zk_api::{SessionId, Zxid};

/// Between two pieces of a snapshot.
const SNAPSHOT_PIECE_MS: u32 = 1;

/// What a server has on its disk, and what it writes there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Storage {
    log: LogWriter,
    snapshot: Option<SnapshotWriter>,
    /// Transactions applied since the last snapshot was begun.
    since_snapshot: u32,
    /// The bytes logged since then.
    bytes_since_snapshot: u64,
    /// The last ticket given out.
    tickets: u64,
    /// The logs there are, by their first transactions.
    logs: BTreeSet<Zxid>,
    /// The complete snapshots there are.
    snapshots: BTreeSet<Zxid>,
}

impl Storage {
    /// What recovery has found, and a new log behind it.
    pub(super) fn new(last: Zxid, replayed: u32, logs: BTreeSet<Zxid>, snapshots: BTreeSet<Zxid>) -> Storage {
        let log = LogWriter::new(last);
        let (since_snapshot, bytes_since_snapshot) = (replayed, 0);
        Storage { log, snapshot: None, since_snapshot, bytes_since_snapshot, tickets: 0, logs, snapshots }
    }

    /// A ticket that was not given out before.
    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Takes a transaction to be logged with the next [`flush`](Storage::flush).
    pub(super) fn append(&mut self, txn: &Txn) {
        let bytes = self.log.append(txn) as u64;
        self.bytes_since_snapshot = self.bytes_since_snapshot.saturating_add(bytes);
    }

    /// Writes what is to be logged, unless a sync is under way.
    pub(super) fn flush(&mut self, out: &mut Vec<Output>) {
        if let Some(begun) = self.log.flush(&mut self.tickets, out) {
            self.logs.insert(begun);
        }
    }

    /// A log was synced: what is durable now. `None` if it is another sync than the one under way.
    pub(super) fn on_log_synced(&mut self, ticket: u64) -> Option<Zxid> {
        self.log.on_synced(ticket).then(|| self.log.synced())
    }

    /// A snapshot was synced: it counts now, and what it makes needless is removed.
    pub(super) fn on_snapshot_synced(&mut self, ticket: u64, config: &ServerConfig, out: &mut Vec<Output>) {
        if let Some(zxid) = self.snapshot.as_ref().and_then(|snapshot| snapshot.on_synced(ticket)) {
            self.snapshot = None;
            self.snapshots.insert(zxid);
            self.purge(config.snapshots_kept.max(1) as usize, out);
        }
    }

    /// Removes all snapshots but the newest, and the logs that none of these needs.
    fn purge(&mut self, kept: usize, out: &mut Vec<Output>) {
        let Some(oldest) = self.snapshots.iter().nth_back(kept - 1).copied() else { return };
        for zxid in self.snapshots.iter().take_while(|zxid| **zxid < oldest) {
            out.push(Output::Disk(DiskOp::Remove { file: FileId::Snapshot(*zxid) }));
        }
        self.snapshots = self.snapshots.split_off(&oldest);
        // A log goes on up to the first transaction of the next one, so it is needless only if that one
        // begins early enough.
        let needed = self.logs.range(..=oldest).next_back().copied();
        for zxid in self.logs.iter().take_while(|zxid| needed.is_some_and(|needed| **zxid < needed)) {
            out.push(Output::Disk(DiskOp::Remove { file: FileId::Log(*zxid) }));
        }
        if let Some(needed) = needed {
            self.logs = self.logs.split_off(&needed);
        }
    }

    /// Counts a transaction that was applied; begins a snapshot if it is time.
    fn applied(
        &mut self,
        config: &ServerConfig,
        tree: &DataTree,
        sessions: &SessionTable,
        step: &mut Step<'_>,
    ) {
        self.since_snapshot = self.since_snapshot.saturating_add(1);
        let due = config.snapshot_every != 0 && self.since_snapshot >= config.snapshot_every
            || config.snapshot_bytes != 0 && self.bytes_since_snapshot >= config.snapshot_bytes;
        if due && self.snapshot.is_none() {
            self.since_snapshot = 0;
            self.bytes_since_snapshot = 0;
            self.log.roll();
            self.snapshot = Some(SnapshotWriter::begin(tree, sessions, step.out));
            step.set_timer(Timer::Snapshot, SNAPSHOT_PIECE_MS);
        }
    }

    /// Writes the next piece of the snapshot.
    fn continue_snapshot(&mut self, config: &ServerConfig, tree: &DataTree, step: &mut Step<'_>) {
        let Some(snapshot) = &mut self.snapshot else { return };
        snapshot.step(tree, config.snapshot_step, &mut self.tickets, step.out);
        if snapshot.is_open() {
            step.set_timer(Timer::Snapshot, SNAPSHOT_PIECE_MS);
        }
    }
}

impl Server {
    /// The epoch is on the disk: every session gets its full timeout, and the timers begin.
    pub(super) fn begin_serving(&mut self, step: &mut Step<'_>) {
        for (id, session) in self.ahead_sessions.iter() {
            self.tracker.track(id, session.timeout_ms);
        }
        step.set_timer(Timer::Sessions, self.tracker.next_tick_ms());
        step.set_timer(Timer::Containers, self.config.container_check_ms);
    }

    /// A timer has come.
    pub(super) fn on_timer(&mut self, timer: Timer, step: &mut Step<'_>) {
        match timer {
            Timer::Sessions => {
                for session in self.tracker.tick() {
                    self.expire(session, step);
                }
                step.set_timer(Timer::Sessions, self.tracker.next_tick_ms());
            }
            Timer::Containers => {
                self.remove_expired_nodes(step);
                step.set_timer(Timer::Containers, self.config.container_check_ms);
            }
            Timer::Snapshot => self.continue_snapshot(step),
        }
    }

    /// Proposes that a session ends, if it is not about to end anyway. It ends when that is committed.
    pub(super) fn expire(&mut self, session: SessionId, step: &mut Step<'_>) {
        if self.is_serving() && self.tracker.forget(session) {
            let body = close_session(&self.ahead, &self.config.tree, session, true);
            self.propose(session, Xid(0), body, step);
        }
    }

    /// Removes containers and TTL znodes whose time is up, one transaction each.
    fn remove_expired_nodes(&mut self, step: &mut Step<'_>) {
        if !self.is_serving() {
            return;
        }
        for path in self.ahead.expired_nodes(step.now_ms) {
            self.propose(SessionId::NONE, Xid(0), TxnBody::Delete { path }, step);
        }
    }

    /// A transaction was applied.
    pub(super) fn count_for_snapshot(&mut self, step: &mut Step<'_>) {
        self.storage.applied(&self.config, &self.tree, &self.sessions, step);
    }

    fn continue_snapshot(&mut self, step: &mut Step<'_>) {
        self.storage.continue_snapshot(&self.config, &self.tree, step);
    }
}
