//! A server: `step` takes what happened and says what to do.
//!
//! A write goes prepare → propose → log → sync → commit → apply. `prepare` looks at the tree *ahead*, as it
//! will be when everything proposed is applied; reads look at the tree as it is applied.
//!
//! | file | what is in it |
//! |---|---|
//! | `pipeline` | propose, acknowledge, commit |
//! | `apply` | what a committed transaction does here: the tree, watches, answers |
//! | `connect` | connections come and go, sessions open and move |
//! | `request` | requests take their places in their session's order, and are answered |
//! | `upkeep` | timers, snapshots, the purge of old files |
//! | `frame` | how long a message is on ZooKeeper's wire |

mod apply;
mod connect;
mod frame;
mod pipeline;
mod request;
mod upkeep;

use crate::disk::{DiskOp, FileId, Files};
use crate::message::{ConnId, ConnectRequest, Password, ToClient, ToServer, Xid};
use crate::prepare::TreeConfig;
pub use crate::recovery::RecoveryError;
use crate::recovery::{Recovered, recover};
use crate::sessions::{SessionTable, SessionTracker};
use crate::tree::DataTree;
use crate::txn::Txn;
use crate::watch::WatchTable;
use connect::Connection;
pub use frame::{FRAME_BYTES_MAX, frame_bytes};
use pipeline::Pipeline;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use upkeep::Storage;
use zk_api::{ErrorCode, SessionId, Text, Zxid};

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
    /// A snapshot is begun after so many transactions; zero stands for never.
    pub snapshot_every: u32,
    /// How many znodes one step of a snapshot writes.
    pub snapshot_step: u32,
    /// Snapshots kept, with the logs they need; older ones are removed. At least one is kept.
    pub snapshots_kept: u32,
    /// A snapshot is begun after so many bytes of transactions as well; zero stands for never.
    pub snapshot_bytes: u64,
    /// How often empty containers and TTL znodes whose time is up are looked for.
    pub container_check_ms: u32,
    /// Who proves this identity of the scheme `digest`, such as `super:D/InIHSb7yEEbrWz8b9l71RjZJU=`, may do
    /// everything. Source: ZooKeeper 3.9, `zookeeper.DigestAuthenticationProvider.superDigest`.
    pub super_digest: Option<Text>,
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
    /// identifiers are inputs. Where clients have addresses, theirs is an identity of the scheme `ip`.
    Connecting {
        conn: ConnId,
        request: ConnectRequest,
        offer: (SessionId, Password),
        address: Option<IpAddr>,
    },
    /// A client's later message; a second `ToServer::Connect` is refused by closing.
    Received { conn: ConnId, message: ToServer },
    /// A later request that cannot be read, and what it is to be answered in its place. Where `takes_zxid`, it
    /// is a write that fails, which is a transaction like any other.
    Refused { conn: ConnId, xid: Xid, code: ErrorCode, takes_zxid: bool },
    /// A client's connection is gone.
    Dropped { conn: ConnId },
    /// A timer that was set has come.
    Timer(Timer),
    /// The disk has done a `Sync` or a `Replace`.
    Synced { file: FileId, ticket: u64 },
    /// Ends a session as if it had been silent for its timeout (a fault).
    Expire { session: SessionId },
    /// This server's wall clock was set, and goes on from there. Without being told, a server takes a clock
    /// that is set forward for time that has passed, as after a pause, and sessions expire.
    ClockSet { by_ms: i64 },
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
///
/// It serves from the moment its new epoch is on its disk; connections that come earlier are closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    config: ServerConfig,
    /// The tree as it is applied. Nothing in it is unacknowledged by the log. tree.last_zxid() <= committed
    tree: DataTree,
    /// The sessions as they are applied.
    sessions: SessionTable,
    /// The tree as it will be when everything proposed is applied; equals `tree` when nothing is in flight.
    ahead: DataTree,
    /// The sessions, likewise.
    ahead_sessions: SessionTable,
    pipeline: Pipeline,
    storage: Storage,
    /// Watches over the sessions that are open ahead and not closing.
    tracker: SessionTracker,
    connections: BTreeMap<ConnId, Connection>,
    /// Which connection a session uses. connections[owners[s]].session == s
    owners: BTreeMap<SessionId, ConnId>,
    watches: WatchTable<ConnId>,
    /// What must be durable before this server serves: the tickets of its new epoch.
    awaited: BTreeSet<u64>,
}

