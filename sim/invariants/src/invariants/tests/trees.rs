//! What is found when servers' trees are compared with the reference.

use crate::{Invariant, Invariants, Setup};
use std::sync::Arc;
use zk_api::{CreateMode, Data, Request, SessionId, Text, Zxid, open_acl, read_acl};
use zk_proto::message::{ConnId, Xid};
use zk_proto::tree::{DataTree, Node};
use zk_proto::txn::{NodeKind, Txn, TxnBody};

const S: SessionId = SessionId::new(1);

/// Three servers that do the same.
struct Three {
    invariants: Invariants,
    trees: [DataTree; 3],
    last: u32,
}

impl Three {
    /// With so many znodes.
    fn with(znodes: u32) -> Three {
        let invariants = Invariants::new(Setup { voters: 3, ..Setup::default() });
        let mut three = Three { invariants, trees: [(); 3].map(|()| DataTree::new()), last: 0 };
        three.applied(Xid(0), TxnBody::CreateSession { timeout_ms: 1000, password: [0; 16] });
        (1..=znodes).for_each(|n| three.create(n));
        three
    }

    fn create(&mut self, n: u32) {
        let path: Text = format!("/n{n:06}").into();
        let (data, acl, kind, mode) =
            (Data::from("x"), open_acl(), NodeKind::Persistent, CreateMode::Persistent);
        let request =
            Request::Create { path: path.clone(), data: data.clone(), acl: acl.clone(), mode, stat: false };
        let xid = Xid(n as i32);
        self.invariants.answers.arrived(ConnId(1), S, xid, &request);
        self.applied(xid, TxnBody::Create { path, data, acl, kind, parent_created: n as i32 });
    }

    /// All servers apply a transaction.
    fn applied(&mut self, xid: Xid, body: TxnBody) {
        self.last += 1;
        let txn = Arc::new(Txn { zxid: Zxid::new(1, self.last), session: S, xid, time_ms: 0, body });
        for (server, tree) in (0..).zip(&mut self.trees) {
            tree.apply(&txn);
            self.invariants.applied(server, &txn, tree);
        }
    }

    fn broken(&self) -> &[(Invariant, String)] {
        &self.invariants.report.broken
    }
}

const ZNODES: u32 = 1000;

/// What is found, and after how many transactions that touch something else, when one server's tree is changed.
fn found(change: impl Fn(&mut DataTree)) -> Option<(String, u32)> {
    let mut three = Three::with(ZNODES);
    assert!(three.broken().is_empty(), "{:?}", three.broken());
    change(&mut three.trees[1]);
    for n in 1..=ZNODES {
        three.create(ZNODES + n);
        if let Some((invariant, what)) = three.broken().first() {
            assert_eq!(*invariant, Invariant::ServersAgree);
            return Some((what.clone(), n));
        }
    }
    None
}

#[test]
fn one_field_of_one_znode_of_one_server_is_found_within_a_round() {
    let fields: [fn(&mut Node); 11] = [
        |node| node.data = Data::from("y"),
        |node| node.acl = read_acl(),
        |node| node.kind = NodeKind::Container,
        |node| node.czxid = Zxid::new(1, 7),
        |node| node.mzxid = Zxid::new(1, 7),
        |node| node.pzxid = Zxid::new(1, 7),
        |node| node.ctime_ms += 1,
        |node| node.mtime_ms += 1,
        |node| node.version += 1,
        |node| node.aversion += 1,
        |node| node.created += 1,
    ];
    for (at, change) in fields.into_iter().enumerate() {
        let (what, after) = found(|tree| {
            let mut node = tree.node("/n000500").expect("it is there").clone();
            change(&mut node);
            tree.restore("/n000500".into(), node);
        })
        .unwrap_or_else(|| panic!("field {at} is not found"));
        assert!(what.starts_with("s1: /n000500 "), "{what}");
        // Twice the znodes at 128 for 16 transactions, and up to where the first round ends.
        assert!(after <= 2 * ZNODES * 16 / 128 + 32, "{after}");
    }
}

#[test]
fn a_znode_more_or_less_at_one_server_is_found() {
    let (what, _) = found(|tree| {
        let node = tree.node("/n000500").expect("it is there").clone();
        tree.restore("/n000500/more".into(), node);
    })
    .expect("it is found");
    // The one above it has a child more, and comes first.
    assert!(what.starts_with("s1: /n000500 is "), "{what}");
    let deletes = TxnBody::Delete { path: "/n000500".into() };
    let delete = Txn { zxid: Zxid::new(1, ZNODES + 1), session: S, xid: Xid(1), time_ms: 0, body: deletes };
    let (what, after) = found(|tree| _ = tree.apply(&delete)).expect("it is found");
    // The root has a child less, and is touched by what is done next.
    assert!(what.starts_with("s1: / is ") && after == 1, "{after}: {what}");
}

