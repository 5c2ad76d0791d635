//! A server: `step` takes what happened and says what to do.
//!
//! A write goes prepare → propose → log → sync → commit → apply. `prepare` looks at the leader's tree *ahead*, as
//! it will be when everything proposed is applied; reads look at the tree as it is applied here. What is between
//! is Zab's work: a server stands on a [`Peer`], also when it is alone.
//!
//! A server that is alone leads as soon as its disk has done what the server has asked for:
//!
//! ```
//! use std::collections::VecDeque;
//! use zk_proto::disk::Files;
//! use zk_proto::server::{Event, Input, Output, Server, ServerConfig, ServerId};
//! # use zk_proto::{order::NameOrder, prepare::TreeConfig, server::Syncs, zab::PeerConfig};
//! # let config = ServerConfig {
//! #     zab: PeerConfig::for_server(ServerId(1), [ServerId(1)], [], 2000),
//! #     tick_ms: 2000,
//! #     snapshot_every: 0,
//! #     snapshot_step: 1,
//! #     snapshots_kept: 1,
//! #     snapshot_bytes: 0,
//! #     container_check_ms: 60_000,
//! #     super_digest: None,
//! #     syncs: Syncs::AsShipped,
//! #     tree: TreeConfig { extended_types: true, order: NameOrder::Salted(0) },
//! # };
//!
//! let (mut server, out) = Server::start(config, &Files::new(), 0)?;
//! assert!(!server.is_serving());
//! let mut asked = VecDeque::from(out);
//! while let Some(output) = asked.pop_front() {
//!     let Output::Disk(op) = output else { continue };
//!     let Some((file, ticket)) = op.ticket() else { continue };
//!     let mut out = Vec::new();
//!     server.step(Input { now_ms: 0, event: Event::Synced { file, ticket } }, &mut out);
//!     asked.extend(out);
//! }
//! assert!(server.is_serving());
//! # Ok::<(), zk_proto::server::RecoveryError>(())
//! ```

// The private modules, for whoever works on them:
//
// | file | what is in it |
// |---|---|
// | `ensemble` | what the peer wants done, and what it makes of this server |
// | `lead` | what only the leader has: the tree ahead, the watch over sessions |
// | `forward` | what a learner asks of its leader for its clients |
// | `apply` | what a committed transaction does here: the tree, watches, answers |
// | `connect` | connections come and go, sessions open and move |
// | `request` | requests take their places in their session's order, and are answered |
// | `storage` | what is written to the disk: log, epochs, snapshots |
// | `sync` | what a leader waits for before it answers a sync |
// | `upkeep` | timers |
// | `frame` | how long a message is on ZooKeeper's wire |
// | `deviate` | what bugs that are planted need |

mod apply;
mod connect;
mod deviate;
mod ensemble;
mod forward;
mod frame;
mod lead;
mod request;
mod storage;
mod sync;
mod upkeep;

use crate::disk::{DiskOp, FileId, Files};
use crate::message::{ConnId, ConnectRequest, Password, ToClient, ToPeer, ToServer, Xid};
use crate::prepare::TreeConfig;
use crate::recovery::Recovered;
pub use crate::recovery::RecoveryError;
use crate::sessions::SessionTable;
use crate::snapshot;
use crate::tree::DataTree;
use crate::txn::Txn;
use crate::watch::WatchTable;
use crate::zab::message::{LinkId, Notification};
use crate::zab::{self, Peer, PeerConfig, RecoveredHistory, Role};
use connect::Connection;
use ensemble::Mending;
pub use frame::{FRAME_BYTES_MAX, frame_bytes};
use lead::Lead;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use storage::Storage;
use zk_api::{ErrorCode, SessionId, Text, Zxid};

/// A server's place in the ensemble (`myid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u8);

/// How a server is set up. The same over restarts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerConfig {
    /// Who it is, and with whom it makes an ensemble. Its tick is half of this server's, as in ZooKeeper a
    /// leader pings twice in a tick.
    pub zab: PeerConfig,
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
    /// Whom a leader asks before a sync is answered.
    pub syncs: Syncs,
    /// Switches of the tree.
    pub tree: TreeConfig,
}

