//! A server: `step` takes what happened and says what to do.

use crate::disk::{DiskOp, FileId, Files};
use crate::message::{ConnId, ConnectRequest, Password, ToClient, ToServer};
use crate::prepare::TreeConfig;
use crate::tree::DataTree;
use crate::txn::Txn;
use std::sync::Arc;
use zk_api::{SessionId, Zxid};

/// A server's place in the ensemble (`myid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u8);

/// How a server is set up. The same over restarts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerConfig {
    /// Its id.
    pub id: ServerId,
    /// The length of a tick. Session timeouts are clamped to 2 to 20 of them.
    pub tick_ms: u32,
    /// A snapshot is begun after so many transactions.
    pub snapshot_every: u32,
    /// How many znodes one step of a snapshot writes.
    pub snapshot_step: u32,
    /// Snapshots kept, with the logs they need; older ones are removed.
    pub snapshots_kept: u32,
    /// Switches of the tree.
    pub tree: TreeConfig,
}

/// What happened, and when by the server's own clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Milliseconds since the Unix epoch by this server's clock, which may jump.
    pub now_ms: i64,
    /// What happened.
    pub event: Event,
}

/// What can happen to a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A client's first message on a new connection, with the session to use if it asks for a new one:
    /// identifiers are inputs.
    Connecting { conn: ConnId, request: ConnectRequest, offer: (SessionId, Password) },
    /// A client's later message; a second `ToServer::Connect` is refused by closing.
    Received { conn: ConnId, message: ToServer },
    /// A client's connection is gone.
    Dropped { conn: ConnId },
    /// A timer that was set has come.
    Timer(Timer),
    /// The disk has done a `Sync` or a `Replace`.
    Synced { file: FileId, ticket: u64 },
    /// Ends a session as if it had been silent for its timeout (a fault).
    Expire { session: SessionId },
}

/// A server's timers. Setting one again moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Looks for sessions that were silent for too long; by ticks.
    Sessions,
    /// Looks for empty containers and for TTL znodes whose time is up.
    Containers,
    /// Writes the next piece of a snapshot.
    Snapshot,
}

/// What a server wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Send to a client.
    Send { conn: ConnId, message: ToClient },
    /// Close a client's connection, after what was sent on it.
    Close { conn: ConnId },
    /// Work for the disk.
    Disk(DiskOp),
    /// Fire `timer` so many milliseconds from now by this server's clock.
    SetTimer { timer: Timer, after_ms: u32 },
    /// Not for doing but for knowing: observers outside follow the transactions by it.
    Note(Note),
}

/// What observers follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// The transaction was prepared and proposed.
    Proposed(Arc<Txn>),
    /// A quorum has it on disk.
    Committed(Zxid),
    /// It is applied to this server's tree.
    Applied(Zxid),
}

/// A ZooKeeper server as a pure state machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    config: ServerConfig,
    tree: DataTree,
}

/// Why a server will not start from what it found on its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecoveryError {
    /// A record in the middle of a log fails its checksum, though valid records follow it.
    CorruptLog { file: FileId, offset: u64 },
    /// No snapshot is valid though the logs do not reach back to the beginning.
    NoSnapshot,
    /// A log begins after the transaction that should come next.
    Gap { after: Zxid, found: Zxid },
}

impl Server {
    /// Starts a server from its disk, which is empty the first time. Gives the server and what to do before
    /// anything else (cutting a torn tail, beginning a log, setting timers).
    pub fn start(
        _config: ServerConfig,
        _files: &Files,
        _now_ms: i64,
    ) -> Result<(Server, Vec<Output>), RecoveryError> {
        todo!()
    }

    /// Takes what happened and adds what to do.
    pub fn step(&mut self, _input: Input, _out: &mut Vec<Output>) {
        todo!()
    }

    /// The tree as it is applied.
    pub fn tree(&self) -> &DataTree {
        &self.tree
    }
}
