//! What a server makes of the files it finds when it starts.

use crate::codec::{Decoder, Malformed, put_u32, put_zxid};
use crate::disk::{DiskOp, FileId, Files};
use crate::log::{self, CorruptMiddle, LogFiles, Record};
use crate::sessions::SessionTable;
use crate::snapshot::{self, Snapshot};
use crate::tree::DataTree;
use crate::txn::Txn;
use crate::zab::Doubt;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::Zxid;

/// Why a server will not start from what it found on its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecoveryError {
    /// A record in the middle of a log fails its checksum, though valid records follow it.
    CorruptLog { file: FileId, offset: u64 },
    /// No snapshot is valid though the logs do not reach back to the beginning.
    NoSnapshot,
    /// A transaction is missing between these two. The second is in a log, or is one of which a snapshot
    /// shows something.
    Gap { after: Zxid, found: Zxid },
    /// The file of an epoch is not as it was written.
    CorruptEpoch { file: FileId },
    /// All that is there is in order, but when the epoch was taken there was more of it.
    Behind { last: Zxid, had: Zxid },
}

impl std::fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecoveryError::CorruptLog { file, offset } => {
                write!(f, "{file:?}: corrupt record at byte {offset}, valid ones behind it")
            }
            RecoveryError::NoSnapshot => f.write_str("no valid snapshot, and the logs begin too late"),
            RecoveryError::Gap { after, found } => write!(f, "nothing between {after} and {found}"),
            RecoveryError::Behind { last, had } => write!(f, "all ends with {last}, and there was {had}"),
            RecoveryError::CorruptEpoch { file } => write!(f, "{file:?}: not an epoch"),
        }
    }
}

impl std::error::Error for RecoveryError {}

/// What a server starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The tree at the last transaction of which the newest snapshot shows something. It was delivered once, so
    /// it stands.
    pub tree: DataTree,
    /// The sessions that are open then.
    pub sessions: SessionTable,
    /// What is logged behind that. Some of it may not stand.
    pub log: Vec<Arc<Txn>>,
    /// The newest epoch this server has promised to follow, zero at first.
    pub accepted_epoch: u32,
    /// The newest epoch whose history this server has, and what it had of it.
    pub mark: EpochMark,
    /// Whether something may be missing. More than what the mark says if it was found just now: then it is to be
    /// written down before anything is repaired, or nobody would know of it after the repair.
    pub doubt: Doubt,
    /// The file of the accepted epoch is not as it was written, and is to be written anew.
    pub lost_promise: bool,
    /// How many transactions were replayed over the newest snapshot.
    pub replayed: u32,
    /// What to do to the files before anything else: cut torn tails, remove what was never finished.
    pub repairs: Vec<DiskOp>,
    /// Logs to be synced before another log is begun: those that were cut, and the last one. If only the
    /// process died, what was read from it need not be durable yet.
    pub to_sync: Vec<FileId>,
    /// The logs there are.
    pub logs: LogFiles,
    /// The valid snapshots there are.
    pub snapshots: BTreeSet<Zxid>,
}

/// What the file of the current epoch holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EpochMark {
    /// The newest epoch whose history this server has, zero at first.
    pub epoch: u32,
    /// The end of its history when it took the epoch, or where that was cut since. All up to there is on the disk,
    /// or the disk has lost it.
    pub last: Zxid,
    /// Whether something may have been lost since.
    pub doubt: Doubt,
    /// The newest epoch this server has promised to follow, once more: a promise that is forgotten could be broken,
    /// so it does not hang on one file.
    pub accepted: u32,
}

/// The bytes of the current epoch's file.
pub fn encode_mark(mark: &EpochMark) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_u32(&mut bytes, mark.epoch);
    put_zxid(&mut bytes, mark.last);
    put_u32(&mut bytes, mark.doubt as u32);
    put_u32(&mut bytes, mark.accepted);
    let crc = crc32fast::hash(&bytes);
    put_u32(&mut bytes, crc);
    bytes
}

/// The bytes of an epoch's file.
pub fn encode_epoch(epoch: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_u32(&mut bytes, epoch);
    let crc = crc32fast::hash(&bytes);
    put_u32(&mut bytes, crc);
    bytes
}