/// Whom a leader asks before a sync is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syncs {
    /// Nobody, unless something is in flight, and then whoever acknowledges that. So a deposed leader that does not know
    /// it yet answers, and one whose own tree is behind does.
    ///
    /// Source: ZooKeeper 3.9, measured.
    #[default]
    AsShipped,
    /// A quorum, whether it still follows; and it waits for everything that it has proposed. No released version does so.
    AskQuorum,
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
    /// Another server's datagram of the election arrived.
    Notified { from: ServerId, notification: Notification },
    /// A link that this server dialled is there.
    Dialled { link: LinkId, to: ServerId },
    /// A link that another server dialled is there.
    Accepted { link: LinkId, from: ServerId },
    /// Something came over a link.
    FromPeer { link: LinkId, message: ToPeer },
    /// The other end of a link has hung up, or it broke. Nothing more comes over it.
    Unlinked { link: LinkId },
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
    /// One of the peer's.
    Zab(zab::Timer),
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
    /// Send a datagram to another server.
    Notify { to: ServerId, notification: Notification },
    /// Send over a link to another server.
    SendPeer { link: LinkId, message: ToPeer },
    /// Try to get a link to another server: `Event::Dialled` here and `Event::Accepted` there if it comes about.
    Dial { to: ServerId },
    /// Hang up a link, after what was sent. The other end hears `Event::Unlinked`, this one nothing more.
    Hang { link: LinkId },
    /// Fire `timer` so many milliseconds from now by this server's clock.
    SetTimer { timer: Timer, after_ms: u32 },
    /// Not for doing but for knowing: observers outside follow the transactions by it.
    Note(Note),
}

/// What observers follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// The peer's: what was proposed, committed, and by whom.
    Zab(zab::Note),
    /// The peer's write is begun.
    Writes(zab::Write),
    /// It is on the disk.
    Written,
    /// It is applied to this server's tree. After a start, what was logged and not in a snapshot is applied again.
    Applied(Arc<Txn>),
    /// The leader's state, up to here, has taken the place of this server's.
    Restored(Zxid),
}

/// A ZooKeeper server as a pure state machine.
///
/// It serves while its peer leads, follows or observes; connections that come at other times are closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    config: ServerConfig,
    /// The tree as it is applied: everything the peer has delivered. Nothing in it is not in the log.
    tree: DataTree,
    /// The sessions as they are applied.
    sessions: SessionTable,
    peer: Peer,
    /// Until what recovery has mended is on the disk.
    mending: Option<Mending>,
    /// While it leads.
    lead: Option<Lead>,
    storage: Storage,
    connections: BTreeMap<ConnId, Connection>,
    /// Those on which something waits, which are few among thousands.
    waiters: BTreeSet<ConnId>,
    /// Which connection a session uses. connections[owners[s]].session == s
    owners: BTreeMap<SessionId, ConnId>,
    watches: WatchTable<ConnId>,
    /// Sessions that were heard of since the leader was told, and their timeouts.
    touched: BTreeMap<SessionId, u32>,
    /// The last write of each session that went to the leader and has not come back.
    forwarded: BTreeMap<SessionId, Xid>,
}

/// One step: when it is taken, and what it gives.
struct ServerStep<'a> {
    now_ms: i64,
    out: &'a mut Vec<Output>,
}

