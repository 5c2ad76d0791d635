//! A server, its clients and its disk on one table, with a hand on every step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zk_api::{KeeperState, Request, Response, SessionId, WatchedEvent, Zxid};
use zk_cluster::disk::Disk;
use zk_proto::client::{
    CallId, ClientConfig, ClientEvent, ClientInput, ClientOutput, ClientSession, ClientTimer, WatchId,
};
use zk_proto::disk::Files;
use zk_proto::message::{ConnId, ConnectRequest, ToClient, ToServer};
use zk_proto::order::NameOrder;
use zk_proto::prepare::TreeConfig;
use zk_proto::server::{
    Event, Input, Note, Output, RecoveryError, Server, ServerConfig, ServerId, Syncs, Timer,
};
use zk_proto::zab::PeerConfig;

pub const TICK_MS: u32 = 500;

pub fn config() -> ServerConfig {
    ServerConfig {
        zab: PeerConfig::for_server(ServerId(1), [ServerId(1)], [], TICK_MS),
        tick_ms: TICK_MS,
        snapshot_every: 0,
        snapshot_step: 2,
        snapshots_kept: 2,
        snapshot_bytes: 0,
        container_check_ms: 60_000,
        super_digest: None,
        syncs: Syncs::AsShipped,
        tree: TreeConfig { extended_types: true, order: NameOrder::Salted(0) },
    }
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Client(usize),
    /// The test itself, which says what it likes and sees everything.
    Raw,
}

#[derive(Clone)]
pub struct Conn {
    peer: Peer,
    /// Whether the server has heard of it.
    known: bool,
    /// Messages are swallowed.
    silent: bool,
    up: VecDeque<ToServer>,
    down: VecDeque<Option<ToClient>>,
    /// What a raw peer has seen; `None` is the end of file.
    pub seen: Vec<Option<ToClient>>,
}

impl Conn {
    /// Takes away the first message that is on its way to the server.
    pub fn take_first(&mut self) {
        self.up.pop_front();
    }
}

/// What a client has told its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Done(CallId, Result<Response, zk_api::Error>, Option<WatchId>),
    Event(WatchId, WatchedEvent, bool),
    State(KeeperState),
}

#[derive(Clone)]
pub struct Client {
    pub session: ClientSession,
    /// The connection that is open, or being opened.
    pub conn: Option<ConnId>,
    calls: u64,
    pub told: Vec<Told>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Alarm {
    Server(Timer),
    Client(usize, ClientTimer),
}

/// What the rig writes down, for scripts.
#[derive(Clone, Debug)]
pub enum Line {
    Server(Output),
    Client(usize, ClientOutput),
}

#[derive(Clone)]
pub struct Rig {
    pub config: ServerConfig,
    pub now_ms: i64,
    pub server: Option<Server>,
    pub disk: Disk,
    /// How many operations the disk has done.
    pub done: usize,
    /// It stops here: no operation after so many is done.
    pub limit: usize,
    pub clients: Vec<Client>,
    pub conns: BTreeMap<ConnId, Conn>,
    alarms: BTreeMap<Alarm, i64>,
    next_conn: u64,
    /// Connections that the server has closed or knows to be gone.
    gone: BTreeSet<ConnId>,
    pub lines: Vec<Line>,
    /// Transactions as they were applied, over all restarts.
    pub applied: Vec<Zxid>,
}

impl Rig {
    /// A server that is not started.
    pub fn new(config: ServerConfig) -> Rig {
        Rig {
            config,
            now_ms: 1_000_000,
            server: None,
            disk: Disk::default(),
            done: 0,
            limit: usize::MAX,
            clients: Vec::new(),
            conns: BTreeMap::new(),
            alarms: BTreeMap::new(),
            next_conn: 1,
            gone: BTreeSet::new(),
            lines: Vec::new(),
            applied: Vec::new(),
        }
    }

