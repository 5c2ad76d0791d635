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
// | `replica` | one of an ensemble: peer, disk, tree and sessions; what it does while it leads, or learns |
// | `lead` | what only the leader has: the tree ahead, the watch over sessions, the syncs that wait |
// | `storage` | what is written to the disk: log, epochs, snapshots |
// | `clients` | who is connected, whose request is answered when, who watches what |
// | `connection` | a client's connection, and what waits on it |
// | `view` | what clients are shown |
// | `frame` | how long a message is on ZooKeeper's wire |
// | `deviate` | what bugs that are planted need |

mod clients;
mod config;
mod connection;
mod deviate;
mod event;
mod frame;
mod lead;
mod replica;
mod storage;
mod view;

use crate::disk::Files;
pub use crate::ids::ServerId;
use crate::ids::{ConnId, Password, Xid};
use crate::message::{Answer, Ask, ConnectRequest, ConnectResponse, ForwardedWrite, ToPeer, ToServer};
use crate::mutant::Mutant;
use crate::prepare::{Caller, acl};
pub use crate::recovery::RecoveryError;
use crate::sessions::{SessionTable, grant_timeout};
use crate::tree::DataTree;
use crate::txn::TxnBody;
use crate::watch::WatchTable;
use crate::zab::message::LinkId;
use crate::zab::{self, Peer};
use clients::Clients;
pub use config::{ServerConfig, Syncs};
use connection::{Early, Waiting};
use event::ServerStep;
pub use event::{Event, Input, Note, Output, Timer};
pub use frame::{FRAME_BYTES_MAX, frame_bytes};
use lead::Place;
use replica::Replica;
use std::net::IpAddr;
use zk_api::{ErrorCode, Identity, Request, SessionId, Zxid};

