//! The transaction log: records in files, and what a crash or a rotten bit leaves of them.
//!
//! A record is `crc32 u32, length u32, transaction, 'B'`, little-endian. Length and checksum are those of the
//! transaction. As in ZooKeeper, a record that was not written to its end is the end of its file, whatever is behind
//! it, and one that was written to its end and has changed since is an error.
//!
//! Source: ZooKeeper 3.9, `FileTxnLog.FileTxnIterator.next`; measured, see `sim/conform/DAMAGED.md`.
//!
//! ```
//! use zk_proto::log::{Corrupt, Flaw, HEADER, encode, scan};
//! # use zk_api::{SessionId, Zxid};
//! # use zk_proto::{message::Xid, txn::{Txn, TxnBody}};
//! # let txn = |counter| {
//! #     let body = TxnBody::Delete { path: "/a".into() };
//! #     Txn { zxid: Zxid::new(1, counter), session: SessionId::NONE, xid: Xid(0), time_ms: 0, body }
//! # };
//!
//! let mut file = [encode(&txn(1)), encode(&txn(2))].concat();
//! // A crash has torn the second record.
//! let torn = scan(&file[..file.len() - 1]).expect("a torn end is no error");
//! assert_eq!(torn.txns, [txn(1)]);
//! // A bit of the first has rotten.
//! file[HEADER] ^= 1;
//! assert_eq!(scan(&file), Err(Corrupt { offset: 0, flaw: Flaw::Checksum }));
//! ```

use crate::codec::{Decoder, put_txn, put_u32};
use crate::disk::{DiskOp, FileId};
use crate::server::Output;
use crate::txn::Txn;
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::Zxid;

/// Bytes of a record before the transaction.
pub const HEADER: usize = 8;
/// The last byte of a record. Of one that was not written to its end it reads as zero.
const END: u8 = b'B';
/// A longer transaction was never written.
pub const LENGTH_MAX: usize = 1 << 26;

/// What a log file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The transactions from the beginning on.
    pub txns: Vec<Txn>,
    /// Where the record of each ends, in bytes.
    pub ends: Vec<(Zxid, u64)>,
    /// Where the last ends. Less than the file's length if something is behind it.
    pub valid_len: usize,
}

/// A record that was written to its end, and is not as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Corrupt {
    /// Where it begins.
    pub offset: usize,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// It fails its checksum.
    Checksum,
    /// Nothing of such a length was ever written.
    Length,
}

/// The bytes of a record.
pub fn encode(txn: &Txn) -> Vec<u8> {
    let mut body = Vec::new();
    put_txn(&mut body, txn);
    let mut bytes = Vec::with_capacity(HEADER + body.len() + 1);
    put_u32(&mut bytes, crc32fast::hash(&body));
    put_u32(&mut bytes, body.len() as u32);
    bytes.extend(body);
    bytes.push(END);
    bytes
}

/// Reads a log file up to its end, or to a record that was not written to its end.
pub fn scan(bytes: &[u8]) -> Result<Scan, Corrupt> {
    let mut scan = Scan::default();
    while let Some((txn, len)) =
        decode(&bytes[scan.valid_len..]).map_err(|flaw| Corrupt { offset: scan.valid_len, flaw })?
    {
        scan.valid_len += len;
        scan.ends.push((txn.zxid, scan.valid_len as u64));
        scan.txns.push(txn);
    }
    Ok(scan)
}

/// The transaction of the record at the beginning of `bytes`, and the record's length. `None` at the end of the file.
fn decode(bytes: &[u8]) -> Result<Option<(Txn, usize)>, Flaw> {
    let mut decoder = Decoder::new(bytes);
    let (Ok(crc), Ok(length @ 1..)) = (decoder.u32(), decoder.u32()) else { return Ok(None) };
    let length = length as usize;
    if length > LENGTH_MAX {
        return Err(Flaw::Length);
    }
    let (Ok(body), Ok(END)) = (decoder.take(length), decoder.u8()) else { return Ok(None) };
    if crc32fast::hash(body) != crc {
        return Err(Flaw::Checksum);
    }
    let mut decoder = Decoder::new(body);
    match (decoder.txn(), decoder.finish()) {
        (Ok(txn), Ok(())) => Ok(Some((txn, HEADER + length + 1))),
        (Ok(_) | Err(_), _) => Err(Flaw::Checksum),
    }
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
}

/// Log files by the transactions that name them, and where their records end, in bytes.
pub type LogFiles = BTreeMap<Zxid, Vec<(Zxid, u64)>>;

impl LogWriter {
    /// Goes on behind these, in a new file if it is to `roll`.
    pub fn new(files: LogFiles, roll: bool) -> LogWriter {
        LogWriter { files, roll }
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
        let mut end = begin;
        for txn in txns {
            let bytes = encode(txn);
            end += bytes.len() as u64;
            ends.push((txn.zxid, end));
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
        true
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
