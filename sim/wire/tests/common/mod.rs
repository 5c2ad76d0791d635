//! Any message there is, for proptest.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use zk_api::{
    Acl, AclList, AddWatchMode, CreateMode, Data, ErrorCode, EventType, Identity, KeeperState, MultiOutcome,
    Op, OpResult, Perms, ReadOp, Request, Response, SessionId, Stat, StatFields, Text, WatchedEvent,
    WatcherKind, Zxid, open_acl,
};
use zk_proto::message::{ConnectRequest, ConnectResponse, WatchList};

/// An answer that may be given to a request.
pub type Answer = Result<Response, ErrorCode>;

fn text() -> impl Strategy<Value = Text> {
    "/?[a-zé0-9/.\\x00😀-]{0,8}".prop_map(Text::from)
}

fn texts() -> impl Strategy<Value = Vec<Text>> {
    vec(text(), 0..4)
}

fn data() -> impl Strategy<Value = Data> {
    option::of(vec(any::<u8>(), 0..20)).prop_map(|bytes| bytes.map_or(Data::NULL, Data::from))
}

fn identity() -> impl Strategy<Value = Identity> {
    (text(), text()).prop_map(|(scheme, id)| Identity { scheme, id })
}

fn acl() -> impl Strategy<Value = AclList> {
    let entry = (any::<u8>(), identity()).prop_map(|(perms, who)| Acl { perms: Perms(perms), who });
    prop_oneof![Just(open_acl()), vec(entry, 0..3).prop_map(AclList::from)]
}

/// Any but -1, which says on the wire that there is none.
/// A zxid that a client says it has seen: less than zero is read as zero.
pub fn zxid_seen() -> impl Strategy<Value = Zxid> {
    (0..=i64::MAX).prop_map(Zxid::from_i64)
}

pub fn zxid() -> impl Strategy<Value = Zxid> {
    any::<i64>().prop_filter("-1 is none", |zxid| *zxid != -1).prop_map(Zxid::from_i64)
}

fn stat() -> impl Strategy<Value = Stat> {
    let versions = (any::<i32>(), any::<i32>(), any::<i32>());
    let counts = (any::<u32>(), any::<u32>());
    (zxid(), zxid(), zxid(), any::<i64>(), any::<i64>(), versions, any::<i64>(), counts).prop_map(
        |(czxid, mzxid, pzxid, ctime_ms, mtime_ms, versions, owner, counts)| {
            Stat::from(StatFields {
                czxid,
                mzxid,
                ctime_ms,
                mtime_ms,
                version: versions.0,
                cversion: versions.1,
                aversion: versions.2,
                ephemeral_owner: SessionId::new(owner),
                data_length: counts.0,
                num_children: counts.1,
                pzxid,
            })
        },
    )
}

pub fn code() -> impl Strategy<Value = ErrorCode> {
    select(ErrorCode::ALL.to_vec())
}

fn mode() -> impl Strategy<Value = CreateMode> {
    prop_oneof![
        Just(CreateMode::Persistent),
        Just(CreateMode::PersistentSequential),
        Just(CreateMode::Ephemeral),
        Just(CreateMode::EphemeralSequential),
        Just(CreateMode::Container),
        any::<i64>().prop_map(CreateMode::PersistentTtl),
        any::<i64>().prop_map(CreateMode::PersistentSequentialTtl),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (text(), data(), acl(), mode(), any::<bool>()).prop_map(|(path, data, acl, mode, stat)| Op::Create {
            path,
            data,
            acl,
            mode,
            stat
        }),
        (text(), any::<i32>()).prop_map(|(path, version)| Op::Delete { path, version }),
        (text(), data(), any::<i32>()).prop_map(|(path, data, version)| Op::SetData { path, data, version }),
        (text(), any::<i32>()).prop_map(|(path, version)| Op::Check { path, version }),
    ]
}

fn read_op() -> impl Strategy<Value = ReadOp> {
    prop_oneof![
        text().prop_map(|path| ReadOp::GetData { path }),
        text().prop_map(|path| ReadOp::GetChildren { path }),
    ]
}

