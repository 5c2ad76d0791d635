//! What ZooKeeper's Java client does about its session: a test for each fact.

use crate::facts::{create, exists, get, is_there};
use crate::rig::{Rig, Told, config};
use zk_api::{CreateMode, ErrorCode, EventType, KeeperState, Request, Response, WatchedEvent};
use zk_proto::client::CallId;
use zk_proto::server::Event;

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
