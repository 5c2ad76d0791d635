//! Every request, its answer, and its errors.

use crate::real::{path, with_server};
use std::time::Duration;
use zk_api::{
    Acl, AclList, CreateMode, Data, ErrorCode, Identity, MultiOutcome, Op, OpResult, Outcome, Perms, ReadOp,
    Request, Response, SessionId, WatcherKind, ZooKeeper, Zxid, creator_acl, open_acl,
};

#[test]
fn znodes_of_every_kind_can_be_made_read_set_listed_and_deleted() {
    with_server(|real| async move {
        let zk = real.session().await;
        let a = path("/a");
        let made = zk.create2(&a, "one".into(), open_acl(), CreateMode::Persistent).await.expect("made");
        assert_eq!((&*made.0, made.1.ephemeral_owner(), made.1.data_length()), ("/a", SessionId::NONE, 3));
        assert!(made.1.czxid() > Zxid::ZERO && made.1.ctime_ms() > 0);
        for (name, mode, owner) in [
            ("e", CreateMode::Ephemeral, zk.session()),
            ("c", CreateMode::Container, SessionId::NONE),
            ("t", CreateMode::PersistentTtl(60_000), SessionId::NONE),
        ] {
            let child = a.join(name).expect("a name");
            let (at, stat) = zk.create2(&child, Data::NULL, open_acl(), mode).await.expect("made");
            assert_eq!((&*at, stat.ephemeral_owner()), (child.as_str(), owner));
        }
        for (mode, name) in [
            (CreateMode::PersistentSequential, "/a/s-0000000003"),
            (CreateMode::EphemeralSequential, "/a/s-0000000004"),
            (CreateMode::PersistentSequentialTtl(60_000), "/a/s-0000000005"),
        ] {
            assert_eq!(&*zk.create(&path("/a/s-"), Data::NULL, mode).await.expect("made"), name);
        }
        let stat = zk.set_data(&a, "two".into(), 0).await.expect("set");
        let (data, read) = zk.data(&a).await.expect("read");
        assert_eq!((data.bytes(), read.version(), read.mzxid()), (&b"two"[..], 1, stat.mzxid()));
        let (mut names, parent) = zk.children2(&a).await.expect("listed");
        names.sort();
        assert_eq!(
            (names[0..3].join(" "), parent.num_children(), names.len()),
            ("c e s-0000000003".into(), 6, 6)
        );
        assert_eq!(zk.children(&a).await.expect("listed").len(), 6);
        assert_eq!(zk.all_children_number(&a).await.expect("counted"), 6);
        let mut mine = zk.ephemerals(&a).await.expect("listed");
        mine.sort();
        assert_eq!(mine.join(" "), "/a/e /a/s-0000000004");
        zk.delete(&path("/a/e"), -1).await.expect("deleted");
        assert_eq!(zk.exists(&path("/a/e")).await.expect("looked"), None);
    });
}

#[test]
fn what_a_server_refuses_has_its_name_and_no_effect() {
    with_server(|real| async move {
        let zk = real.session().await;
        let (a, b, none) = (path("/a"), path("/a/b"), path("/none"));
        zk.create(&a, Data::NULL, CreateMode::Ephemeral).await.expect("made");
        let create = |mode| zk.create(&a, Data::NULL, mode);
        let codes = [
            create(CreateMode::Persistent).await.expect_err("there"),
            zk.create(&b, Data::NULL, CreateMode::Persistent).await.expect_err("ephemeral parent"),
            zk.delete(&none, -1).await.expect_err("absent"),
            zk.set_data(&a, Data::NULL, 7).await.expect_err("version"),
            zk.delete(&path("/zookeeper"), -1).await.expect_err("its own"),
            create(CreateMode::PersistentTtl(0)).await.expect_err("no time"),
            create(CreateMode::PersistentTtl(-1)).await.expect_err("no time"),
            zk.create2(&none, Data::NULL, [].into(), CreateMode::Persistent).await.expect_err("no acl"),
            zk.data(&none).await.expect_err("absent"),
        ];
        use ErrorCode::*;
        let expected = [
            NodeExists,
            NoChildrenForEphemerals,
            NoNode,
            BadVersion,
            BadArguments,
            BadArguments,
            BadArguments,
            InvalidAcl,
            NoNode,
        ];
        for (error, code) in codes.into_iter().zip(expected) {
            assert_eq!((error.code, error.outcome()), (code, Outcome::NotApplied), "{error}");
        }
        let error = zk.delete(&none, -1).await.expect_err("absent");
        assert_eq!(error.to_string(), "delete /none: NoNode (not applied)");
    });
}

