//! What a real ZooKeeper 3.9.3 was measured to do about sessions, standalone: a test for each fact.

use crate::server::rig::{Rig, Told, config};
use zk_api::{
    CreateMode, Data, ErrorCode, EventType, Op, Request, Response, SessionId, Text, WatchedEvent, Zxid,
    open_acl,
};
use zk_proto::message::{ConnId, ConnectRequest, ConnectResponse, ToClient, ToServer, WatchList, Xid};
use zk_proto::server::{Event, Note, Output};
use zk_proto::txn::TxnBody;
use zk_proto::zab;

pub fn create(path: &str, mode: CreateMode) -> Request {
    Request::Create { path: path.into(), data: Data::NULL, acl: open_acl(), mode, stat: false }
}

pub fn set(path: &str, data: &str) -> Request {
    Request::SetData { path: path.into(), data: data.into(), version: -1 }
}

pub fn exists(path: &str, watch: bool) -> Request {
    Request::Exists { path: path.into(), watch }
}

pub fn get(path: &str, watch: bool) -> Request {
    Request::GetData { path: path.into(), watch }
}

fn sync() -> Request {
    Request::Sync { path: "/".into() }
}

pub fn new_session(timeout_ms: u32) -> ConnectRequest {
    ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms, session: SessionId::NONE, password: [0; 16] }
}

pub fn again(granted: &ConnectResponse) -> ConnectRequest {
    ConnectRequest {
        last_zxid: Zxid::ZERO,
        timeout_ms: granted.timeout_ms,
        session: granted.session,
        password: granted.password,
    }
}

/// A raw connection with a new session, as the server has granted it.
pub fn raw_session(rig: &mut Rig, timeout_ms: u32) -> (ConnId, ConnectResponse) {
    let conn = rig.raw(new_session(timeout_ms));
    rig.settle();
    match &rig.seen(conn)[0] {
        Some(ToClient::Connected(granted)) => (conn, granted.clone()),
        other => panic!("{other:?}"),
    }
}

pub fn ask(rig: &mut Rig, conn: ConnId, xid: i32, request: Request) {
    rig.say(conn, ToServer::Request { xid: Xid(xid), request });
}

fn is_eof(rig: &Rig, conn: ConnId) -> bool {
    rig.seen(conn).last() == Some(&None)
}

/// The answers on a raw connection, by xid.
pub fn replies(rig: &Rig, conn: ConnId) -> Vec<(i32, Result<Response, ErrorCode>)> {
    rig.seen(conn)
        .iter()
        .filter_map(|message| match message {
            Some(ToClient::Reply { xid, result, .. }) => Some((xid.0, result.clone())),
            _ => None,
        })
        .collect()
}

pub fn is_there(rig: &Rig, path: &str) -> bool {
    rig.server.as_ref().unwrap().tree().node(path).is_some()
}

#[test]
fn the_first_transaction_of_an_epoch_is_number_one_and_a_session_takes_one() {
    let mut rig = Rig::serving(config());
    rig.connected(1000);
    assert_eq!(rig.applied, [Zxid::new(1, 1)]);
    rig.crash(0);
    rig.start().unwrap();
    rig.settle();
    rig.advance(500);
    let client = rig.connected(1000);
    rig.call(client, create("/a", CreateMode::Persistent)).unwrap();
    assert_eq!(rig.applied, [Zxid::new(1, 1), Zxid::new(2, 1), Zxid::new(2, 2)]);
}

#[test]
fn every_write_takes_a_zxid_also_if_it_fails_and_no_read_does() {
    let mut rig = Rig::serving(config());
    let (conn, _) = raw_session(&mut rig, 1000);
    let check = Op::Check { path: "/".into(), version: -1 };
    let requests = [
        create("/a", CreateMode::Persistent),
        create("/a", CreateMode::Persistent),
        exists("/a", false),
        sync(),
        set("/none", ""),
        Request::Multi { ops: vec![check] },
        Request::CloseSession,
    ];
    for (xid, request) in requests.into_iter().enumerate() {
        ask(&mut rig, conn, xid as i32, request);
    }
    rig.say(conn, ToServer::Ping);
    rig.settle();
    let zxids: Vec<u32> = rig
        .seen(conn)
        .iter()
        .filter_map(|message| match message {
            Some(ToClient::Reply { zxid, .. }) => Some(zxid.counter()),
            _ => None,
        })
        .collect();
    assert_eq!(zxids, [2, 3, 3, 3, 4, 5, 6]);
}

