//! A server's disk: files as they are durable, what was asked for since, and what a crash may leave of that.
//!
//! ```
//! use zk_api::Zxid;
//! use zk_cluster::disk::Disk;
//! use zk_proto::disk::{DiskOp, FileId};
//!
//! let (mut disk, file) = (Disk::default(), FileId::Log(Zxid::new(1, 1)));
//! disk.ask(DiskOp::Append { file, bytes: b"abc".to_vec() });
//! disk.ask(DiskOp::Sync { file, ticket: 1 });
//! assert_eq!(disk.done(file, 1), 3, "so many bytes are durable");
//! disk.ask(DiskOp::Append { file, bytes: b"def".to_vec() });
//! assert_eq!(disk.files()[&file], b"abcdef", "what a process that starts again would read");
//! disk.crash(false, &mut |_| 0);
//! assert_eq!(disk.files()[&file], b"abc", "what is left if the machine crashes");
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use zk_proto::disk::{DiskOp, FileId, Files};

/// See the module.
///
/// What was asked for is nothing until a sync covers it. Clones share the bytes of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Disk {
    files: BTreeMap<FileId, Arc<Vec<u8>>>,
    /// What was asked for and is not durable, in order.
    pending: VecDeque<DiskOp>,
    /// Which bits of what is durable read otherwise than they were written, by place.
    rot: BTreeMap<(FileId, usize), u8>,
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

/// What a crash leaves of the operations under way, if a disk does them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// So many are done, and no more.
    Done(usize),
    /// So many are done, and one half of the next one's bytes are there.
    Torn(usize),
    /// All are done, but in the place of this one's bytes is nothing.
    Holed(usize),
}

impl Disk {
    /// A disk on which all of this is durable.
    pub fn with(files: Files) -> Disk {
        let files = files.into_iter().map(|(file, bytes)| (file, Arc::new(bytes))).collect();
        Disk { files, ..Disk::default() }
    }

    /// What is durable, as it reads.
    pub fn durable(&self) -> Files {
        let mut files: Files = self.files.iter().map(|(file, bytes)| (*file, bytes.to_vec())).collect();
        for ((file, at), flips) in &self.rot {
            files.get_mut(file).expect("only what is durable rots")[*at] ^= flips;
        }
        files
    }

    /// What a server finds when it starts: after a crash what is durable, before one what was written as well.
    pub fn files(&self) -> Files {
        let mut all = self.clone();
        for op in std::mem::take(&mut all.pending) {
            if !matches!(op, DiskOp::Replace { .. }) {
                all.apply(op);
            }
        }
        all.durable()
    }

    /// The same disk, on which nothing has rotten.
    pub fn as_written(&self) -> Disk {
        Disk { rot: BTreeMap::new(), ..self.clone() }
    }

    /// How long each file is as it was written.
    pub fn sizes(&self) -> BTreeMap<FileId, usize> {
        let pending = self.pending.iter().filter(|op| matches!(op, DiskOp::Append { .. })).map(DiskOp::file);
        let files: BTreeSet<FileId> = self.files.keys().copied().chain(pending).collect();
        files.into_iter().map(|file| (file, self.length(file))).collect()
    }

    /// How long a file is as it was written.
    pub fn length(&self, file: FileId) -> usize {
        let durable = self.files.get(&file).map_or(0, |bytes| bytes.len());
        self.pending.iter().filter(|op| op.file() == file).fold(durable, |length, op| match op {
            DiskOp::Append { bytes, .. } => length + bytes.len(),
            DiskOp::Truncate { len, .. } => length.min(bytes_of(*len)),
            DiskOp::Sync { .. } | DiskOp::Replace { .. } | DiskOp::Remove { .. } => length,
        })
    }

    /// The server asks for something. What it removes is gone at once, and what it cuts rots no more.
    pub fn ask(&mut self, op: DiskOp) {
        match op {
            DiskOp::Remove { file } => return self.remove(file),
            DiskOp::Truncate { file, len } => self.forget_rot(file, bytes_of(len)),
            DiskOp::Append { .. } | DiskOp::Sync { .. } | DiskOp::Replace { .. } => {}
        }
        self.pending.push_back(op);
    }

    /// The same, on a disk from which nothing is gone for good before the next sync.
    pub fn ask_in_order(&mut self, op: DiskOp) {
        self.pending.push_back(op);
    }

    /// Removes a file at once, and for good.
    pub fn remove(&mut self, file: FileId) {
        self.pending.retain(|op| op.file() != file);
        self.apply(DiskOp::Remove { file });
    }

    /// Whether it has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether a sync is next that has nothing to write.
    pub fn is_clean(&self) -> bool {
        matches!(self.pending.front(), Some(DiskOp::Sync { .. }))
    }

