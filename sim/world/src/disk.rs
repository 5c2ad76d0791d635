//! Disks: what was synced survives a crash; of the rest as much as a choice says.

use std::collections::BTreeMap;
use zk_proto::disk::{FileId, Files};

/// A server's disk.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    files: BTreeMap<FileId, File>,
    /// Contents that are being put in the place of a file's, by ticket.
    replacing: BTreeMap<(FileId, u64), Vec<u8>>,
    /// Syncs under way: how much of the file each covers.
    syncing: BTreeMap<(FileId, u64), usize>,
    /// When the last operation that was asked for will be done: the disk does them in order.
    pub busy_until_ns: u64,
}

#[derive(Clone, Debug, Default)]
struct File {
    bytes: Vec<u8>,
    /// So much of it is durable.
    synced: usize,
    /// What a `Truncate` has cut off and a crash may bring back, until the next sync.
    cut: Vec<u8>,
    /// Which bits read otherwise than they were written, by place.
    rot: BTreeMap<usize, u8>,
}

/// What a crash did to the unsynced ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrashReport {
    /// Files that lost all of what was not synced.
    pub lost: u32,
    /// Files of which a part of it survived.
    pub torn: u32,
    /// Whether some of it did not survive that was written before some that did.
    pub reordered: u32,
}

/// So many bytes are written or not.
const BLOCK: usize = 48;

impl Disk {
    /// Adds bytes at the end of a file; gives the new length.
    pub fn append(&mut self, file: FileId, bytes: &[u8]) -> usize {
        let file = self.files.entry(file).or_default();
        file.bytes.extend_from_slice(bytes);
        file.bytes.len()
    }

    /// Begins a sync: what is appended later is not covered.
    pub fn begin_sync(&mut self, file: FileId, ticket: u64) {
        let length = self.files.get(&file).map_or(0, |f| f.bytes.len());
        self.syncing.insert((file, ticket), length);
    }

    /// Begins to put new contents in the place of a file's.
    pub fn begin_replace(&mut self, file: FileId, ticket: u64, bytes: Vec<u8>) {
        self.replacing.insert((file, ticket), bytes);
    }

    /// The sync or replacement is done. Gives how much of the file is durable now.
    pub fn done(&mut self, file: FileId, ticket: u64) -> usize {
        if let Some(bytes) = self.replacing.remove(&(file, ticket)) {
            let synced = bytes.len();
            self.files.insert(file, File { bytes, synced, ..File::default() });
            return synced;
        }
        let covered = self.syncing.remove(&(file, ticket)).unwrap_or(0);
        let Some(file) = self.files.get_mut(&file) else { return 0 };
        // A truncation after the sync began may have made it shorter.
        file.synced = file.synced.max(covered).min(file.bytes.len());
        file.cut.clear();
        file.synced
    }

    /// Cuts a file.
    pub fn truncate(&mut self, file: FileId, length: u64) {
        let Some(file) = self.files.get_mut(&file) else { return };
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(file.bytes.len());
        if length < file.synced {
            file.cut = file.bytes[length..file.synced].to_vec();
            file.synced = length;
        }
        file.bytes.truncate(length);
        file.rot.split_off(&length);
    }

    /// Bits rot, from a place on that is so many parts per thousand into what is durable of a file: of the
    /// `nth`, going round. Gives the file, if there is any.
    pub fn rot(&mut self, nth: u32, at_permille: u32, bytes: u32) -> Option<FileId> {
        let mut files: Vec<_> = self.files.iter_mut().filter(|(_, file)| file.synced > 0).collect();
        let nth = nth as usize % files.len().max(1);
        let (id, file) = files.get_mut(nth)?;
        let first = (file.synced - 1) * at_permille.min(1000) as usize / 1000;
        for at in first..(first + bytes.max(1) as usize).min(file.synced) {
            // Never back to what it was.
            let flips = 1 << (at % 8);
            file.rot.entry(at).or_insert(flips);
        }
        Some(**id)
    }

    /// Whether anything reads otherwise than it was written.
    pub fn is_rotten(&self) -> bool {
        self.files.values().any(|file| !file.rot.is_empty())
    }

    /// Removes a file.
    pub fn remove(&mut self, file: FileId) {
        self.files.remove(&file);
        self.replacing.retain(|(f, _), _| *f != file);
        self.syncing.retain(|(f, _), _| *f != file);
    }

