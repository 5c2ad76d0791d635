//! A whole server: its tree, its sessions, its clients' connections, and the very files that it writes.
//!
//! No time passes for it: its clock stands still, sessions do not expire by silence, and nobody looks for containers.

use super::config::Setup;
use super::node::{Effect, Event, Node};
use super::work::{self, request};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};
use zk_cluster::disk::Disk;
use zk_proto::disk::{FileId, Files};
use zk_proto::message::{ConnectRequest, ToPeer, ToServer, WatchList, Xid};
use zk_proto::order::NameOrder;
use zk_proto::prepare::TreeConfig;
use zk_proto::recovery::{encode_epoch, recover};
use zk_proto::server::{self, Input, Note, Output, Server, ServerConfig, Syncs};
use zk_proto::txn::Txn;
use zk_proto::zab::message::{LinkId, Snapshot};
use zk_proto::zab::{self, Peer, RecoveredHistory, Timer};
use zk_proto::{log, snapshot};

/// Always. What is between two inputs is no time at all.
const NOW_MS: i64 = 0;
/// So many znodes make a piece of a snapshot.
const PIECE: u32 = 3;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerNode {
    setup: Arc<Setup>,
    /// None while it is down.
    server: Option<Box<Server>>,
    disk: Disk,
    timers: BTreeSet<Timer>,
    /// The next piece of its own snapshot is due.
    is_snapshotting: bool,
    /// It did not start from what a crash has left.
    is_refused: bool,
}

impl Node for ServerNode {
    type Packet = ToPeer;

    const HAS_CLIENTS: bool = true;

    fn off(setup: Setup, disk: RecoveredHistory) -> ServerNode {
        ServerNode {
            setup: Arc::new(setup),
            server: None,
            disk: Disk::with(files(&disk)),
            timers: BTreeSet::new(),
            is_snapshotting: false,
            is_refused: false,
        }
    }

    fn start(&mut self, out: &mut Vec<Effect<ToPeer>>) {
        self.down();
        let Ok((server, outputs)) = Server::start(self.config(), &self.disk.files(), NOW_MS) else {
            self.is_refused = true;
            return;
        };
        self.server = Some(Box::new(server));
        self.follow(outputs, out);
        self.rest(out);
    }

    fn step(&mut self, event: &Event<ToPeer>, out: &mut Vec<Effect<ToPeer>>) {
        let event = self.in_servers(event);
        self.take(event, out);
        self.rest(out);
    }

    fn outcomes(&self) -> usize {
        self.disk.outcomes()
    }

    fn crash(&mut self, outcome: usize) {
        self.disk.crash_to(outcome);
        self.down();
    }

    fn peer(&self) -> Option<&Peer> {
        self.server.as_ref().map(|server| server.peer())
    }

    fn is_writing(&self) -> bool {
        self.disk.awaited().is_some()
    }

    fn is_set(&self, timer: Timer) -> bool {
        self.timers.contains(&timer)
    }

    fn forget(&mut self, timer: Timer) {
        self.timers.remove(&timer);
    }

    fn imaging(&self) -> Vec<LinkId> {
        // It gives its state at once.
        Vec::new()
    }

    fn has_on_disk(&self, txn: &Arc<Txn>) -> bool {
        let found = recover(&self.disk.durable());
        found.is_ok_and(|found| txn.zxid <= found.tree.last_zxid() || found.log.contains(txn))
    }

    fn takes_writes(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.is_serving())
    }

    fn is_snapshotting(&self) -> bool {
        self.is_snapshotting
    }

    fn agrees(&self, stands: &BTreeMap<Zxid, Arc<Txn>>) -> Result<(), String> {
        let Some(server) = &self.server else { return Ok(()) };
        let shows = server.tree().last_zxid();
        let (mut tree, mut sessions) = work::image();
        for txn in stands.range(..=shows).map(|(_, txn)| txn) {
            tree.apply(txn);
            sessions.apply(txn);
        }
        if *server.tree() == tree && *server.sessions() == sessions {
            return Ok(());
        }
        Err(format!("it shows all up to {shows} in another way than what stands makes it"))
    }
}

impl ServerNode {
    /// While it is up.
    pub(super) fn server(&self) -> Option<&Server> {
        self.server.as_deref()
    }

