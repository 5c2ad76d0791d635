//! The server without sockets: every break that is planted is seen by its own invariant.

mod ensemble;
mod storm;

use super::Core;
use crate::Options;
use crate::driver::Driver;
use crate::fault::{Fault, Loss, RequestKind, Target, When};
use crate::link::{ClientLink, State, Unsent};
use crate::message::ToCore;
use crate::record::Record;
use crate::time::{MS, Nanos};
use crate::verdict::Finding;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use zk_api::{CreateMode, Data, Request, Response, SessionId, Zxid, open_acl};
use zk_invariants::Invariant;
use zk_proto::disk::FileId;
use zk_proto::message::{ConnId, ConnectRequest, Password, ToClient, ToServer, Xid};
use zk_proto::server::{Event, Note, Output};
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab;
use zk_wire::{ClientSide, Frames, Piece};

/// What changes a server's outputs before anybody sees them.
/// The number says whose they are.
pub(super) type Plant = Box<dyn FnMut(u8, &mut Vec<Output>) + Send>;

/// A server and its clients on one table.
struct Table {
    core: Core,
    now: Nanos,
    conns: u64,
}

/// A client's end of a connection.
struct Client {
    id: ConnId,
    link: Arc<ClientLink>,
    wire: ClientSide,
    frames: Frames,
    session: SessionId,
    password: Password,
    xid: i32,
    /// The newest that it was shown.
    zxid: Zxid,
}

impl Table {
    fn new() -> Table {
        Table::of(1)
    }

    /// So many servers, which serve.
    fn of(servers: u8) -> Table {
        Table::with_snapshots(servers, super::host::SNAPSHOT_EVERY)
    }

    /// So many servers, which begin a snapshot each time that they have applied so many transactions.
    fn with_snapshots(servers: u8, every: u32) -> Table {
        let options = Options { tick_ms: 100, ..Options::default() };
        let entrances = (0..servers).map(|_| (0, Arc::default())).collect();
        let mut core = Core::new(&options, entrances, Record::new(100, None), 1_000_000);
        core.ensemble.cluster.hosts.iter_mut().for_each(|host| host.config.snapshot_every = every);
        core.start_all(0);
        let mut table = Table { core, now: 0, conns: 0 };
        while !table.core.all_serve() {
            table.advance(1);
        }
        table
    }

    /// A connection that has said nothing.
    fn connection(&mut self) -> Client {
        self.connection_to(0)
    }

    fn connection_to(&mut self, server: u8) -> Client {
        self.conns += 1;
        let (id, link) = (ConnId(self.conns), Arc::new(ClientLink::new(&self.core.conns.limits)));
        let peer = ([127, 0, 0, 1], 1).into();
        self.core.take(self.now, ToCore::Accepted { server, conn: id, link: link.clone(), peer });
        let (wire, frames) = (ClientSide::new(), Frames::of_server(u32::MAX));
        Client {
            id,
            link,
            wire,
            frames,
            session: SessionId::NONE,
            password: [0; 16],
            xid: 0,
            zxid: Zxid::ZERO,
        }
    }

    /// A new session.
    fn client(&mut self) -> Client {
        self.client_of(0)
    }

    /// A new session at a server.
    fn client_of(&mut self, server: u8) -> Client {
        let client = self.attached(server, SessionId::NONE, [0; 16], Zxid::ZERO);
        assert_ne!(client.session, SessionId::NONE);
        client
    }

    /// A session on a new connection, if it is granted.
    fn attached(&mut self, server: u8, session: SessionId, password: Password, last_zxid: Zxid) -> Client {
        let mut client = self.connection_to(server);
        let request = ConnectRequest { last_zxid, timeout_ms: 1000, session, password };
        client.zxid = last_zxid;
        self.say(&mut client, &ToServer::Connect(request));
        for heard in client.hear() {
            if let ToClient::Connected(granted) = heard {
                (client.session, client.password) = (granted.session, granted.password);
            }
        }
        client
    }