#[test]
fn timeouts_are_clamped_to_2_and_20_ticks() {
    let mut rig = Rig::serving(config());
    let granted = [1, 1000, 5000, 60_000].map(|asked| raw_session(&mut rig, asked).1.timeout_ms);
    assert_eq!(granted, [1000, 1000, 5000, 10_000]);
}

#[test]
fn a_second_connection_takes_the_session_over_and_the_first_is_closed() {
    let mut rig = Rig::serving(config());
    let (first, granted) = raw_session(&mut rig, 1000);
    let second = rig.raw(again(&granted));
    rig.settle();
    assert!(is_eof(&rig, first));
    assert_eq!(rig.seen(second), [Some(ToClient::Connected(granted))]);
    ask(&mut rig, second, 1, exists("/", false));
    rig.settle();
    assert_eq!(replies(&rig, second).len(), 1);
}

#[test]
fn nothing_more_of_the_former_connection_is_taken() {
    let mut rig = Rig::serving(config());
    let (first, granted) = raw_session(&mut rig, 1000);
    ask(&mut rig, first, 1, create("/late", CreateMode::Persistent));
    let second = rig.raw(again(&granted));
    while rig.deliver_up(second) {}
    rig.settle();
    assert!(is_eof(&rig, first) && !is_there(&rig, "/late"));
}

#[test]
fn a_wrong_password_is_told_no_session_and_drops_the_owner_but_the_session_lives() {
    let mut rig = Rig::serving(config());
    let (owner, granted) = raw_session(&mut rig, 1000);
    let mut wrong = again(&granted);
    wrong.password = [9; 16];
    let thief = rig.raw(wrong);
    rig.settle();
    let none = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password: [0; 16] };
    assert_eq!(rig.seen(thief), [Some(ToClient::Connected(none)), None]);
    assert!(is_eof(&rig, owner));
    let right = rig.raw(again(&granted));
    rig.settle();
    assert_eq!(rig.seen(right), [Some(ToClient::Connected(granted))]);
}

#[test]
fn a_dead_session_is_told_no_session() {
    let mut rig = Rig::serving(config());
    let (closed, granted) = raw_session(&mut rig, 1000);
    ask(&mut rig, closed, 1, Request::CloseSession);
    rig.settle();
    let (_, silent) = raw_session(&mut rig, 1000);
    rig.advance(2000);
    for dead in [granted, silent] {
        let conn = rig.raw(again(&dead));
        rig.settle();
        let none = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password: [0; 16] };
        assert_eq!(rig.seen(conn), [Some(ToClient::Connected(none)), None]);
    }
}

#[test]
fn a_client_from_the_future_is_closed_without_a_reply() {
    let mut rig = Rig::serving(config());
    let (_, granted) = raw_session(&mut rig, 1000);
    let conn = rig.raw(ConnectRequest { last_zxid: Zxid::new(1, 2), ..again(&granted) });
    let fresh = rig.raw(ConnectRequest { last_zxid: Zxid::new(7, 0), ..new_session(1000) });
    rig.settle();
    assert_eq!(rig.seen(conn), [None]);
    assert_eq!(rig.seen(fresh), [None]);
}

#[test]
fn close_session_is_answered_then_the_connection_ends_and_what_was_pipelined_is_lost() {
    let mut rig = Rig::serving(config());
    let (conn, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, conn, 1, create("/before", CreateMode::Persistent));
    ask(&mut rig, conn, 2, Request::CloseSession);
    ask(&mut rig, conn, 3, create("/after", CreateMode::Persistent));
    rig.settle();
    let xids: Vec<i32> = replies(&rig, conn).iter().map(|(xid, _)| *xid).collect();
    assert_eq!(xids, [1, 2]);
    assert_eq!(replies(&rig, conn)[1].1, Ok(Response::Closed));
    assert!(is_eof(&rig, conn) && is_there(&rig, "/before") && !is_there(&rig, "/after"));
}

