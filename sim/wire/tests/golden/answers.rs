//! The messages of `testdata/answers.txt`.

use zk_api::{
    Acl, Data, ErrorCode, EventType, Identity, MultiOutcome, OpResult, Perms, Response, SessionId, Stat,
    StatFields, WatchedEvent, Zxid,
};
use zk_proto::message::{ToClient, Xid};

/// An answer, and the request in `requests.txt` that it answers; empty where there is none.
pub struct Answer {
    pub to: &'static str,
    /// What the server says.
    pub sent: ToClient,
    /// What the client hears, which is the same but for Stats that nobody asked for.
    pub heard: ToClient,
}

type Named = (&'static str, Answer);

/// A Stat whose fields are all different, as in the file.
fn stat(k: u32) -> Stat {
    Stat::from(StatFields {
        czxid: Zxid::new(1, k),
        mzxid: Zxid::new(1, k + 1),
        ctime_ms: 1_700_000_000_000 + i64::from(k),
        mtime_ms: 1_700_000_000_500 + i64::from(k),
        version: k as i32 + 2,
        cversion: k as i32 + 3,
        aversion: k as i32 + 4,
        ephemeral_owner: SessionId::new(0x0100_0000_0000_0000 + i64::from(k)),
        data_length: k + 5,
        num_children: k + 6,
        pzxid: Zxid::new(1, k + 7),
    })
}

fn reply(
    name: &'static str,
    to: &'static str,
    (xid, counter): (i32, u32),
    result: Result<Response, ErrorCode>,
) -> Named {
    let zxid = if counter == 0 { Zxid::ZERO } else { Zxid::new(1, counter) };
    let sent = ToClient::Reply { xid: Xid(xid), zxid, result };
    (name, Answer { to, heard: sent.clone(), sent })
}

fn unasked(name: &'static str, sent: ToClient) -> Named {
    (name, Answer { to: "", heard: sent.clone(), sent })
}

fn created(path: &str, stat: Option<Stat>) -> Response {
    Response::Created { path: path.into(), stat }
}

/// Each with the name of its frame.
pub fn messages() -> Vec<Named> {
    let mut messages = writes();
    messages.extend(reads());
    messages.extend(multis());
    messages.extend(watches_and_sessions());
    messages.extend(others());
    messages
}

fn writes() -> Vec<Named> {
    let mut container =
        reply("container_created", "create_container", (9, 4), Ok(created("/c", Some(stat(20)))));
    container.1.heard =
        ToClient::Reply { xid: Xid(9), zxid: Zxid::new(1, 4), result: Ok(created("/c", None)) };
    vec![
        reply("created", "create", (7, 2), Ok(created("/a", None))),
        reply(
            "created_with_stat",
            "create2_ephemeral_sequential",
            (8, 3),
            Ok(created("/lock/n-0000000000", Some(stat(10)))),
        ),
        container,
        reply("deleted", "delete", (11, 5), Ok(Response::Deleted)),
    ]
}

fn reads() -> Vec<Named> {
    let data = |data, k| Ok(Response::Data { data, stat: stat(k) });
    let names = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
    let acl = [
        Acl { perms: Perms::ALL, who: Identity::new("world", "anyone") },
        Acl { perms: Perms::READ, who: Identity::new("digest", "u:h") },
    ];
    vec![
        reply("exists", "exists_with_watch", (12, 5), Ok(Response::Exists(Some(stat(30))))),
        reply("exists_not", "exists_with_watch", (12, 5), Ok(Response::Exists(None))),
        reply("data", "get_data", (13, 5), data("xyz".into(), 40)),
        reply("data_null", "get_data", (13, 5), data(Data::NULL, 50)),
        reply("data_set", "set_data_null", (14, 6), Ok(Response::DataSet(stat(60)))),
        reply("acl", "get_acl", (15, 6), Ok(Response::Acl { acl: acl.into(), stat: stat(70) })),
        reply("acl_set", "set_acl", (16, 7), Ok(Response::AclSet(stat(80)))),
        reply(
            "children",
            "get_children_with_watch",
            (17, 7),
            Ok(Response::Children { names: names(&["a", "zookeeper"]), stat: None }),
        ),
        reply(
            "children_with_stat",
            "get_children2",
            (18, 7),
            Ok(Response::Children { names: names(&[]), stat: Some(stat(90)) }),
        ),
        reply("synced", "sync", (19, 8), Ok(Response::Synced { path: "/a".into() })),
    ]
}

fn multis() -> Vec<Named> {
    let created = |path: &str, stat| OpResult::Created { path: path.into(), stat };
    let applied = vec![
        created("/m", None),
        created("/m/e", Some(stat(100))),
        created("/m/c", Some(stat(110))),
        created("/m/t", Some(stat(120))),
        OpResult::DataSet(stat(130)),
        OpResult::Checked,
        OpResult::Deleted,
    ];
    let mut failed = vec![None; 5];
    failed.extend([Some(ErrorCode::BadVersion), Some(ErrorCode::RuntimeInconsistency)]);
    let reads = vec![Ok(Response::Data { data: "1".into(), stat: stat(140) }), Err(ErrorCode::NoNode)];
    vec![
        reply("multi_applied", "multi", (20, 9), Ok(Response::Multi(MultiOutcome::Applied(applied)))),
        reply("multi_failed", "multi", (20, 10), Ok(Response::Multi(MultiOutcome::Failed(failed)))),
        reply("multi_read_done", "multi_read", (22, 10), Ok(Response::MultiRead(reads))),
    ]
}

fn watches_and_sessions() -> Vec<Named> {
    let paths = ["/e", "/f"].map(|path| path.into()).to_vec();
    let i = vec![Identity::new("ip", "127.0.0.1")];
    vec![
        reply("watches_present", "check_watches", (23, 10), Ok(Response::WatchesPresent)),
        reply("watches_removed", "remove_watches", (24, 10), Ok(Response::WatchesRemoved)),
        reply("no_watcher", "remove_watches", (24, 10), Err(ErrorCode::NoWatcher)),
        reply("watch_added", "add_watch", (25, 10), Ok(Response::WatchAdded)),
        reply("ephemerals", "get_ephemerals", (26, 10), Ok(Response::Ephemerals(paths))),
        reply(
            "all_children_number",
            "get_all_children_number",
            (27, 10),
            Ok(Response::AllChildrenNumber(258)),
        ),
        reply("i_am", "who_am_i", (28, 10), Ok(Response::WhoAmI(i))),
        reply("authenticated", "auth", (-4, 0), Ok(Response::Authenticated)),
        reply("auth_failed", "auth", (-4, 0), Err(ErrorCode::AuthFailed)),
        reply("closed", "close_session", (29, 11), Ok(Response::Closed)),
    ]
}

fn others() -> Vec<Named> {
    let zxid = Zxid::new(1, 11);
    let changed = WatchedEvent::node(EventType::NodeDataChanged, "/a".into());
    let deleted = WatchedEvent::node(EventType::NodeDeleted, "/d".into());
    vec![
        unasked("pong", ToClient::Pong { zxid }),
        unasked("watches_set", ToClient::WatchesSet { zxid }),
        unasked("event", ToClient::Event { zxid: Some(Zxid::new(1, 12)), event: changed }),
        unasked("event_told_by_set_watches", ToClient::Event { zxid: None, event: deleted }),
    ]
}
