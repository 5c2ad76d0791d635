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
// | `event` | what happens to a server, and what it wants done |
// | `config` | how a server is set up |
// | `ensemble` | what the peer wants done, and what it makes of this server |
// | `lead`, `leading` | what only the leader has and does: the tree ahead, the watch over sessions |
// | `forward` | what a learner asks of its leader for its clients |
// | `apply` | what a committed transaction does here: the tree, watches, answers |
// | `connection` | a client's connection, and what waits on it |
// | `connect` | connections come and go, sessions open and move |
// | `request` | requests take their places in their session's order, and are answered |
// | `storage` | what is written to the disk: log, epochs, snapshots |
// | `sync` | what a leader waits for before it answers a sync |
// | `upkeep` | timers |
// | `frame` | how long a message is on ZooKeeper's wire |
// | `deviate` | what bugs that are planted need |

mod apply;
mod config;
mod connect;
mod connection;
mod deviate;
mod ensemble;
mod event;
mod forward;
mod frame;
mod lead;
mod leading;
mod request;
mod storage;
mod sync;
mod upkeep;

use crate::disk::{DiskOp, FileId, Files};
pub use crate::ids::ServerId;
use crate::ids::{ConnId, Xid};
use crate::recovery::Recovered;
pub use crate::recovery::RecoveryError;
use crate::sessions::SessionTable;
use crate::snapshot;
use crate::tree::DataTree;
use crate::watch::WatchTable;
use crate::zab::{self, Peer, RecoveredHistory, Role};
pub use config::{ServerConfig, Syncs};
use connection::Connection;
use event::ServerStep;
pub use event::{Event, Input, Note, Output, Timer};
pub use frame::{FRAME_BYTES_MAX, frame_bytes};
use lead::Lead;
use std::collections::{BTreeMap, BTreeSet};
use storage::Storage;
use zk_api::{SessionId, Zxid};

/// A server that repairs what it has found on its disk, before it says anything to anybody.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Mending {
    /// What its disk has yet to do.
    awaited: BTreeSet<u64>,
    /// What its peer wants done first.
    first: Vec<zab::Output>,
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
