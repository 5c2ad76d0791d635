//! What ZooKeeper's Java client does about its session: a test for each fact.

use crate::server::facts::{create, exists, get, is_there, set};
use crate::server::rig::{Rig, Told, config};
use zk_api::{
    CreateMode, ErrorCode, EventType, KeeperState, Request, Response, SessionId, WatchedEvent, Zxid,
};
use zk_proto::client::{
    CallId, ClientConfig, ClientEvent, ClientInput, ClientOutput, ClientSession, ClientTimer,
};
use zk_proto::message::{ConnId, ConnectResponse, ToClient, ToServer, Xid};
use zk_proto::server::{Event, ServerId};

#[test]
fn an_unknown_scheme_is_auth_failed_and_ends_the_connection() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    rig.call(client, exists("/a", true)).unwrap();
    let auth = |scheme: &str| Request::Auth { scheme: scheme.into(), credentials: "u:p".into() };
    assert_eq!(rig.call(client, auth("digest")), Ok(Response::Authenticated));
    let Ok(Response::WhoAmI(who)) = rig.call(client, Request::WhoAmI) else { panic!() };
    assert_eq!(who.len(), 1);
    assert_eq!(rig.call(client, auth("no-such-scheme")), Err(ErrorCode::AuthFailed));
    assert_eq!(rig.clients[client].session.state(), KeeperState::AuthFailed);
    let ended = WatchedEvent::session_ended(KeeperState::AuthFailed);
    assert!(
        rig.clients[client].told.iter().any(|told| matches!(told, Told::Event(_, e, true) if *e == ended))
    );
    assert_eq!(rig.call(client, exists("/", false)), Err(ErrorCode::AuthFailed));
}

#[test]
fn a_connection_that_comes_too_late_hears_that_its_session_is_expired() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    let session = rig.clients[client].session.session();
    rig.call(client, exists("/a", true)).unwrap();
    rig.silence(client);
    // The client gives up after two thirds, then must learn from the server.
    rig.serve(Event::Expire { session });
    rig.advance(1200);
    let told = &rig.clients[client].told;
    let states: Vec<_> =
        told.iter().filter_map(|t| if let Told::State(s) = t { Some(*s) } else { None }).collect();
    assert_eq!(states, [KeeperState::SyncConnected, KeeperState::Disconnected, KeeperState::Expired]);
    let ended = WatchedEvent::session_ended(KeeperState::Expired);
    assert!(told.iter().any(|t| matches!(t, Told::Event(_, e, true) if *e == ended)));
    assert_eq!(rig.call(client, exists("/", false)), Err(ErrorCode::SessionExpired));
}

#[test]
fn a_pinging_client_never_expires() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    rig.call(client, create("/e", CreateMode::Ephemeral)).unwrap();
    rig.advance(60_000);
    assert!(is_there(&rig, "/e"));
    assert_eq!(rig.clients[client].session.state(), KeeperState::SyncConnected);
}

#[test]
fn what_is_outstanding_when_the_connection_is_lost_fails_in_order() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    let calls = [exists("/", false), create("/a", CreateMode::Persistent), exists("/", false)]
        .map(|request| rig.submit(client, request));
    rig.drop_connection(client);
    let failed: Vec<CallId> = rig.clients[client]
        .told
        .iter()
        .filter_map(|told| match told {
            Told::Done(call, Err(e), None) if e.code == ErrorCode::ConnectionLoss => Some(*call),
            _ => None,
        })
        .collect();
    assert_eq!(failed, calls);
}

#[test]
fn what_is_submitted_between_connections_waits_for_the_next_attempt() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    rig.drop_connection(client);
    let call = rig.submit(client, exists("/", false));
    assert_eq!(rig.answer(client, call), None);
    rig.advance(500);
    assert!(matches!(rig.answer(client, call), Some(Ok(Response::Exists(Some(_))))));
    // And it fails with that attempt if it fails.
    rig.crash(0);
    rig.settle();
    let call = rig.submit(client, exists("/", false));
    assert_eq!(rig.answer(client, call), None);
    rig.advance(500);
    assert_eq!(rig.answer(client, call).unwrap().unwrap_err().code, ErrorCode::ConnectionLoss);
}

#[test]
fn watches_and_credentials_are_repeated_before_anything_else() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(2000);
    rig.call(client, Request::Auth { scheme: "digest".into(), credentials: "u:p".into() }).unwrap();
    rig.call(client, get("/", true)).unwrap();
    rig.call(client, exists("/a", true)).unwrap();
    rig.drop_connection(client);
    rig.submit(client, create("/a", CreateMode::Persistent));
    let who = rig.submit(client, Request::WhoAmI);
    rig.advance(500);
    let Some(Ok(Response::WhoAmI(identities))) = rig.answer(client, who) else { panic!() };
    assert_eq!(identities.len(), 1);
    let told = &rig.clients[client].told;
    let created = WatchedEvent::node(EventType::NodeCreated, "/a".into());
    assert!(told.iter().any(|t| matches!(t, Told::Event(_, e, true) if *e == created)));
}