#[test]
fn a_silent_but_connected_client_is_cut_off_after_one_to_one_and_a_half_timeouts() {
    for offset in [0, 100, 499] {
        let mut rig = Rig::serving(config());
        rig.advance(offset);
        let (conn, _) = raw_session(&mut rig, 1000);
        rig.advance(1000);
        assert!(!is_eof(&rig, conn), "too early at {offset}");
        rig.advance(500);
        assert!(is_eof(&rig, conn), "too late at {offset}");
    }
}

#[test]
fn any_message_keeps_a_session_alive() {
    let messages = [
        ToServer::Ping,
        ToServer::Request { xid: Xid(1), request: exists("/", false) },
        ToServer::SetWatches { since: Zxid::ZERO, watches: WatchList::default() },
    ];
    for message in messages {
        let mut rig = Rig::serving(config());
        let (conn, _) = raw_session(&mut rig, 1000);
        for _ in 0..5 {
            rig.advance(900);
            rig.say(conn, message.clone());
            rig.settle();
        }
        assert!(!is_eof(&rig, conn), "{message:?}");
    }
}

#[test]
fn expired_session_loses_all_its_ephemerals_in_one_transaction() {
    let mut rig = Rig::serving(config());
    let (conn, granted) = raw_session(&mut rig, 1000);
    for (xid, path) in ["/p", "/p/a", "/p/b"].into_iter().enumerate() {
        let mode = if path == "/p" { CreateMode::Persistent } else { CreateMode::Ephemeral };
        ask(&mut rig, conn, xid as i32, create(path, mode));
    }
    rig.settle();
    let before = *rig.applied.last().unwrap();
    rig.advance(2000);
    assert_eq!(*rig.applied.last().unwrap(), before.next());
    assert!(is_there(&rig, "/p") && !is_there(&rig, "/p/a") && !is_there(&rig, "/p/b"));
    let server = rig.server.as_ref().unwrap();
    let stat = server.tree().stat("/p").unwrap();
    assert_eq!((stat.cversion(), stat.num_children(), stat.pzxid()), (4, 0, before.next()));
    assert!(server.sessions().find(granted.session).is_none());
}

#[test]
fn an_expiry_has_its_effects_only_when_it_is_committed() {
    let mut rig = Rig::serving(config());
    let (conn, granted) = raw_session(&mut rig, 1000);
    ask(&mut rig, conn, 1, create("/e", CreateMode::Ephemeral));
    rig.settle();
    rig.serve(Event::Expire { session: granted.session });
    assert!(is_there(&rig, "/e"));
    // Its requests are not looked at any more; a re-attachment finds it dead.
    ask(&mut rig, conn, 2, create("/late", CreateMode::Persistent));
    while rig.deliver_up(conn) {}
    assert!(is_there(&rig, "/e") && !is_eof(&rig, conn));
    rig.settle();
    assert!(!is_there(&rig, "/e") && !is_there(&rig, "/late") && is_eof(&rig, conn));
    assert_eq!(replies(&rig, conn).len(), 1);
}

#[test]
fn a_session_that_is_being_expired_cannot_be_taken_over() {
    let mut rig = Rig::serving(config());
    let (_, granted) = raw_session(&mut rig, 1000);
    rig.serve(Event::Expire { session: granted.session });
    let conn = rig.raw(again(&granted));
    rig.settle();
    assert!(matches!(&rig.seen(conn)[0], Some(ToClient::Connected(r)) if r.timeout_ms == 0));
}

#[test]
fn any_session_may_delete_the_ephemerals_of_another() {
    let mut rig = Rig::serving(config());
    let (a, b) = (rig.connected(1000), rig.connected(1000));
    rig.call(a, create("/e", CreateMode::Ephemeral)).unwrap();
    rig.call(b, Request::Delete { path: "/e".into(), version: -1 }).unwrap();
    assert!(!is_there(&rig, "/e"));
}