#[test]
fn what_is_touched_is_compared_at_once() {
    let mut three = Three::with(1);
    let mut root = three.trees[2].node("/").expect("there is a root").clone();
    root.ctime_ms = 1;
    three.trees[2].restore("/".into(), root);
    three.create(2);
    assert!(three.broken()[0].1.starts_with("s2: / is "), "{:?}", three.broken());
}

/// A server that starts may be anywhere behind what all disks show.
#[test]
fn what_all_disks_show_is_forgotten_and_servers_start_behind_it() {
    let mut three = Three::with(100);
    three.invariants.shown_everywhere(Zxid::new(1, 40));
    let behind = three.trees[0].clone();
    (101..=200).for_each(|n| three.create(n));
    assert_eq!(three.invariants.ensemble.history.length(), 201 - 40);
    three.invariants.started(0, behind.last_zxid(), &behind);
    assert!(three.broken().is_empty(), "{:?}", three.broken());
    // Nothing comes from there, so nobody needs to know how it was.
    let before = DataTree::new();
    three.invariants.started(0, before.last_zxid(), &before);
    assert!(three.broken()[0].1.contains("which nobody ever applied"), "{:?}", three.broken());
}

#[test]
fn the_whole_tree_of_a_server_is_compared_when_it_starts_and_when_it_serves_for_the_first_time() {
    let starts = |started: fn(&mut Node), serves: fn(&mut Node), zxid: u32| {
        let mut three = Three::with(ZNODES);
        let change = |change: fn(&mut Node)| {
            let mut tree = three.trees[1].clone();
            let mut node = tree.node("/n000900").expect("it is there").clone();
            change(&mut node);
            tree.restore("/n000900".into(), node);
            tree
        };
        let trees = [change(started), change(serves)];
        three.invariants.started(1, Zxid::new(1, zxid), &trees[0]);
        let before = three.broken().len();
        three.invariants.serves(1, &trees[1]);
        three.invariants.serves(1, &trees[1]);
        (before, three.broken().iter().map(|(invariant, _)| *invariant).collect::<Vec<_>>())
    };
    let (same, other) = (|_: &mut Node| {}, |node: &mut Node| node.version += 1);
    assert_eq!(starts(same, same, ZNODES + 1), (0, vec![]));
    assert_eq!(starts(other, same, ZNODES + 1), (1, vec![Invariant::ServersAgree]));
    // Later, a round goes on from where it is: what is far from there is not found yet.
    assert_eq!(starts(same, other, ZNODES + 1), (0, vec![Invariant::AcknowledgedWritesSurvive]));
    // A tree that has gone on is compared when the server has come there as well.
    assert_eq!(starts(other, same, ZNODES).0, 0);
}

#[test]
fn a_list_that_is_set_otherwise_is_found_at_once() {
    let mut three = Three::with(1);
    let (path, acl): (Text, _) = ("/n000001".into(), read_acl());
    let request = Request::SetAcl { path: path.clone(), acl: acl.clone(), version: -1 };
    three.invariants.answers.arrived(ConnId(1), S, Xid(2), &request);
    let (zxid, body) = (Zxid::new(1, 3), TxnBody::SetAcl { path: path.clone(), acl, aversion: 1 });
    let txn = Arc::new(Txn { zxid, session: S, xid: Xid(2), time_ms: 0, body });
    let tree = &mut three.trees[0];
    tree.apply(&txn);
    let mut node = tree.node(&path).expect("it is there").clone();
    node.acl = open_acl();
    tree.restore(path, node);
    three.invariants.applied(0, &txn, &three.trees[0]);
    assert!(three.broken()[0].1.starts_with("s0: /n000001 has other data"), "{:?}", three.broken());
}

/// What was applied in the same step is in the tree already.
#[test]
fn a_tree_that_is_further_than_what_is_told_is_compared_when_that_has_come_there() {
    let mut three = Three::with(1);
    let txns = [2, 3].map(|n: u32| {
        let path: Text = format!("/n{n:06}").into();
        let (data, acl, mode, kind) =
            (Data::from("x"), open_acl(), CreateMode::Persistent, NodeKind::Persistent);
        let request =
            Request::Create { path: path.clone(), data: data.clone(), acl: acl.clone(), mode, stat: false };
        three.invariants.answers.arrived(ConnId(1), S, Xid(n as i32), &request);
        let body = TxnBody::Create { path, data, acl, kind, parent_created: n as i32 };
        three.last += 1;
        let (zxid, xid) = (Zxid::new(1, three.last), Xid(n as i32));
        let txn = Arc::new(Txn { zxid, session: S, xid, time_ms: 0, body });
        three.trees[0].apply(&txn);
        txn
    });
    txns.iter().for_each(|txn| three.invariants.applied(0, txn, &three.trees[0]));
    assert_eq!(three.broken(), []);
}