/// Recovers a server's state: the newest valid snapshot, over it every transaction of which it may show
/// something, and what is logged behind that.
///
/// What is logged was durable, but some of it may never have been acknowledged, or may stand nowhere.
pub fn recover(files: &Files) -> Result<Recovered, RecoveryError> {
    let mark = read_mark(files)?;
    let mut recovered = Recovered {
        tree: DataTree::new(),
        sessions: SessionTable::default(),
        log: Vec::new(),
        accepted_epoch: mark.accepted,
        mark,
        doubt: mark.doubt,
        lost_promise: false,
        replayed: 0,
        repairs: Vec::new(),
        to_sync: Vec::new(),
        logs: LogFiles::new(),
        snapshots: BTreeSet::new(),
    };
    match read_epoch(files, FileId::AcceptedEpoch) {
        Ok(epoch) => recovered.accepted_epoch = epoch.max(mark.accepted),
        Err(_) => recovered.lost_promise = true,
    }
    let base = load_snapshots(files, &mut recovered);
    let shows = base.as_ref().map_or(Zxid::ZERO, |snapshot| snapshot.shows);
    let has_snapshot = base.is_some();
    if let Some(snapshot) = base {
        recovered.tree = snapshot.tree;
        recovered.sessions = snapshot.sessions;
    }
    let records = read_logs(files, &mut recovered)?;
    replay(&mut recovered, records, shows, has_snapshot)?;
    let last = recovered.tree.last_zxid();
    if last < shows {
        // The snapshot shows transactions that were durable once: without them it is inconsistent.
        return Err(RecoveryError::Gap { after: last, found: shows });
    }
    let last = recovered.log.last().map_or(last, |txn| txn.zxid);
    if last < mark.last && mark.doubt != Doubt::Everything {
        return Err(RecoveryError::Behind { last, had: mark.last });
    }
    Ok(recovered)
}

/// What is left to a server that cannot trust its disk, and has others to ask: its promises, and that its history is
/// lost. All the rest is removed, as nobody can tell what else is missing.
pub fn give_up(files: &Files) -> Result<Recovered, RecoveryError> {
    let (mark, promise) = (read_mark(files), read_epoch(files, FileId::AcceptedEpoch));
    let lost_promise = promise.is_err();
    let (epoch, accepted) = match (mark, promise) {
        (Ok(mark), Ok(promise)) => (mark.epoch, promise.max(mark.accepted)),
        (Ok(mark), Err(_)) => (mark.epoch, mark.accepted),
        (Err(_), Ok(promise)) => (0, promise),
        (Err(_), Err(error)) => return Err(error),
    };
    let is_epoch = |file: &FileId| matches!(file, FileId::AcceptedEpoch | FileId::CurrentEpoch);
    let rest = files.keys().filter(|file| !is_epoch(file));
    Ok(Recovered {
        tree: DataTree::new(),
        sessions: SessionTable::default(),
        log: Vec::new(),
        accepted_epoch: accepted,
        mark: EpochMark { epoch, last: Zxid::ZERO, doubt: Doubt::Everything, accepted },
        doubt: Doubt::Everything,
        lost_promise,
        replayed: 0,
        repairs: rest.map(|file| DiskOp::Remove { file: *file }).collect(),
        to_sync: Vec::new(),
        logs: LogFiles::new(),
        snapshots: BTreeSet::new(),
    })
}

/// The newest valid snapshot. Those that were never finished, or are not as they were written, are removed.
fn load_snapshots(files: &Files, recovered: &mut Recovered) -> Option<Snapshot> {
    let mut newest = None;
    for (file, bytes) in files.iter().rev() {
        let FileId::Snapshot(zxid) = *file else { continue };
        match snapshot::load(bytes) {
            Ok(snapshot) if snapshot.tree.last_zxid() == zxid => {
                recovered.snapshots.insert(zxid);
                newest = newest.or(Some(snapshot));
            }
            Ok(_) | Err(_) => recovered.repairs.push(DiskOp::Remove { file: *file }),
        }
    }
    newest
}

