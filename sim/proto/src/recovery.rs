//! What a server makes of the files it finds when it starts: what ZooKeeper makes of them.
//!
//! Source: ZooKeeper 3.9, `FileTxnSnapLog.restore` and `QuorumPeer.loadDataBase`; measured, see
//! `sim/conform/DAMAGED.md`, which lists what differs.
//!
//! ```
//! use zk_proto::disk::{FileId, Files};
//! use zk_proto::recovery::{RecoveryError, recover};
//! use zk_proto::{log, sessions::SessionTable, snapshot, tree::DataTree};
//! # use zk_api::{SessionId, Zxid};
//! # use zk_proto::{message::Xid, txn::{Txn, TxnBody}};
//! # let body = TxnBody::Delete { path: "/a".into() };
//! # let (zxid, session) = (Zxid::new(1, 1), SessionId::NONE);
//! # let txn = Txn { zxid, session, xid: Xid(0), time_ms: 0, body };
//!
//! let mut files = Files::new();
//! assert!(recover(&files)?.is_new);
//! files.insert(FileId::Log(txn.zxid), log::encode(&txn));
//! assert_eq!(recover(&files), Err(RecoveryError::NoSnapshot));
//! let nothing = snapshot::encode(&DataTree::new(), &SessionTable::default());
//! files.insert(FileId::Snapshot(Zxid::ZERO), nothing);
//! assert_eq!(recover(&files)?.last(), txn.zxid);
//! # Ok::<(), RecoveryError>(())
//! ```

use crate::codec::{Decoder, Malformed, put_u32};
use crate::disk::{DiskOp, FileId, Files};
use crate::log::{self, Corrupt, Flaw, LogFiles};
use crate::sessions::SessionTable;
use crate::snapshot::{self, Snapshot};
use crate::tree::DataTree;
use crate::txn::Txn;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::Zxid;

/// Why a server does not start from what it found on its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecoveryError {
    /// A record of a log was written to its end, and is not as it was written.
    CorruptLog { file: FileId, offset: u64, flaw: Flaw },
    /// There are snapshots, and none is as it was written.
    CorruptSnapshots,
    /// There are transactions in logs, and no snapshot.
    NoSnapshot,
    /// The file of an epoch is not as it was written.
    CorruptEpoch { file: FileId },
    /// An epoch was taken that was never promised.
    NeverPromised { accepted: u32, current: u32 },
}

impl std::fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecoveryError::CorruptLog { file, offset, flaw: Flaw::Checksum } => {
                write!(f, "{file:?}: the record at byte {offset} fails its checksum")
            }
            RecoveryError::CorruptLog { file, offset, flaw: Flaw::Length } => {
                write!(f, "{file:?}: the record at byte {offset} has an unreasonable length")
            }
            RecoveryError::CorruptSnapshots => f.write_str("no snapshot is as it was written"),
            RecoveryError::NoSnapshot => f.write_str("there are logs, and no snapshot"),
            RecoveryError::CorruptEpoch { file } => write!(f, "{file:?}: not an epoch"),
            RecoveryError::NeverPromised { accepted, current } => {
                write!(f, "the accepted epoch, {accepted}, is less than the current epoch, {current}")
            }
        }
    }
}

impl std::error::Error for RecoveryError {}

/// What a server starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The tree at the last transaction of which the newest good snapshot shows something. It was delivered once, so
    /// it stands.
    pub tree: DataTree,
    /// The sessions that are open then.
    pub sessions: SessionTable,
    /// What is logged behind that. Some of it may not stand.
    pub log: Vec<Arc<Txn>>,
    /// The newest epoch this server has promised to follow, zero at first.
    pub accepted_epoch: u32,
    /// The newest epoch whose history this server has, zero at first.
    pub current_epoch: u32,
    /// There is neither a snapshot nor a transaction: a snapshot of nothing is to be written first.
    pub is_new: bool,
    /// How many transactions were replayed over the newest good snapshot.
    pub replayed: u32,
    /// What to do to the files before anything else: cut torn tails, remove what was never finished.
    pub repairs: Vec<DiskOp>,
    /// Logs to be synced before another log is begun: those that were cut, and the last one. If only the
    /// process died, what was read from it need not be durable yet.
    pub to_sync: Vec<FileId>,
    /// The logs there are.
    pub logs: LogFiles,
    /// The good snapshots there are.
    pub snapshots: BTreeSet<Zxid>,
}

impl Recovered {
    /// The last transaction of all that was found.
    pub fn last(&self) -> Zxid {
        self.log.last().map_or(self.tree.last_zxid(), |txn| txn.zxid)
    }
}

/// The bytes of an epoch's file.
pub fn encode_epoch(epoch: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_u32(&mut bytes, epoch);
    let crc = crc32fast::hash(&bytes);
    put_u32(&mut bytes, crc);
    bytes
}

