//! Crashes at every operation of the disk, and snapshots compared with trees that never crashed.

use crate::server::facts::{create, set};
use crate::server::rig::{Rig, config};
use crate::server::robust::requests;
use proptest::prelude::*;
use zk_api::{CreateMode, Request, Response};
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::recovery::recover;
use zk_proto::server::{Output, RecoveryError, ServerConfig};

/// How many writes the short run has.
const WRITES: usize = 16;

/// Snapshots all the time, each in several steps.
fn busy() -> ServerConfig {
    ServerConfig { snapshot_every: 3, snapshot_step: 3, ..config() }
}

/// Creates znodes, one after the other, with time for a snapshot's steps between them, until the disk stops.
/// Gives the paths that were acknowledged.
fn work(rig: &mut Rig) -> Vec<String> {
    let mut acknowledged = Vec::new();
    if rig.start().is_err() {
        panic!("an empty disk is fine");
    }
    rig.settle();
    let client = rig.client(10_000);
    rig.settle();
    for n in 0..WRITES {
        let path = format!("/n-{n}");
        let call = rig.submit(client, create(&path, CreateMode::Persistent));
        rig.settle();
        rig.advance(1);
        match rig.answer(client, call) {
            Some(Ok(Response::Created { .. })) => acknowledged.push(path),
            Some(other) => panic!("{other:?}"),
            None => {}
        }
    }
    acknowledged
}

#[test]
fn acknowledged_writes_survive_a_crash_at_every_disk_operation() {
    let mut whole = Rig::new(busy());
    assert_eq!(work(&mut whole).len(), WRITES);
    let operations = whole.done;
    assert!(operations > 50, "the run has snapshots and purges");
    for limit in 0..=operations {
        for kept in [0, 1, 30, usize::MAX] {
            let mut rig = Rig::new(busy());
            rig.limit = limit;
            let acknowledged = work(&mut rig);
            rig.crash(kept);
            rig.limit = usize::MAX;
            rig.start().unwrap_or_else(|e| panic!("after {limit} operations: {e}"));
            rig.settle();
            let tree = rig.server.as_ref().unwrap().tree();
            for path in &acknowledged {
                assert!(tree.node(path).is_some(), "{path} after {limit} operations, {kept} bytes kept");
            }
            // What is there is a prefix of what was asked.
            let there = tree.nodes().filter(|(path, _)| path.starts_with("/n-")).count();
            assert!((0..there).all(|n| tree.node(&format!("/n-{n}")).is_some()));
            // A second crash, in the middle of the recovery's own work, loses nothing either.
            rig.crash(kept);
            rig.start().unwrap_or_else(|e| panic!("again, after {limit} operations: {e}"));
        }
    }
}

#[test]
fn recovery_itself_may_crash_at_every_disk_operation() {
    let mut tails = 0;
    for stop in 40..60 {
        let mut torn = Rig::new(busy());
        torn.limit = stop;
        let acknowledged = work(&mut torn);
        torn.crash(30);
        let repairs = recover(&torn.disk.files()).unwrap().repairs;
        tails += usize::from(repairs.iter().any(|op| matches!(op, DiskOp::Truncate { .. })));
        for limit in 0..8 {
            let mut rig = torn.clone();
            rig.done = 0;
            rig.limit = limit;
            rig.start().unwrap();
            rig.settle();
            rig.crash(0);
            rig.limit = usize::MAX;
            rig.start().unwrap_or_else(|e| panic!("after {limit} operations: {e}"));
            rig.settle();
            for path in &acknowledged {
                assert!(rig.server.as_ref().unwrap().tree().node(path).is_some());
            }
            // A tail that came back would now stand before another log.
            let client = rig.connected(1000);
            rig.call(client, create("/more", CreateMode::Persistent)).unwrap();
            rig.crash(0);
            rig.start().unwrap_or_else(|e| panic!("after {limit} operations and more work: {e}"));
        }
    }
    assert!(tails > 3, "logs were torn");
}

#[test]
fn no_write_is_acknowledged_before_its_sync() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(1000);
    let conn = rig.clients[client].conn.unwrap();
    let call = rig.submit(client, create("/a", CreateMode::Persistent));
    while rig.deliver_up(conn) || rig.deliver_down(conn) {}
    assert_eq!(rig.answer(client, call), None);
    assert!(rig.server.as_ref().unwrap().tree().node("/a").is_none());
    rig.sync();
    while rig.deliver_down(conn) {}
    assert!(rig.answer(client, call).unwrap().is_ok());
}

#[test]
fn writes_that_come_during_a_sync_share_the_next_one() {
    let mut rig = Rig::serving(config());
    let clients = [(); 4].map(|()| rig.connected(1000));
    let before = rig.lines.len();
    for (n, client) in clients.into_iter().enumerate() {
        rig.submit(client, create(&format!("/n-{n}"), CreateMode::Persistent));
    }
    rig.settle();
    let ops: Vec<&DiskOp> = rig.lines[before..]
        .iter()
        .filter_map(|line| match line {
            crate::server::rig::Line::Server(Output::Disk(op)) => Some(op),
            _ => None,
        })
        .collect();
    let appends = ops.iter().filter(|op| matches!(op, DiskOp::Append { .. })).count();
    let syncs = ops.iter().filter(|op| matches!(op, DiskOp::Sync { .. })).count();
    assert_eq!((appends, syncs), (4, 2));
}