/// All records of all logs that may be needed, in order.
fn read_logs(files: &Files, recovered: &mut Recovered) -> Result<Vec<Record>, RecoveryError> {
    let logs: Vec<(Zxid, &Vec<u8>)> = files
        .iter()
        .filter_map(|(file, bytes)| match file {
            FileId::Log(first) => Some((*first, bytes)),
            FileId::Snapshot(_) | FileId::AcceptedEpoch | FileId::CurrentEpoch => None,
        })
        .collect();
    let mut records: Vec<Record> = Vec::new();
    let mut bad: Option<(FileId, u64)> = None;
    for (at, (first, bytes)) in logs.iter().enumerate() {
        let file = FileId::Log(*first);
        let ends = recovered.logs.entry(*first).or_default();
        // A log before one that begins at or before the snapshot has nothing that is newer than it.
        if logs.get(at + 1).is_some_and(|(next, _)| *next <= recovered.tree.last_zxid()) {
            continue;
        }
        let scan = log::scan(*first, bytes)
            .map_err(|CorruptMiddle(offset)| RecoveryError::CorruptLog { file, offset: offset as u64 })?;
        if let Some((file, offset)) = bad
            && !scan.records.is_empty()
        {
            // A tail is cut for good before the next log is begun, so this is no tail.
            return Err(RecoveryError::CorruptLog { file, offset });
        }
        *ends = scan.ends;
        if bytes.is_empty() {
            recovered.logs.remove(first);
            recovered.repairs.push(DiskOp::Remove { file });
        } else if scan.valid_len < bytes.len() {
            recovered.repairs.push(DiskOp::Truncate { file, len: scan.valid_len as u64 });
            recovered.to_sync.push(file);
            recovered.doubt = recovered.doubt.max(Doubt::TheEnd);
            bad = bad.or(Some((file, scan.valid_len as u64)));
        } else if at + 1 == logs.len() {
            recovered.to_sync.push(file);
        }
        records.extend(scan.records);
    }
    Ok(records)
}

/// Replays what the snapshot may show, and keeps what comes behind. Every record must go on from the last.
fn replay(
    recovered: &mut Recovered,
    records: Vec<Record>,
    shows: Zxid,
    has_snapshot: bool,
) -> Result<(), RecoveryError> {
    let mut after = recovered.tree.last_zxid();
    for Record { previous, txn, durable: _ } in records {
        if txn.zxid <= after {
            continue;
        }
        if previous != after {
            return Err(if has_snapshot || !recovered.log.is_empty() {
                RecoveryError::Gap { after, found: txn.zxid }
            } else {
                RecoveryError::NoSnapshot
            });
        }
        after = txn.zxid;
        if txn.zxid <= shows {
            recovered.replayed += 1;
            recovered.tree.apply(&txn);
            recovered.sessions.apply(&txn);
        } else {
            recovered.log.push(Arc::new(txn));
        }
    }
    Ok(())
}

fn read_epoch(files: &Files, file: FileId) -> Result<u32, RecoveryError> {
    let Some(bytes) = files.get(&file) else { return Ok(0) };
    let read = || {
        let mut decoder = Decoder::new(bytes);
        let epoch = decoder.u32()?;
        let crc = decoder.u32()?;
        decoder.finish()?;
        Ok::<_, Malformed>((epoch, crc == crc32fast::hash(&bytes[..4])))
    };
    match read() {
        Ok((epoch, true)) => Ok(epoch),
        Ok((_, false)) | Err(_) => Err(RecoveryError::CorruptEpoch { file }),
    }
}

fn read_mark(files: &Files) -> Result<EpochMark, RecoveryError> {
    let file = FileId::CurrentEpoch;
    let Some(bytes) = files.get(&file) else { return Ok(EpochMark::default()) };
    let read = || {
        let mut decoder = Decoder::new(bytes);
        let (epoch, last, doubt, accepted) =
            (decoder.u32()?, decoder.zxid()?, decoder.u32()?, decoder.u32()?);
        let crc = decoder.u32()?;
        decoder.finish()?;
        let doubt = match doubt {
            0 => Doubt::Nothing,
            1 => Doubt::TheEnd,
            2 => Doubt::Everything,
            _ => return Err(Malformed),
        };
        if crc == crc32fast::hash(&bytes[..bytes.len() - 4]) {
            Ok(EpochMark { epoch, last, doubt, accepted })
        } else {
            Err(Malformed)
        }
    };
    read().map_err(|Malformed| RecoveryError::CorruptEpoch { file })
}
