//! The transaction log: records in files, and what a crash or a rotten bit leaves of them.
//!
//! A record is `length u32, crc32 u32, previous zxid i64, zxid i64, durable zxid i64, transaction`, little-endian; the
//! length is that of the transaction, the checksum is over everything but itself. Each record names the one before
//! it, also over the border of a file or of an epoch, so that a missing one is noticed wherever it was. It also names
//! the last one that was durable when it was written: of what was written together, a disk may have done any part.

use crate::codec::{Decoder, Malformed, put_txn, put_zxid};
use crate::disk::{DiskOp, FileId};
use crate::server::Output;
use crate::txn::Txn;
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::Zxid;

/// Bytes of a record before the transaction.
pub const HEADER: usize = 32;

/// A record of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The transaction logged before this one, `ZERO` before the first.
    pub previous: Zxid,
    /// The last transaction that was durable when this one was written, `ZERO` if none was. durable <= previous
    pub durable: Zxid,
    /// The transaction.
    pub txn: Txn,
}

/// What a log file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// The valid records from the beginning on.
    pub records: Vec<Record>,
    /// Where each of them ends, in bytes.
    pub ends: Vec<(Zxid, u64)>,
    /// Where the last ends. Less than the file's length if it has a torn tail.
    pub valid_len: usize,
}

/// A record that fails its checksum though one follows that was written when it was durable: at this offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptMiddle(pub usize);

/// The bytes of a record.
pub fn encode(previous: Zxid, durable: Zxid, txn: &Txn) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    put_zxid(&mut bytes, previous);
    put_zxid(&mut bytes, txn.zxid);
    put_zxid(&mut bytes, durable);
    put_txn(&mut bytes, txn);
    let len = (bytes.len() - HEADER) as u32;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    let crc = checksum(&bytes);
    bytes[4..8].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Reads a log file up to its end or to a torn tail; fails if a record in the middle is corrupt.
/// `first` is the transaction it begins with, or is to.
pub fn scan(first: Zxid, bytes: &[u8]) -> Result<Scan, CorruptMiddle> {
    let mut records: Vec<Record> = Vec::new();
    let mut ends = Vec::new();
    let mut valid_len = 0;
    while let Ok((record, len)) = decode(&bytes[valid_len..]) {
        valid_len += len;
        ends.push((record.txn.zxid, valid_len as u64));
        records.push(record);
    }
    // A crash tears only what was not synced yet. Lengths cannot be trusted here, so look at every offset. An older
    // record is no successor: a disk may show what some former file had in the place of a tail. Nor is one of the
    // same write: a disk may have done its end and not its beginning.
    let was_missing = |durable: Zxid| match records.last() {
        Some(last) => durable > last.txn.zxid,
        None => durable >= first,
    };
    let is_successor = |at: usize| decode(&bytes[at..]).is_ok_and(|(record, _)| was_missing(record.durable));
    if (valid_len + 1..bytes.len()).any(is_successor) {
        return Err(CorruptMiddle(valid_len));
    }
    Ok(Scan { records, ends, valid_len })
}

/// The record at the beginning of `bytes`, and its length.
fn decode(bytes: &[u8]) -> Result<(Record, usize), Malformed> {
    let len = HEADER + Decoder::new(bytes).u32()? as usize;
    let whole = Decoder::new(bytes).take(len)?;
    let mut decoder = Decoder::new(&whole[4..]);
    if decoder.u32()? != checksum(whole) {
        return Err(Malformed);
    }
    let previous = decoder.zxid()?;
    let zxid = decoder.zxid()?;
    let durable = decoder.zxid()?;
    let txn = decoder.txn()?;
    decoder.finish()?;
    let is_right = txn.zxid == zxid && previous < zxid && durable <= previous;
    if is_right { Ok((Record { previous, durable, txn }, len)) } else { Err(Malformed) }
}

/// Over a whole record but for the place of the checksum.
fn checksum(record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&record[..4]);
    hasher.update(&record[8..]);
    hasher.finalize()
}