    /// A server that serves.
    pub fn serving(config: ServerConfig) -> Rig {
        let mut rig = Rig::new(config);
        rig.start().expect("an empty disk is fine");
        rig.settle();
        rig
    }

    pub fn start(&mut self) -> Result<(), RecoveryError> {
        let (server, out) = Server::start(self.config.clone(), &self.disk.files(), self.now_ms)?;
        self.server = Some(server);
        self.carry_out(out);
        Ok(())
    }

    /// The server dies, and its machine with it: of what was appended to a file since its last sync, the first `kept`
    /// bytes survive; a truncation that was not synced is undone.
    pub fn crash(&mut self, kept: usize) {
        self.die();
        let mut durable = self.disk.durable();
        for (file, written) in self.disk.files() {
            let durable = durable.entry(file).or_default();
            if let Some(unsynced) = written.strip_prefix(&**durable) {
                durable.extend(unsynced.iter().take(kept));
            }
        }
        durable.retain(|_, bytes| !bytes.is_empty());
        self.disk = Disk::with(durable);
    }

    /// Something happens to what is on the disk.
    pub fn spoil(&mut self, what: impl FnOnce(&mut Files)) {
        let mut files = self.disk.files();
        what(&mut files);
        self.disk = Disk::with(files);
    }

    /// Only the server's process dies: what it has written stays, for the time being.
    pub fn die(&mut self) {
        self.server = None;
        self.disk.abandon();
        self.alarms.retain(|alarm, _| !matches!(alarm, Alarm::Server(_)));
        for (_, conn) in self.conns.iter_mut() {
            conn.up.clear();
            conn.down.push_back(None);
        }
    }

    /// A new client, which begins to connect.
    pub fn client(&mut self, timeout_ms: u32) -> usize {
        let config = ClientConfig { servers: vec![self.config.zab.id], timeout_ms };
        let session = ClientSession::new(config);
        self.clients.push(Client { session, conn: None, calls: 0, told: Vec::new() });
        let id = self.clients.len() - 1;
        self.tell(id, ClientEvent::Start);
        id
    }

    /// A new client, connected.
    pub fn connected(&mut self, timeout_ms: u32) -> usize {
        let id = self.client(timeout_ms);
        self.settle();
        assert_eq!(self.clients[id].session.state(), KeeperState::SyncConnected);
        id
    }

    pub fn submit(&mut self, client: usize, request: Request) -> CallId {
        self.clients[client].calls += 1;
        let call = CallId(self.clients[client].calls);
        self.tell(client, ClientEvent::Submit { call, request });
        call
    }

    /// Submits, lets everything happen, and gives the answer.
    pub fn call(&mut self, client: usize, request: Request) -> Result<Response, zk_api::ErrorCode> {
        let call = self.submit(client, request);
        self.settle();
        self.answer(client, call).expect("an answer").map_err(|e| e.code)
    }

    /// The answer to a call, if it has come.
    pub fn answer(&self, client: usize, call: CallId) -> Option<Result<Response, zk_api::Error>> {
        self.clients[client].told.iter().find_map(|told| match told {
            Told::Done(id, result, _) if *id == call => Some(result.clone()),
            _ => None,
        })
    }

    /// A connection of the test itself, with its first message sent.
    pub fn raw(&mut self, request: ConnectRequest) -> ConnId {
        let conn = self.open(Peer::Raw);
        self.say(conn, ToServer::Connect(request));
        conn
    }

    pub fn say(&mut self, conn: ConnId, message: ToServer) {
        self.conns.get_mut(&conn).expect("the connection exists").up.push_back(message);
    }

    fn open(&mut self, peer: Peer) -> ConnId {
        let conn = ConnId(self.next_conn);
        self.next_conn += 1;
        let (up, down) = (VecDeque::new(), VecDeque::new());
        self.conns.insert(conn, Conn { peer, known: false, silent: false, up, down, seen: Vec::new() });
        conn
    }