    /// A client's session on another connection to a server, if it is granted; a new one if it has none.
    fn again_at(&mut self, server: u8, client: &Client) -> Client {
        self.attached(server, client.session, client.password, client.zxid)
    }

    /// A client's connection is gone.
    fn gone(&mut self, client: &Client) {
        self.core.take(self.now, ToCore::Gone { conn: client.id });
    }

    fn say(&mut self, client: &mut Client, message: &ToServer) {
        let frames = client.frames_of(message);
        self.core.take(self.now, ToCore::Frames { conn: client.id, frames });
    }

    fn ask(&mut self, client: &mut Client, request: Request) -> Vec<ToClient> {
        client.xid += 1;
        self.say(client, &ToServer::Request { xid: Xid(client.xid), request });
        client.hear()
    }

    fn advance(&mut self, ms: u64) {
        let end = self.now + ms * MS;
        while let Some(due) = self.core.next_due().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.core.pass(self.now);
        }
        self.now = end;
    }

    /// What is broken, by name.
    fn broken(&mut self) -> Vec<&'static str> {
        let verdict = self.core.verdict(self.now);
        let broken = verdict.invariants.iter().filter(|judged| judged.verdict == Finding::Broken);
        broken.map(|judged| judged.name).collect()
    }
}

impl Client {
    /// A message as it comes from its connection.
    fn frames_of(&mut self, message: &ToServer) -> Vec<Vec<u8>> {
        let (mut bytes, mut frames, mut all) = (Vec::new(), Frames::of_client(), Vec::new());
        self.wire.encode(message, &mut bytes).expect("a message");
        frames.push(&bytes);
        while let Ok(Some(Piece::Frame(frame))) = frames.next_piece() {
            // One whose connection has ended finds none.
            if self.link.try_place(frame.len()) {
                all.push(frame);
            }
        }
        all
    }

    /// What has come and can be understood.
    fn hear(&mut self) -> Vec<ToClient> {
        if let Unsent::Bytes(bytes) = self.link.take() {
            self.link.sent(bytes.len(), usize::MAX);
            self.frames.push(&bytes);
        }
        let mut all = Vec::new();
        while let Ok(Some(Piece::Frame(frame))) = self.frames.next_piece() {
            all.extend(self.wire.decode(&frame));
            if let Some(
                ToClient::Reply { zxid, .. } | ToClient::WatchesSet { zxid } | ToClient::Pong { zxid },
            ) = all.last()
            {
                self.zxid = self.zxid.max(*zxid);
            }
        }
        all
    }
}

fn create(path: &str, mode: CreateMode) -> Request {
    Request::Create { path: path.into(), data: Data::from("x"), acl: open_acl(), mode, stat: false }
}

fn get(path: &str, watch: bool) -> Request {
    Request::GetData { path: path.into(), watch }
}

fn set(path: &str) -> Request {
    Request::SetData { path: path.into(), data: "y".into(), version: -1 }
}