    /// What it will say is done, in order: the file, and the ticket.
    pub fn tickets(&self) -> impl Iterator<Item = (FileId, u64)> {
        self.pending.iter().filter_map(DiskOp::ticket)
    }

    /// The first of that for which a server waits.
    pub fn awaited(&self) -> Option<(FileId, u64)> {
        self.tickets().next()
    }

    /// A sync or a replacement is done. Gives how much of the file is durable now.
    ///
    /// It makes its own file durable, and the removals that went before. What was added to another file waits for its
    /// own.
    pub fn done(&mut self, file: FileId, number: u64) -> usize {
        if let Some(at) = self.pending.iter().position(|op| op.ticket() == Some((file, number))) {
            let mut kept = Vec::new();
            for _ in 0..=at {
                let op = self.pending.pop_front().expect("so many are pending");
                if matches!(op, DiskOp::Remove { .. }) || op.file() == file {
                    self.apply(op);
                } else {
                    kept.push(op);
                }
            }
            kept.into_iter().rev().for_each(|op| self.pending.push_front(op));
        }
        self.files.get(&file).map_or(0, |bytes| bytes.len())
    }

    /// Bits rot, from a place on that is so many parts per thousand into what is durable of a file: of the
    /// `nth`, going round. Gives the file, if there is any.
    pub fn rot(&mut self, nth: u32, at_permille: u32, bytes: u32) -> Option<FileId> {
        let stands = |file: FileId, bytes: usize| {
            let cuts = self.pending.iter().filter(|op| op.file() == file).filter_map(|op| match op {
                DiskOp::Truncate { len, .. } => Some(bytes_of(*len)),
                _ => None,
            });
            (file, cuts.fold(bytes, usize::min))
        };
        let files = self.files.iter().map(|(file, bytes)| stands(*file, bytes.len()));
        let files: Vec<_> = files.filter(|(_, length)| *length > 0).collect();
        let (file, length) = *files.get(nth as usize % files.len().max(1))?;
        let first = (length - 1) * at_permille.min(1000) as usize / 1000;
        for at in first..(first + bytes.max(1) as usize).min(length) {
            // Never back to what it was.
            self.rot.entry((file, at)).or_insert(1 << (at % 8));
        }
        Some(file)
    }

    /// Whether anything reads otherwise than it was written.
    pub fn is_rotten(&self) -> bool {
        !self.rot.is_empty()
    }

    /// The process is gone, and its machine is not: nobody waits any more, and what was written stays for the time
    /// being.
    pub fn abandon(&mut self) {
        self.pending.retain(|op| op.ticket().is_none());
    }

    /// The machine crashes. `pick(n)` chooses from 0 to n - 1: how many of the unsynced bytes survive, and
    /// whether a replacement under way or a truncation has taken effect; ever 0 leaves what is durable and no more. A
    /// disk that `reorders` may have written later bytes and not earlier ones, which read as zeros then.
    ///
    /// A file grows over zeros, and a page of it is there or is not. What is appended at once, such as a record of a
    /// log, is shorter than a page, so at most one border lies within it: it lacks its beginning, its end, or both. A
    /// record of several pages, or one whose checksum lies across a border, could be left with a hole that only its
    /// checksum shows. ZooKeeper does not start from that, and no more do we: it is left to [rot](Disk::rot).
    pub fn crash(&mut self, reorders: bool, pick: &mut dyn FnMut(u64) -> u64) -> CrashReport {
        let mut report = CrashReport::default();
        // Of each file so much of what is durable stands, and behind it comes this.
        let mut ends: BTreeMap<FileId, (usize, Vec<Vec<u8>>)> = BTreeMap::new();
        for op in std::mem::take(&mut self.pending) {
            let file = op.file();
            let durable = self.files.get(&file).map_or(0, |bytes| bytes.len());
            match op {
                DiskOp::Append { bytes, .. } => {
                    ends.entry(file).or_insert((durable, Vec::new())).1.push(bytes);
                }
                DiskOp::Truncate { len, .. } => {
                    let (stands, end) = ends.entry(file).or_insert((durable, Vec::new()));
                    let mut left = bytes_of(len).saturating_sub(*stands);
                    for bytes in end.iter_mut() {
                        bytes.truncate(left);
                        left -= bytes.len();
                    }
                    *stands = bytes_of(len).min(*stands);
                }
                DiskOp::Replace { .. } if pick(2) == 1 => {
                    ends.remove(&file);
                    self.apply(op);
                }
                DiskOp::Sync { .. } | DiskOp::Replace { .. } | DiskOp::Remove { .. } => {}
            }
        }
        for (file, (stands, end)) in ends {
            let is_cut = self.files.get(&file).is_some_and(|bytes| bytes.len() > stands);
            if is_cut && pick(2) == 1 {
                continue;
            }
            self.apply(DiskOp::Truncate { file, len: stands as u64 });
            if end.iter().any(|bytes| !bytes.is_empty()) {
                self.apply(DiskOp::Append { file, bytes: survives(end, reorders, pick, &mut report) });
            }
        }
        // A file that was made but never synced may be empty; one with nothing in it is not there.
        self.files.retain(|_, bytes| !bytes.is_empty());
        report
    }

