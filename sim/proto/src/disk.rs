//! What a server asks of its disk.

use std::collections::BTreeMap;
use zk_api::Zxid;

/// A server's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileId {
    /// The transaction log whose first transaction is this.
    Log(Zxid),
    /// The snapshot that was begun after this transaction was applied.
    Snapshot(Zxid),
    /// The newest epoch this server has promised to follow.
    AcceptedEpoch,
    /// The newest epoch whose history this server has.
    CurrentEpoch,
}

/// An operation on a file. The disk does them in order; only what was synced survives a crash for certain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DiskOp {
    /// Adds bytes at the end, making the file if there is none.
    Append { file: FileId, bytes: Vec<u8> },
    /// Makes everything appended to the file so far durable, then says `Synced { file, ticket }`.
    Sync { file: FileId, ticket: u64 },
    /// Cuts the file to this length (recovery, TRUNC). Durable with the next sync.
    Truncate { file: FileId, len: u64 },
    /// Puts new contents in the place of the old, all or nothing (write, sync, rename, sync the folder), then
    /// says `Synced { file, ticket }`.
    Replace { file: FileId, bytes: Vec<u8>, ticket: u64 },
    /// Removes the file.
    Remove { file: FileId },
}

/// What a server finds on its disk when it starts.
pub type Files = BTreeMap<FileId, Vec<u8>>;