#[test]
fn after_a_restart_sessions_live_on_with_a_full_timeout() {
    let mut rig = Rig::serving(config());
    let (_, granted) = raw_session(&mut rig, 1000);
    rig.advance(900);
    rig.crash(0);
    rig.advance(10_000);
    rig.start().unwrap();
    rig.settle();
    rig.advance(900);
    let conn = rig.raw(again(&granted));
    rig.settle();
    assert_eq!(rig.seen(conn), [Some(ToClient::Connected(granted))]);
}

#[test]
fn a_connect_is_answered_only_when_the_session_is_durable() {
    let mut rig = Rig::serving(config());
    let conn = rig.raw(new_session(1000));
    while rig.deliver_up(conn) || rig.deliver_down(conn) {}
    assert!(rig.seen(conn).is_empty());
    rig.sync();
    while rig.deliver_down(conn) {}
    assert_eq!(rig.seen(conn).len(), 1);
}

#[test]
fn a_server_that_is_not_ready_closes_without_a_reply() {
    let mut rig = Rig::new(config());
    rig.start().unwrap();
    let conn = rig.raw(new_session(1000));
    while rig.deliver_up(conn) || rig.deliver_down(conn) {}
    assert_eq!(rig.seen(conn), [None]);
}

#[test]
fn reads_and_pings_wait_for_their_sessions_own_writes_and_no_other_session_does() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    let (b, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, create("/a", CreateMode::Persistent));
    ask(&mut rig, a, 2, exists("/a", false));
    rig.say(a, ToServer::Ping);
    ask(&mut rig, b, 1, exists("/a", false));
    for conn in [a, b] {
        while rig.deliver_up(conn) {}
        while rig.deliver_down(conn) {}
    }
    assert_eq!(replies(&rig, b), [(1, Ok(Response::Exists(None)))]);
    assert_eq!(rig.seen(a).len(), 1);
    rig.settle();
    assert!(matches!(&replies(&rig, a)[..], [(1, Ok(_)), (2, Ok(Response::Exists(Some(_))))]));
    assert!(matches!(rig.seen(a).last(), Some(Some(ToClient::Pong { .. }))));
}

#[test]
fn a_read_waits_for_its_own_failing_write_too() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, set("/none", ""));
    ask(&mut rig, a, 2, exists("/", false));
    while rig.deliver_up(a) || rig.deliver_down(a) {}
    assert!(replies(&rig, a).is_empty());
    rig.settle();
    assert_eq!(replies(&rig, a)[0], (1, Err(ErrorCode::NoNode)));
}

#[test]
fn a_sync_is_answered_when_all_that_was_proposed_before_it_is_applied() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    let (b, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, create("/a", CreateMode::Persistent));
    while rig.deliver_up(a) {}
    ask(&mut rig, b, 1, sync());
    ask(&mut rig, b, 2, exists("/a", false));
    while rig.deliver_up(b) || rig.deliver_down(b) {}
    assert!(replies(&rig, b).is_empty());
    rig.settle();
    assert!(matches!(
        &replies(&rig, b)[..],
        [(1, Ok(Response::Synced { .. })), (2, Ok(Response::Exists(Some(_))))]
    ));
}

#[test]
fn sync_of_a_missing_path_is_ok() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    let path: Text = "/none".into();
    assert_eq!(rig.call(client, Request::Sync { path: path.clone() }), Ok(Response::Synced { path }));
}

#[test]
fn the_event_of_an_own_write_comes_before_its_reply_and_has_the_zxid_of_the_change() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, exists("/a", true));
    ask(&mut rig, a, 2, create("/a", CreateMode::Persistent));
    rig.settle();
    let event = WatchedEvent::node(EventType::NodeCreated, "/a".into());
    let seen = rig.seen(a);
    assert_eq!(seen[2], Some(ToClient::Event { zxid: Some(Zxid::new(1, 2)), event }));
    assert!(matches!(&seen[3], Some(ToClient::Reply { xid: Xid(2), .. })));
}