impl ServerStep<'_> {
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
    /// anything else (cutting a torn tail, looking for a leader).
    pub fn start(
        config: ServerConfig,
        files: &Files,
        now_ms: i64,
    ) -> Result<(Server, Vec<Output>), RecoveryError> {
        let mut out = Vec::new();
        let mut found = config.recovers_otherwise(files, &mut out)?;
        let keeps_tails = config.keeps_tails(&mut found, &mut out);
        config.replays_otherwise(files, &mut found, &mut out);
        let history = RecoveredHistory {
            accepted_epoch: found.accepted_epoch,
            current_epoch: found.current_epoch,
            base: found.tree.last_zxid(),
            log: std::mem::take(&mut found.log),
        };
        let (peer, first) = Peer::start(config.zab.clone(), history);
        let Recovered { tree, sessions, replayed, mut repairs, to_sync, logs, mut snapshots, .. } = found;
        snapshots.extend(found.is_new.then_some(Zxid::ZERO));
        let mut storage = Storage::new(replayed, logs, snapshots, keeps_tails);
        if found.is_new {
            // As in ZooKeeper: without any snapshot, nobody could tell logs that have lost one from whole ones.
            let (file, bytes) = (FileId::Snapshot(Zxid::ZERO), snapshot::encode(&tree, &sessions));
            repairs.push(DiskOp::Replace { file, bytes, ticket: storage.ticket() });
        }
        // A tail that is cut but comes back would stand in the middle of the log.
        for file in to_sync {
            repairs.push(DiskOp::Sync { file, ticket: storage.ticket() });
        }
        let awaited = repairs.iter().filter_map(DiskOp::ticket).map(|(_, ticket)| ticket).collect();
        out.extend(repairs.into_iter().map(Output::Disk));
        let mut server = Server {
            tree,
            sessions,
            peer,
            mending: Some(Mending { awaited, first }),
            lead: None,
            storage,
            connections: BTreeMap::new(),
            waiters: BTreeSet::new(),
            owners: BTreeMap::new(),
            watches: WatchTable::new(),
            touched: BTreeMap::new(),
            forwarded: BTreeMap::new(),
            config,
        };
        server.begin_when_mended(&mut ServerStep { now_ms, out: &mut out });
        Ok((server, out))
    }

    /// Takes what happened and adds what to do.
    pub fn step(&mut self, input: Input, out: &mut Vec<Output>) {
        let mut step = ServerStep { now_ms: input.now_ms, out };
        if let Some(lead) = &mut self.lead {
            if let Event::ClockSet { by_ms } = input.event {
                lead.tracker.jumped(by_ms);
            }
            lead.tracker.pass(input.now_ms);
        }
        match input.event {
            Event::Connecting { conn, request, offer, address } => {
                self.connecting(conn, &request, offer, address, &mut step);
            }
            Event::Received { conn, message } => self.received(conn, message, &mut step),
            Event::Refused { conn, xid, code, takes_zxid } => {
                self.refused(conn, xid, code, takes_zxid, &mut step);
            }
            Event::Dropped { conn } => {
                self.drops_otherwise(conn, &mut step);
                self.forget(conn);
            }
            Event::Timer(timer) => self.on_timer(timer, &mut step),
            Event::Synced { file, ticket } => self.on_synced(file, ticket, &mut step),
            Event::Expire { session } => self.expire(session, &mut step),
            Event::ClockSet { by_ms: _ } => {}
            Event::Notified { from, notification } => {
                self.peer_event(zab::Event::Notified { from, notification }, &mut step);
            }
            Event::Dialled { link, to } => self.peer_event(zab::Event::Dialled { link, to }, &mut step),
            Event::Accepted { link, from } => {
                self.peer_event(zab::Event::Accepted { link, from }, &mut step);
            }
            Event::FromPeer { link, message } => self.peer_said(link, message, &mut step),
            Event::Unlinked { link } => self.peer_event(zab::Event::Unlinked { link }, &mut step),
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

    /// The sessions that are open and not closing, and how long each may be silent yet. Only a leader knows.
    pub fn sessions_left_ms(&self) -> impl Iterator<Item = (SessionId, i64)> {
        self.lead.iter().flat_map(|lead| lead.tracker.left_ms())
    }

    /// The watches of all connections.
    pub fn watches(&self) -> &WatchTable<ConnId> {
        &self.watches
    }

    /// Its part in the ensemble.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// From now on an epoch ends by [this counter](crate::zab::PeerConfig::last_counter).
    pub fn set_last_counter(&mut self, last_counter: u32) {
        self.config.zab.last_counter = last_counter;
        self.peer.set_last_counter(last_counter);
    }

    /// Whether the server answers clients.
    pub fn is_serving(&self) -> bool {
        match self.peer.role() {
            Role::Leading { .. } | Role::Following { .. } | Role::Observing { .. } => true,
            Role::Looking | Role::Joining { .. } => false,
        }
    }
}
