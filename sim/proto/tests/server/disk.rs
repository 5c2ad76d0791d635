//! A disk in memory that does one operation after the other and forgets what was not synced.

use std::collections::{BTreeMap, VecDeque};
use zk_proto::disk::{DiskOp, FileId, Files};
use zk_proto::recovery::{RecoveryError, recover};
use zk_proto::sessions::SessionTable;
use zk_proto::tree::DataTree;

/// The tree and the sessions as they are if everything that is logged stands.
pub fn recovered(files: &Files) -> Result<(DataTree, SessionTable), RecoveryError> {
    let mut recovered = recover(files)?;
    for txn in &recovered.log {
        recovered.tree.apply(txn);
        recovered.sessions.apply(txn);
    }
    Ok((recovered.tree, recovered.sessions))
}

/// The tree of that.
pub fn recovered_tree(files: &Files) -> Result<DataTree, RecoveryError> {
    recovered(files).map(|(tree, _)| tree)
}

#[derive(Clone, Default)]
struct File {
    /// What survives a crash.
    durable: Vec<u8>,
    /// What a read would give.
    written: Vec<u8>,
}

#[derive(Clone, Default)]
pub struct Disk {
    files: BTreeMap<FileId, File>,
    /// Operations not done yet; syncs and replacements wait to be told.
    queue: VecDeque<DiskOp>,
    /// How many operations were done.
    pub done: usize,
    /// Stop here: no operation after so many is done.
    pub limit: Option<usize>,
}

impl Disk {
    /// A disk on which everything is durable.
    pub fn with(files: Files) -> Disk {
        let file = |bytes: Vec<u8>| File { durable: bytes.clone(), written: bytes };
        Disk { files: files.into_iter().map(|(id, bytes)| (id, file(bytes))).collect(), ..Disk::default() }
    }

    pub fn submit(&mut self, op: DiskOp) {
        self.queue.push_back(op);
        self.work();
    }

    /// Whether a sync or a replacement waits to be done.
    pub fn is_waiting(&self) -> bool {
        !self.queue.is_empty() && !self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.limit.is_some_and(|limit| self.done >= limit)
    }

    /// Does the sync or replacement that is due, and gives its file and ticket.
    pub fn complete(&mut self) -> Option<(FileId, u64)> {
        if self.is_stopped() {
            return None;
        }
        let told = match self.queue.pop_front()? {
            DiskOp::Sync { file, ticket } => {
                let entry = self.files.entry(file).or_default();
                entry.durable = entry.written.clone();
                (file, ticket)
            }
            DiskOp::Replace { file, bytes, ticket } => {
                self.files.insert(file, File { durable: bytes.clone(), written: bytes });
                (file, ticket)
            }
            op @ (DiskOp::Append { .. } | DiskOp::Truncate { .. } | DiskOp::Remove { .. }) => {
                unreachable!("{op:?} waits for nobody")
            }
        };
        self.done += 1;
        self.work();
        Some(told)
    }

    /// Does what needs no waiting.
    fn work(&mut self) {
        while !self.is_stopped() {
            match self.queue.front() {
                Some(DiskOp::Sync { .. } | DiskOp::Replace { .. }) | None => return,
                Some(DiskOp::Append { file, bytes }) => {
                    self.files.entry(*file).or_default().written.extend_from_slice(bytes);
                }
                Some(DiskOp::Truncate { file, len }) => {
                    self.files.entry(*file).or_default().written.truncate(*len as usize);
                }
                Some(DiskOp::Remove { file }) => {
                    self.files.remove(file);
                }
            }
            self.queue.pop_front();
            self.done += 1;
        }
    }

    /// The process dies: what it asked for and was not done yet is never done.
    pub fn abandon(&mut self) {
        self.queue.clear();
    }

    /// The power goes: of what was appended to a file since its last sync, the first `kept` bytes survive; a
    /// truncation that was not synced is undone.
    pub fn crash(&mut self, kept: usize) {
        self.abandon();
        for file in self.files.values_mut() {
            if let Some(unsynced) = file.written.strip_prefix(&*file.durable) {
                let kept = &unsynced[..kept.min(unsynced.len())];
                file.durable.extend_from_slice(kept);
            }
            file.written = file.durable.clone();
        }
        self.files.retain(|_, file| !file.durable.is_empty());
    }

    /// What a server that starts now finds.
    pub fn files(&self) -> Files {
        self.files.iter().map(|(id, file)| (*id, file.written.clone())).collect()
    }

    /// A bit rots.
    pub fn flip(&mut self, file: FileId, at: usize) {
        let file = self.files.get_mut(&file).expect("the file exists");
        file.written[at] ^= 1;
        file.durable[at] ^= 1;
    }

    pub fn remove(&mut self, file: FileId) {
        self.files.remove(&file);
    }
}
