//! Random requests over few paths, so that they meet each other often.

use proptest::prelude::*;
use proptest::sample::select;
use zk_api::*;

/// What happens to a tree: a request of a session, time going on, or a sweep of what has expired.
#[derive(Clone, Debug)]
pub enum TreeStep {
    Ask(SessionId, Request),
    Wait(i64),
    Sweep,
}

/// Whom the server takes a session for: 1 has a password, 2 has none, 3 may do everything.
pub fn identities(session: SessionId) -> Vec<Identity> {
    match session.get() {
        1 => vec![Identity::new("digest", "one:hash")],
        3 => vec![Identity::new("super", "")],
        _ => vec![],
    }
}

pub fn steps(count: usize) -> impl Strategy<Value = Vec<TreeStep>> {
    let ask =
        ((1i64..4).prop_map(SessionId::new), request()).prop_map(|(who, what)| TreeStep::Ask(who, what));
    let step = prop_oneof![
        20 => ask,
        1 => (1i64..40).prop_map(TreeStep::Wait),
        1 => Just(TreeStep::Sweep),
    ];
    prop::collection::vec(step, 0..count)
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        12 => op().prop_filter_map("no check alone", |op| match op {
            Op::Create { path, data, acl, mode, stat } => Some(Request::Create { path, data, acl, mode, stat }),
            Op::Delete { path, version } => Some(Request::Delete { path, version }),
            Op::SetData { path, data, version } => Some(Request::SetData { path, data, version }),
            Op::Check { .. } => None,
        }),
        2 => (path(), acl(), version()).prop_map(|(path, acl, version)| Request::SetAcl { path, acl, version }),
        6 => prop::collection::vec(op(), 0..6).prop_map(|ops| Request::Multi { ops }),
        1 => Just(Request::CloseSession),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let create = (path(), data(), acl(), mode(), any::<bool>())
        .prop_map(|(path, data, acl, mode, stat)| Op::Create { path, data, acl, mode, stat });
    let set = (path(), data(), version());
    prop_oneof![
        6 => create,
        4 => (path(), version()).prop_map(|(path, version)| Op::Delete { path, version }),
        3 => set.prop_map(|(path, data, version)| Op::SetData { path, data, version }),
        1 => (path(), version()).prop_map(|(path, version)| Op::Check { path, version }),
    ]
}

pub fn path() -> impl Strategy<Value = Text> {
    // "/a-" comes between "/a" and "/a/b": a snapshot that has passed it may meet a child without its parent.
    let common = select(vec!["/a", "/a", "/a-", "/a/b", "/a/b", "/a/b/c", "/a/d"]);
    let rare =
        select(vec!["/", "/a/", "/zookeeper", "/a/b/", "x", "/e", "/e/f", "/a/n-0000000000", "/none/x"]);
    prop_oneof![9 => common, 1 => rare].prop_map(Text::from)
}

fn data() -> impl Strategy<Value = Data> {
    select(vec![Data::NULL, Data::from(""), Data::from("x"), Data::from("yy")])
}

fn version() -> impl Strategy<Value = i32> {
    prop_oneof![8 => Just(-1), 2 => 0i32..3, 1 => Just(-2)]
}

fn mode() -> impl Strategy<Value = CreateMode> {
    prop_oneof![
        8 => Just(CreateMode::Persistent),
        2 => Just(CreateMode::PersistentSequential),
        3 => Just(CreateMode::Ephemeral),
        1 => Just(CreateMode::EphemeralSequential),
        1 => Just(CreateMode::Container),
        1 => select(vec![0, 1, 20, (1 << 40) - 1, 1 << 40]).prop_map(CreateMode::PersistentTtl),
        1 => Just(CreateMode::PersistentSequentialTtl(5)),
    ]
}

fn acl() -> impl Strategy<Value = AclList> {
    let entry = |bits, scheme, id| Acl { perms: Perms(bits), who: Identity::new(scheme, id) };
    let odd: Vec<AclList> = vec![
        [].into(),
        [entry(31, "auth", "")].into(),
        [entry(31, "digest", "one:hash"), entry(7, "world", "anyone")].into(),
        [entry(30, "world", "anyone")].into(),
    ];
    prop_oneof![12 => Just(open_acl()), 1 => select(odd)]
}