    /// In how many ways a crash can leave it, if it does its operations in order. The last leaves everything done.
    pub fn outcomes(&self) -> usize {
        self.all_outcomes().len()
    }

    /// The machine crashes, and leaves its disk in one of these ways.
    pub fn crash_to(&mut self, outcome: usize) {
        let outcome = self.all_outcomes()[outcome];
        let pending = std::mem::take(&mut self.pending);
        for (nth, mut op) in pending.into_iter().filter(is_change).enumerate() {
            let (Outcome::Done(at) | Outcome::Torn(at) | Outcome::Holed(at)) = outcome;
            let is_done = match (outcome, &mut op) {
                (Outcome::Torn(_), DiskOp::Append { bytes, .. }) if nth == at => {
                    bytes.truncate(bytes.len().div_ceil(2));
                    true
                }
                (Outcome::Holed(_), DiskOp::Append { bytes, .. }) if nth == at => {
                    bytes.fill(0);
                    true
                }
                (Outcome::Holed(_), _) => true,
                (Outcome::Done(_) | Outcome::Torn(_), _) => nth < at,
            };
            if is_done {
                self.apply(op);
            }
        }
    }

    fn all_outcomes(&self) -> Vec<Outcome> {
        let changes: Vec<&DiskOp> = self.pending.iter().filter(|op| is_change(op)).collect();
        let mut all = Vec::new();
        for (nth, op) in changes.iter().enumerate() {
            all.push(Outcome::Done(nth));
            let DiskOp::Append { file, .. } = op else { continue };
            all.push(Outcome::Torn(nth));
            let goes_on =
                |later: &&DiskOp| matches!(later, DiskOp::Append { file: same, .. } if same == file);
            if changes[nth + 1..].iter().any(goes_on) {
                all.push(Outcome::Holed(nth));
            }
        }
        all.push(Outcome::Done(changes.len()));
        all
    }

    /// From there on, a file reads as it was written.
    fn forget_rot(&mut self, file: FileId, from: usize) {
        self.rot.retain(|(rotten, at), _| *rotten != file || *at < from);
    }

    /// Does something for good.
    fn apply(&mut self, op: DiskOp) {
        match op {
            DiskOp::Append { file, bytes } => {
                Arc::make_mut(self.files.entry(file).or_default()).extend(bytes)
            }
            DiskOp::Truncate { file, len } => {
                let Some(bytes) = self.files.get_mut(&file).filter(|bytes| bytes.len() > bytes_of(len))
                else {
                    return;
                };
                Arc::make_mut(bytes).truncate(bytes_of(len));
                self.forget_rot(file, bytes_of(len));
            }
            DiskOp::Replace { file, bytes, ticket: _ } => {
                self.forget_rot(file, 0);
                self.files.insert(file, Arc::new(bytes));
            }
            DiskOp::Remove { file } => {
                self.forget_rot(file, 0);
                self.files.remove(&file);
            }
            DiskOp::Sync { .. } => {}
        }
    }
}

/// What a crash leaves of what was appended and no sync has covered.
fn survives(
    mut appended: Vec<Vec<u8>>,
    reorders: bool,
    pick: &mut dyn FnMut(u64) -> u64,
    report: &mut CrashReport,
) -> Vec<u8> {
    let unsynced = appended.iter().map(Vec::len).sum();
    // Nothing and everything are the likeliest; anything between tears a record.
    let how = pick(if reorders { 6 } else { 5 });
    let kept = match how {
        0 => 0,
        1 | 5 => unsynced,
        _ => pick(unsynced as u64 + 1) as usize,
    };
    report.lost += u32::from(kept == 0);
    report.torn += u32::from(kept > 0 && kept < unsynced);
    if how == 5 {
        for bytes in &mut appended {
            let half = bytes.len() / 2;
            let missing = [0..0, 0..bytes.len(), 0..half, half..bytes.len()][pick(4) as usize].clone();
            report.reordered |= u32::from(!missing.is_empty());
            bytes[missing].fill(0);
        }
    }
    let mut end = appended.concat();
    end.truncate(kept);
    if how == 4 {
        // The file has got its length, but the last bytes were not written.
        let zeros = pick(kept as u64 + 1) as usize;
        end[kept - zeros..].fill(0);
    }
    end
}

/// A length in memory.
fn bytes_of(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// Whether it changes what is there.
fn is_change(op: &DiskOp) -> bool {
    !matches!(op, DiskOp::Sync { .. })
}

#[cfg(test)]
mod tests;