/// One step: when it is taken, and what it gives.
struct Step<'a> {
    now_ms: i64,
    out: &'a mut Vec<Output>,
}

impl Step<'_> {
    fn send(&mut self, conn: ConnId, message: ToClient) {
        self.out.push(Output::Send { conn, message });
    }

    fn note(&mut self, note: Note) {
        self.out.push(Output::Note(note));
    }

    fn set_timer(&mut self, timer: Timer, after_ms: u32) {
        self.out.push(Output::SetTimer { timer, after_ms });
    }
}

impl Server {
    /// Starts a server from its disk, which is empty the first time. Gives the server and what to do before
    /// anything else (cutting a torn tail, writing the new epoch).
    pub fn start(
        config: ServerConfig,
        files: &Files,
        now_ms: i64,
    ) -> Result<(Server, Vec<Output>), RecoveryError> {
        let Recovered {
            tree,
            sessions,
            accepted_epoch,
            current_epoch,
            replayed,
            repairs,
            to_sync,
            logs,
            snapshots,
        } = recover(files)?;
        let last = tree.last_zxid();
        let mut server = Server {
            ahead: tree.clone(),
            ahead_sessions: sessions.clone(),
            tree,
            sessions,
            pipeline: Pipeline::new(config.id, last, accepted_epoch.max(current_epoch)),
            storage: Storage::new(last, replayed, logs, snapshots),
            tracker: SessionTracker::new(config.tick_ms, now_ms),
            connections: BTreeMap::new(),
            owners: BTreeMap::new(),
            watches: WatchTable::new(),
            awaited: BTreeSet::new(),
            config,
        };
        let mut out: Vec<Output> = repairs.into_iter().map(Output::Disk).collect();
        for file in to_sync {
            // A tail that is cut but comes back would stand in the middle of the log.
            let ticket = server.storage.ticket();
            server.awaited.insert(ticket);
            out.push(Output::Disk(DiskOp::Sync { file, ticket }));
        }
        server.begin_epoch(&mut Step { now_ms, out: &mut out });
        Ok((server, out))
    }

    /// Takes what happened and adds what to do.
    pub fn step(&mut self, input: Input, out: &mut Vec<Output>) {
        let mut step = Step { now_ms: input.now_ms, out };
        if let Event::ClockSet { by_ms } = input.event {
            self.tracker.jumped(by_ms);
        }
        self.tracker.pass(input.now_ms);
        match input.event {
            Event::Connecting { conn, request, offer, address } => {
                self.connecting(conn, &request, offer, address, &mut step);
            }
            Event::Received { conn, message } => self.received(conn, message, &mut step),
            Event::Refused { conn, xid, code, takes_zxid } => {
                self.refused(conn, xid, code, takes_zxid, &mut step);
            }
            Event::Dropped { conn } => self.forget(conn),
            Event::Timer(timer) => self.on_timer(timer, &mut step),
            Event::Synced { file, ticket } => self.on_synced(file, ticket, &mut step),
            Event::Expire { session } => self.expire(session, &mut step),
            Event::ClockSet { by_ms: _ } => {}
        }
        self.storage.flush(step.out);
        if self.is_serving() && self.pipeline.is_worn_out() {
            self.begin_epoch(&mut step);
        }
    }

    /// The tree as it is applied.
    pub fn tree(&self) -> &DataTree {
        &self.tree
    }

    /// The sessions as they are applied.
    pub fn sessions(&self) -> &SessionTable {
        &self.sessions
    }

    /// The sessions that are open and not closing, and how long each may be silent yet.
    pub fn sessions_left_ms(&self) -> impl Iterator<Item = (SessionId, i64)> {
        self.tracker.left_ms()
    }

    /// The watches of all connections.
    pub fn watches(&self) -> &WatchTable<ConnId> {
        &self.watches
    }

    /// Whether the server answers clients: its epoch is on its disk.
    pub fn is_serving(&self) -> bool {
        self.awaited.is_empty()
    }
}
