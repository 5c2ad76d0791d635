//! What a server behind real sockets needs. Measured on a real ZooKeeper 3.9.3, standalone.

use crate::server::facts::{ask, create, exists, new_session, raw_session};
use crate::server::rig::{Rig, config};
use zk_api::{
    Acl, CreateMode, Data, ErrorCode, Identity, Perms, ReadOp, Request, Response, SessionId, WatcherKind,
    Zxid,
};
use zk_proto::message::{ConnId, ToClient, Xid};
use zk_proto::server::{Event, ServerConfig, frame_bytes};

/// The answers on a connection: their xids, zxids and errors.
fn answers(rig: &Rig, conn: ConnId) -> Vec<(i32, Zxid, Option<ErrorCode>)> {
    let replies = rig.seen(conn).iter().filter_map(|seen| match seen {
        Some(ToClient::Reply { xid, zxid, result }) => Some((xid.0, *zxid, result.as_ref().err().copied())),
        _ => None,
    });
    replies.collect()
}

fn refused(conn: ConnId, xid: i32, code: ErrorCode, takes_zxid: bool) -> Event {
    Event::Refused { conn, xid: Xid(xid), code, takes_zxid }
}

#[test]
fn a_request_that_cannot_be_read_is_answered_in_its_place_and_takes_a_zxid_where_it_is_a_write() {
    let mut rig = Rig::serving(config());
    let (conn, _) = raw_session(&mut rig, 1000);
    ask(&mut rig, conn, 1, create("/a", CreateMode::Persistent));
    while rig.deliver_up(conn) {}
    rig.serve(refused(conn, 2, ErrorCode::MarshallingError, false));
    rig.serve(refused(conn, 3, ErrorCode::BadArguments, true));
    rig.serve(refused(conn, 4, ErrorCode::MarshallingError, false));
    ask(&mut rig, conn, 5, exists("/a", false));
    while rig.deliver_up(conn) || rig.deliver_down(conn) {}
    assert_eq!(answers(&rig, conn), [], "all wait for the first, whose sync is not done");
    rig.settle();
    let (second, third) = (Zxid::new(1, 2), Zxid::new(1, 3));
    let (unread, bad) = (Some(ErrorCode::MarshallingError), Some(ErrorCode::BadArguments));
    assert_eq!(
        answers(&rig, conn),
        [(1, second, None), (2, second, unread), (3, third, bad), (4, third, unread), (5, third, None)]
    );
}

#[test]
fn a_request_that_cannot_be_read_keeps_its_session_alive_and_is_not_heard_behind_a_close() {
    let mut rig = Rig::serving(config());
    let (conn, granted) = raw_session(&mut rig, 1000);
    for _ in 0..10 {
        rig.advance(900);
        rig.serve(refused(conn, 1, ErrorCode::MarshallingError, false));
    }
    rig.settle();
    assert_eq!(answers(&rig, conn).len(), 10);
    assert!(rig.server.as_ref().unwrap().sessions().find(granted.session).is_some());
    ask(&mut rig, conn, 2, Request::CloseSession);
    while rig.deliver_up(conn) {}
    rig.serve(refused(conn, 3, ErrorCode::BadArguments, true));
    rig.settle();
    assert_eq!(answers(&rig, conn).len(), 11);
}

/// A new session from an address.
fn session_from(rig: &mut Rig, id: u64, address: [u8; 4]) -> ConnId {
    let conn = rig.raw(new_session(1000));
    let (request, offer) = (new_session(1000), (SessionId::new(id as i64), [1; 16]));
    // In place of the message, which says nothing of addresses.
    rig.conns.get_mut(&conn).expect("it is open").take_first();
    rig.serve(Event::Connecting { conn, request, offer, address: Some(address.into()) });
    rig.settle();
    conn
}

fn private(path: &str, who: Identity) -> Request {
    let acl = [Acl { perms: Perms::ALL, who }].into();
    Request::Create { path: path.into(), data: Data::NULL, acl, mode: CreateMode::Persistent, stat: false }
}

fn get(path: &str) -> Request {
    Request::GetData { path: path.into(), watch: false }
}

fn errors(rig: &Rig, conn: ConnId) -> Vec<Option<ErrorCode>> {
    answers(rig, conn).into_iter().map(|(_, _, error)| error).collect()
}

#[test]
fn an_address_is_an_identity() {
    let mut rig = Rig::serving(config());
    let inside = session_from(&mut rig, 1, [10, 1, 2, 3]);
    let outside = session_from(&mut rig, 2, [11, 1, 2, 3]);
    ask(&mut rig, inside, 1, private("/a", Identity::new("ip", "10.0.0.0/8")));
    ask(&mut rig, inside, 2, get("/a"));
    ask(&mut rig, inside, 3, Request::WhoAmI);
    rig.settle();
    ask(&mut rig, outside, 1, get("/a"));
    rig.settle();
    assert_eq!(errors(&rig, inside), [None; 3]);
    assert_eq!(errors(&rig, outside), [Some(ErrorCode::NoAuth)]);
    let Some(Some(ToClient::Reply { result: Ok(Response::WhoAmI(who)), .. })) = rig.seen(inside).last()
    else {
        panic!("{:?}", rig.seen(inside));
    };
    assert_eq!(who[..], [Identity::new("ip", "10.1.2.3")]);
}

