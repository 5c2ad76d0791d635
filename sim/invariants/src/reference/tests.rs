//! What requests do and find: the facts that were measured of a real ZooKeeper, of the reference alone.

use super::*;
use zk_api::{
    Acl, AddWatchMode, CreateMode, Data, MultiOutcome, Op, OpResult, Perms, ReadOp, StatFields, Text,
    open_acl,
};
use zk_proto::tree::DataTree;
use zk_proto::txn::{Txn, TxnBody};

const S: SessionId = SessionId::new(1);
const T: SessionId = SessionId::new(2);

/// A tree that two sessions write to.
struct Tree {
    reference: Reference,
    time_ms: i64,
    proven: Vec<Identity>,
}

type Answer = Result<Response, ErrorCode>;

impl Tree {
    /// With these persistent znodes.
    fn with(paths: &[&str]) -> Tree {
        let mut tree = Tree { reference: Reference::new(), time_ms: 0, proven: Vec::new() };
        for session in [S, T] {
            let zxid = tree.next();
            tree.reference.own(zxid, 0, Own::Open(session)).expect("it is new");
        }
        paths.iter().for_each(|path| _ = tree.does(create(path)).expect("it can be made"));
        tree
    }

    fn next(&self) -> Zxid {
        self.reference.zxid.next()
    }

    fn write(&mut self, session: SessionId, request: &Request) -> Answer {
        let asker = Asker { session, proven: &self.proven };
        self.reference.write(self.reference.zxid.next(), self.time_ms, asker, request)
    }

    fn does(&mut self, op: Op) -> Answer {
        self.write(S, &alone(op))
    }

    fn multi(&mut self, ops: Vec<Op>) -> Answer {
        self.write(S, &Request::Multi { ops })
    }

    fn read(&self, request: &Request) -> Answer {
        let asker = Asker { session: S, proven: &self.proven };
        self.reference.read(asker, request).expect("no watches are asked for")
    }

    fn removes(&mut self, path: &str) -> bool {
        let (zxid, time_ms) = (self.next(), self.time_ms);
        self.reference.own(zxid, time_ms, Own::Remove(path)).is_ok()
    }

    fn fields(&self, path: &str) -> StatFields {
        self.reference.stat(path).unwrap_or_else(|| panic!("{path} is missing")).fields()
    }

    fn znodes(&self) -> String {
        format!("{:?}", self.reference.znodes)
    }
}

fn alone(op: Op) -> Request {
    match op {
        Op::Create { path, data, acl, mode, stat } => Request::Create { path, data, acl, mode, stat },
        Op::Delete { path, version } => Request::Delete { path, version },
        Op::SetData { path, data, version } => Request::SetData { path, data, version },
        Op::Check { .. } => panic!("it is part of a multi"),
    }
}

fn create_as(path: &str, mode: CreateMode) -> Op {
    Op::Create { path: path.into(), data: Data::from("one"), acl: open_acl(), mode, stat: false }
}

fn create(path: &str) -> Op {
    create_as(path, CreateMode::Persistent)
}

fn numbered(path: &str) -> Op {
    create_as(path, CreateMode::PersistentSequential)
}

fn delete(path: &str, version: i32) -> Op {
    Op::Delete { path: path.into(), version }
}

fn set(path: &str, version: i32) -> Op {
    Op::SetData { path: path.into(), data: Data::from("three"), version }
}

fn set_acl(path: &str, acl: AclList, version: i32) -> Request {
    Request::SetAcl { path: path.into(), acl, version }
}

fn only(perms: Perms) -> AclList {
    [Acl { perms, who: Identity::new("world", "anyone") }].into()
}

fn created(path: &str) -> Answer {
    Ok(Response::Created { path: path.into(), stat: None })
}