#[test]
fn what_that_client_has_no_words_for_is_unimplemented_by_name() {
    with_server(|real| async move {
        let zk = real.session().await;
        let a = path("/a");
        let removed = zk.remove_watches(&a, WatcherKind::Any).await.expect_err("no words for it");
        assert_eq!(removed.to_string(), "removeWatches /a: Unimplemented (not applied)");
        let request = Request::CheckWatches { path: a.text(), kind: WatcherKind::Data };
        let checked = zk.submit(request).await.expect_err("no words for it");
        assert_eq!(checked.to_string(), "checkWatches /a: Unimplemented (not applied)");
        // Null and no bytes are one.
        zk.create(&a, Data::NULL, CreateMode::Persistent).await.expect("made");
        assert_eq!(zk.data(&a).await.expect("read").0, Data::from(""));
    });
}

fn create(path: &str) -> Op {
    let mode = CreateMode::Persistent;
    Op::Create { path: path.into(), data: Data::NULL, acl: open_acl(), mode, stat: false }
}

#[test]
fn a_multi_does_all_or_nothing_and_says_which_failed() {
    with_server(|real| async move {
        let zk = real.session().await;
        let check = |version| Op::Check { path: "/m".into(), version };
        let set = Op::SetData { path: "/m".into(), data: "x".into(), version: 0 };
        let delete = Op::Delete { path: "/m/x".into(), version: -1 };
        let done = zk.multi(vec![create("/m"), create("/m/x"), check(0), set.clone(), delete.clone()]).await;
        let Ok(MultiOutcome::Applied(results)) = done else { panic!("{done:?}") };
        assert_eq!(results[0], OpResult::Created { path: "/m".into(), stat: None });
        assert_eq!((&results[2], &results[4]), (&OpResult::Checked, &OpResult::Deleted));
        assert!(matches!(results[3], OpResult::DataSet(stat) if stat.version() == 1));
        let failed = zk.multi(vec![check(1), set, delete]).await.expect("answered");
        let codes = [None, Some(ErrorCode::BadVersion), Some(ErrorCode::RuntimeInconsistency)];
        assert_eq!(failed, MultiOutcome::Failed(codes.into()));
        assert_eq!(zk.multi(vec![]).await, Ok(MultiOutcome::Applied(vec![])));
        let reads = ["/m", "/none"].map(|path| ReadOp::GetData { path: path.into() });
        let list = ReadOp::GetChildren { path: "/m".into() };
        let read = zk.multi_read(reads.into_iter().chain([list]).collect()).await.expect("read");
        assert!(matches!(&read[0], Ok(Response::Data { data, .. }) if data.bytes() == b"x"));
        assert_eq!(read[1], Err(ErrorCode::NoNode));
        assert_eq!(read[2], Ok(Response::Children { names: vec![], stat: None }));
    });
}

#[test]
fn credentials_open_what_is_closed_to_others_and_last_over_connections() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let a = path("/a");
        zk.authenticate("digest", "me:secret".into()).await.expect("accepted");
        zk.create2(&a, Data::NULL, creator_acl(), CreateMode::Persistent).await.expect("made");
        let refused = other.data(&a).await.expect_err("not permitted");
        assert_eq!(refused.code, ErrorCode::NoAuth);
        let (acl, stat) = zk.acl(&a).await.expect("read");
        assert_eq!((&*acl[0].who.scheme, acl[0].perms, stat.aversion()), ("digest", Perms::ALL, 0));
        assert!(zk.who_am_i().await.expect("told").contains(&Identity::new("digest", "me")));
        real.ask("kill");
        real.ask("restart");
        while zk.data(&a).await.is_err() {
            zk.sleep(Duration::from_millis(50)).await;
        }
        let all: AclList = [Acl { perms: Perms::READ, who: Identity::new("world", "anyone") }].into();
        assert_eq!(zk.set_acl(&a, all, 0).await.expect("set").aversion(), 1);
        while other.data(&a).await.is_err() {
            other.sleep(Duration::from_millis(50)).await;
        }
    });
}
