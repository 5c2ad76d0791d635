//! What goes wrong with disks: bits that rot, writes that fail, disks that are full, and crashes at any of a disk's
//! operations. How many disks are spoiled is known here, and decides what servers can be blamed for.

use crate::trace::{Place, What};
use crate::watch::watch;
use crate::world::World;
use zk_proto::disk::DiskOp;
use zk_proto::server::{RecoveryError, ServerId};
use zk_proto::zab::Write;
use zk_watched::Invariant;

/// Which bits rot, as in [`Fault::DiskRot`](crate::schedule::Fault::DiskRot).
pub struct Rot {
    pub file: u32,
    pub at_permille: u32,
    pub bytes: u32,
    pub spares: bool,
}

/// A crash at an operation of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskCrash {
    /// Just after so many operations, of all servers' disks, that write, sync, cut or remove something.
    pub after: u64,
    /// What it leaves of what was not synced: nothing, everything, or a part that the number says.
    pub way: u64,
}

/// How many ways there are.
pub const CRASH_WAYS: u64 = 6;

impl World<'_> {
    /// Bits of a disk rot. False if it is spared.
    pub fn rot(&mut self, id: u8, rot: Rot) -> bool {
        let voters = self.scenario.servers;
        let spoiled = (0..voters).filter(|voter| *voter == id || self.host(*voter).own.spoiled).count();
        let is_too_much = id < voters && 2 * (usize::from(voters) - spoiled) <= usize::from(voters);
        if is_too_much && rot.spares {
            self.once("a disk was spared, or less than a quorum would have been whole");
            return false;
        }
        let host = self.host(id);
        let Some(file) = host.disk.rot(rot.file, rot.at_permille, rot.bytes) else { return false };
        host.own.spoiled = true;
        self.note(Place::Server(id), &What::Rotten { file });
        self.once("bits of a disk rotted");
        if is_too_much {
            // Whatever comes now, nobody could have done better.
            self.once("too many disks were spoiled: nothing was promised, and nothing judged, from then on");
            self.over = true;
        }
        true
    }

    /// A server is about to start from a disk that was spoiled.
    pub fn starts_spoiled(&mut self, id: u8) {
        if self.host(id).own.spoiled {
            watch!(self.ghost, spoil(ServerId(id)));
        }
    }

    /// A server has found that its disk is not as it was written. That must be so.
    pub fn gave_up(&mut self, id: u8, error: &RecoveryError) {
        self.once("a server gave up its history, as its disk was spoiled");
        self.note(Place::Server(id), &What::Spoiled { error });
        self.blame(id, || format!("s{id} gives up its history: {error}"));
    }

    /// A server does not start: it stays out, which is right if its disk was spoiled.
    pub fn stays_out(&mut self, id: u8, error: &RecoveryError) {
        self.note(Place::Server(id), &What::Spoiled { error });
        self.host(id).own.stays_out = true;
        self.blame(id, || format!("s{id} does not start: {error}"));
        if self.host(id).own.spoiled {
            self.once("a server stayed out, as its disk was spoiled");
        }
    }

    fn blame(&mut self, id: u8, what: impl FnOnce() -> String) {
        if !self.host(id).own.spoiled {
            self.watched.report.broken(Invariant::AcknowledgedWritesSurvive, what());
        }
    }

    /// A server's peer begins to write.
    pub fn peer_writes(&mut self, id: u8, write: &Write) {
        self.host(id).own.takes_epoch = matches!(write, Write::CurrentEpoch(_));
    }

    /// It is written. With an epoch a server has what it had lost, and what it may lose again is judged again.
    pub fn peer_written(&mut self, id: u8) {
        let host = self.host(id);
        if std::mem::take(&mut host.own.takes_epoch) && host.own.spoiled && !host.disk.is_rotten() {
            host.own.spoiled = false;
            self.once("a server whose disk was spoiled had its history again");
        }
    }

    /// Whether a server's disk refuses an operation. Then its process stops: nothing is known of what it wrote last.
    pub fn disk_refuses(&mut self, id: u8, op: &DiskOp) -> bool {
        let writes = match op {
            DiskOp::Append { .. } | DiskOp::Replace { .. } => true,
            DiskOp::Sync { .. } => false,
            DiskOp::Truncate { .. } | DiskOp::Remove { .. } => return false,
        };
        let now = self.now;
        let host = self.host(id);
        let full_ms = (writes && now < host.own.full_until_ns).then_some(host.own.full_down_ms);
        let Some(down_ms) = host.own.fails_next_ms.take().or(full_ms) else { return false };
        host.own.stops_ms = Some(down_ms);
        if let DiskOp::Append { file, bytes } = op {
            let bytes = bytes[..bytes.len() / 2].to_vec();
            host.disk.ask(DiskOp::Append { file: *file, bytes });
        }
        self.once(if full_ms.is_some() {
            "server stopped: its disk was full"
        } else {
            "server stopped: its disk failed"
        });
        true
    }

    /// An operation was done. In some runs a server crashes right there.
    pub fn disk_op_done(&mut self, id: u8) {
        self.disk_ops += 1;
        if let Some(crash) = self.crash_at.filter(|crash| crash.after == self.disk_ops) {
            self.once("crashed at an operation of the disk");
            let host = self.host(id);
            (host.own.stops_ms, host.own.crash_way) = (Some(200), Some(crash.way));
        }
    }

    /// What a crash leaves, where that is not drawn: a choice of `below` for each question, in turn.
    pub fn picks(way: u64) -> impl FnMut(u64) -> u64 {
        let mut nth = 0;
        move |below| {
            nth += 1;
            match way {
                0 => 0,
                1 => 1 % below,
                // How: a part, a part with zeros at its end, or any blocks. Then which.
                _ if nth == 1 => way.min(below - 1),
                _ => (below / 2 + nth % 2).min(below - 1),
            }
        }
    }
}