    /// Whether it did not start. No disk here loses what was synced.
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.setup
    }

    fn config(&self) -> ServerConfig {
        let every = u32::from(self.setup.snapshots);
        ServerConfig {
            zab: self.setup.peer.clone(),
            tick_ms: 1000,
            snapshot_every: every,
            snapshot_step: PIECE,
            snapshots_kept: 1,
            snapshot_bytes: 0,
            container_check_ms: 60_000,
            super_digest: None,
            syncs: Syncs::AsShipped,
            tree: TreeConfig { extended_types: false, order: NameOrder::Salted(0) },
        }
    }

    /// What is gone with the process.
    fn down(&mut self) {
        self.server = None;
        self.timers.clear();
        self.is_snapshotting = false;
    }

    fn in_servers(&mut self, event: &Event<ToPeer>) -> server::Event {
        match event {
            Event::Notified { from, notification } => {
                server::Event::Notified { from: *from, notification: *notification }
            }
            Event::Dialled { link, to } => server::Event::Dialled { link: *link, to: *to },
            Event::Accepted { link, from } => server::Event::Accepted { link: *link, from: *from },
            Event::Received { link, packet } => {
                server::Event::FromPeer { link: *link, message: packet.clone() }
            }
            Event::Unlinked { link } => server::Event::Unlinked { link: *link },
            Event::Timer(timer) => {
                self.timers.remove(timer);
                server::Event::Timer(server::Timer::Zab(*timer))
            }
            Event::Written => {
                let (file, ticket) = self.disk.awaited().expect("a write is under way");
                self.disk.done(file, ticket);
                server::Event::Synced { file, ticket }
            }
            Event::Connecting { conn, last } => {
                let (session, password, timeout_ms) = (work::SESSION, work::PASSWORD, work::TIMEOUT_MS);
                let request = ConnectRequest { last_zxid: *last, timeout_ms, session, password };
                let offer = (SessionId::NONE, [0; 16]);
                server::Event::Connecting { conn: *conn, request, offer, address: None }
            }
            Event::Asked { conn, number } => {
                let (xid, request) = (Xid(*number as i32), request(self.setup.work, *number));
                server::Event::Received { conn: *conn, message: ToServer::Request { xid, request } }
            }
            Event::Watches { conn, since } => {
                let watches = WatchList { data: vec![work::PLAIN.into()], ..WatchList::default() };
                let message = ToServer::SetWatches { since: *since, watches };
                server::Event::Received { conn: *conn, message }
            }
            Event::Dropped { conn } => server::Event::Dropped { conn: *conn },
            Event::Piece => {
                self.is_snapshotting = false;
                server::Event::Timer(server::Timer::Snapshot)
            }
            Event::Imaged { .. } | Event::Propose { .. } => {
                unreachable!("a server gives its state at once, and its clients propose")
            }
        }
    }

    fn take(&mut self, event: server::Event, out: &mut Vec<Effect<ToPeer>>) {
        let mut outputs = Vec::new();
        let server = self.server.as_mut().expect("only a server that is up takes steps");
        server.step(Input { now_ms: NOW_MS, event }, &mut outputs);
        self.follow(outputs, out);
    }

    /// A sync of what is durable already is done at once.
    fn rest(&mut self, out: &mut Vec<Effect<ToPeer>>) {
        while self.disk.is_clean() {
            let Some((file, ticket)) = self.disk.awaited() else { break };
            self.disk.done(file, ticket);
            self.take(server::Event::Synced { file, ticket }, out);
        }
        let is_idle = self.disk.is_idle();
        self.server.as_mut().expect("it is up").forget_counts(is_idle);
    }

    fn follow(&mut self, outputs: Vec<Output>, out: &mut Vec<Effect<ToPeer>>) {
        for output in outputs {
            match output {
                Output::Notify { to, notification } => out.push(Effect::Notify { to, notification }),
                Output::SendPeer { link, message } => {
                    let told = match &message {
                        ToPeer::Zab(packet) => Some(zab::Output::Send { link, packet: packet.clone() }),
                        ToPeer::Ask(_) | ToPeer::Answer(_) => None,
                    };
                    out.push(Effect::Send { link, packet: message });
                    out.extend(told.map(Effect::Told));
                }
                Output::Hang { link } => out.push(Effect::Hang { link }),
                Output::Send { conn, message } => out.push(Effect::Tell { conn, message }),
                Output::Close { conn } => out.push(Effect::Close { conn }),
                Output::Disk(op) => self.disk.ask_in_order(op),
                Output::SetTimer { timer, .. } => self.set(timer),
                Output::Note(note) => out.extend(self.note(note).map(Effect::Told)),
                // Who wants a link is seen from outside.
                Output::Dial { .. } => {}
            }
        }
    }

    fn set(&mut self, timer: server::Timer) {
        match timer {
            server::Timer::Zab(timer) => {
                self.timers.insert(timer);
            }
            server::Timer::Snapshot => self.is_snapshotting = true,
            // For these, time would have to pass.
            server::Timer::Sessions | server::Timer::Containers => {}
        }
    }

    /// What its peer would have said to the history.
    fn note(&mut self, note: Note) -> Option<zab::Output> {
        match note {
            Note::Zab(note) => Some(zab::Output::Note(note)),
            Note::Writes(write) => Some(zab::Output::Write(write)),
            Note::Applied(txn) => Some(zab::Output::Deliver(txn)),
            Note::Restored(zxid) => Some(zab::Output::Restore(Snapshot { zxid, image: Arc::new([]) })),
            // Seen by its peer.
            Note::Written => None,
        }
    }
}

/// The files of a disk on which a past has left this.
fn files(disk: &RecoveredHistory) -> Files {
    let (tree, sessions) = work::image();
    let mut files = Files::from([(FileId::Snapshot(Zxid::ZERO), snapshot::encode(&tree, &sessions))]);
    if let Some(first) = disk.log.first() {
        files.insert(FileId::Log(first.zxid), disk.log.iter().flat_map(|txn| log::encode(txn)).collect());
    }
    if disk.accepted_epoch > 0 {
        files.insert(FileId::AcceptedEpoch, encode_epoch(disk.accepted_epoch));
        files.insert(FileId::CurrentEpoch, encode_epoch(disk.current_epoch));
    }
    files
}
