//! Whatever a client says, in whatever order, the server goes on, and so does a client whatever a server says.

use crate::server::disk::recovered;
use crate::server::facts::{create, exists, new_session, set};
use crate::server::rig::{Rig, config};
use proptest::prelude::*;
use zk_api::{
    AddWatchMode, CreateMode, Data, ErrorCode, EventType, Op, ReadOp, Request, Response, SessionId,
    WatchedEvent, WatcherKind, Zxid, open_acl,
};
use zk_proto::client::{ClientConfig, ClientEvent, ClientInput, ClientSession, ClientTimer, WatchId};
use zk_proto::message::{ConnId, ConnectRequest, ConnectResponse, ToClient, ToServer, WatchList, Xid};
use zk_proto::server::{Event, Input, ServerId, Timer};

fn paths() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "/", "/a", "/a/b", "/a//b", "a", "/a/", "/.", "/zookeeper", "/a\0", "//"])
}

fn modes() -> impl Strategy<Value = CreateMode> {
    prop::sample::select(vec![
        CreateMode::Persistent,
        CreateMode::PersistentSequential,
        CreateMode::Ephemeral,
        CreateMode::EphemeralSequential,
        CreateMode::Container,
        CreateMode::PersistentTtl(0),
        CreateMode::PersistentTtl(1),
        CreateMode::PersistentSequentialTtl(i64::MAX),
    ])
}

pub fn requests() -> impl Strategy<Value = Request> {
    let kinds = prop::sample::select(vec![WatcherKind::Any, WatcherKind::Children, WatcherKind::Data]);
    (0..20, paths(), modes(), kinds, -2..3i32, any::<bool>()).prop_map(
        |(n, path, mode, kind, version, flag)| {
            let (watch, stat) = (flag, flag);
            let text = path;
            let path = path.into();
            match n {
                0..4 => Request::Create { path, data: Data::NULL, acl: open_acl(), mode, stat },
                4 => Request::Delete { path, version },
                5 => Request::Exists { path, watch },
                6 => Request::GetData { path, watch },
                7 => Request::SetData { path, data: "x".into(), version },
                8 => Request::GetChildren { path, watch, stat },
                9 => Request::GetAcl { path },
                10 => Request::SetAcl { path, acl: if flag { open_acl() } else { [].into() }, version },
                11 => Request::Sync { path },
                12 => {
                    let data = Data::NULL;
                    let create = Op::Create { path, data, acl: open_acl(), mode, stat };
                    let delete = Op::Delete { path: text.into(), version };
                    Request::Multi { ops: if flag { vec![create] } else { vec![create, delete] } }
                }
                13 => Request::MultiRead { ops: vec![ReadOp::GetChildren { path }] },
                14 => Request::AddWatch { path, mode: AddWatchMode::PersistentRecursive },
                15 => Request::RemoveWatches { path, kind },
                16 => Request::GetEphemerals { prefix: path },
                17 => Request::GetAllChildrenNumber { path },
                18 if flag => Request::CloseSession,
                18 => Request::WhoAmI,
                _ => Request::Auth {
                    scheme: if flag { "digest".into() } else { path },
                    credentials: Data::NULL,
                },
            }
        },
    )
}

fn connects() -> impl Strategy<Value = ConnectRequest> {
    (0..3u32, any::<u32>(), 0..6i64, any::<bool>()).prop_map(|(epoch, timeout_ms, session, right)| {
        ConnectRequest {
            last_zxid: Zxid::new(epoch / 2, 0),
            timeout_ms,
            session: SessionId::new(session),
            password: [if right { session as u8 } else { 0xff }; 16],
        }
    })
}

fn to_server() -> impl Strategy<Value = ToServer> {
    prop_oneof![
        1 => connects().prop_map(ToServer::Connect),
        9 => (any::<i32>(), requests()).prop_map(|(xid, request)| ToServer::Request { xid: Xid(xid), request }),
        1 => (0..9u32, paths()).prop_map(|(counter, path)| {
            let all = vec![path.into(), "/a".into()];
            let (data, exist, child, persistent, recursive) =
                (all.clone(), all.clone(), all.clone(), all.clone(), all);
            let watches = WatchList { data, exist, child, persistent, recursive };
            ToServer::SetWatches { since: Zxid::new(1, counter), watches }
        }),
        1 => Just(ToServer::Ping),
    ]
}

fn events() -> impl Strategy<Value = Event> {
    let conn = || (0..4u64).prop_map(ConnId);
    let timers = prop::sample::select(vec![Timer::Sessions, Timer::Containers, Timer::Snapshot]);
    prop_oneof![
        3 => (conn(), connects(), 0..6i64).prop_map(|(conn, request, id)| {
            Event::Connecting { conn, request, offer: (SessionId::new(id), [id as u8; 16]), address: None }
        }),
        12 => (conn(), to_server()).prop_map(|(conn, message)| Event::Received { conn, message }),
        1 => (conn(), any::<i32>(), any::<bool>()).prop_map(|(conn, xid, takes_zxid)| {
            Event::Refused { conn, xid: Xid(xid), code: ErrorCode::MarshallingError, takes_zxid }
        }),
        1 => conn().prop_map(|conn| Event::Dropped { conn }),
        2 => timers.prop_map(Event::Timer),
        1 => (0..6i64).prop_map(|id| Event::Expire { session: SessionId::new(id) }),
        1 => any::<i64>().prop_map(|by_ms| Event::ClockSet { by_ms }),
        1 => (any::<u64>()).prop_map(|ticket| {
            Event::Synced { file: zk_proto::disk::FileId::Log(Zxid::ZERO), ticket }
        }),
    ]
}