#[test]
fn what_is_created_and_deleted_is_seen_in_its_stat_and_its_parents() {
    let mut tree = Tree::with(&["/p"]);
    tree.time_ms = 5;
    let before = tree.fields("/p");
    assert_eq!(tree.does(create_as("/p/e", CreateMode::Ephemeral)), created("/p/e"));
    let zxid = tree.reference.zxid;
    let expected = StatFields {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms: 5,
        mtime_ms: 5,
        ephemeral_owner: S,
        data_length: 3,
        ..StatFields::default()
    };
    assert_eq!(tree.fields("/p/e"), expected);
    assert_eq!(tree.fields("/p"), StatFields { pzxid: zxid, cversion: 1, num_children: 1, ..before });
    assert_eq!(tree.does(delete("/p/e", 0)), Ok(Response::Deleted));
    let pzxid = tree.reference.zxid;
    assert_eq!(tree.fields("/p"), StatFields { pzxid, cversion: 2, num_children: 0, ..before });
    assert_eq!(tree.reference.stat("/p/e"), None);
    assert_eq!(tree.reference.owned(S).count(), 0);
    // Who asks for a Stat gets it.
    let Op::Create { path, data, acl, mode, .. } = create("/a") else { panic!("it is one") };
    let answer = tree.write(S, &Request::Create { path, data, acl, mode, stat: true });
    assert_eq!(answer, Ok(Response::Created { path: "/a".into(), stat: tree.reference.stat("/a") }));
}

#[test]
fn data_and_lists_have_versions_of_their_own() {
    let mut tree = Tree::with(&["/a"]);
    let before = tree.fields("/a");
    tree.time_ms = 7;
    let stat = |tree: &Tree| tree.reference.stat("/a").expect("it is there");
    assert_eq!(tree.does(set("/a", 0)), Ok(Response::DataSet(stat(&tree))));
    let mzxid = tree.reference.zxid;
    let set_once = StatFields { version: 1, mzxid, mtime_ms: 7, data_length: 5, ..before };
    assert_eq!(tree.fields("/a"), set_once);
    let data = tree.read(&Request::GetData { path: "/a".into(), watch: false });
    assert_eq!(data, Ok(Response::Data { data: "three".into(), stat: stat(&tree) }));
    let answer = tree.write(S, &set_acl("/a", only(Perms::ALL.and(Perms::READ)), 0));
    assert_eq!(answer, Ok(Response::AclSet(stat(&tree))));
    assert_eq!(tree.fields("/a"), StatFields { aversion: 1, ..set_once });
    for version in [0, 2, -2] {
        assert_eq!(tree.does(set("/a", version)), Err(ErrorCode::BadVersion));
        assert_eq!(tree.does(delete("/a", version)), Err(ErrorCode::BadVersion));
        assert_eq!(tree.write(S, &set_acl("/a", open_acl(), version)), Err(ErrorCode::BadVersion));
    }
    assert!(tree.does(set("/a", -1)).is_ok() && tree.write(S, &set_acl("/a", open_acl(), -1)).is_ok());
    assert!(tree.does(delete("/a", -1)).is_ok());
    assert_eq!(tree.does(set("/a", -1)), Err(ErrorCode::NoNode));
    assert_eq!(tree.write(S, &set_acl("/a", open_acl(), -1)), Err(ErrorCode::NoNode));
}

#[test]
fn a_number_is_how_many_children_there_ever_were() {
    let mut tree = Tree::with(&["/q", "/q/a"]);
    assert_eq!(tree.does(numbered("/q/n-")), created("/q/n-0000000001"));
    assert!(tree.does(delete("/q/n-0000000001", -1)).is_ok());
    assert_eq!(tree.does(create("/q/a")), Err(ErrorCode::NodeExists));
    assert!(tree.multi(vec![numbered("/q/n-"), delete("/none", -1)]).is_ok());
    assert_eq!(tree.does(numbered("/q/")), created("/q/0000000002"));
    assert_eq!(tree.does(create_as("/q/e", CreateMode::EphemeralSequential)), created("/q/e0000000003"));
}