#[test]
fn old_snapshots_and_logs_are_purged_and_those_needed_are_kept() {
    let mut rig = Rig::new(ServerConfig { snapshots_kept: 2, ..busy() });
    work(&mut rig);
    rig.advance(100);
    let files = rig.disk.files();
    let snapshots: Vec<_> = files.keys().filter(|file| matches!(file, FileId::Snapshot(_))).collect();
    assert_eq!(snapshots.len(), 2, "{:?}", files.keys());
    // The older one and the logs are enough.
    let expected = rig.server.as_ref().unwrap().tree().clone();
    let newest = **snapshots.last().unwrap();
    rig.crash(0);
    rig.spoil(|files| files.get_mut(&newest).unwrap()[20] ^= 1);
    rig.start().unwrap();
    rig.settle();
    assert_eq!(*rig.server.as_ref().unwrap().tree(), expected);
    // Without any snapshot, the logs are not.
    rig.crash(0);
    for file in files.keys().filter(|file| matches!(file, FileId::Snapshot(_))) {
        rig.disk.remove(*file);
    }
    assert_eq!(rig.start(), Err(RecoveryError::NoSnapshot));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Transactions go on while a snapshot is written in the smallest steps, with anything between.
    #[test]
    fn a_fuzzy_snapshot_and_replay_give_the_tree_of_no_crash(
        steps in prop::collection::vec((requests(), 0..3i64), 1..60),
        every in 1u32..9,
    ) {
        let mut rig = Rig::serving(ServerConfig { snapshot_every: every, snapshot_step: 1, ..config() });
        let mut client = rig.connected(10_000);
        for (request, ms) in steps {
            if matches!(request, Request::Auth { .. }) {
                continue;
            }
            rig.call(client, request.clone()).ok();
            if request == Request::CloseSession {
                client = rig.connected(10_000);
            }
            rig.advance(ms);
        }
        let expected = rig.server.clone().unwrap();
        rig.crash(0);
        rig.start().unwrap();
        rig.settle();
        let recovered = rig.server.as_ref().unwrap();
        prop_assert_eq!(recovered.tree(), expected.tree());
        prop_assert_eq!(recovered.sessions(), expected.sessions());
    }
}

#[test]
fn what_a_dead_process_left_unsynced_is_made_durable_before_it_counts() {
    let mut rig = Rig::serving(config());
    let client = rig.connected(10_000);
    rig.submit(client, create("/a", CreateMode::Persistent));
    let conn = rig.clients[client].conn.unwrap();
    rig.deliver_up(conn);
    // Only the process dies: its successor reads what was written, and shows it.
    rig.die();
    rig.start().unwrap();
    rig.settle();
    assert!(rig.server.as_ref().unwrap().tree().node("/a").is_some());
    rig.crash(0);
    rig.start().unwrap();
    rig.settle();
    assert!(rig.server.as_ref().unwrap().tree().node("/a").is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The disk stops somewhere, the power goes, and some unsynced bytes survive: what is recovered is the
    /// tree as it was after some transaction, none that was applied before is missing.
    #[test]
    fn a_crash_anywhere_recovers_a_prefix_with_all_that_was_applied(
        requests in prop::collection::vec(requests(), 1..40),
        limit in 0..150usize,
        kept in 0..200usize,
        step in 1u32..4,
    ) {
        let config = ServerConfig { snapshot_every: 5, snapshot_step: step, snapshots_kept: 1, ..config() };
        let run = |limit: Option<usize>| {
            let mut rig = Rig::new(config.clone());
            rig.limit = limit.unwrap_or(usize::MAX);
            rig.start().unwrap();
            rig.settle();
            let client = rig.client(10_000);
            rig.settle();
            let mut trees = vec![rig.server.as_ref().unwrap().tree().clone()];
            for request in &requests {
                // No client timer may fire: the two runs get the same requests.
                rig.submit(client, request.clone());
                rig.settle();
                rig.advance(1);
                trees.push(rig.server.as_ref().unwrap().tree().clone());
            }
            (rig, trees)
        };
        let (_, whole) = run(None);
        let (mut rig, _) = run(Some(limit));
        let applied = rig.applied.last().copied().unwrap_or_default();
        rig.crash(kept);
        rig.limit = usize::MAX;
        rig.start().unwrap();
        rig.settle();
        let tree = rig.server.as_ref().unwrap().tree();
        prop_assert!(tree.last_zxid() >= applied);
        prop_assert!(
            tree.last_zxid().counter() <= 1 || whole.contains(tree),
            "not as it ever was: {}", tree.last_zxid()
        );
    }
}

#[test]
fn the_fuzzy_case_is_reached() {
    // A snapshot that is begun, a change of what it has written and one of what it has not, then its end.
    let mut rig = Rig::serving(ServerConfig { snapshot_every: 4, snapshot_step: 1, ..config() });
    let client = rig.connected(10_000);
    for path in ["/a", "/b", "/c"] {
        rig.call(client, create(path, CreateMode::Persistent)).unwrap();
    }
    rig.advance(2);
    rig.call(client, set("/a", "late")).unwrap();
    rig.call(client, Request::Delete { path: "/c".into(), version: -1 }).unwrap();
    rig.advance(100);
    let snapshot = rig.disk.files().into_iter().rev().find_map(|(file, bytes)| match file {
        FileId::Snapshot(_) => Some(zk_proto::snapshot::load(&bytes).expect("complete")),
        _ => None,
    });
    let snapshot = snapshot.expect("a snapshot");
    assert!(snapshot.shows > snapshot.tree.last_zxid());
    assert!(snapshot.tree.node("/c").is_none(), "deleted before its piece was written");
}
