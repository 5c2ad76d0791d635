//! A disk in memory: what was synced survives a crash of the server, and nothing else.

use std::collections::BTreeMap;
use zk_proto::disk::{FileId, Files};

/// A server's disk. Torn and corrupt ends are the simulated world's business; here they are cut clean.
#[derive(Debug, Default)]
pub(super) struct Disk {
    files: Files,
    /// So much of each file is durable.
    synced: BTreeMap<FileId, usize>,
    /// Contents that are being put in the place of a file's, by ticket.
    replacing: BTreeMap<(FileId, u64), Vec<u8>>,
    /// Syncs under way: how much of the file each covers.
    syncing: BTreeMap<(FileId, u64), usize>,
}

impl Disk {
    /// Adds bytes at the end of a file; gives the new length.
    pub(super) fn append(&mut self, file: FileId, bytes: &[u8]) -> usize {
        let file = self.files.entry(file).or_default();
        file.extend_from_slice(bytes);
        file.len()
    }

    /// Begins a sync: what is appended later is not covered.
    pub(super) fn begin_sync(&mut self, file: FileId, ticket: u64) {
        self.syncing.insert((file, ticket), self.length(file));
    }

    /// Begins to put new contents in the place of a file's.
    pub(super) fn begin_replace(&mut self, file: FileId, ticket: u64, bytes: Vec<u8>) {
        self.replacing.insert((file, ticket), bytes);
    }

    /// The sync or replacement is done. Gives how much of the file is durable now.
    pub(super) fn done(&mut self, file: FileId, ticket: u64) -> usize {
        let durable = match self.replacing.remove(&(file, ticket)) {
            Some(bytes) => {
                let length = bytes.len();
                self.files.insert(file, bytes);
                length
            }
            None => {
                let covered = self.syncing.remove(&(file, ticket)).unwrap_or(0);
                // A truncation after the sync began may have made it shorter.
                covered.max(self.synced.get(&file).copied().unwrap_or(0)).min(self.length(file))
            }
        };
        self.synced.insert(file, durable);
        durable
    }

    /// Cuts a file.
    pub(super) fn truncate(&mut self, file: FileId, length: u64) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if let Some(bytes) = self.files.get_mut(&file) {
            bytes.truncate(length);
        }
        if let Some(synced) = self.synced.get_mut(&file) {
            *synced = (*synced).min(length);
        }
    }

    /// Removes a file.
    pub(super) fn remove(&mut self, file: FileId) {
        self.files.remove(&file);
        self.synced.remove(&file);
        self.replacing.retain(|(f, _), _| *f != file);
        self.syncing.retain(|(f, _), _| *f != file);
    }

    /// The server crashes: what is not synced is lost.
    pub(super) fn crash(&mut self) {
        self.replacing.clear();
        self.syncing.clear();
        for (file, bytes) in &mut self.files {
            bytes.truncate(self.synced.get(file).copied().unwrap_or(0));
        }
        // A file that was made but never synced is not there.
        self.files.retain(|_, bytes| !bytes.is_empty());
    }

    /// What a server finds when it starts.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// The bytes of snapshots, and of logs.
    pub(super) fn sizes(&self) -> (usize, usize) {
        let of = |is: fn(&FileId) -> bool| {
            self.files.iter().filter(|(file, _)| is(file)).map(|(_, bytes)| bytes.len()).sum()
        };
        (of(|file| matches!(file, FileId::Snapshot(_))), of(|file| matches!(file, FileId::Log(_))))
    }

    fn length(&self, file: FileId) -> usize {
        self.files.get(&file).map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Zxid;

    const LOG: FileId = FileId::Log(Zxid::ZERO);

    fn left(mut disk: Disk) -> Vec<u8> {
        disk.crash();
        disk.files.remove(&LOG).unwrap_or_default()
    }

    #[test]
    fn what_was_synced_survives_a_crash_and_nothing_else() {
        let mut disk = Disk::default();
        disk.append(LOG, b"abc");
        disk.begin_sync(LOG, 1);
        disk.append(LOG, b"def");
        assert_eq!(disk.done(LOG, 1), 3);
        assert_eq!(left(disk), b"abc");
    }

    #[test]
    fn a_sync_or_a_replacement_that_is_not_done_promises_nothing() {
        let mut disk = Disk::default();
        disk.append(LOG, b"abc");
        disk.begin_sync(LOG, 1);
        assert_eq!(left(disk), b"");
        let mut disk = Disk::default();
        disk.begin_replace(LOG, 1, b"old".to_vec());
        disk.done(LOG, 1);
        disk.begin_replace(LOG, 2, b"new".to_vec());
        assert_eq!(left(disk), b"old");
    }
}