    /// What a raw connection has seen; `None` is the end of file.
    pub fn seen(&self, conn: ConnId) -> &[Option<ToClient>] {
        &self.conns[&conn].seen
    }

    /// Delivers the first message to the server on a connection. False if there is none.
    pub fn deliver_up(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get_mut(&id) else { return false };
        let Some(message) = conn.up.pop_front() else { return false };
        if conn.silent {
            return true;
        }
        let event = match message {
            ToServer::Connect(request) if !conn.known => {
                conn.known = true;
                let offer = (SessionId::new(0x100 + id.0 as i64), [id.0 as u8; 16]);
                Event::Connecting { conn: id, request, offer, address: None }
            }
            message => Event::Received { conn: id, message },
        };
        if self.server.is_some() {
            self.serve(event);
        }
        true
    }

    /// Delivers the first message from the server on a connection. False if there is none.
    pub fn deliver_down(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get_mut(&id) else { return false };
        let Some(message) = conn.down.pop_front() else { return false };
        if conn.silent {
            return true;
        }
        match (conn.peer, message) {
            (Peer::Raw, message) => conn.seen.push(message),
            (Peer::Client(client), Some(message)) => {
                self.tell(client, ClientEvent::Received { conn: id, message });
            }
            (Peer::Client(client), None) => {
                self.conns.remove(&id);
                self.tell(client, ClientEvent::Lost { conn: id });
            }
        }
        true
    }

    /// The disk does the sync that is due. False if there is none.
    pub fn sync(&mut self) -> bool {
        let Some((file, ticket)) = self.disk.tickets().next().filter(|_| self.done < self.limit) else {
            return false;
        };
        self.done += 1;
        self.disk.done(file, ticket);
        self.serve(Event::Synced { file, ticket });
        true
    }

    /// Delivers and syncs until nothing is on its way. Timers do not fire.
    pub fn settle(&mut self) {
        loop {
            let ids: Vec<_> = self.conns.keys().copied().collect();
            let mut moved = false;
            for id in ids {
                moved |= self.deliver_up(id);
                moved |= self.deliver_down(id);
            }
            if self.server.is_some() {
                moved |= self.sync();
            }
            if !moved {
                return;
            }
        }
    }

    /// Lets time pass, with timers firing in order and everything settled after each.
    pub fn advance(&mut self, ms: i64) {
        let end = self.now_ms + ms;
        while let Some((alarm, due)) = self.alarms.iter().map(|(a, d)| (*a, *d)).min_by_key(|(a, d)| (*d, *a))
        {
            if due > end {
                break;
            }
            self.alarms.remove(&alarm);
            self.now_ms = self.now_ms.max(due);
            match alarm {
                Alarm::Server(timer) => self.serve(Event::Timer(timer)),
                Alarm::Client(client, timer) => self.tell(client, ClientEvent::Timer(timer)),
            }
            self.settle();
        }
        self.now_ms = end;
    }

    /// A client's connection breaks, seen by both ends at once.
    pub fn drop_connection(&mut self, client: usize) {
        let Some(conn) = self.clients[client].conn.take() else { return };
        self.conns.remove(&conn);
        if self.server.is_some() {
            self.serve(Event::Dropped { conn });
        }
        self.tell(client, ClientEvent::Lost { conn });
    }

    /// A client's connection swallows everything from now on, and nobody is told.
    pub fn silence(&mut self, client: usize) {
        let conn = self.clients[client].conn.expect("a connection");
        self.conns.get_mut(&conn).expect("it is open").silent = true;
    }

    /// A client's process dies; the server is not told.
    pub fn kill(&mut self, client: usize) {
        self.silence(client);
        self.alarms.retain(|alarm, _| !matches!(alarm, Alarm::Client(id, _) if *id == client));
    }