#[test]
fn closing_ends_the_session_and_its_watches() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    rig.call(client, exists("/a", true)).unwrap();
    rig.call(client, create("/e", CreateMode::Ephemeral)).unwrap();
    let close = rig.submit(client, Request::CloseSession);
    let late = rig.submit(client, exists("/", false));
    rig.settle();
    assert_eq!(rig.answer(client, close), Some(Ok(Response::Closed)));
    assert_eq!(rig.answer(client, late).unwrap().unwrap_err().code, ErrorCode::SessionExpired);
    assert_eq!(rig.clients[client].session.state(), KeeperState::Closed);
    let ended = WatchedEvent::session_ended(KeeperState::Closed);
    assert!(rig.clients[client].told.iter().any(|t| matches!(t, Told::Event(_, e, true) if *e == ended)));
    assert!(!is_there(&rig, "/e"));
}

/// What a client on its own wants done when something happens.
fn step(client: &mut ClientSession, now_ms: i64, event: ClientEvent) -> Vec<ClientOutput> {
    let mut out = Vec::new();
    client.step(ClientInput { now_ms, event }, &mut out);
    out
}

fn of_three_servers() -> ClientSession {
    let servers = [1, 2, 3].map(ServerId).to_vec();
    ClientSession::new(ClientConfig { servers, timeout_ms: 3000 })
}

#[test]
fn an_attempt_to_connect_has_its_share_of_the_timeout_then_the_next_server_is_tried() {
    let mut client = of_three_servers();
    let liveness = |after_ms| ClientOutput::SetTimer { timer: ClientTimer::Liveness, after_ms };
    let open = |server| ClientOutput::Open { server: ServerId(server) };
    assert_eq!(step(&mut client, 0, ClientEvent::Start), [open(1), liveness(1000)]);
    // The connection opens, but the server says nothing.
    step(&mut client, 900, ClientEvent::Opened { conn: ConnId(1) });
    let out = step(&mut client, 1000, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out[0], ClientOutput::Close { conn: Some(ConnId(1)) });
    // The next does not even open.
    let out = step(&mut client, 1050, ClientEvent::Timer(ClientTimer::Reconnect));
    assert_eq!(out, [open(2), liveness(1000)]);
    let out = step(&mut client, 2049, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out, [liveness(1)]);
    let out = step(&mut client, 2050, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out[0], ClientOutput::Close { conn: None });
    assert_eq!(step(&mut client, 2150, ClientEvent::Timer(ClientTimer::Reconnect))[0], open(3));
}

#[test]
fn attempts_come_slower_up_to_one_second_and_go_round_the_servers() {
    let mut client = of_three_servers();
    step(&mut client, 0, ClientEvent::Start);
    let mut tried = Vec::new();
    let mut waits = Vec::new();
    for conn in 1..9 {
        let out = step(&mut client, 0, ClientEvent::Lost { conn: ConnId(conn) });
        waits.extend(out.iter().filter_map(|output| match output {
            ClientOutput::SetTimer { timer: ClientTimer::Reconnect, after_ms } => Some(*after_ms),
            _ => None,
        }));
        let out = step(&mut client, 0, ClientEvent::Timer(ClientTimer::Reconnect));
        tried.extend(out.iter().filter_map(|output| match output {
            ClientOutput::Open { server } => Some(server.0),
            _ => None,
        }));
    }
    assert_eq!(waits, [50, 100, 200, 400, 800, 1000, 1000, 1000]);
    assert_eq!(tried, [2, 3, 1, 2, 3, 1, 2, 3]);
}

/// Source: `ClientCnxn.readResponse`, which returns from pings and events before it looks at the zxid.
#[test]
fn the_next_server_is_another_one_and_need_not_know_of_more_than_answers_have_told() {
    let mut client = of_three_servers();
    step(&mut client, 0, ClientEvent::Start);
    step(&mut client, 0, ClientEvent::Opened { conn: ConnId(1) });
    let session = SessionId::new(7);
    let granted = ConnectResponse { timeout_ms: 3000, session, password: [0; 16] };
    let event = WatchedEvent::node(EventType::NodeCreated, "/a".into());
    let answer = Ok(Response::Synced { path: "/".into() });
    step(
        &mut client,
        0,
        ClientEvent::Submit { call: CallId(1), request: Request::Sync { path: "/".into() } },
    );
    let (xid, zxid) = (Xid(1), |counter| Zxid::new(1, counter));
    let messages = [
        ToClient::Connected(granted),
        ToClient::Reply { xid, zxid: zxid(3), result: answer },
        ToClient::Event { zxid: Some(zxid(5)), event },
        ToClient::Pong { zxid: zxid(6) },
    ];
    for message in messages {
        step(&mut client, 0, ClientEvent::Received { conn: ConnId(1), message });
    }
    step(&mut client, 0, ClientEvent::Lost { conn: ConnId(1) });
    let out = step(&mut client, 100, ClientEvent::Timer(ClientTimer::Reconnect));
    assert_eq!(out[0], ClientOutput::Open { server: ServerId(2) });
    let out = step(&mut client, 100, ClientEvent::Opened { conn: ConnId(2) });
    let ClientOutput::Send { message: ToServer::Connect(asked), .. } = &out[0] else { panic!("{out:?}") };
    assert_eq!((asked.session, asked.last_zxid), (session, zxid(3)));
    step(&mut client, 100, ClientEvent::Lost { conn: ConnId(2) });
    let out = step(&mut client, 200, ClientEvent::Timer(ClientTimer::Reconnect));
    assert_eq!(out[0], ClientOutput::Open { server: ServerId(3) });
}