/// Writes a server's log.
///
/// Nothing is written before the sync of what came before is done, so everything in a file is durable before a
/// later file gets its first byte, and a log never has a hole. That is its owner's part: see `zab::Write`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogWriter {
    /// The logs there are by their first transactions, and where each of their records ends, in bytes.
    files: LogFiles,
    /// Whether the next record begins a new file.
    roll: bool,
    /// The last record; the next one names it.
    last: Zxid,
}

/// Log files by the transactions that name them, and where their records end, in bytes.
pub type LogFiles = BTreeMap<Zxid, Vec<(Zxid, u64)>>;

impl LogWriter {
    /// Goes on behind `last`, in a new file.
    pub fn new(last: Zxid, files: LogFiles) -> LogWriter {
        LogWriter { files, roll: true, last }
    }

    /// Writes transactions, and begins a sync. Gives how many bytes they take.
    pub fn append(&mut self, txns: &[Arc<Txn>], ticket: u64, out: &mut Vec<Output>) -> u64 {
        let Some(first) = txns.first() else { return 0 };
        let name = match self.files.keys().next_back() {
            Some(current) if !self.roll => *current,
            Some(_) | None => first.zxid,
        };
        self.roll = false;
        let (file, ends) = (FileId::Log(name), self.files.entry(name).or_default());
        let begin = ends.last().map_or(0, |(_, end)| *end);
        let durable = self.last;
        let mut end = begin;
        for txn in txns {
            let bytes = encode(self.last, durable, txn);
            end += bytes.len() as u64;
            ends.push((txn.zxid, end));
            self.last = txn.zxid;
            out.push(Output::Disk(DiskOp::Append { file, bytes }));
        }
        out.push(Output::Disk(DiskOp::Sync { file, ticket }));
        end - begin
    }

    /// Cuts everything behind `to`, and begins a sync; does nothing and says so if there is nothing.
    ///
    /// Later files go first: whatever a crash leaves is a beginning of what there was.
    pub fn truncate(&mut self, to: Zxid, ticket: u64, out: &mut Vec<Output>) -> bool {
        let is_cut = |ends: &Vec<(Zxid, u64)>| ends.last().is_some_and(|(last, _)| *last > to);
        let cut: Vec<Zxid> =
            self.files.iter().filter(|(_, ends)| is_cut(ends)).map(|(name, _)| *name).collect();
        let Some((first, later)) = cut.split_first() else { return false };
        for name in later.iter().rev() {
            self.files.remove(name);
            out.push(Output::Disk(DiskOp::Remove { file: FileId::Log(*name) }));
        }
        let (file, ends) = (FileId::Log(*first), self.files.get_mut(first).expect("it was just seen"));
        ends.truncate(ends.partition_point(|(zxid, _)| *zxid <= to));
        let len = ends.last().map_or(0, |(_, end)| *end);
        out.push(Output::Disk(DiskOp::Truncate { file, len }));
        out.push(Output::Disk(DiskOp::Sync { file, ticket }));
        // Files of nothing would be taken for the current one.
        self.roll = true;
        self.last = to;
        true
    }

    /// The last transaction written, or shown by the snapshot that the log goes on from.
    pub fn last(&self) -> Zxid {
        self.last
    }

    /// Goes on behind a snapshot that is in the place of everything logged.
    pub fn restart_at(&mut self, zxid: Zxid) {
        self.roll = true;
        self.last = zxid;
    }

    /// Begins a new file with the next record that is written.
    pub fn roll(&mut self) {
        self.roll = true;
    }

    /// Removes the files that nobody needs who has a snapshot from `oldest` on. A file goes on up to the first
    /// transaction of the next one, so it is needless only if that one begins early enough.
    pub fn purge(&mut self, oldest: Zxid, out: &mut Vec<Output>) {
        let Some(needed) = self.files.range(..=oldest).next_back().map(|(name, _)| *name) else { return };
        let needed = self.files.split_off(&needed);
        for name in std::mem::replace(&mut self.files, needed).into_keys() {
            out.push(Output::Disk(DiskOp::Remove { file: FileId::Log(name) }));
        }
    }
}