/// Any request.
pub fn request() -> impl Strategy<Value = Request> {
    let kind = select(vec![
        WatcherKind::Children,
        WatcherKind::Data,
        WatcherKind::Any,
        WatcherKind::Persistent,
        WatcherKind::PersistentRecursive,
    ]);
    let add = select(vec![AddWatchMode::Persistent, AddWatchMode::PersistentRecursive]);
    prop_oneof![
        (text(), data(), acl(), mode(), any::<bool>())
            .prop_map(|(path, data, acl, mode, stat)| Request::Create { path, data, acl, mode, stat }),
        (text(), any::<i32>()).prop_map(|(path, version)| Request::Delete { path, version }),
        (text(), any::<bool>()).prop_map(|(path, watch)| Request::Exists { path, watch }),
        (text(), any::<bool>()).prop_map(|(path, watch)| Request::GetData { path, watch }),
        (text(), data(), any::<i32>()).prop_map(|(path, data, version)| Request::SetData {
            path,
            data,
            version
        }),
        (text(), any::<bool>(), any::<bool>()).prop_map(|(path, watch, stat)| Request::GetChildren {
            path,
            watch,
            stat
        }),
        text().prop_map(|path| Request::GetAcl { path }),
        (text(), acl(), any::<i32>()).prop_map(|(path, acl, version)| Request::SetAcl { path, acl, version }),
        text().prop_map(|path| Request::Sync { path }),
        vec(op(), 0..5).prop_map(|ops| Request::Multi { ops }),
        vec(read_op(), 0..5).prop_map(|ops| Request::MultiRead { ops }),
        (text(), add).prop_map(|(path, mode)| Request::AddWatch { path, mode }),
        (text(), kind.clone()).prop_map(|(path, kind)| Request::RemoveWatches { path, kind }),
        (text(), kind).prop_map(|(path, kind)| Request::CheckWatches { path, kind }),
        text().prop_map(|prefix| Request::GetEphemerals { prefix }),
        text().prop_map(|path| Request::GetAllChildrenNumber { path }),
        Just(Request::WhoAmI),
        (text(), data()).prop_map(|(scheme, credentials)| Request::Auth { scheme, credentials }),
        Just(Request::CloseSession),
    ]
}

/// A request and an answer that may be given to it, as a server gives it.
pub fn exchange() -> impl Strategy<Value = (Request, Answer)> {
    request().prop_flat_map(|request| {
        let answer = prop_oneof![3 => response(&request).prop_map(Ok), 1 => code().prop_map(Err)];
        (Just(request), answer)
    })
}

/// A Stat if it is asked for; containers and TTL znodes have one in any case.
fn created(mode: CreateMode, asked: bool) -> BoxedStrategy<(Text, Option<Stat>)> {
    if asked || mode == CreateMode::Container || mode.ttl_ms().is_some() {
        (text(), stat().prop_map(Some)).boxed()
    } else {
        (text(), Just(None)).boxed()
    }
}

fn op_result(op: &Op) -> BoxedStrategy<OpResult> {
    match op {
        Op::Create { mode, stat, .. } => {
            created(*mode, *stat).prop_map(|(path, stat)| OpResult::Created { path, stat }).boxed()
        }
        Op::Delete { .. } => Just(OpResult::Deleted).boxed(),
        Op::SetData { .. } => stat().prop_map(OpResult::DataSet).boxed(),
        Op::Check { .. } => Just(OpResult::Checked).boxed(),
    }
}

fn read_result(op: &ReadOp) -> BoxedStrategy<Answer> {
    let done = match op {
        ReadOp::GetData { .. } => {
            (data(), stat()).prop_map(|(data, stat)| Response::Data { data, stat }).boxed()
        }
        ReadOp::GetChildren { .. } => {
            texts().prop_map(|names| Response::Children { names, stat: None }).boxed()
        }
    };
    prop_oneof![done.prop_map(Ok), code().prop_map(Err)].boxed()
}

fn outcome(ops: &[Op]) -> BoxedStrategy<MultiOutcome> {
    let applied = ops.iter().map(op_result).collect::<Vec<_>>().prop_map(MultiOutcome::Applied);
    if ops.is_empty() {
        return applied.boxed();
    }
    let failed = vec(option::of(code()), ops.len()).prop_map(MultiOutcome::Failed);
    prop_oneof![applied, failed].boxed()
}

