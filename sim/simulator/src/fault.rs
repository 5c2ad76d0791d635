//! The faults of one run as data: they can be printed, edited, saved and shrunk.

use serde::{Deserialize, Serialize};

pub use zk_cluster::loss::{Loss, RequestKind};

/// The faults of one run, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// What happens when.
    pub faults: Vec<TimedFault>,
}

/// A fault and its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimedFault {
    /// Virtual milliseconds since the start of the run.
    pub at_ms: u64,
    /// What happens.
    pub fault: Fault,
}

/// What can go wrong. Clients and servers are numbered from 0; a number that does not exist does nothing.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(strum::VariantNames))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[strum(prefix = "fault: ", serialize_all = "kebab-case")]
pub enum Fault {
    /// The server's machine crashes: what was not synced is lost or torn. It starts again after `down_ms`. With
    /// `mid_sync` it crashes in the middle of the next sync of its log.
    ServerCrash {
        server: u8,
        down_ms: u64,
        #[serde(default)]
        mid_sync: bool,
    },
    /// For a while, syncs of the server's disk take `sync_ms`.
    SlowSync { server: u8, sync_ms: u64, for_ms: u64 },
    /// The client's connection drops.
    Drop { client: u16, when: When, what: Loss },
    /// For a while, messages from and to the client take `factor` times as long.
    SlowLink { client: u16, factor: u32, for_ms: u64 },
    /// The server ends the client's session although the client is well.
    Expire { client: u16 },
    /// As the client next looks at a znode that belongs to another session, that session ends: what it finds is
    /// older, or newer, than what it has just seen elsewhere.
    ExpireOwner { reader: u16 },
    /// The client's process crashes, and starts again with a new session after a while.
    ClientCrash {
        client: u16,
        #[serde(default)]
        when: When,
        restart_after_ms: u64,
    },
    /// The client's process stops, then goes on as if nothing had been.
    ClientPause {
        client: u16,
        #[serde(default)]
        when: When,
        for_ms: u64,
    },
    /// The clock runs fast, or slow where below zero, by so many parts per thousand from now on.
    ClockSkew { node: Node, permille: i32 },
    /// The clock jumps. A server is told that its clock was set; a client is not, and must bear it.
    ClockJump { node: Node, by_ms: i64 },
    /// The machine of whoever leads crashes, as in `ServerCrash`.
    LeaderCrash {
        down_ms: u64,
        #[serde(default)]
        mid_sync: bool,
    },
    /// Nothing gets through from the first server of each pair to the second for a while. What is on its way over
    /// a link waits; datagrams are lost.
    Partition { cut: Vec<[u8; 2]>, for_ms: u64 },
    /// The server's process stands still, then goes on as if nothing had been.
    ServerPause { server: u8, for_ms: u64 },
    /// So does that of whoever leads.
    LeaderPause { for_ms: u64 },
    /// For a while, messages from and to the server's peers take `factor` times as long.
    ServerLag { server: u8, factor: u32, for_ms: u64 },
    /// The links between two servers break, with what is on its way.
    LinkBreak { between: [u8; 2] },
    /// So many bytes of what is durable on the server's disk rot, so far into one of its files (they are counted
    /// round). Where it `spares`, not if that would leave less than a quorum of disks as they were written. The
    /// server crashes and finds out, unless `down_ms` is zero.
    DiskRot {
        server: u8,
        file: u32,
        at_permille: u32,
        bytes: u32,
        #[serde(default)]
        spares: bool,
        #[serde(default)]
        down_ms: u64,
    },
    /// The next time that the server is to write or to sync, its disk refuses, and the server's process stops.
    DiskError { server: u8, down_ms: u64 },
    /// For a while the disk is full: the server's process stops when it is to write, and tries again after
    /// `down_ms`.
    DiskFull { server: u8, for_ms: u64, down_ms: u64 },
    /// Somebody asks a server for the client's session with a password that is not its own.
    Stranger { client: u16, server: u8 },
    /// An administrator deletes the newest ephemeral znode that the client has, if any.
    AdminDelete {
        client: u16,
        #[serde(default)]
        when: When,
    },
    /// The same, but he sets its data.
    AdminWrite {
        client: u16,
        #[serde(default)]
        when: When,
        data: String,
    },
}

/// Whose clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Node {
    /// A server's.
    Server(u8),
    /// A client's.
    Client(u16),
}

/// When a fault of a client strikes. One that is aimed waits, from its time on, for the client to do something;
/// what the client has begun with that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// At the fault's time.
    #[default]
    Now,
    /// As the client next sends a request of this kind.
    NextRequest(RequestKind),
    /// As the client next says that it was granted something or has entered a critical section.
    NextGrant,
    /// As the client next begins a piece of work while it holds something. After a pause that strikes here it
    /// goes on with what the work is followed by, before it learns of anything.
    NextWork,
}

impl Fault {
    /// Whether it waits for its client to hold something.
    pub(crate) fn is_aimed_at_holder(&self) -> bool {
        match self {
            Fault::Drop { when, .. }
            | Fault::ClientCrash { when, .. }
            | Fault::ClientPause { when, .. }
            | Fault::AdminDelete { when, .. }
            | Fault::AdminWrite { when, .. } => {
                matches!(when, When::NextGrant | When::NextWork)
            }
            Fault::ServerCrash { .. }
            | Fault::SlowSync { .. }
            | Fault::SlowLink { .. }
            | Fault::Expire { .. }
            | Fault::ExpireOwner { .. }
            | Fault::ClockSkew { .. }
            | Fault::ClockJump { .. }
            | Fault::LeaderCrash { .. }
            | Fault::Partition { .. }
            | Fault::ServerPause { .. }
            | Fault::LeaderPause { .. }
            | Fault::ServerLag { .. }
            | Fault::LinkBreak { .. }
            | Fault::DiskRot { .. }
            | Fault::DiskError { .. }
            | Fault::DiskFull { .. }
            | Fault::Stranger { .. } => false,
        }
    }
}
