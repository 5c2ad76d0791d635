//! The messages of `testdata/requests.txt`.

use zk_api::{
    Acl, AclList, AddWatchMode, CreateMode, Data, Identity, Op, Perms, ReadOp, Request, Text, WatcherKind,
    Zxid, open_acl,
};
use zk_proto::message::{ToServer, WatchList, Xid};

fn entry(perms: u8, scheme: &str, id: &str) -> Acl {
    Acl { perms: Perms(perms), who: Identity::new(scheme, id) }
}

fn create(path: &str, data: Data, acl: AclList, mode: CreateMode, stat: bool) -> Request {
    Request::Create { path: path.into(), data, acl, mode, stat }
}

fn create_op(path: &str, data: Data, mode: CreateMode, stat: bool) -> Op {
    Op::Create { path: path.into(), data, acl: open_acl(), mode, stat }
}

fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().map(|text| Text::from(*text)).collect()
}

/// Each with the name of its frame. The requests' xids count up from 7 to 29.
pub fn messages() -> Vec<(&'static str, ToServer)> {
    let mut messages = creates();
    messages.extend(one_znode());
    messages.extend(multis());
    messages.extend(watches());
    messages.extend(sessions());
    let mut xid = 7;
    let number = |request: Request| {
        let repeated = matches!(request, Request::Auth { .. });
        let this = if repeated { -4 } else { xid };
        xid += i32::from(!repeated);
        ToServer::Request { xid: Xid(this), request }
    };
    let numbers = messages.iter().map(|(_, request)| request.clone()).map(number).collect::<Vec<_>>();
    let named = messages.into_iter().map(|(name, _)| name).zip(numbers);
    named.chain(others()).collect()
}

fn creates() -> Vec<(&'static str, Request)> {
    let digest = vec![entry(1, "world", "anyone"), entry(31, "digest", "u:h")].into();
    vec![
        ("create", create("/a", "xyz".into(), open_acl(), CreateMode::Persistent, false)),
        (
            "create2_ephemeral_sequential",
            create("/lock/n-", "".into(), digest, CreateMode::EphemeralSequential, true),
        ),
        ("create_container", create("/c", Data::NULL, open_acl(), CreateMode::Container, false)),
        (
            "create_ttl",
            create("/t", "x".into(), open_acl(), CreateMode::PersistentSequentialTtl(60_000), true),
        ),
    ]
}

fn one_znode() -> Vec<(&'static str, Request)> {
    let a: Text = "/a".into();
    let path = || a.clone();
    let acl = vec![entry(5, "ip", "10.0.0.1")].into();
    vec![
        ("delete", Request::Delete { path: path(), version: 3 }),
        ("exists_with_watch", Request::Exists { path: path(), watch: true }),
        ("get_data", Request::GetData { path: "/ä".into(), watch: false }),
        ("set_data_null", Request::SetData { path: path(), data: Data::NULL, version: -1 }),
        ("get_acl", Request::GetAcl { path: path() }),
        ("set_acl", Request::SetAcl { path: path(), acl, version: 2 }),
        ("get_children_with_watch", Request::GetChildren { path: "/".into(), watch: true, stat: false }),
        ("get_children2", Request::GetChildren { path: "/".into(), watch: false, stat: true }),
        ("sync", Request::Sync { path: path() }),
    ]
}

fn multis() -> Vec<(&'static str, Request)> {
    let ops = vec![
        create_op("/m", "1".into(), CreateMode::Persistent, false),
        create_op("/m/e", "".into(), CreateMode::Ephemeral, true),
        create_op("/m/c", Data::NULL, CreateMode::Container, true),
        create_op("/m/t", Data::NULL, CreateMode::PersistentTtl(1), true),
        Op::SetData { path: "/m".into(), data: "2".into(), version: 0 },
        Op::Check { path: "/x".into(), version: 4 },
        Op::Delete { path: "/y".into(), version: -1 },
    ];
    let reads = vec![ReadOp::GetData { path: "/a".into() }, ReadOp::GetChildren { path: "/b".into() }];
    vec![
        ("multi", Request::Multi { ops }),
        ("multi_of_nothing", Request::Multi { ops: vec![] }),
        ("multi_read", Request::MultiRead { ops: reads }),
    ]
}

fn watches() -> Vec<(&'static str, Request)> {
    let path = || "/a".into();
    vec![
        ("check_watches", Request::CheckWatches { path: path(), kind: WatcherKind::Data }),
        ("remove_watches", Request::RemoveWatches { path: path(), kind: WatcherKind::Any }),
        ("add_watch", Request::AddWatch { path: path(), mode: AddWatchMode::PersistentRecursive }),
    ]
}

fn sessions() -> Vec<(&'static str, Request)> {
    let credentials = "u:p".into();
    vec![
        ("get_ephemerals", Request::GetEphemerals { prefix: "/".into() }),
        ("get_all_children_number", Request::GetAllChildrenNumber { path: "/a".into() }),
        ("who_am_i", Request::WhoAmI),
        ("auth", Request::Auth { scheme: "digest".into(), credentials }),
        ("close_session", Request::CloseSession),
    ]
}

fn others() -> Vec<(&'static str, ToServer)> {
    let since = Zxid::new(1, 5);
    let one_shot = WatchList { data: texts(&["/d"]), exist: texts(&["/e", "/f"]), ..WatchList::default() };
    let all = WatchList {
        data: texts(&["/d"]),
        exist: vec![],
        child: texts(&["/c"]),
        persistent: texts(&["/p"]),
        recursive: texts(&["/r", "/s"]),
    };
    vec![
        ("ping", ToServer::Ping),
        ("set_watches", ToServer::SetWatches { since, watches: one_shot }),
        ("set_watches2", ToServer::SetWatches { since, watches: all }),
    ]
}