/// Nothing is in flight any more: what is ahead is what is applied. Compared over a restart.
fn ahead_is_applied(rig: &Rig) {
    let server = rig.server.as_ref().unwrap();
    let (tree, sessions) = recovered(&rig.disk.files()).unwrap();
    assert_eq!(&tree, server.tree());
    assert_eq!(&sessions, server.sessions());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_stops_a_server_and_its_disk_has_what_it_shows(
        events in prop::collection::vec((events(), any::<bool>(), 0..1000i64), 0..60),
    ) {
        let mut config = config();
        (config.snapshot_every, config.snapshot_step) = (7, 1);
        let mut rig = Rig::serving(config);
        for (event, settle, ms) in events {
            rig.now_ms += ms;
            rig.serve(event);
            if settle {
                rig.settle();
            }
        }
        rig.settle();
        ahead_is_applied(&rig);
    }

    #[test]
    fn no_clock_stops_a_server(clocks in prop::collection::vec(any::<i64>(), 0..9)) {
        let mut rig = Rig::serving(config());
        let conn = rig.raw(new_session(1000));
        rig.settle();
        for now_ms in clocks {
            rig.now_ms = now_ms;
            let server = rig.server.as_mut().unwrap();
            for event in [
                Event::Received { conn, message: ToServer::Ping },
                Event::Timer(Timer::Sessions),
                Event::Timer(Timer::Containers),
            ] {
                server.step(Input { now_ms, event }, &mut Vec::new());
            }
        }
    }

    #[test]
    fn no_message_stops_a_client(
        steps in prop::collection::vec((0..8, 0..3u64, -1..6i32, any::<bool>(), requests(), prop_oneof![9 => 0..2000i64, 1 => any::<i64>()]), 0..60),
    ) {
        let config = ClientConfig { servers: vec![ServerId(1), ServerId(2)], timeout_ms: 1000 };
        let mut client = ClientSession::new(config);
        let mut now_ms = 0_i64;
        let mut asked = 0;
        let mut out = Vec::new();
        for (n, conn, xid, flag, request, ms) in steps {
            now_ms = if !(0..2000).contains(&ms) { ms } else { now_ms.saturating_add(ms) };
            let conn = ConnId(conn);
            let session = SessionId::new(i64::from(flag));
            let message = match xid {
                -1 => ToClient::Connected(ConnectResponse { timeout_ms: 1000, session, password: [0; 16] }),
                0 => ToClient::Event {
                    zxid: None,
                    event: WatchedEvent::node(EventType::NodeDeleted, request.path()),
                },
                1 => ToClient::Pong { zxid: Zxid::ZERO },
                xid => {
                    let result = if flag { Ok(Response::Exists(None)) } else { Err(ErrorCode::NoNode) };
                    ToClient::Reply { xid: Xid(xid - 1), zxid: Zxid::new(1, 1), result }
                }
            };
            let event = match n {
                0 => ClientEvent::Start,
                1 => ClientEvent::Opened { conn },
                2 => ClientEvent::Lost { conn },
                3 => ClientEvent::Timer(if flag { ClientTimer::Liveness } else { ClientTimer::Reconnect }),
                4 | 5 => {
                    asked += 1;
                    ClientEvent::Submit { call: zk_proto::client::CallId(asked), request }
                }
                6 => ClientEvent::Abandon { watch: WatchId(conn.0) },
                _ => ClientEvent::Received { conn, message },
            };
            client.step(ClientInput { now_ms, event }, &mut out);
        }
        // Every call is answered at most once.
        let mut answered: Vec<u64> = out.iter().filter_map(|output| match output {
            zk_proto::client::ClientOutput::Complete { call, .. } => Some(call.0),
            _ => None,
        }).collect();
        let all = answered.len();
        answered.sort_unstable();
        answered.dedup();
        prop_assert_eq!(answered.len(), all);
    }
}

#[test]
fn a_second_connect_is_refused_by_closing() {
    let mut rig = Rig::serving(config());
    let conn = rig.raw(new_session(1000));
    rig.say(conn, ToServer::Connect(new_session(1000)));
    rig.settle();
    assert_eq!(rig.seen(conn).last(), Some(&None));
}

#[test]
fn answers_out_of_order_end_the_connection() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    let calls = [exists("/", false), set("/", "x"), create("/a", CreateMode::Persistent)]
        .map(|request| rig.submit(client, request));
    let conn = rig.clients[client].conn.unwrap();
    let message = ToClient::Reply { xid: Xid(2), zxid: Zxid::new(1, 9), result: Ok(Response::Deleted) };
    rig.tell(client, ClientEvent::Received { conn, message });
    for call in calls {
        assert_eq!(rig.answer(client, call).unwrap().unwrap_err().code, ErrorCode::ConnectionLoss);
    }
}