#[test]
fn one_event_reaches_every_listener_of_its_path_and_a_persistent_one_stays() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    let mode = zk_api::AddWatchMode::PersistentRecursive;
    for request in [
        exists("/a", true),
        exists("/a", true),
        Request::AddWatch { path: "/".into(), mode },
        Request::GetChildren { path: "/".into(), watch: true, stat: false },
    ] {
        rig.call(client, request).unwrap();
    }
    rig.clients[client].told.clear();
    rig.call(client, create("/a", CreateMode::Persistent)).unwrap();
    rig.call(client, set("/a", "x")).unwrap();
    let events: Vec<(u64, EventType, bool)> = rig.clients[client]
        .told
        .iter()
        .filter_map(|told| match told {
            Told::Event(watch, event, last) => Some((watch.0, event.kind, *last)),
            Told::Done(..) | Told::State(_) => None,
        })
        .collect();
    let expected = [
        (1, EventType::NodeCreated, true),
        (2, EventType::NodeCreated, true),
        (3, EventType::NodeCreated, false),
        (4, EventType::NodeChildrenChanged, true),
        (3, EventType::NodeDataChanged, false),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_client_whose_clock_is_set_back_goes_on_pinging() {
    let mut client = of_three_servers();
    step(&mut client, 1_000_000, ClientEvent::Start);
    let conn = ConnId(1);
    step(&mut client, 1_000_000, ClientEvent::Opened { conn });
    let granted = ConnectResponse { timeout_ms: 3000, session: SessionId::new(1), password: [1; 16] };
    step(&mut client, 1_000_000, ClientEvent::Received { conn, message: ToClient::Connected(granted) });
    let liveness = |after_ms| ClientOutput::SetTimer { timer: ClientTimer::Liveness, after_ms };
    let out = step(&mut client, 5000, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out, [liveness(1000)]);
    let out = step(&mut client, 6000, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out, [ClientOutput::Send { conn, message: ToServer::Ping }, liveness(1000)]);
    let out = step(&mut client, 7000, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out[0], ClientOutput::Close { conn: Some(conn) });
}

#[test]
fn a_former_connection_that_is_lost_late_takes_nothing_with_it() {
    let mut client = of_three_servers();
    let (former, conn) = (ConnId(1), ConnId(2));
    step(&mut client, 0, ClientEvent::Start);
    step(&mut client, 0, ClientEvent::Opened { conn: former });
    let out = step(&mut client, 1000, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out[0], ClientOutput::Close { conn: Some(former) });
    step(&mut client, 1050, ClientEvent::Timer(ClientTimer::Reconnect));
    step(&mut client, 1060, ClientEvent::Opened { conn });
    assert!(step(&mut client, 1070, ClientEvent::Lost { conn: former }).is_empty());
    assert!(!step(&mut client, 1080, ClientEvent::Lost { conn }).is_empty());
}

#[test]
fn a_client_goes_by_the_timeout_that_it_is_granted() {
    let mut client = of_three_servers();
    step(&mut client, 0, ClientEvent::Start);
    let conn = ConnId(1);
    step(&mut client, 0, ClientEvent::Opened { conn });
    let granted = ConnectResponse { timeout_ms: 6000, session: SessionId::new(1), password: [1; 16] };
    let out = step(&mut client, 0, ClientEvent::Received { conn, message: ToClient::Connected(granted) });
    let liveness = |after_ms| ClientOutput::SetTimer { timer: ClientTimer::Liveness, after_ms };
    assert_eq!(out.last(), Some(&liveness(2000)), "it has asked for 3000");
    step(&mut client, 3999, ClientEvent::Timer(ClientTimer::Liveness));
    let out = step(&mut client, 4000, ClientEvent::Timer(ClientTimer::Liveness));
    assert_eq!(out[0], ClientOutput::Close { conn: Some(conn) });
}