#[test]
fn of_several_reasons_to_refuse_a_create_zookeepers_first_is_told() {
    let mut tree = Tree::with(&["/a", "/locked"]);
    tree.write(S, &set_acl("/locked", only(Perms::READ), -1)).expect("it can be set");
    tree.does(create_as("/e", CreateMode::Ephemeral)).expect("it can be made");
    let none = Acl { perms: Perms::ALL, who: Identity::new("world", "nobody") };
    let mut refused = |op: Op, acl: Option<&Acl>| {
        let op = match (op, acl) {
            (Op::Create { path, data, mode, stat, .. }, Some(acl)) => {
                Op::Create { path, data, acl: [acl.clone()].into(), mode, stat }
            }
            (op, _) => op,
        };
        tree.does(op).expect_err("it is refused")
    };
    let lives = |ttl_ms| create_as("/a/t", CreateMode::PersistentTtl(ttl_ms));
    for ttl_ms in [0, -1, 1 << 40] {
        assert_eq!(refused(lives(ttl_ms), Some(&none)), ErrorCode::BadArguments, "{ttl_ms}");
    }
    assert_eq!(refused(create("a"), Some(&none)), ErrorCode::BadArguments);
    assert_eq!(refused(create("/none\0/a"), Some(&none)), ErrorCode::BadArguments);
    assert_eq!(refused(create("/none/a"), Some(&none)), ErrorCode::InvalidAcl);
    assert_eq!(refused(create("/none/."), None), ErrorCode::NoNode);
    assert_eq!(refused(create("/locked/."), None), ErrorCode::NoAuth);
    for path in ["/a/", "/a/.", "/a/..", "/a/b\u{1}"] {
        assert_eq!(refused(create(path), None), ErrorCode::BadArguments, "{path:?}");
    }
    assert_eq!(refused(create("/a"), None), ErrorCode::NodeExists);
    assert_eq!(refused(create("/e/a"), None), ErrorCode::NoChildrenForEphemerals);
    assert!(tree.does(lives(1)).is_ok() && tree.does(delete("/a/t", -1)).is_ok());
    assert!(tree.does(lives((1 << 40) - 1)).is_ok());
    assert_eq!(tree.does(numbered("/a/.")), created("/a/.0000000002"));
}

#[test]
fn of_several_reasons_to_refuse_a_delete_zookeepers_first_is_told() {
    let mut tree = Tree::with(&["/a", "/a/b", "/locked", "/locked/c"]);
    tree.write(S, &set_acl("/locked", only(Perms::READ.and(Perms::CREATE)), -1)).expect("it can be set");
    for path in ["/", "", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "a"] {
        assert_eq!(tree.does(delete(path, 9)), Err(ErrorCode::BadArguments), "{path:?}");
    }
    assert_eq!(tree.does(delete("/none/a", -1)), Err(ErrorCode::NoNode));
    assert_eq!(tree.does(delete("/locked/none", -1)), Err(ErrorCode::NoAuth));
    assert_eq!(tree.does(delete("/locked/c", 9)), Err(ErrorCode::NoAuth));
    assert_eq!(tree.does(delete("/a/none", -1)), Err(ErrorCode::NoNode));
    assert_eq!(tree.does(delete("/a", 9)), Err(ErrorCode::BadVersion));
    assert_eq!(tree.does(delete("/a", 0)), Err(ErrorCode::NotEmpty));
}

#[test]
fn each_permission_is_needed_for_what_it_permits() {
    let mut tree = Tree::with(&["/a"]);
    let mut asks = |perms: Perms| {
        tree.reference.znodes.nodes.get_mut("/a").expect("it is there").acl = only(perms);
        let path: Text = "/a".into();
        let reads = [
            Request::Exists { path: path.clone(), watch: false },
            Request::GetData { path: path.clone(), watch: false },
            Request::GetChildren { path: path.clone(), watch: false, stat: false },
            Request::GetAllChildrenNumber { path: path.clone() },
            Request::GetAcl { path: path.clone() },
        ];
        let mut refused: Vec<_> =
            reads.iter().map(|read| tree.read(read) == Err(ErrorCode::NoAuth)).collect();
        refused.push(tree.does(set("/a", -1)) == Err(ErrorCode::NoAuth));
        refused.push(tree.write(S, &set_acl("/a", only(perms), -1)) == Err(ErrorCode::NoAuth));
        let checked = tree.multi(vec![Op::Check { path, version: -1 }]);
        refused.push(checked == Ok(Response::Multi(MultiOutcome::Failed(vec![Some(ErrorCode::NoAuth)]))));
        refused
    };
    assert_eq!(asks(Perms::READ), [false, false, false, false, false, true, true, false]);
    assert_eq!(asks(Perms::WRITE), [true, true, true, true, true, false, true, true]);
    assert_eq!(asks(Perms::ADMIN), [true, true, true, true, false, true, false, true]);
}

