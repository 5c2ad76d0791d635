//! A peer's disk and its owner's state, as small as can be: a list of what was delivered.

use std::sync::Arc;
use zk_api::Zxid;
use zk_proto::txn::Txn;
use zk_proto::zab::message::Snapshot;
use zk_proto::zab::{Doubt, RecoveredHistory, Write};

/// What an owner made of a transaction: its zxid, and the number that tells drafts apart.
pub type Entry = (Zxid, i64);

/// An owner's state: everything delivered.
pub type Machine = Vec<Entry>;

pub fn entry(txn: &Txn) -> Entry {
    (txn.zxid, txn.time_ms)
}

pub fn encode(machine: &[Entry]) -> Arc<[u8]> {
    let numbers = machine.iter().flat_map(|(zxid, number)| [zxid.to_i64(), *number]);
    numbers.flat_map(i64::to_le_bytes).collect()
}

pub fn decode(image: &[u8]) -> Machine {
    let mut numbers = image.chunks_exact(8).map(|chunk| i64::from_le_bytes(chunk.try_into().expect("eight")));
    let mut machine = Machine::new();
    while let (Some(zxid), Some(number)) = (numbers.next(), numbers.next()) {
        machine.push((Zxid::from_i64(zxid), number));
    }
    machine
}

/// What is durable.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Disk {
    accepted_epoch: u32,
    current_epoch: u32,
    snapshot: Snapshot,
    log: Vec<Arc<Txn>>,
    doubt: Doubt,
}

impl Disk {
    pub fn empty() -> Disk {
        let snapshot = Snapshot { zxid: Zxid::ZERO, image: encode(&[]) };
        Disk { accepted_epoch: 0, current_epoch: 0, snapshot, log: Vec::new(), doubt: Doubt::Nothing }
    }

    pub fn recover(&self) -> (RecoveredHistory, Machine) {
        // A planted bug may log what is there already. As ZooKeeper's replay does, the second is passed over.
        let mut log: Vec<Arc<Txn>> = Vec::new();
        for txn in &self.log {
            if txn.zxid > log.last().map_or(self.snapshot.zxid, |last| last.zxid) {
                log.push(txn.clone());
            }
        }
        let recovered = RecoveredHistory {
            accepted_epoch: self.accepted_epoch,
            current_epoch: self.current_epoch,
            base: self.snapshot.zxid,
            log,
            doubt: self.doubt,
        };
        (recovered, decode(&self.snapshot.image))
    }

    /// Does a write to the end.
    pub fn write(&mut self, write: &Write) {
        match write {
            Write::Append(txns) => self.log.extend(txns.iter().cloned()),
            Write::Truncate { to } => self.log.retain(|txn| txn.zxid <= *to),
            Write::Restart(snapshot) => {
                self.snapshot = snapshot.clone();
                self.log.clear();
            }
            Write::AcceptedEpoch(epoch) => self.accepted_epoch = *epoch,
            Write::CurrentEpoch(epoch) => (self.current_epoch, self.doubt) = (*epoch, Doubt::Nothing),
        }
    }

    /// Everything but its epochs is lost.
    pub fn lose(&mut self) {
        let (accepted_epoch, current_epoch) = self.epochs();
        *self = Disk { accepted_epoch, current_epoch, doubt: Doubt::Everything, ..Disk::empty() };
    }

    /// In how many ways a crash can leave a write.
    pub fn outcomes(&self, write: &Write) -> usize {
        match write {
            Write::Append(txns) => txns.len() + 1,
            Write::Truncate { to } => self.log.iter().filter(|txn| txn.zxid > *to).count() + 1,
            Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_) => 2,
        }
    }

    /// Leaves a write as a crash may: 0 is not at all, the last outcome is all of it.
    pub fn tear(&mut self, write: &Write, outcome: usize) {
        match write {
            Write::Append(txns) => self.log.extend(txns.iter().take(outcome).cloned()),
            Write::Truncate { .. } => self.log.truncate(self.log.len() - outcome),
            Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_) if outcome > 0 => {
                self.write(write);
            }
            Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_) => {}
        }
    }

    /// The owner writes a snapshot, and removes the log that it shows.
    pub fn snapshot(&mut self, machine: &[Entry]) {
        let zxid = machine.last().map_or(Zxid::ZERO, |(zxid, _)| *zxid);
        self.snapshot = Snapshot { zxid, image: encode(machine) };
        self.log.retain(|txn| txn.zxid > zxid);
    }

    /// What is there, from the beginning.
    pub fn entries(&self) -> Vec<Entry> {
        decode(&self.snapshot.image).into_iter().chain(self.log.iter().map(|txn| entry(txn))).collect()
    }

    pub fn zxids(&self) -> Vec<Zxid> {
        self.entries().into_iter().map(|(zxid, _)| zxid).collect()
    }

    pub fn epochs(&self) -> (u32, u32) {
        (self.accepted_epoch, self.current_epoch)
    }
}