fn response(request: &Request) -> BoxedStrategy<Response> {
    match request {
        Request::Create { mode, stat, .. } => {
            created(*mode, *stat).prop_map(|(path, stat)| Response::Created { path, stat }).boxed()
        }
        Request::Delete { .. } => Just(Response::Deleted).boxed(),
        Request::Exists { .. } => option::of(stat()).prop_map(Response::Exists).boxed(),
        Request::GetData { .. } => {
            (data(), stat()).prop_map(|(data, stat)| Response::Data { data, stat }).boxed()
        }
        Request::SetData { .. } => stat().prop_map(Response::DataSet).boxed(),
        Request::GetChildren { stat: asked, .. } => {
            let stat = if *asked { stat().prop_map(Some).boxed() } else { Just(None).boxed() };
            (texts(), stat).prop_map(|(names, stat)| Response::Children { names, stat }).boxed()
        }
        Request::GetAcl { .. } => (acl(), stat()).prop_map(|(acl, stat)| Response::Acl { acl, stat }).boxed(),
        Request::SetAcl { .. } => stat().prop_map(Response::AclSet).boxed(),
        Request::Sync { path } => Just(Response::Synced { path: path.clone() }).boxed(),
        Request::Multi { ops } => outcome(ops).prop_map(Response::Multi).boxed(),
        Request::MultiRead { ops } => {
            ops.iter().map(read_result).collect::<Vec<_>>().prop_map(Response::MultiRead).boxed()
        }
        Request::AddWatch { .. } => Just(Response::WatchAdded).boxed(),
        Request::RemoveWatches { .. } => Just(Response::WatchesRemoved).boxed(),
        Request::CheckWatches { .. } => Just(Response::WatchesPresent).boxed(),
        Request::GetEphemerals { .. } => texts().prop_map(Response::Ephemerals).boxed(),
        Request::GetAllChildrenNumber { .. } => any::<u32>().prop_map(Response::AllChildrenNumber).boxed(),
        Request::WhoAmI => vec(identity(), 0..3).prop_map(Response::WhoAmI).boxed(),
        Request::Auth { .. } => Just(Response::Authenticated).boxed(),
        Request::CloseSession => Just(Response::Closed).boxed(),
    }
}

/// Any event, and the zxid it may have.
pub fn event() -> impl Strategy<Value = (Option<Zxid>, WatchedEvent)> {
    let kind = select(vec![
        EventType::None,
        EventType::NodeCreated,
        EventType::NodeDeleted,
        EventType::NodeDataChanged,
        EventType::NodeChildrenChanged,
    ]);
    let state = select(vec![
        KeeperState::Disconnected,
        KeeperState::SyncConnected,
        KeeperState::AuthFailed,
        KeeperState::Expired,
        KeeperState::Closed,
    ]);
    let event = (kind, state, text()).prop_map(|(kind, state, path)| WatchedEvent { kind, state, path });
    (option::of(zxid()), event)
}

/// Any watches.
pub fn watches() -> impl Strategy<Value = WatchList> {
    (texts(), texts(), texts(), texts(), texts()).prop_map(|(data, exist, child, persistent, recursive)| {
        WatchList { data, exist, child, persistent, recursive }
    })
}

/// A timeout that the wire can say.
fn timeout_ms() -> impl Strategy<Value = u32> {
    0..=i32::MAX as u32
}

pub fn connect_request() -> impl Strategy<Value = ConnectRequest> {
    (zxid_seen(), timeout_ms(), any::<i64>(), any::<[u8; 16]>()).prop_map(
        |(last_zxid, timeout_ms, session, password)| ConnectRequest {
            last_zxid,
            timeout_ms,
            session: SessionId::new(session),
            password,
        },
    )
}

pub fn connect_response() -> impl Strategy<Value = ConnectResponse> {
    (timeout_ms(), any::<i64>(), any::<[u8; 16]>()).prop_map(|(timeout_ms, session, password)| {
        ConnectResponse { timeout_ms, session: SessionId::new(session), password }
    })
}