#[test]
fn paths_are_looked_at_by_what_changes_or_checks_and_by_nothing_else() {
    let mut tree = Tree::with(&["/a"]);
    let checks = |path: &str| Op::Check { path: path.into(), version: -1 };
    let failed = |code| Ok(Response::Multi(MultiOutcome::Failed(vec![Some(code)])));
    let strange =
        ["\u{1f}", "\u{7f}", "\u{9f}", "\u{e000}", "\u{f8ff}", "\u{fff0}"].map(|c| format!("/b{c}"));
    let bad = ["", "a", "/a/", "//a", "/a/.", "/a/..", "/a/./b"].map(str::to_owned);
    for path in bad.iter().chain(&strange) {
        assert_eq!(tree.does(set(path, -1)), Err(ErrorCode::BadArguments), "{path:?}");
        assert_eq!(tree.write(S, &set_acl(path, [].into(), -1)), Err(ErrorCode::BadArguments), "{path:?}");
        assert_eq!(tree.multi(vec![checks(path)]), failed(ErrorCode::BadArguments), "{path:?}");
        if !path.is_empty() {
            assert_eq!(tree.read(&Request::GetAcl { path: path.as_str().into() }), Err(ErrorCode::NoNode));
        }
    }
    for path in
        [" ", "\u{7e}", "\u{a0}", "\u{d7ff}", "\u{f900}", "\u{ffef}", "...", ".b"].map(|c| format!("/{c}"))
    {
        assert_eq!(tree.does(set(&path, -1)), Err(ErrorCode::NoNode), "{path:?}");
        assert_eq!(tree.multi(vec![checks(&path)]), failed(ErrorCode::NoNode), "{path:?}");
    }
    assert!(tree.does(set("/", -1)).is_ok());
    assert_eq!(
        tree.multi(vec![checks("/")]),
        Ok(Response::Multi(MultiOutcome::Applied(vec![OpResult::Checked])))
    );
    let exists = |path: &str| Request::Exists { path: path.into(), watch: false };
    assert_eq!(tree.read(&exists("/a\0")), Err(ErrorCode::BadArguments));
    assert_eq!(tree.read(&exists("/b")), Ok(Response::Exists(None)));
    assert_eq!(tree.read(&exists("")), tree.read(&exists("/")), "it is the root's other name");
}

#[test]
fn a_multi_that_fails_leaves_nothing_behind_and_one_that_does_not_is_the_same_as_its_parts() {
    let mut tree = Tree::with(&["/a", "/a/b"]);
    let ops = || {
        vec![
            create_as("/a/e", CreateMode::Ephemeral),
            set("/a", 0),
            set("/a", 1),
            numbered("/n"),
            delete("/a/b", -1),
            create("/a/b"),
            create("/a/b/c"),
            set("/a/b/c", 0),
            create("/t"),
            delete("/t", 0),
            delete("/a/b/c", 1),
            set("/", -1),
        ]
    };
    let before = tree.znodes();
    let mut wrong = ops();
    wrong.extend([delete("/none", -1), create("/never")]);
    let mut codes = vec![None; ops().len()];
    codes.extend([Some(ErrorCode::NoNode), Some(ErrorCode::RuntimeInconsistency)]);
    assert_eq!(tree.multi(wrong), Ok(Response::Multi(MultiOutcome::Failed(codes))));
    assert_eq!(tree.znodes(), before);
    for op in [set("/a/b", -1), delete("/a/b", -1), create("/a/c"), create_as("/a/f", CreateMode::Ephemeral)]
    {
        assert!(tree.multi(vec![op, delete("/none", -1)]).is_ok());
        assert_eq!(tree.znodes(), before);
    }
    // What cannot be read of it fails as a whole, and undoes what was done all the same.
    let null = Acl { perms: Perms::ALL, who: Identity::new("world", zk_proto::message::NULL_TEXT) };
    let mut unreadable = ops();
    let (path, data, mode) = ("/x".into(), Data::from(""), CreateMode::Persistent);
    unreadable.push(Op::Create { path, data, acl: [null].into(), mode, stat: false });
    assert_eq!(tree.multi(unreadable), Err(ErrorCode::MarshallingError));
    assert_eq!(tree.znodes(), before);
    let mut other = Tree::with(&["/a", "/a/b"]);
    other.reference.zxid = tree.reference.zxid;
    assert!(matches!(tree.multi(ops()), Ok(Response::Multi(MultiOutcome::Applied(_)))));
    let at = other.reference.zxid;
    for op in ops() {
        other.does(op).expect("it can be done");
        other.reference.zxid = at;
    }
    assert_eq!(tree.znodes(), other.znodes());
    assert_eq!(tree.reference.owned(S).collect::<Vec<_>>(), ["/a/e"]);
    assert_eq!(tree.reference.znodes.nodes["/"].counter, 3);
}

