//! What a server has on its disk, and what it writes there: the log, epochs, fuzzy snapshots.

use super::config::ServerConfig;
use super::event::{Output, ServerStep, Timer};
use crate::disk::{DiskOp, FileId};
use crate::log::{LogFiles, LogWriter};
use crate::recovery::encode_epoch;
use crate::sessions::SessionTable;
use crate::snapshot::SnapshotWriter;
use crate::tree::DataTree;
use crate::zab::Write;
use std::collections::BTreeSet;
use zk_api::Zxid;

/// Between two pieces of a snapshot.
const SNAPSHOT_PIECE_MS: u32 = 1;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Storage {
    log: LogWriter,
    /// The ticket of the peer's write that is under way.
    writing: Option<u64>,
    snapshot: Option<SnapshotWriter>,
    /// Transactions applied since the last snapshot was begun.
    since_snapshot: u32,
    /// The bytes logged since then.
    bytes_since_snapshot: u64,
    /// The last ticket given out.
    tickets: u64,
    /// The complete snapshots there are.
    snapshots: BTreeSet<Zxid>,
}

impl Storage {
    /// What recovery has found, and a new log, unless a bug that is planted goes on in the last one.
    pub(super) fn new(replayed: u32, logs: LogFiles, snapshots: BTreeSet<Zxid>, goes_on: bool) -> Storage {
        Storage {
            log: LogWriter::new(logs, !goes_on),
            writing: None,
            snapshot: None,
            since_snapshot: replayed,
            bytes_since_snapshot: 0,
            tickets: 0,
            snapshots,
        }
    }

    /// Begins anew to count what is only counted. Nothing is under way if it `is_idle`: then nobody remembers a ticket.
    pub(super) fn forget_counts(&mut self, is_idle: bool, config: &ServerConfig) {
        if is_idle {
            self.tickets = 0;
        }
        if config.snapshot_every == 0 {
            self.since_snapshot = 0;
        }
        if config.snapshot_bytes == 0 {
            self.bytes_since_snapshot = 0;
        }
    }

    /// A ticket that was not given out before.
    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Begins a write of the peer's. False if there is nothing to wait for.
    pub(super) fn write(&mut self, write: &Write, out: &mut Vec<Output>) -> bool {
        let ticket = self.ticket();
        let mut replace = |file, bytes| out.push(Output::Disk(DiskOp::Replace { file, bytes, ticket }));
        let waits = match write {
            Write::Append(txns) => {
                let bytes = self.log.append(txns, ticket, out);
                self.bytes_since_snapshot = self.bytes_since_snapshot.saturating_add(bytes);
                !txns.is_empty()
            }
            Write::Truncate { to } => self.log.truncate(*to, ticket, out),
            Write::Restart(snapshot) => {
                // The log may stay: recovery begins at the newest snapshot, and nothing logged is newer.
                self.log.roll();
                replace(FileId::Snapshot(snapshot.zxid), snapshot.image.to_vec());
                true
            }
            Write::AcceptedEpoch(epoch) => {
                replace(FileId::AcceptedEpoch, encode_epoch(*epoch));
                true
            }
            Write::CurrentEpoch(epoch) => {
                replace(FileId::CurrentEpoch, encode_epoch(*epoch));
                true
            }
        };
        self.writing = waits.then_some(ticket);
        waits
    }

    /// Whether this is what the peer waits for.
    pub(super) fn written(&mut self, ticket: u64) -> bool {
        self.writing.take_if(|writing| *writing == ticket).is_some()
    }

    /// Another state is in the place of the one that a snapshot is being written of: together they would be
    /// neither. The state is a snapshot itself.
    pub(super) fn restored(&mut self, zxid: Zxid, config: &ServerConfig, out: &mut Vec<Output>) {
        if let Some(snapshot) = self.snapshot.take() {
            out.push(Output::Disk(DiskOp::Remove { file: snapshot.file() }));
        }
        self.since_snapshot = 0;
        self.bytes_since_snapshot = 0;
        self.keep_snapshot(zxid, config, out);
    }

    /// A snapshot was synced: it counts now, and what it makes needless is removed. Gives the oldest that is
    /// kept.
    pub(super) fn on_snapshot_synced(
        &mut self,
        ticket: u64,
        config: &ServerConfig,
        out: &mut Vec<Output>,
    ) -> Option<Zxid> {
        let zxid = self.snapshot.as_ref().and_then(|snapshot| snapshot.on_synced(ticket))?;
        self.snapshot = None;
        self.keep_snapshot(zxid, config, out);
        self.snapshots.first().copied()
    }

    /// Removes all snapshots but the newest, and the logs that none of these needs.
    fn keep_snapshot(&mut self, zxid: Zxid, config: &ServerConfig, out: &mut Vec<Output>) {
        self.snapshots.insert(zxid);
        let kept = config.snapshots_kept.max(1) as usize;
        let Some(oldest) = self.snapshots.iter().nth_back(kept - 1).copied() else { return };
        for zxid in self.snapshots.iter().take_while(|zxid| **zxid < oldest) {
            out.push(Output::Disk(DiskOp::Remove { file: FileId::Snapshot(*zxid) }));
        }
        self.snapshots = self.snapshots.split_off(&oldest);
        self.log.purge(oldest, out);
    }

    /// Counts a transaction that was applied; begins a snapshot if it is time.
    pub(super) fn applied(
        &mut self,
        config: &ServerConfig,
        tree: &DataTree,
        sessions: &SessionTable,
        step: &mut ServerStep<'_>,
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
    pub(super) fn continue_snapshot(
        &mut self,
        config: &ServerConfig,
        tree: &DataTree,
        step: &mut ServerStep<'_>,
    ) {
        let Some(snapshot) = &mut self.snapshot else { return };
        snapshot.step(tree, config.snapshot_step, &mut self.tickets, step.out);
        if snapshot.is_open() {
            step.set_timer(Timer::Snapshot, SNAPSHOT_PIECE_MS);
        }
    }
}