/// Recovers a server's state: the newest good snapshot, over it every transaction of which it may show something, and
/// what is logged behind that.
///
/// Whether anything is missing between two logs, or between a snapshot and the logs, is not looked at: a transaction
/// that changes what is not there changes nothing. What is logged was durable, but some of it may never have been
/// acknowledged, or may stand nowhere.
pub fn recover(files: &Files) -> Result<Recovered, RecoveryError> {
    let mut recovered = Recovered {
        tree: DataTree::new(),
        sessions: SessionTable::default(),
        log: Vec::new(),
        accepted_epoch: 0,
        current_epoch: 0,
        is_new: false,
        replayed: 0,
        repairs: Vec::new(),
        to_sync: Vec::new(),
        logs: LogFiles::new(),
        snapshots: BTreeSet::new(),
    };
    let base = load_snapshots(files, &mut recovered)?;
    let from = base.as_ref().map_or(Zxid::ZERO, |snapshot| snapshot.tree.last_zxid());
    let txns = read_logs(files, from, &mut recovered)?;
    match base {
        Some(snapshot) => replay(&mut recovered, snapshot, txns),
        None if txns.is_empty() => recovered.is_new = true,
        None => return Err(RecoveryError::NoSnapshot),
    }
    read_epochs(files, &mut recovered)?;
    Ok(recovered)
}

/// The newest good snapshot. Those that were never finished, or are not as they were written, are removed. One that was
/// never finished is none.
fn load_snapshots(files: &Files, recovered: &mut Recovered) -> Result<Option<Snapshot>, RecoveryError> {
    let (mut newest, mut is_any_finished) = (None, false);
    for (file, bytes) in files.iter().rev() {
        let FileId::Snapshot(zxid) = *file else { continue };
        is_any_finished |= snapshot::is_finished(bytes);
        match snapshot::load(bytes) {
            Ok(snapshot) if snapshot.tree.last_zxid() == zxid => {
                recovered.snapshots.insert(zxid);
                newest = newest.or(Some(snapshot));
            }
            Ok(_) | Err(_) => recovered.repairs.push(DiskOp::Remove { file: *file }),
        }
    }
    if newest.is_none() && is_any_finished { Err(RecoveryError::CorruptSnapshots) } else { Ok(newest) }
}

/// What is in the logs that may go on from a snapshot, in order: in those that begin behind it, and in the one before
/// them, whether anything of that is needed or not.
fn read_logs(files: &Files, from: Zxid, recovered: &mut Recovered) -> Result<Vec<Txn>, RecoveryError> {
    let logs: Vec<(Zxid, &Vec<u8>)> = files
        .iter()
        .filter_map(|(file, bytes)| match file {
            FileId::Log(first) => Some((*first, bytes)),
            FileId::Snapshot(_) | FileId::AcceptedEpoch | FileId::CurrentEpoch => None,
        })
        .collect();
    let mut txns: Vec<Txn> = Vec::new();
    for (at, (first, bytes)) in logs.iter().enumerate() {
        let file = FileId::Log(*first);
        let ends = recovered.logs.entry(*first).or_default();
        if logs.get(at + 1).is_some_and(|(next, _)| *next <= from) {
            continue;
        }
        let corrupt = |Corrupt { offset, flaw }| {
            let offset = offset as u64;
            RecoveryError::CorruptLog { file, offset, flaw }
        };
        let scan = log::scan(bytes).map_err(corrupt)?;
        *ends = scan.ends;
        if bytes.is_empty() {
            recovered.logs.remove(first);
            recovered.repairs.push(DiskOp::Remove { file });
        } else if scan.valid_len < bytes.len() {
            // A later record may get into this file, and must not stand behind the end.
            recovered.repairs.push(DiskOp::Truncate { file, len: scan.valid_len as u64 });
            recovered.to_sync.push(file);
        } else if at + 1 == logs.len() {
            recovered.to_sync.push(file);
        }
        txns.extend(scan.txns);
    }
    Ok(txns)
}

/// Replays over a snapshot what it may show, and keeps what comes behind.
fn replay(recovered: &mut Recovered, snapshot: Snapshot, txns: Vec<Txn>) {
    let mut last = snapshot.tree.last_zxid();
    (recovered.tree, recovered.sessions) = (snapshot.tree, snapshot.sessions);
    for txn in txns {
        if txn.zxid <= last {
            continue;
        }
        last = txn.zxid;
        if last <= snapshot.shows {
            recovered.replayed += 1;
            recovered.tree.apply(&txn);
            recovered.sessions.apply(&txn);
        } else {
            recovered.log.push(Arc::new(txn));
        }
    }
}

/// The epochs. Where a file is missing, the last transaction tells.
fn read_epochs(files: &Files, recovered: &mut Recovered) -> Result<(), RecoveryError> {
    let current = read_epoch(files, FileId::CurrentEpoch)?.unwrap_or(recovered.last().epoch());
    let accepted = read_epoch(files, FileId::AcceptedEpoch)?.unwrap_or(current);
    if accepted < current {
        return Err(RecoveryError::NeverPromised { accepted, current });
    }
    (recovered.current_epoch, recovered.accepted_epoch) = (current, accepted);
    Ok(())
}

fn read_epoch(files: &Files, file: FileId) -> Result<Option<u32>, RecoveryError> {
    let Some(bytes) = files.get(&file) else { return Ok(None) };
    let read = || {
        let mut decoder = Decoder::new(bytes);
        let (epoch, crc) = (decoder.u32()?, decoder.u32()?);
        decoder.finish()?;
        if crc == crc32fast::hash(&bytes[..4]) { Ok(epoch) } else { Err(Malformed) }
    };
    read().map(Some).map_err(|Malformed| RecoveryError::CorruptEpoch { file })
}