#[test]
fn the_event_of_anothers_write_comes_before_a_read_that_shows_it() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    let (b, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, exists("/a", true));
    ask(&mut rig, b, 1, create("/a", CreateMode::Persistent));
    while rig.deliver_up(a) {}
    while rig.deliver_up(b) {}
    rig.sync();
    ask(&mut rig, a, 2, exists("/a", false));
    rig.settle();
    assert!(matches!(
        &rig.seen(a)[2..],
        [Some(ToClient::Event { .. }), Some(ToClient::Reply { xid: Xid(2), .. })]
    ));
}

#[test]
fn set_watches_tells_what_was_missed_before_its_reply_and_arms_the_rest() {
    let mut rig = Rig::serving(config());
    let (a, granted) = raw_session(&mut rig, 1000);
    for (xid, path) in ["/changed", "/gone", "/same"].into_iter().enumerate() {
        ask(&mut rig, a, xid as i32, create(path, CreateMode::Persistent));
    }
    rig.settle();
    let since = *rig.applied.last().unwrap();
    let (b, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, b, 1, set("/changed", "x"));
    ask(&mut rig, b, 2, Request::Delete { path: "/gone".into(), version: -1 });
    rig.settle();
    let a = rig.raw(again(&granted));
    let data = ["/changed", "/gone", "/same"].map(Text::from).to_vec();
    rig.say(a, ToServer::SetWatches { since, watches: WatchList { data, ..WatchList::default() } });
    rig.settle();
    ask(&mut rig, b, 3, set("/same", "x"));
    rig.settle();
    let told: Vec<_> = rig.seen(a)[1..].iter().flatten().cloned().collect();
    let event =
        |zxid, kind, path: &str| ToClient::Event { zxid, event: WatchedEvent::node(kind, path.into()) };
    assert_eq!(told[0], event(None, EventType::NodeDataChanged, "/changed"));
    assert_eq!(told[1], event(None, EventType::NodeDeleted, "/gone"));
    assert!(matches!(told[2], ToClient::WatchesSet { .. }));
    assert_eq!(told[3], event(Some(*rig.applied.last().unwrap()), EventType::NodeDataChanged, "/same"));
}

#[test]
fn without_set_watches_nothing_is_armed_on_a_new_connection() {
    let mut rig = Rig::serving(config());
    let (a, granted) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, exists("/a", true));
    rig.settle();
    let second = rig.raw(again(&granted));
    rig.settle();
    ask(&mut rig, second, 2, create("/a", CreateMode::Persistent));
    rig.settle();
    assert!(rig.seen(second).iter().all(|message| !matches!(message, Some(ToClient::Event { .. }))));
}

#[test]
fn a_frame_of_1048575_bytes_is_fine_and_one_more_closes_the_connection() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    let create = |bytes: usize| {
        let overhead = 8 + (4 + 2) + 4 + (4 + 4 + 9 + 10) + 4;
        let data = Data::from(vec![0; bytes - overhead]);
        Request::Create {
            path: "/a".into(),
            data,
            acl: open_acl(),
            mode: CreateMode::Persistent,
            stat: false,
        }
    };
    ask(&mut rig, a, 1, create(1_048_575));
    rig.settle();
    assert!(matches!(replies(&rig, a)[..], [(1, Ok(_))]));
    ask(&mut rig, a, 2, create(1_048_576));
    rig.settle();
    assert!(is_eof(&rig, a) && replies(&rig, a).len() == 1);
}

#[test]
fn check_and_remove_watches_without_a_watch_is_no_watcher() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    let (path, kind): (Text, _) = ("/a".into(), zk_api::WatcherKind::Data);
    let check = Request::CheckWatches { path: path.clone(), kind };
    let remove = Request::RemoveWatches { path: path.clone(), kind };
    assert_eq!(rig.call(client, check.clone()), Err(ErrorCode::NoWatcher));
    rig.call(client, exists("/a", true)).unwrap();
    assert_eq!(rig.call(client, check.clone()), Ok(Response::WatchesPresent));
    assert_eq!(rig.call(client, remove.clone()), Ok(Response::WatchesRemoved));
    assert_eq!(rig.call(client, remove), Err(ErrorCode::NoWatcher));
    rig.call(client, create("/a", CreateMode::Persistent)).unwrap();
    assert!(!rig.clients[client].told.iter().any(|told| matches!(told, Told::Event(..))));
}

