//! What a server asks of its disk.
//!
//! A server waits for syncs and replacements, each by its ticket, and for nothing else:
//!
//! ```
//! use zk_api::Zxid;
//! use zk_proto::disk::{DiskOp, FileId};
//!
//! let file = FileId::Log(Zxid::new(1, 1));
//! assert_eq!(DiskOp::Append { file, bytes: vec![1, 2, 3] }.ticket(), None);
//! assert_eq!(DiskOp::Sync { file, ticket: 5 }.ticket(), Some((file, 5)));
//! ```

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

impl DiskOp {
    /// The file that it is about.
    pub fn file(&self) -> FileId {
        match self {
            DiskOp::Append { file, .. }
            | DiskOp::Sync { file, .. }
            | DiskOp::Truncate { file, .. }
            | DiskOp::Replace { file, .. }
            | DiskOp::Remove { file } => *file,
        }
    }

    /// What the disk says when it is done, where it says so.
    pub fn ticket(&self) -> Option<(FileId, u64)> {
        match self {
            DiskOp::Sync { file, ticket } | DiskOp::Replace { file, ticket, .. } => Some((*file, *ticket)),
            DiskOp::Append { .. } | DiskOp::Truncate { .. } | DiskOp::Remove { .. } => None,
        }
    }
}

/// What a server finds on its disk when it starts.
pub type Files = BTreeMap<FileId, Vec<u8>>;