#[test]
fn a_session_takes_its_ephemerals_with_it_and_does_nothing_any_more() {
    for expires in [false, true] {
        let mut tree = Tree::with(&["/a"]);
        for path in ["/a/e", "/a/f"] {
            assert!(tree.does(create_as(path, CreateMode::Ephemeral)).is_ok());
        }
        assert!(tree.write(T, &alone(create_as("/a/g", CreateMode::Ephemeral))).is_ok());
        let zxid = tree.next();
        match expires {
            false => assert_eq!(tree.write(S, &Request::CloseSession), Ok(Response::Closed)),
            true => assert_eq!(tree.reference.own(zxid, 0, Own::Expire(S)), Ok(())),
        }
        let left = tree.reference.znodes.nodes.keys().filter(|path| path.starts_with("/a/"));
        assert_eq!(left.collect::<Vec<_>>(), ["/a/g"]);
        let above = tree.fields("/a");
        assert_eq!((above.cversion, above.num_children, above.pzxid), (5, 1, zxid));
        assert!(!tree.reference.is_open(S) && tree.reference.is_open(T));
        assert_eq!(tree.does(create("/b")), Err(ErrorCode::SessionExpired));
        assert_eq!(tree.reference.stat("/b"), None);
        assert!(tree.reference.own(zxid, 0, Own::Expire(S)).is_err(), "it is over");
        assert!(tree.reference.own(zxid, 0, Own::Open(T)).is_err(), "it is open");
    }
}

#[test]
fn the_server_removes_containers_and_what_has_outlived_its_time_and_nothing_else() {
    let mut tree = Tree::with(&["/a"]);
    assert!(tree.does(create_as("/c", CreateMode::Container)).is_ok());
    assert!(!tree.removes("/a") && !tree.removes("/none") && !tree.removes("/c"), "it had no child yet");
    assert!(tree.does(create("/c/a")).is_ok() && !tree.removes("/c"), "it has one");
    assert!(tree.does(delete("/c/a", -1)).is_ok() && tree.removes("/c") && !tree.removes("/c"));
    let zxid = tree.reference.zxid;
    assert!(tree.does(create_as("/t", CreateMode::PersistentTtl(50))).is_ok());
    tree.time_ms = 50;
    assert!(!tree.removes("/t"));
    tree.time_ms = 51;
    assert!(tree.does(create("/t/a")).is_ok() && !tree.removes("/t"));
    assert!(tree.does(delete("/t/a", -1)).is_ok() && tree.does(set("/t", -1)).is_ok() && !tree.removes("/t"));
    tree.time_ms = 102;
    assert!(tree.removes("/t") && tree.reference.stat("/t").is_none());
    let root = tree.fields("/");
    assert!(root.num_children == 2 && root.pzxid == tree.reference.zxid && root.pzxid > zxid);
}