#[test]
fn whoever_proves_the_super_users_password_may_do_everything() {
    let super_digest = Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".into());
    for (config, expected) in
        [(ServerConfig { super_digest, ..config() }, None), (config(), Some(ErrorCode::NoAuth))]
    {
        let mut rig = Rig::serving(config);
        let (owner, _) = raw_session(&mut rig, 1000);
        let (other, _) = raw_session(&mut rig, 1000);
        ask(&mut rig, owner, 1, private("/a", Identity::new("digest", "ann:hash")));
        let credentials = "super:test".into();
        ask(&mut rig, other, 1, Request::Auth { scheme: "digest".into(), credentials });
        rig.settle();
        ask(&mut rig, other, 2, get("/a"));
        rig.settle();
        assert_eq!(errors(&rig, other), [None, expected]);
    }
}

#[test]
fn containers_are_looked_for_as_often_as_the_config_says() {
    let mut rig = Rig::serving(ServerConfig { container_check_ms: 700, ..config() });
    let (conn, _) = raw_session(&mut rig, 10_000);
    ask(&mut rig, conn, 1, create("/ttl", CreateMode::PersistentTtl(1)));
    rig.settle();
    let is_there = |rig: &Rig| rig.server.as_ref().unwrap().tree().node("/ttl").is_some();
    rig.advance(699);
    assert!(is_there(&rig));
    rig.advance(1);
    assert!(!is_there(&rig));
}

#[test]
fn much_data_begins_a_snapshot_as_many_transactions_do() {
    let mut rig = Rig::serving(ServerConfig { snapshot_bytes: 1000, ..config() });
    let (conn, _) = raw_session(&mut rig, 10_000);
    let snapshots = |rig: &Rig| {
        let files = rig.disk.files();
        files.keys().filter(|file| matches!(file, zk_proto::disk::FileId::Snapshot(_))).count()
    };
    ask(&mut rig, conn, 1, create("/a", CreateMode::Persistent));
    rig.settle();
    rig.advance(100);
    assert_eq!(snapshots(&rig), 1, "that of nothing");
    let set = Request::SetData { path: "/a".into(), data: Data::from(&*"x".repeat(1000)), version: -1 };
    ask(&mut rig, conn, 2, set);
    rig.settle();
    rig.advance(100);
    assert_eq!(snapshots(&rig), 2);
}

#[test]
fn an_acl_and_several_reads_are_as_long_as_on_the_wire() {
    let acl = [Acl { perms: Perms::ALL, who: Identity::new("ip", "10.0.0.1") }].into();
    let set = Request::SetAcl { path: "/a".into(), acl, version: -1 };
    // Header, path, one entry for ip:10.0.0.1, version.
    assert_eq!(frame_bytes(&set), 8 + 6 + (4 + 4 + 6 + 12) + 4);
    let ops = vec![ReadOp::GetData { path: "/a".into() }, ReadOp::GetChildren { path: "/bc".into() }];
    // Header, each with its own, path and watch, end.
    assert_eq!(frame_bytes(&Request::MultiRead { ops }), 8 + (9 + 6 + 1) + (9 + 7 + 1) + 9);
}

#[test]
fn a_leader_knows_how_long_a_session_may_be_silent_yet() {
    let mut rig = Rig::serving(config());
    let (_, granted) = raw_session(&mut rig, 1000);
    for (ms, left_ms) in [(0, 1500), (200, 1300), (299, 1001)] {
        rig.now_ms += ms;
        // It looks at its clock whatever happens.
        rig.serve(Event::ClockSet { by_ms: 0 });
        let left: Vec<_> = rig.server.as_ref().unwrap().sessions_left_ms().collect();
        assert_eq!(left, [(granted.session, left_ms)]);
    }
}

#[test]
fn a_read_that_fails_leaves_no_watch() {
    let mut rig = Rig::serving(config());
    let (conn, _) = raw_session(&mut rig, 1000);
    let path = "/a\0";
    ask(&mut rig, conn, 1, exists(path, true));
    ask(&mut rig, conn, 2, Request::GetData { path: path.into(), watch: true });
    ask(&mut rig, conn, 3, Request::GetChildren { path: path.into(), watch: true, stat: false });
    ask(&mut rig, conn, 4, Request::CheckWatches { path: path.into(), kind: WatcherKind::Any });
    rig.settle();
    let expected = [ErrorCode::BadArguments, ErrorCode::NoNode, ErrorCode::NoNode, ErrorCode::NoWatcher];
    assert_eq!(errors(&rig, conn), expected.map(Some));
}
