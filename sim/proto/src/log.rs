//! The transaction log: records in files, and what a crash or a rotten bit leaves of them.
//!
//! A record is `length u32, crc32 u32, previous zxid i64, zxid i64, transaction`, little-endian; the length is
//! that of the transaction, the checksum is over everything but itself. Each record names the one before it,
//! also over the border of a file or of an epoch, so that a missing one is noticed wherever it was.

use crate::codec::{Decoder, Malformed, put_txn, put_zxid};
use crate::disk::{DiskOp, FileId};
use crate::server::Output;
use crate::txn::Txn;
use zk_api::Zxid;

/// Bytes of a record before the transaction.
pub const HEADER: usize = 24;

/// A record of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The transaction logged before this one, `ZERO` before the first.
    pub previous: Zxid,
    /// The transaction.
    pub txn: Txn,
}

/// What a log file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// The valid records from the beginning on.
    pub records: Vec<Record>,
    /// Where they end, in bytes. Less than the file's length if it has a torn tail.
    pub valid_len: usize,
}

/// A record that fails its checksum though a valid one follows it: at this offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptMiddle(pub usize);

/// The bytes of a record.
pub fn encode(previous: Zxid, txn: &Txn) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    put_zxid(&mut bytes, previous);
    put_zxid(&mut bytes, txn.zxid);
    put_txn(&mut bytes, txn);
    let len = (bytes.len() - HEADER) as u32;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    let crc = checksum(&bytes);
    bytes[4..8].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Reads a log file up to its end or to a torn tail; fails if a record in the middle is corrupt.
pub fn scan(bytes: &[u8]) -> Result<Scan, CorruptMiddle> {
    let mut records: Vec<Record> = Vec::new();
    let mut valid_len = 0;
    while let Ok((record, len)) = decode(&bytes[valid_len..]) {
        records.push(record);
        valid_len += len;
    }
    // A crash tears only the end. Lengths cannot be trusted here, so look at every offset. An older record is
    // no successor: a disk may show what some former file had in the place of a tail.
    let last = records.last().map_or(Zxid::ZERO, |record| record.txn.zxid);
    let is_successor = |at: usize| decode(&bytes[at..]).is_ok_and(|(record, _)| record.previous >= last);
    if (valid_len + 1..bytes.len()).any(is_successor) {
        return Err(CorruptMiddle(valid_len));
    }
    Ok(Scan { records, valid_len })
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
    let txn = decoder.txn()?;
    decoder.finish()?;
    if txn.zxid != zxid || previous >= zxid { Err(Malformed) } else { Ok((Record { previous, txn }, len)) }
}

/// Over a whole record but for the place of the checksum.
fn checksum(record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&record[..4]);
    hasher.update(&record[8..]);
    hasher.finalize()
}

/// Writes a server's log, one sync at a time.
///
/// Records that come while a sync is under way are held back and written together when it is done. So
/// everything in a file is durable before a later file gets its first byte, and a log never has a hole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogWriter {
    /// The file that is written; none until the first record.
    file: Option<FileId>,
    /// Whether the next record begins a new file.
    roll: bool,
    /// The last record given to the writer; the next one names it.
    last: Zxid,
    /// Everything up to here is durable. synced <= last
    synced: Zxid,
    /// Records that wait for the sync under way, with their transactions.
    held: Vec<(Zxid, Vec<u8>)>,
    /// The sync under way: its ticket, and what will be durable by it.
    syncing: Option<(u64, Zxid)>,
}

impl LogWriter {
    /// Goes on behind `last`, in a new file.
    pub fn new(last: Zxid) -> LogWriter {
        LogWriter { file: None, roll: true, last, synced: last, held: Vec::new(), syncing: None }
    }

    /// Takes a transaction to be logged. Gives the bytes of its record.
    pub fn append(&mut self, txn: &Txn) -> usize {
        let record = encode(self.last, txn);
        let bytes = record.len();
        self.held.push((txn.zxid, record));
        self.last = txn.zxid;
        bytes
    }

    /// Begins a new file with the next record that is written.
    pub fn roll(&mut self) {
        self.roll = true;
    }

    /// Everything up to this transaction is durable.
    pub fn synced(&self) -> Zxid {
        self.synced
    }

    /// Writes what is held back, unless a sync is under way. Gives the file if it is a new one.
    pub fn flush(&mut self, tickets: &mut u64, out: &mut Vec<Output>) -> Option<Zxid> {
        let first = self.held.first()?.0;
        if self.syncing.is_some() {
            return None;
        }
        let mut begun = None;
        let file = match self.file {
            Some(file) if !self.roll => file,
            Some(_) | None => {
                begun = Some(first);
                FileId::Log(first)
            }
        };
        self.file = Some(file);
        self.roll = false;
        for (_, bytes) in self.held.drain(..) {
            out.push(Output::Disk(DiskOp::Append { file, bytes }));
        }
        *tickets += 1;
        self.syncing = Some((*tickets, self.last));
        out.push(Output::Disk(DiskOp::Sync { file, ticket: *tickets }));
        begun
    }

    /// Takes the disk's word for a sync; tells whether it was the one under way.
    pub fn on_synced(&mut self, ticket: u64) -> bool {
        match self.syncing {
            Some((expected, up_to)) if expected == ticket => {
                self.syncing = None;
                self.synced = up_to;
                true
            }
            Some(_) | None => false,
        }
    }
}