    /// Gives the server something to do.
    pub fn serve(&mut self, event: Event) {
        let mut out = Vec::new();
        match event {
            Event::Dropped { conn } => self.gone.insert(conn),
            // No carrier uses a name again; only random inputs do.
            Event::Connecting { conn, .. } => self.gone.remove(&conn),
            _ => false,
        };
        let server = self.server.as_mut().expect("the server runs");
        server.step(Input { now_ms: self.now_ms, event }, &mut out);
        self.carry_out(out);
    }

    fn carry_out(&mut self, out: Vec<Output>) {
        for output in out {
            self.lines.push(Line::Server(output.clone()));
            match output.clone() {
                Output::Send { conn, message } => {
                    assert!(!self.gone.contains(&conn), "{message:?} to {conn:?}, which is gone");
                    self.down(conn, Some(message));
                }
                Output::Close { conn } => {
                    self.gone.insert(conn);
                    self.down(conn, None);
                }
                Output::Disk(_) if self.done >= self.limit => {}
                Output::Disk(op) => {
                    self.done += usize::from(op.ticket().is_none());
                    self.disk.ask(op);
                }
                Output::SetTimer { timer, after_ms } => {
                    self.alarms.insert(Alarm::Server(timer), self.now_ms + i64::from(after_ms));
                }
                // What is not in a snapshot is applied again after a start.
                Output::Note(Note::Applied(txn)) if self.applied.last() >= Some(&txn.zxid) => {
                    assert!(self.applied.contains(&txn.zxid), "{} was not applied before", txn.zxid);
                }
                Output::Note(Note::Applied(txn)) => self.applied.push(txn.zxid),
                Output::Note(Note::Zab(_) | Note::Writes(_) | Note::Written) => {}
                Output::Note(Note::Restored(_))
                | Output::Notify { .. }
                | Output::SendPeer { .. }
                | Output::Dial { .. }
                | Output::Hang { .. } => unreachable!("a server that is alone: {output:?}"),
            }
        }
    }

    fn down(&mut self, conn: ConnId, message: Option<ToClient>) {
        if let Some(conn) = self.conns.get_mut(&conn) {
            conn.down.push_back(message);
        }
    }

    pub fn tell(&mut self, client: usize, event: ClientEvent) {
        let mut out = Vec::new();
        self.clients[client].session.step(ClientInput { now_ms: self.now_ms, event }, &mut out);
        for output in out {
            self.lines.push(Line::Client(client, output.clone()));
            match output {
                ClientOutput::Open { server: _ } => self.connect(client),
                ClientOutput::Send { conn, message } => {
                    if let Some(conn) = self.conns.get_mut(&conn) {
                        conn.up.push_back(message);
                    }
                }
                ClientOutput::Close { conn: _ } => {
                    if let Some(conn) = self.clients[client].conn.take() {
                        self.conns.remove(&conn);
                        if self.server.is_some() {
                            self.serve(Event::Dropped { conn });
                        }
                    }
                }
                ClientOutput::SetTimer { timer, after_ms } => {
                    self.alarms.insert(Alarm::Client(client, timer), self.now_ms + i64::from(after_ms));
                }
                ClientOutput::Complete { call, result, watch } => {
                    self.clients[client].told.push(Told::Done(call, result, watch));
                }
                ClientOutput::Event { watch, event, last } => {
                    self.clients[client].told.push(Told::Event(watch, (*event).clone(), last));
                }
                ClientOutput::State(state) => self.clients[client].told.push(Told::State(state)),
            }
        }
    }

    /// Opens a connection at once, or refuses it.
    fn connect(&mut self, client: usize) {
        let conn = self.open(Peer::Client(client));
        self.clients[client].conn = Some(conn);
        if self.server.is_some() {
            self.tell(client, ClientEvent::Opened { conn });
        } else {
            self.conns.remove(&conn);
            self.clients[client].conn = None;
            self.tell(client, ClientEvent::Lost { conn });
        }
    }
}