/// Two clients work on a server that is wrong as `plant` makes it, and go.
fn broken_by(mut plant: impl FnMut(&mut Vec<Output>) + Send + 'static) -> Vec<&'static str> {
    let mut table = Table::new();
    let (mut a, mut b) = (table.client(), table.client());
    table.ask(&mut a, create("/a", CreateMode::Persistent));
    table.ask(&mut b, create("/e", CreateMode::Ephemeral));
    table.ask(&mut b, get("/a", true));
    table.core.plant = Box::new(move |_, out| plant(out));
    table.ask(&mut a, set("/a"));
    table.ask(&mut b, get("/a", false));
    table.ask(&mut a, get("/a", false));
    table.ask(&mut a, Request::CloseSession);
    table.advance(1000);
    table.broken()
}

/// A plant that changes what is said, one thing at a time.
fn each(change: impl Fn(&mut Output) + Send + 'static) -> impl FnMut(&mut Vec<Output>) + Send + 'static {
    move |out| out.iter_mut().for_each(&change)
}

#[test]
fn a_client_whose_message_waits_in_our_queue_is_not_silent() {
    let mut table = Table::new();
    let mut client = table.client();
    let ((to_core, messages), (_stops, errands)) = (mpsc::channel(1), mpsc::channel(1));
    let frames = client.frames_of(&ToServer::Ping);
    to_core.try_send(ToCore::Frames { conn: client.id, frames }).expect("a queue with room");
    let (up, served, started) = (Vec::new(), watch::channel(true).0, Instant::now());
    let mut driver = Driver { core: table.core, started, messages, errands, up, served };
    // We are late by twice the session's timeout.
    driver.started -= Duration::from_secs(2);
    driver.pass();
    assert_eq!(driver.core.show(0).sessions().len(), 1);
    driver.started -= Duration::from_secs(2);
    driver.pass();
    assert_eq!(driver.core.show(0).sessions().len(), 0, "nothing more has come");
    assert!(driver.core.verdict(0).held);
}

#[test]
fn a_server_that_is_right_breaks_nothing_and_puts_all_to_the_test() {
    let mut table = Table::new();
    let (mut a, mut b) = (table.client(), table.client());
    table.ask(&mut a, create("/a", CreateMode::Persistent));
    table.ask(&mut b, create("/e", CreateMode::Ephemeral));
    table.ask(&mut b, get("/a", true));
    table.ask(&mut a, set("/a"));
    table.ask(&mut b, get("/a", false));
    table.advance(5000);
    let verdict = table.core.verdict(table.now);
    assert!(verdict.held, "{verdict:?}");
    let idle = verdict.invariants.iter().find(|judged| judged.verdict != Finding::Held);
    assert_eq!(idle, None, "nothing is left out");
}

#[test]
fn an_answer_that_is_wrong_is_seen() {
    let broken = broken_by(each(|output| {
        if let Output::Send {
            message: ToClient::Reply { result: Ok(Response::Data { data, .. }), .. }, ..
        } = output
        {
            *data = Data::from("z");
        }
    }));
    assert_eq!(broken, [Invariant::AnswersMatchReference.name()]);
}

#[test]
fn an_answer_that_shows_an_older_state_is_seen() {
    let broken = broken_by(each(|output| {
        if let Output::Send {
            message: ToClient::Reply { zxid, result: Ok(Response::Data { .. }), .. }, ..
        } = output
        {
            *zxid = Zxid::new(1, 1);
        }
    }));
    assert!(broken.contains(&Invariant::ZxidsNeverGoBack.name()), "{broken:?}");
}

#[test]
fn answers_in_another_order_are_seen() {
    let broken = broken_by(each(|output| {
        if let Output::Send { message: ToClient::Reply { xid, .. }, .. } = output {
            *xid = Xid(xid.0 + 1);
        }
    }));
    assert!(broken.contains(&Invariant::SessionFifo.name()), "{broken:?}");
}

#[test]
fn an_event_that_is_not_told_is_seen() {
    let broken = broken_by(|out| {
        out.retain(|output| !matches!(output, Output::Send { message: ToClient::Event { .. }, .. }));
    });
    assert_eq!(broken, [Invariant::WatchBeforeAnswer.name()]);
}

#[test]
fn a_write_before_one_that_was_acknowledged_is_seen() {
    let old = Zxid::new(1, 1);
    let broken = broken_by(each(move |output| match output {
        Output::Note(
            Note::Zab(zab::Note::Proposed(txn) | zab::Note::Committed(txn)) | Note::Applied(txn),
        ) if matches!(txn.body, TxnBody::SetData { .. }) => {
            *txn = Arc::new(Txn { zxid: old, ..(**txn).clone() });
        }
        _ => {}
    }));
    assert!(broken.contains(&Invariant::RealTimeOrderOfWrites.name()), "{broken:?}");
}

#[test]
fn ephemerals_that_outlive_their_session_are_seen() {
    let broken = broken_by(each(|output| {
        if let Output::Note(Note::Zab(zab::Note::Proposed(txn)) | Note::Applied(txn)) = output
            && let TxnBody::CloseSession { .. } = txn.body
        {
            // It says that the other one has ended, whose znode is still there.
            let session = SessionId::new(txn.session.get() + 1);
            *txn = Arc::new(Txn { session, ..(**txn).clone() });
        }
    }));
    assert!(broken.contains(&Invariant::EphemeralsOfDeadSessionsGone.name()), "{broken:?}");
}

#[test]
fn a_panic_is_seen_and_the_server_is_down() {
    let mut table = Table::new();
    let mut client = table.client();
    table.core.plant = Box::new(|_, _| panic!("planted"));
    table.ask(&mut client, get("/", false));
    assert_eq!(table.broken(), [Invariant::NoPanic.name()]);
    assert!(table.core.up().all(|up| up.is_none()) && client.link.take() == Unsent::End);
}

#[test]
fn an_expiry_that_is_too_early_is_seen_and_one_by_force_is_none() {
    for forced in [true, false] {
        let mut table = Table::new();
        let client = table.client();
        if forced {
            let session = Target::Session(client.session);
            table.core.fault(table.now, &Fault::Expire { session }).expect("it can be done");
        } else {
            table.core.stage.next(0, Event::Expire { session: client.session });
            table.core.run();
        }
        let expected: &[&str] = if forced { &[] } else { &[Invariant::NoEarlyExpiry.name()] };
        assert_eq!(table.broken(), expected);
    }
}

#[test]
fn an_acknowledged_write_that_a_disk_has_lost_is_seen() {
    for bytes_lost in [0, 1] {
        let mut table = Table::new();
        let mut client = table.client();
        table.ask(&mut client, create("/a", CreateMode::Persistent));
        let crash = Fault::ServerCrash { server: 0, down_ms: 10, mid_sync: false };
        table.core.fault(table.now, &crash).expect("it can be done");
        let disk = &mut table.core.ensemble.cluster.hosts[0].disk;
        let mut files = disk.files();
        let (_, log) = files.iter_mut().rfind(|(file, _)| matches!(file, FileId::Log(_))).expect("a log");
        log.truncate(log.len() - bytes_lost);
        *disk = zk_cluster::disk::Disk::with(files);
        table.advance(10);
        assert!(table.core.up().all(|up| up.is_some()));
        let expected: &[&str] =
            if bytes_lost == 0 { &[] } else { &[Invariant::AcknowledgedWritesSurvive.name()] };
        assert!(table.broken().starts_with(expected) && table.broken().is_empty() == expected.is_empty());
    }
}

#[test]
fn what_is_done_to_the_answers_of_one_client_does_not_break_anything() {
    for what in [Loss::AnswersLost, Loss::RequestsLost, Loss::InFlight { for_ms: 20 }, Loss::Silence] {
        let mut table = Table::new();
        let (mut a, mut b) = (table.client(), table.client());
        let when = When::NextRequest(RequestKind::Create);
        let session = Target::Session(a.session);
        table.core.fault(table.now, &Fault::Drop { session, when, what }).expect("it can be done");
        assert!(table.ask(&mut a, create("/a", CreateMode::Persistent)).is_empty(), "{what:?}");
        table.advance(50);
        let there = matches!(
            &table.ask(&mut b, get("/a", false))[..],
            [ToClient::Reply { result: Ok(Response::Data { .. }), .. }]
        );
        // Silence falls with the request, which is under way then.
        let served = matches!(what, Loss::AnswersLost | Loss::InFlight { .. });
        assert_eq!(there, served, "{what:?}");
        table.advance(5000);
        assert_eq!(table.broken(), [""; 0], "{what:?}");
    }
}

#[test]
fn after_a_pause_overdue_sessions_expire_at_once() {
    let mut table = Table::new();
    let _client = table.client();
    table.core.fault(table.now, &Fault::ServerPause { server: 0, for_ms: 3000 }).expect("it can be done");
    table.advance(2900);
    assert!(table.core.is_paused() && table.core.conns.sessions.len() == 1);
    table.advance(100);
    assert!(!table.core.is_paused() && table.core.conns.sessions.is_empty());
    assert_eq!(table.broken(), [""; 0]);
}

#[test]
fn a_wrong_password_does_not_make_an_early_expiry_unseen() {
    let mut table = Table::new();
    let client = table.client();
    let mut thief = table.connection();
    let (session, password) = (client.session, [9; 16]);
    let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: 200, session, password };
    table.say(&mut thief, &ToServer::Connect(request));
    table.advance(500);
    table.core.stage.next(0, Event::Expire { session });
    table.core.run();
    assert_eq!(table.broken(), [Invariant::NoEarlyExpiry.name()]);
}

#[test]
fn a_server_that_is_dropped_drops_its_connections_also_late_and_silent_ones() {
    let mut table = Table::new();
    let (a, mut b, c) = (table.client(), table.client(), table.client());
    let session = Target::Session(b.session);
    let slow = Fault::SlowLink { session, delay_ms: 100, for_ms: 9000 };
    table.core.fault(table.now, &slow).expect("it can be done");
    let session = Target::Session(c.session);
    let silent = Fault::Drop { session, when: When::Now, what: Loss::Silence };
    table.core.fault(table.now, &silent).expect("it can be done");
    assert!(table.ask(&mut b, get("/", false)).is_empty());
    table.advance(150);
    table.core.take(table.now, ToCore::Gone { conn: b.id });
    drop(table);
    for client in [a, b, c] {
        assert_eq!(client.link.state(), State::Aborted);
    }
}

#[test]
fn of_clients_that_are_gone_nothing_is_kept() {
    let mut table = Table::new();
    for n in 0..100 {
        let mut client = table.client();
        table.ask(&mut client, create(&format!("/e{n}"), CreateMode::Ephemeral));
        table.ask(&mut client, get("/", true));
        table.core.take(table.now, ToCore::Gone { conn: client.id });
    }
    table.advance(5000);
    let core = &table.core;
    assert!(core.conns.all.is_empty() && core.conns.sessions.is_empty() && core.conns.armed.is_empty());
    assert!(
        core.ensemble.proposed.is_empty()
            && core.stage.put_off().next().is_none()
            && core.stage.look_again.is_empty()
    );
    assert_eq!(
        core.ensemble.cluster.hosts[0].server.as_ref().map(|server| server.watches().is_empty()),
        Some(true)
    );
    assert_eq!(table.broken(), [""; 0]);
}

#[test]
fn a_moment_tells_who_is_connected_what_is_there_and_since_when_nothing_has_moved() {
    let mut table = Table::new();
    let (mut a, b) = (table.client(), table.client());
    table.ask(&mut a, create("/a", CreateMode::Persistent));
    table.advance(300);
    table.ask(&mut a, create("/e", CreateMode::Ephemeral));
    table.advance(200);
    // Whoever tries in vain moves nothing.
    table.ask(&mut a, create("/e", CreateMode::Ephemeral));
    table.gone(&b);
    let moment = |table: &Table| table.core.show(table.now).moment();
    let found = moment(&table);
    assert_eq!((found.still_for, found.all_serve), (Duration::from_millis(200), true));
    assert_eq!(found.connected, [a.session], "the other's session is there still");
    for (path, owner) in [("/a", SessionId::NONE), ("/e", a.session)] {
        assert!(found.znodes.contains(&(path.into(), owner)), "{path}: {:?}", found.znodes);
    }
    table.core.crash(0);
    assert!(!moment(&table).all_serve);
}
