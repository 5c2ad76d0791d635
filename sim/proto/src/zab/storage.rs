//! What a peer has on its disk, and what is on the way there, one write at a time.

use super::event::{Output, Write};
use super::history::History;
use std::collections::VecDeque;
use zk_api::Zxid;

/// The disk as it is, and the writes that are to follow, in the order in which they were decided.
///
/// That order is what makes recovery safe: nothing is written before what it relies on is durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Storage {
    /// On disk. Only grows.
    accepted_epoch: u32,
    /// On disk. current_epoch <= accepted_epoch
    current_epoch: u32,
    /// The log is on disk up to here. durable <= history.last()
    durable: Zxid,
    /// The write under way.
    writing: Option<Write>,
    /// What comes behind it.
    queue: VecDeque<Write>,
    /// What a planted bug holds back. Empty without one.
    held: Vec<Write>,
}

impl Storage {
    pub(super) fn new(accepted_epoch: u32, current_epoch: u32, history: &History) -> Storage {
        Storage {
            // A promise is on disk before anything of its epoch is, so it is never the older one.
            accepted_epoch: accepted_epoch.max(current_epoch).max(history.last().epoch()),
            current_epoch,
            durable: history.last(),
            writing: None,
            queue: VecDeque::new(),
            held: Vec::new(),
        }
    }

    pub(super) fn accepted_epoch(&self) -> u32 {
        self.accepted_epoch
    }

    pub(super) fn current_epoch(&self) -> u32 {
        self.current_epoch
    }

    /// The log is on disk up to here, so this is what may be acknowledged and delivered.
    pub(super) fn durable(&self) -> Zxid {
        self.durable
    }

    /// Whether everything decided is on disk.
    pub(super) fn is_idle(&self) -> bool {
        self.writing.is_none() && self.queue.is_empty()
    }

    /// Takes a write to be done behind all others.
    pub(super) fn push(&mut self, write: Write) {
        match (write, self.queue.back_mut()) {
            // One sync serves all transactions that came while another was under way.
            (Write::Append(mut more), Some(Write::Append(txns))) => txns.append(&mut more),
            (write, _) => {
                if let Write::Truncate { to } = write {
                    self.durable = self.durable.min(to);
                }
                self.queue.push_back(write);
            }
        }
    }

    /// Begins the next write unless one is under way.
    pub(super) fn flush(&mut self, out: &mut Vec<Output>) {
        if self.writing.is_none() {
            self.writing = self.queue.pop_front();
            out.extend(self.writing.clone().map(Output::Write));
        }
    }

    /// Takes the owner's word that the write under way is durable, and gives it back.
    pub(super) fn written(&mut self) -> Option<Write> {
        let write = self.writing.take()?;
        self.done(&write);
        Some(write)
    }

    /// The write under way.
    pub(super) fn writing(&self) -> Option<&Write> {
        self.writing.as_ref()
    }

    fn done(&mut self, write: &Write) {
        match write {
            Write::Append(txns) => self.durable = txns.last().map_or(self.durable, |txn| txn.zxid),
            Write::Truncate { to: _ } => {}
            Write::Restart(snapshot) => self.durable = snapshot.zxid,
            Write::AcceptedEpoch(epoch) => self.accepted_epoch = *epoch,
            Write::CurrentEpoch(epoch) => self.current_epoch = *epoch,
        }
    }
}

/// What planted bugs do to the order of writes.
impl Storage {
    /// Keeps a write from the queue.
    pub(super) fn hold(&mut self, write: Write) {
        self.held.push(write);
    }

    /// Whether anything is held back.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Gives what is held back to the queue, as far as it is wanted; the rest stays.
    pub(super) fn release(&mut self, wanted: impl Fn(&Write) -> bool) {
        for write in self.take_held() {
            if wanted(&write) { self.push(write) } else { self.hold(write) }
        }
    }

    /// Gives up what is held back.
    pub(super) fn take_held(&mut self) -> Vec<Write> {
        std::mem::take(&mut self.held)
    }

    /// Takes a write for done that no disk has seen.
    pub(super) fn pretend(&mut self, write: &Write) {
        self.done(write);
    }

    /// Takes the log for shorter than it is.
    pub(super) fn overlook(&mut self, behind: Zxid) {
        self.durable = self.durable.min(behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zab::tests::sample::{history, txn};

    #[test]
    fn one_write_at_a_time_in_the_order_they_were_decided() {
        let mut storage = Storage::new(0, 0, &history((0, 0), &[]));
        let mut out = Vec::new();
        storage.push(Write::Append(vec![txn((1, 1))]));
        storage.flush(&mut out);
        storage.push(Write::Append(vec![txn((1, 2))]));
        storage.push(Write::Append(vec![txn((1, 3))]));
        storage.push(Write::CurrentEpoch(1));
        storage.push(Write::Append(vec![txn((1, 4))]));
        storage.flush(&mut out);
        assert_eq!(out, [Output::Write(Write::Append(vec![txn((1, 1))]))]);
        out.clear();
        let mut durable = Vec::new();
        while storage.written().is_some() {
            storage.flush(&mut out);
            durable.push((storage.durable().counter(), storage.current_epoch()));
        }
        assert_eq!(durable, [(1, 0), (3, 0), (3, 1), (4, 1)]);
        assert_eq!(out[0], Output::Write(Write::Append(vec![txn((1, 2)), txn((1, 3))])));
        assert_eq!(out[1..], [Write::CurrentEpoch(1), Write::Append(vec![txn((1, 4))])].map(Output::Write));
        assert!(storage.is_idle());
    }
}