#[test]
fn a_sessions_own_ephemerals_are_found_by_the_start_of_their_paths() {
    let mut tree = Tree::with(&["/a"]);
    for path in ["/a/e", "/b"] {
        assert!(tree.does(create_as(path, CreateMode::Ephemeral)).is_ok());
    }
    assert!(tree.write(T, &alone(create_as("/a/f", CreateMode::Ephemeral))).is_ok());
    let found = |prefix: &str| match tree.read(&Request::GetEphemerals { prefix: prefix.into() }) {
        Ok(Response::Ephemerals(paths)) => paths.iter().map(|path| path.to_string()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    for prefix in ["", "/", " ", " /\n", "\t "] {
        assert_eq!(found(prefix), ["/a/e", "/b"], "{prefix:?}");
    }
    assert_eq!(found("/a"), ["/a/e"]);
    assert_eq!((found("/c"), found(" /a"), found("\u{a0}/")), (vec![], vec![], vec![]));
}

#[test]
fn all_below_a_znode_are_counted_and_its_neighbours_are_not() {
    let tree = Tree::with(&["/a", "/a/b", "/a/b/c", "/ab", "/a!"]);
    let count = |path: &str| tree.read(&Request::GetAllChildrenNumber { path: path.into() });
    assert_eq!(count("/a"), Ok(Response::AllChildrenNumber(2)));
    assert_eq!(count("/a/b/c"), Ok(Response::AllChildrenNumber(0)));
    // Five and what is ZooKeeper's own; the empty path is above the root.
    assert_eq!(count("/"), Ok(Response::AllChildrenNumber(8)));
    assert_eq!(count(""), Ok(Response::AllChildrenNumber(9)));
    assert_eq!(count("/none"), Err(ErrorCode::NoNode));
    let system = tree.read(&Request::GetChildren { path: "/zookeeper".into(), watch: false, stat: false });
    let names = ["config", "quota"].map(Text::from).into();
    assert_eq!(system, Ok(Response::Children { names, stat: None }));
    let root = tree.read(&Request::GetChildren { path: "".into(), watch: false, stat: false });
    let names = ["a", "a!", "ab", "zookeeper"].map(Text::from).into();
    assert_eq!(root, Ok(Response::Children { names, stat: None }));
}

#[test]
fn several_reads_have_an_outcome_each() {
    let tree = Tree::with(&["/a", "/a/b"]);
    let (path, none): (Text, Text) = ("/a".into(), "/none".into());
    let ops = vec![
        ReadOp::GetData { path: none.clone() },
        ReadOp::GetChildren { path: path.clone() },
        ReadOp::GetChildren { path: none },
    ];
    let listed = Response::Children { names: vec!["b".into()], stat: None };
    let outcomes = vec![Err(ErrorCode::NoNode), Ok(listed), Err(ErrorCode::NoNode)];
    assert_eq!(tree.read(&Request::MultiRead { ops }), Ok(Response::MultiRead(outcomes)));
    let stat = tree.reference.stat("/a");
    let listed = tree.read(&Request::GetChildren { path: path.clone(), watch: false, stat: true });
    assert_eq!(listed, Ok(Response::Children { names: vec!["b".into()], stat }));
    let add = Request::AddWatch { path, mode: AddWatchMode::Persistent };
    assert_eq!(tree.read(&add), Ok(Response::WatchAdded));
}

#[test]
fn a_list_is_shown_whole_to_who_may_set_it_and_private_is_what_not_all_may_read() {
    let mut tree = Tree::with(&["/a", "/b"]);
    let ann = proves("digest", &"ann:one".into()).unwrap().unwrap();
    tree.proven = vec![ann.clone()];
    let (anyone, its_own) = (Identity::new("world", "anyone"), Identity::new("auth", ""));
    let acl: AclList =
        [Acl { perms: Perms::READ, who: anyone }, Acl { perms: Perms::ADMIN, who: its_own }].into();
    assert!(tree.write(S, &set_acl("/a", acl, -1)).is_ok());
    let shown = |tree: &Tree| match tree.read(&Request::GetAcl { path: "/a".into() }) {
        Ok(Response::Acl { acl, stat }) if Some(stat) == tree.reference.stat("/a") => acl[1].who.id.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(&tree), ann.id);
    tree.proven = Vec::new();
    assert_eq!(&*shown(&tree), "ann:x");
    assert_eq!(tree.reference.private("/a"), None);
    assert!(tree.write(S, &set_acl("/b", only(Perms::WRITE.and(Perms::ADMIN)), -1)).is_ok());
    assert_eq!(tree.reference.private("/b"), Some(&only(Perms::WRITE.and(Perms::ADMIN))));
    assert_eq!(tree.reference.private("/none"), None);
}

#[test]
fn a_tree_that_has_come_elsewhere_differs() {
    let mut tree = DataTree::new();
    assert_eq!(compare::difference(&Reference::new(), &tree), None);
    let body = TxnBody::Error(ErrorCode::NoNode);
    let zxid = Zxid::new(1, 1);
    tree.apply(&Txn { zxid, session: S, xid: zk_proto::message::Xid(1), time_ms: 0, body });
    let told = compare::difference(&Reference::new(), &tree);
    assert!(told.is_some_and(|told| told.starts_with("the tree is at 1:1")));
}