#[test]
fn a_container_goes_when_its_last_child_is_gone_and_a_fresh_one_stays() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(10_000);
    for (path, mode) in [
        ("/used", CreateMode::Container),
        ("/fresh", CreateMode::Container),
        ("/used/child", CreateMode::Persistent),
        ("/ttl", CreateMode::PersistentTtl(1000)),
    ] {
        rig.call(client, create(path, mode)).unwrap();
    }
    rig.advance(60_000);
    assert!(is_there(&rig, "/used") && !is_there(&rig, "/ttl"));
    rig.call(client, Request::Delete { path: "/used/child".into(), version: -1 }).unwrap();
    assert!(is_there(&rig, "/used"));
    rig.advance(60_000);
    assert!(!is_there(&rig, "/used") && is_there(&rig, "/fresh"));
}

#[test]
fn the_expiry_says_so_in_its_transaction() {
    let mut rig = Rig::serving(config());
    let (_, granted) = raw_session(&mut rig, 1000);
    rig.serve(Event::Expire { session: granted.session });
    let expired = rig.lines.iter().any(|line| {
        let crate::server::rig::Line::Server(Output::Note(Note::Zab(zab::Note::Proposed(txn)))) = line else {
            return false;
        };
        matches!(txn.body, TxnBody::CloseSession { expired: true, .. })
    });
    assert!(expired);
}

#[test]
fn a_write_sees_all_that_was_proposed_before_it() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    let (b, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, create("/p", CreateMode::Persistent));
    ask(&mut rig, a, 2, create("/p/n-", CreateMode::PersistentSequential));
    ask(&mut rig, b, 1, create("/p", CreateMode::Persistent));
    ask(&mut rig, b, 2, create("/p/n-", CreateMode::PersistentSequential));
    ask(&mut rig, b, 3, Request::Delete { path: "/p/n-0000000000".into(), version: 0 });
    for conn in [a, b] {
        while rig.deliver_up(conn) {}
    }
    // Nothing is applied yet, and everything is decided.
    rig.settle();
    let created = |path: &str| Ok(Response::Created { path: path.into(), stat: None });
    assert_eq!(replies(&rig, a), [(1, created("/p")), (2, created("/p/n-0000000000"))]);
    let expected =
        [(1, Err(ErrorCode::NodeExists)), (2, created("/p/n-0000000001")), (3, Ok(Response::Deleted))];
    assert_eq!(replies(&rig, b), expected);
}

#[test]
fn a_session_takes_along_the_ephemerals_that_were_proposed_before_its_end() {
    for ends_by_itself in [true, false] {
        let mut rig = Rig::serving(config());
        let (conn, granted) = raw_session(&mut rig, 1000);
        ask(&mut rig, conn, 1, create("/e", CreateMode::Ephemeral));
        if ends_by_itself {
            ask(&mut rig, conn, 2, Request::CloseSession);
        }
        while rig.deliver_up(conn) {}
        if !ends_by_itself {
            rig.serve(Event::Expire { session: granted.session });
        }
        rig.settle();
        // It was there for a moment, and its creation was answered.
        assert!(matches!(replies(&rig, conn)[0], (1, Ok(Response::Created { .. }))));
        assert!(!is_there(&rig, "/e"));
    }
}

#[test]
fn a_connection_that_is_gone_leaves_no_watch_behind() {
    let mut rig = Rig::serving(config());
    let (a, _) = raw_session(&mut rig, 1000);
    let (b, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, a, 1, exists("/a", true));
    rig.settle();
    rig.serve(Event::Dropped { conn: a });
    ask(&mut rig, b, 1, create("/a", CreateMode::Persistent));
    // The rig refuses whatever is sent on a connection that is gone.
    rig.settle();
    assert_eq!(rig.seen(a).len(), 2);
}
