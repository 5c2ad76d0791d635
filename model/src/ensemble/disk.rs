//! A server's disk: files as they are durable, what it was asked for since, and what a crash may leave of that.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_proto::disk::{DiskOp, FileId, Files};

/// See the module.
///
/// Operations are done in order, and are nothing until a sync covers them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Disk {
    files: BTreeMap<FileId, Arc<[u8]>>,
    /// What was asked for and is not durable, in order.
    pending: VecDeque<DiskOp>,
}

/// What a crash leaves of the operations under way.
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
    pub(super) fn new(files: Files) -> Disk {
        let files = files.into_iter().map(|(file, bytes)| (file, bytes.into())).collect();
        Disk { files, pending: VecDeque::new() }
    }

    /// What a server finds when it starts.
    pub(super) fn files(&self) -> Files {
        self.files.iter().map(|(file, bytes)| (*file, bytes.to_vec())).collect()
    }

    /// The server asks for something.
    pub(super) fn ask(&mut self, op: DiskOp) {
        self.pending.push_back(op);
    }

    /// Whether it has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether a sync is next that has nothing to write.
    pub(super) fn is_clean(&self) -> bool {
        matches!(self.pending.front(), Some(DiskOp::Sync { .. }))
    }

    /// Whether the server waits for it.
    pub(super) fn is_awaited(&self) -> bool {
        self.pending.iter().any(|op| ticket(op).is_some())
    }

    /// Comes to the end of the first thing that the server waits for: the file, and the ticket.
    pub(super) fn done(&mut self) -> Option<(FileId, u64)> {
        let at = self.pending.iter().position(|op| ticket(op).is_some())?;
        let (file, ticket) = ticket(&self.pending[at])?;
        let later = self.pending.split_off(at + 1);
        // A sync makes its own file durable; what was added to another waits for its own.
        let is_another = |op: &DiskOp| matches!(op, DiskOp::Append { file: other, .. } if *other != file);
        let (kept, done): (VecDeque<DiskOp>, VecDeque<DiskOp>) =
            std::mem::take(&mut self.pending).into_iter().partition(is_another);
        done.iter().for_each(|op| self.apply(op));
        self.pending = kept;
        self.pending.extend(later);
        Some((file, ticket))
    }

    /// In how many ways a crash can leave it. The last leaves everything done.
    pub(super) fn outcomes(&self) -> usize {
        self.all_outcomes().len()
    }

    /// The machine crashes.
    pub(super) fn crash(&mut self, outcome: usize) {
        let outcome = self.all_outcomes()[outcome];
        let pending = std::mem::take(&mut self.pending);
        for (nth, op) in pending.into_iter().filter(is_change).enumerate() {
            match (outcome, op) {
                (Outcome::Done(count) | Outcome::Torn(count), op) if nth < count => self.apply(&op),
                (Outcome::Torn(count), DiskOp::Append { file, mut bytes }) if nth == count => {
                    bytes.truncate(bytes.len().div_ceil(2));
                    self.apply(&DiskOp::Append { file, bytes });
                }
                (Outcome::Holed(hole), DiskOp::Append { file, mut bytes }) if nth == hole => {
                    bytes.fill(0);
                    self.apply(&DiskOp::Append { file, bytes });
                }
                (Outcome::Holed(_), op) => self.apply(&op),
                (Outcome::Done(_) | Outcome::Torn(_), _) => {}
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

    fn apply(&mut self, op: &DiskOp) {
        match op {
            DiskOp::Append { file, bytes } => {
                let before = self.files.get(file).map_or(&[][..], |bytes| &**bytes);
                self.files.insert(*file, [before, bytes].concat().into());
            }
            DiskOp::Truncate { file, len } => {
                let Some(before) = self.files.get(file) else { return };
                let len = usize::try_from(*len).unwrap_or(usize::MAX).min(before.len());
                self.files.insert(*file, before[..len].into());
            }
            DiskOp::Replace { file, bytes, ticket: _ } => {
                self.files.insert(*file, bytes.as_slice().into());
            }
            DiskOp::Remove { file } => {
                self.files.remove(file);
            }
            DiskOp::Sync { .. } => {}
        }
    }
}

/// Whether it changes what is there.
fn is_change(op: &DiskOp) -> bool {
    match op {
        DiskOp::Append { .. } | DiskOp::Truncate { .. } | DiskOp::Replace { .. } | DiskOp::Remove { .. } => {
            true
        }
        DiskOp::Sync { .. } => false,
    }
}

/// What the server waits for, and by which ticket. Nobody waits for number zero.
fn ticket(op: &DiskOp) -> Option<(FileId, u64)> {
    match op {
        DiskOp::Sync { file, ticket } | DiskOp::Replace { file, ticket, .. } if *ticket > 0 => {
            Some((*file, *ticket))
        }
        DiskOp::Sync { .. }
        | DiskOp::Replace { .. }
        | DiskOp::Append { .. }
        | DiskOp::Truncate { .. }
        | DiskOp::Remove { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Zxid;

    const LOG: FileId = FileId::Log(Zxid::ZERO);
    const EPOCH: FileId = FileId::CurrentEpoch;

    fn append(bytes: &[u8]) -> DiskOp {
        DiskOp::Append { file: LOG, bytes: bytes.to_vec() }
    }

    /// What each way to crash leaves of the log.
    fn left(disk: &Disk) -> Vec<Vec<u8>> {
        let each = (0..disk.outcomes()).map(|outcome| {
            let mut crashed = disk.clone();
            crashed.crash(outcome);
            crashed.files().remove(&LOG).unwrap_or_default()
        });
        each.collect()
    }

    #[test]
    fn a_crash_leaves_any_beginning_a_torn_record_or_a_hole() {
        let mut disk = Disk::default();
        disk.ask(append(b"abcd"));
        disk.ask(append(b"ef"));
        disk.ask(DiskOp::Sync { file: LOG, ticket: 1 });
        let all: [&[u8]; 6] = [b"", b"ab", b"\0\0\0\0ef", b"abcd", b"abcde", b"abcdef"];
        assert_eq!(left(&disk), all);
    }

    #[test]
    fn what_was_synced_survives_every_crash() {
        let mut disk = Disk::default();
        disk.ask(append(b"abcd"));
        disk.ask(DiskOp::Sync { file: LOG, ticket: 1 });
        assert_eq!(disk.done(), Some((LOG, 1)));
        disk.ask(append(b"ef"));
        assert!(left(&disk).iter().all(|bytes| bytes.starts_with(b"abcd")));
        assert_eq!(disk.outcomes(), 3);
    }

    #[test]
    fn the_second_of_two_files_that_go_together_is_waited_for() {
        let mut disk = Disk::default();
        disk.ask(DiskOp::Replace { file: FileId::AcceptedEpoch, bytes: vec![1], ticket: 0 });
        disk.ask(DiskOp::Replace { file: EPOCH, bytes: vec![2], ticket: 1 });
        assert_eq!(disk.outcomes(), 3);
        let mut half = disk.clone();
        half.crash(1);
        assert_eq!(half.files().into_keys().collect::<Vec<_>>(), [FileId::AcceptedEpoch]);
        assert_eq!(disk.done(), Some((EPOCH, 1)));
        assert!(disk.is_idle() && disk.files().len() == 2);
    }

    #[test]
    fn a_sync_covers_its_own_file_alone() {
        let other = FileId::Snapshot(Zxid::ZERO);
        let mut disk = Disk::default();
        disk.ask(DiskOp::Append { file: other, bytes: vec![7] });
        disk.ask(append(b"a"));
        disk.ask(DiskOp::Sync { file: LOG, ticket: 1 });
        assert_eq!(disk.done(), Some((LOG, 1)));
        disk.crash(0);
        assert_eq!(disk.files().into_keys().collect::<Vec<_>>(), [LOG]);
    }
}