    /// The machine crashes. `pick(n)` chooses from 0 to n - 1: how many of the unsynced bytes survive, and
    /// whether a replacement under way or a truncation has taken effect. A disk that `reorders` may have written any
    /// of them, block by block, and none of the others.
    pub fn crash(&mut self, reorders: bool, pick: &mut dyn FnMut(u64) -> u64) -> CrashReport {
        let mut report = CrashReport::default();
        for ((file, _), bytes) in std::mem::take(&mut self.replacing) {
            if pick(2) == 1 {
                let synced = bytes.len();
                self.files.insert(file, File { bytes, synced, ..File::default() });
            }
        }
        self.syncing.clear();
        self.busy_until_ns = 0;
        for file in self.files.values_mut() {
            let unsynced = file.bytes.len() - file.synced;
            if !file.cut.is_empty() && pick(2) == 1 {
                file.bytes.truncate(file.synced);
                file.bytes.append(&mut file.cut);
            } else if unsynced > 0 {
                // Nothing and everything are the likeliest; anything between tears a record.
                let how = pick(if reorders { 6 } else { 5 });
                let kept = match how {
                    0 => 0,
                    1 | 5 => unsynced,
                    _ => pick(unsynced as u64 + 1) as usize,
                };
                report.lost += u32::from(kept == 0);
                report.torn += u32::from(kept > 0 && kept < unsynced);
                file.bytes.truncate(file.synced + kept);
                if how == 4 {
                    // The file has got its length, but the last bytes were not written.
                    let zeros = pick(kept as u64 + 1) as usize;
                    let written = file.bytes.len() - zeros;
                    file.bytes[written..].fill(0);
                }
                if how == 5 {
                    for block in file.bytes[file.synced..].chunks_mut(BLOCK) {
                        if pick(2) == 0 {
                            block.fill(0);
                            report.reordered = 1;
                        }
                    }
                }
            }
            file.cut.clear();
            file.synced = file.bytes.len();
        }
        // A file that was made but never synced may be empty; one with nothing in it is not there.
        self.files.retain(|_, file| !file.bytes.is_empty());
        report
    }

    /// What a server finds when it starts.
    pub fn files(&self) -> Files {
        let read = |file: &File| {
            let mut bytes = file.bytes.clone();
            file.rot.iter().for_each(|(at, flips)| bytes[*at] ^= flips);
            bytes
        };
        self.files.iter().map(|(id, file)| (*id, read(file))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Zxid;

    const LOG: FileId = FileId::Log(Zxid::ZERO);

    fn crashed(disk: &Disk, mut picks: Vec<u64>) -> (Vec<u8>, CrashReport) {
        let mut disk = disk.clone();
        picks.reverse();
        let report = disk.crash(false, &mut |n| picks.pop().expect("a pick for each choice").min(n - 1));
        (disk.files().remove(&LOG).unwrap_or_default(), report)
    }

    #[test]
    fn synced_bytes_survive_a_crash_and_the_rest_may_be_lost_or_torn() {
        let mut disk = Disk::default();
        disk.append(LOG, b"abc");
        disk.begin_sync(LOG, 1);
        disk.append(LOG, b"defg");
        assert_eq!(disk.done(LOG, 1), 3);
        assert_eq!(
            crashed(&disk, vec![0]),
            (b"abc".to_vec(), CrashReport { lost: 1, ..CrashReport::default() })
        );
        assert_eq!(crashed(&disk, vec![1]).0, b"abcdefg");
        assert_eq!(
            crashed(&disk, vec![2, 2]),
            (b"abcde".to_vec(), CrashReport { torn: 1, ..CrashReport::default() })
        );
        assert_eq!(crashed(&disk, vec![4, 3, 2]).0, b"abcd\0\0");
    }

    #[test]
    fn a_sync_that_is_not_done_promises_nothing() {
        let mut disk = Disk::default();
        disk.append(LOG, b"abc");
        disk.begin_sync(LOG, 1);
        assert_eq!(crashed(&disk, vec![0]).0, b"");
    }

    #[test]
    fn a_replacement_is_all_or_nothing() {
        let mut disk = Disk::default();
        disk.begin_replace(LOG, 1, b"old".to_vec());
        disk.done(LOG, 1);
        disk.begin_replace(LOG, 2, b"new!".to_vec());
        assert_eq!(crashed(&disk, vec![0]).0, b"old");
        assert_eq!(crashed(&disk, vec![1]).0, b"new!");
    }

    #[test]
    fn a_truncation_is_durable_with_the_next_sync() {
        let mut disk = Disk::default();
        disk.append(LOG, b"abcdef");
        disk.begin_sync(LOG, 1);
        disk.done(LOG, 1);
        disk.truncate(LOG, 2);
        assert_eq!(crashed(&disk, vec![1]).0, b"abcdef");
        assert_eq!(crashed(&disk, vec![0]).0, b"ab");
        disk.begin_sync(LOG, 2);
        disk.done(LOG, 2);
        assert_eq!(crashed(&disk, vec![]).0, b"ab");
    }

    #[test]
    fn what_was_written_together_may_be_there_in_any_part() {
        let mut disk = Disk::default();
        disk.append(LOG, &[7; 2 * BLOCK + 1]);
        let mut picks = vec![1, 0, 1, 5];
        let report = disk.crash(true, &mut |_| picks.pop().expect("a pick for each choice"));
        let found = disk.files().remove(&LOG).unwrap();
        assert_eq!((found[0], found[BLOCK], found[2 * BLOCK], report.reordered), (7, 0, 7, 1));
    }

    #[test]
    fn rot_stays_until_its_place_is_written_again() {
        let mut disk = Disk::default();
        disk.append(LOG, b"abcd");
        assert_eq!(disk.rot(3, 999, 1), None);
        disk.begin_sync(LOG, 1);
        disk.done(LOG, 1);
        assert_eq!(disk.rot(3, 999, 9), Some(LOG));
        assert!(disk.is_rotten() && disk.files()[&LOG] != b"abcd" && disk.files()[&LOG].starts_with(b"ab"));
        disk.truncate(LOG, 2);
        assert!(!disk.is_rotten());
        disk.rot(0, 0, 1);
        disk.begin_replace(LOG, 2, b"new".to_vec());
        disk.done(LOG, 2);
        assert_eq!((disk.is_rotten(), &disk.files()[&LOG][..]), (false, &b"new"[..]));
    }
}