/// A ZooKeeper server as a pure state machine.
///
/// It serves while its peer leads, follows or observes; connections that come at other times are closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    replica: Replica,
    clients: Clients,
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
        let replica = Replica::recover(config, files, &mut out)?;
        let mut server = Server { replica, clients: Clients::new() };
        let mut step = ServerStep { now_ms, out: &mut out };
        server.replica.begin_when_mended(&mut server.clients, &mut step);
        Ok((server, out))
    }

    /// Takes what happened and adds what to do.
    pub fn step(&mut self, input: Input, out: &mut Vec<Output>) {
        let step = &mut ServerStep { now_ms: input.now_ms, out };
        let Server { replica, clients } = self;
        if let Some(lead) = &mut replica.lead {
            if let Event::ClockSet { by_ms } = input.event {
                lead.tracker.jumped(by_ms);
            }
            lead.tracker.pass(input.now_ms);
        }
        match input.event {
            Event::Connecting { conn, request, offer, address } => {
                self.connecting(conn, &request, offer, address, step);
            }
            Event::Received { conn, message } => self.received(conn, message, step),
            Event::Refused { conn, xid, code, takes_zxid } => {
                self.refused(conn, xid, code, takes_zxid, step);
            }
            Event::Dropped { conn } => {
                let dropped = clients.get(conn).filter(|_| replica.is_learning());
                if let Some(ask) = dropped.and_then(|dropped| replica.config.drops_otherwise(dropped)) {
                    replica.ask(ask, step);
                }
                clients.forget(conn);
            }
            Event::Timer(timer) => replica.on_timer(timer, clients, step),
            Event::Synced { file, ticket } => replica.on_synced(file, ticket, clients, step),
            Event::Expire { session } => replica.expire(session, clients, step),
            Event::ClockSet { by_ms: _ } => {}
            Event::Notified { from, notification } => {
                replica.peer_event(zab::Event::Notified { from, notification }, clients, step);
            }
            Event::Dialled { link, to } => {
                replica.peer_event(zab::Event::Dialled { link, to }, clients, step);
            }
            Event::Accepted { link, from } => {
                replica.peer_event(zab::Event::Accepted { link, from }, clients, step);
            }
            Event::FromPeer { link, message } => match message {
                ToPeer::Zab(packet) => {
                    replica.peer_event(zab::Event::Received { link, packet }, clients, step);
                }
                ToPeer::Ask(ask) => replica.learner_asks(link, ask, clients, step),
                ToPeer::Answer(answer) => self.leader_answers(link, answer, step),
            },
            Event::Unlinked { link } => replica.peer_event(zab::Event::Unlinked { link }, clients, step),
        }
    }

    /// The tree as it is applied.
    pub fn tree(&self) -> &DataTree {
        &self.replica.tree
    }

    /// The sessions as they are applied.
    pub fn sessions(&self) -> &SessionTable {
        &self.replica.sessions
    }

    /// The sessions that are open and not closing, and how long each may be silent yet. Only a leader knows.
    pub fn sessions_left_ms(&self) -> impl Iterator<Item = (SessionId, i64)> {
        self.replica.lead.iter().flat_map(|lead| lead.tracker.left_ms())
    }

    /// The watches of all connections.
    pub fn watches(&self) -> &WatchTable<ConnId> {
        self.clients.watches()
    }

    /// Its part in the ensemble.
    pub fn peer(&self) -> &Peer {
        &self.replica.peer
    }

    /// From now on an epoch ends by [this counter](crate::zab::PeerConfig::last_counter).
    pub fn set_last_counter(&mut self, last_counter: u32) {
        self.replica.config.zab.last_counter = last_counter;
        self.replica.peer.set_last_counter(last_counter);
    }

    /// Whether the server answers clients.
    pub fn is_serving(&self) -> bool {
        self.replica.is_serving()
    }

    /// Makes servers equal that will do the same where no time passes, for models: counts begin anew that nobody looks
    /// at, and nobody is told who was heard of. The disk has done all that it was asked for if it `is_idle`.
    pub fn forget_counts(&mut self, is_idle: bool) {
        self.replica.forget_counts(is_idle);
    }

    /// A client's first message on a new connection.
    ///
    /// Source: ZooKeeper 3.9, `ZooKeeperServer.processConnectRequest`, and measurements.
    fn connecting(
        &mut self,
        conn: ConnId,
        request: &ConnectRequest,
        offer: (SessionId, Password),
        address: Option<IpAddr>,
        step: &mut ServerStep<'_>,
    ) {
        // A server that is not ready closes, and so does one that is behind what the client has seen.
        let Replica { config, .. } = &self.replica;
        let is_behind = request.last_zxid > self.replica.shown();
        let refused = !self.is_serving() || is_behind && !config.deviates(Mutant::ClientGoesBack, step.out);
        if refused || self.clients.get(conn).is_some() {
            self.clients.close(conn, step);
        } else if request.session == SessionId::NONE {
            self.open_session(conn, request.timeout_ms, offer, step);
        } else {
            self.attach(conn, request, step);
        }
        if let (Some(address), Some(connection)) = (address, self.clients.get_mut(conn)) {
            connection.identities = [Identity::new("ip", &address.to_string())].into();
        }
    }

    /// Opens a session; the client hears of it when that is committed.
    fn open_session(
        &mut self,
        conn: ConnId,
        asked_ms: u32,
        (session, password): (SessionId, Password),
        step: &mut ServerStep<'_>,
    ) {
        let Server { replica, clients } = self;
        let sessions = replica.lead.as_ref().map_or(&replica.sessions, |lead| &lead.sessions);
        if session == SessionId::NONE || sessions.find(session).is_some() {
            clients.close(conn, step);
            return;
        }
        let timeout_ms = grant_timeout(asked_ms, replica.config.tick_ms);
        let after = if replica.lead.is_some() {
            replica.open(Place::Here, session, (password, timeout_ms), clients, step)
        } else {
            replica.ask(Ask::Open { session, password, timeout_ms }, step);
            None
        };
        let response = ConnectResponse { timeout_ms, session, password };
        clients.occupy(conn, Waiting::Connect { after, response }, timeout_ms, session);
    }

    /// Takes a session over.
    fn attach(&mut self, conn: ConnId, request: &ConnectRequest, step: &mut ServerStep<'_>) {
        let Server { replica, clients } = self;
        let ConnectRequest { session, password, .. } = *request;
        // The owner's connection to this server goes before the password is looked at.
        clients.close_of(session, step);
        let timeout_ms = grant_timeout(request.timeout_ms, replica.config.tick_ms);
        let response = ConnectResponse { timeout_ms, session, password };
        if replica.lead.is_none() {
            replica.ask(Ask::Attach { conn, session, password, timeout_ms }, step);
            clients.occupy(conn, Waiting::Connect { after: None, response }, timeout_ms, session);
            return clients.joins(conn, session, replica.view(), step);
        }
        if !replica.attach(Place::Here, session, (password, timeout_ms), step) {
            return clients.refuse_session(conn, step);
        }
        let after = match replica.sessions.find(session) {
            Some(_) => Zxid::ZERO,
            None => replica.sync_point(),
        };
        clients.occupy(conn, Waiting::Connect { after: Some(after), response }, timeout_ms, session);
        if let (Some(after), Some(connection)) = (replica.last_unapplied_of(session), clients.get_mut(conn)) {
            connection.waiting.push_back(Waiting::Former { after });
        }
        clients.drain(conn, replica.view(), step);
    }

    /// Whether what comes on a connection is to be looked at. Nothing is that comes after a closeSession, or of a
    /// session that is being expired: its connection is closed when that is committed.
    fn listens(&mut self, conn: ConnId) -> bool {
        let Some(connection) = self.clients.get(conn) else { return false };
        !connection.deaf && self.replica.touch(connection.session, connection.timeout_ms)
    }

    /// A client's later message: it takes its place in its session's order, and is answered in it. A write is prepared
    /// and proposed as it comes, or goes to the leader.
    fn received(&mut self, conn: ConnId, message: ToServer, step: &mut ServerStep<'_>) {
        if let Some(connection) = self.clients.get_mut(conn).filter(|connection| connection.joining) {
            return connection.early.push(Early::Message(message));
        }
        if !self.listens(conn) {
            return;
        }
        let Server { replica, clients } = self;
        let Some(connection) = clients.get_mut(conn) else { return };
        let waiting = match message {
            ToServer::Connect(_) => return clients.close(conn, step),
            ToServer::Ping => Waiting::Ping,
            ToServer::SetWatches { since, watches } => Waiting::SetWatches { since, watches },
            ToServer::Request { request, .. } if frame_bytes(&request) > FRAME_BYTES_MAX => {
                return clients.close(conn, step);
            }
            ToServer::Request { xid, request: request @ Request::Sync { .. } } => {
                Waiting::Sync { xid, after: replica.begin_sync(conn, step), request }
            }
            ToServer::Request { xid, request: Request::Auth { scheme, credentials } } => {
                let super_digest = replica.config.super_digest.as_deref();
                let proven = acl::prove(&connection.identities, &scheme, &credentials, super_digest);
                let accepted = proven.is_some();
                connection.identities = proven.unwrap_or_else(|| connection.identities.clone());
                connection.deaf = !accepted;
                Waiting::Auth { xid, accepted }
            }
            ToServer::Request { xid, request } if request.is_write() => self.write(conn, xid, request, step),
            ToServer::Request { xid, request } => {
                Waiting::Read { xid, request, identities: connection.identities.clone() }
            }
        };
        self.clients.take(conn, waiting, self.replica.view(), step);
    }

    /// A client's later request that cannot be read.
    fn refused(
        &mut self,
        conn: ConnId,
        xid: Xid,
        code: ErrorCode,
        takes_zxid: bool,
        step: &mut ServerStep<'_>,
    ) {
        if let Some(connection) = self.clients.get_mut(conn).filter(|connection| connection.joining) {
            return connection.early.push(Early::Refused { xid, code, takes_zxid });
        }
        if !self.listens(conn) {
            return;
        }
        let Server { replica, clients } = self;
        let Some(session) = clients.get(conn).map(|connection| connection.session) else { return };
        let waiting = if !takes_zxid {
            Waiting::Refused { xid, code }
        } else if replica.lead.is_some() {
            let zxid = replica.propose(session, xid, TxnBody::Error(code), clients, step);
            Waiting::RefusedWrite { xid, zxid }
        } else {
            self.forward(session, xid, ForwardedWrite::Malformed(code), step);
            Waiting::RefusedWrite { xid, zxid: None }
        };
        self.clients.take(conn, waiting, self.replica.view(), step);
    }

    /// Works out what a write does and proposes it; or has the leader do so.
    fn write(&mut self, conn: ConnId, xid: Xid, request: Request, step: &mut ServerStep<'_>) -> Waiting {
        let Server { replica, clients } = self;
        let connection = clients.get_mut(conn).expect("whoever writes is connected");
        connection.deaf |= request == Request::CloseSession;
        let (session, identities) = (connection.session, connection.identities.clone());
        if replica.lead.is_none() {
            let write = ForwardedWrite::Request { request: request.clone(), identities };
            self.forward(session, xid, write, step);
            return Waiting::Write { xid, zxid: None, request };
        }
        let caller = Caller { session, identities: &identities };
        let zxid = replica.write(caller, xid, &request, clients, step);
        Waiting::Write { xid, zxid, request }
    }

    /// A write goes to the leader.
    fn forward(&mut self, session: SessionId, xid: Xid, write: ForwardedWrite, step: &mut ServerStep<'_>) {
        self.clients.forwards(session, xid);
        self.replica.ask(Ask::Write { session, xid, write }, step);
    }

    /// The leader answers. Whoever asked may be gone.
    fn leader_answers(&mut self, link: LinkId, answer: Answer, step: &mut ServerStep<'_>) {
        let Server { replica, clients } = self;
        if !replica.is_learning() || replica.peer.leader_link() != Some(link) {
            return;
        }
        // Commits that were sent before may not be on this server's disk yet.
        let told = replica.peer.committed();
        let overrules = matches!(answer, Answer::Attached { valid: false, .. })
            && replica.config.deviates(Mutant::RefusalOverruled, step.out);
        match answer {
            Answer::Attached { conn, valid } if valid || overrules => {
                for early in clients.admit(conn, told, replica.view(), step) {
                    match early {
                        Early::Message(message) => self.received(conn, message, step),
                        Early::Refused { xid, code, takes_zxid } => {
                            self.refused(conn, xid, code, takes_zxid, step);
                        }
                    }
                }
            }
            Answer::Attached { conn, valid: _ } => {
                if clients.get(conn).is_some() {
                    clients.refuse_session(conn, step);
                }
            }
            Answer::Synced { conn } => clients.may_sync(conn, told, replica.view(), step),
            Answer::Asks { round } => replica.ask(Ask::Follows { round }, step),
        }
    }
}
