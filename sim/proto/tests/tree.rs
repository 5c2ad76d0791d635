//! Transactions met by a tree that has them, or later ones, already; pieces and clones of a tree.

use crate::harness::Harness;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use zk_api::*;
use zk_proto::message::Xid;
use zk_proto::tree::{Change, DataTree, Node};
use zk_proto::txn::{NodeKind, Txn, TxnBody};

fn txn(counter: u32, body: TxnBody) -> Txn {
    Txn { zxid: Zxid::new(1, counter), session: SessionId::new(1), xid: Xid(0), time_ms: 0, body }
}

fn create(path: &str, parent_created: i32) -> TxnBody {
    let kind = NodeKind::Persistent;
    TxnBody::Create { path: path.into(), data: Data::NULL, acl: open_acl(), kind, parent_created }
}

fn delete(path: &str) -> TxnBody {
    TxnBody::Delete { path: path.into() }
}

fn set(path: &str, data: &str, version: i32) -> TxnBody {
    TxnBody::SetData { path: path.into(), data: data.into(), version }
}

fn tree_of(bodies: &[(u32, TxnBody)]) -> DataTree {
    let mut tree = DataTree::new();
    for (counter, body) in bodies {
        tree.apply(&txn(*counter, body.clone()));
    }
    tree
}

#[test]
fn a_create_of_an_earlier_incarnation_leaves_the_later_one_alone() {
    let bodies = [(1, create("/p", 1)), (2, delete("/p")), (5, create("/p", 2)), (6, create("/p/x", 1))];
    let tree = tree_of(&bodies);
    let mut again = tree.clone();
    assert_eq!(again.apply(&txn(1, create("/p", 1))).changes, []);
    assert_eq!(again.apply(&txn(3, create("/p/y", 7))).changes, [], "a child of the earlier one");
    assert_eq!(again, tree);
}

#[test]
fn a_delete_of_an_earlier_incarnation_leaves_the_later_one_alone() {
    let tree = tree_of(&[(1, create("/p", 1)), (2, delete("/p")), (3, create("/p", 2))]);
    let mut again = tree.clone();
    assert_eq!(again.apply(&txn(2, delete("/p"))).changes, []);
    assert_eq!(again, tree);
}

#[test]
fn data_of_an_earlier_incarnation_or_version_does_not_come_back() {
    let bodies = [
        (1, create("/p", 1)),
        (2, delete("/p")),
        (3, create("/p", 2)),
        (4, set("/p", "a", 1)),
        (5, set("/p", "b", 2)),
    ];
    let tree = tree_of(&bodies);
    for earlier in [txn(1, set("/p", "old", 9)), txn(4, set("/p", "a", 1))] {
        let mut again = tree.clone();
        assert_eq!(again.apply(&earlier).changes, []);
        assert_eq!(again, tree);
    }
}

#[test]
fn what_only_grows_is_not_set_back() {
    let bodies = [
        (1, create("/p", 1)),
        (2, create("/p/a", 1)),
        (3, create("/p/b", 2)),
        (4, delete("/p/a")),
        (5, create("/p/c", 3)),
        (6, set("/p/b", "x", 1)),
    ];
    let tree = tree_of(&bodies);
    let mut again = tree.clone();
    for (counter, body) in [bodies[2].clone(), bodies[3].clone()] {
        assert_eq!(again.apply(&txn(counter, body)).changes, []);
        assert_eq!(again, tree);
    }
}

#[test]
fn an_acl_of_an_earlier_incarnation_does_not_come_back() {
    let tree = tree_of(&[(1, create("/p", 1)), (2, delete("/p")), (3, create("/p", 2))]);
    let mut again = tree.clone();
    let set_acl = |aversion| TxnBody::SetAcl { path: "/p".into(), acl: read_acl(), aversion };
    again.apply(&txn(1, set_acl(1)));
    assert_eq!(again, tree);
    again.apply(&txn(4, set_acl(1)));
    assert_eq!(again.node("/p").unwrap().acl, read_acl());
}

#[test]
fn what_is_missing_is_no_error_while_a_log_is_replayed() {
    let mut tree = DataTree::new();
    let set_acl = TxnBody::SetAcl { path: "/none".into(), acl: open_acl(), aversion: 1 };
    for body in [create("/none/x", 3), delete("/none"), delete("/none/x"), set("/none", "x", 1), set_acl] {
        assert_eq!(tree.apply(&txn(1, body)).changes, []);
    }
    assert_eq!(tree.node_count(), 4);
}

#[test]
fn an_earlier_transaction_does_not_set_the_last_zxid_back() {
    let mut tree = tree_of(&[(1, create("/p", 1)), (2, create("/q", 2))]);
    tree.apply(&txn(1, create("/p", 1)));
    assert_eq!(tree.last_zxid(), Zxid::new(1, 2));
}

#[test]
fn errors_checks_and_sessions_change_nothing_but_the_zxid() {
    let bodies = [
        TxnBody::Error(ErrorCode::NoNode),
        TxnBody::MultiError(vec![Some(ErrorCode::NoNode)]),
        TxnBody::Multi { ops: vec![TxnBody::Check { path: "/".into() }] },
        TxnBody::CreateSession { timeout_ms: 4000, password: [0; 16] },
        TxnBody::CloseSession { ephemerals: vec![], expired: true },
    ];
    for body in bodies {
        let mut tree = DataTree::new();
        assert_eq!(tree.apply(&txn(1, body)).changes, []);
        assert_eq!(tree.last_zxid(), Zxid::new(1, 1));
        tree.set_last_zxid(Zxid::ZERO);
        assert_eq!(tree, DataTree::new());
    }
}

#[test]
fn changes_come_in_the_order_of_a_multi() {
    let ops = vec![create("/p", 1), set("/p", "x", 1), delete("/p")];
    let changes = DataTree::new().apply(&txn(1, TxnBody::Multi { ops })).changes;
    let change = |kind| Change::open("/p".into(), kind);
    let kinds = [EventType::NodeCreated, EventType::NodeDataChanged, EventType::NodeDeleted];
    assert_eq!(changes, kinds.map(change));
}

#[test]
fn a_child_restored_without_its_parent_finds_it_again() {
    // `/p` was not there yet when the snapshot passed it, `/p/c` was by the time it got there.
    let child = Node::new(Data::NULL, open_acl(), NodeKind::Persistent, Zxid::new(1, 2), 0);
    let mut tree = DataTree::new();
    tree.restore("/p/c".into(), child);
    for body in [(1, create("/p", 1)), (2, create("/p/c", 1))] {
        tree.apply(&txn(body.0, body.1));
    }
    assert_eq!(tree, tree_of(&[(1, create("/p", 1)), (2, create("/p/c", 1))]));
}

#[test]
fn a_restored_znode_takes_the_place_of_another_owners() {
    let mut tree = DataTree::new();
    let node = |kind| Node::new(Data::NULL, open_acl(), kind, Zxid::new(1, 1), 0);
    tree.restore("/e".into(), node(NodeKind::Ephemeral(SessionId::new(1))));
    tree.restore("/e".into(), node(NodeKind::Ephemeral(SessionId::new(2))));
    assert_eq!(tree.ephemeral_owners(), [SessionId::new(2)].into());
    tree.restore("/e".into(), node(NodeKind::Persistent));
    assert_eq!(tree.ephemeral_owners().len(), 0);
}

#[test]
fn a_snapshot_in_steps_goes_on_behind_its_last_path_even_if_that_is_gone() {
    let mut tree = tree_of(&[(1, create("/a", 1)), (2, create("/b", 2)), (3, create("/c", 3))]);
    let paths = |tree: &DataTree, after: &str| -> Vec<String> {
        tree.nodes_after(after).map(|(path, _)| path.to_string()).collect()
    };
    let system = ["/zookeeper", "/zookeeper/config", "/zookeeper/quota"];
    let behind_b = [&["/c"], &system[..]].concat();
    assert_eq!(paths(&tree, ""), [&["/", "/a", "/b"], &behind_b[..]].concat());
    assert_eq!(paths(&tree, "/b"), behind_b);
    tree.apply(&txn(4, delete("/b")));
    assert_eq!(paths(&tree, "/b"), behind_b);
    assert_eq!(paths(&tree, "/zookeeper"), system[1..]);
    assert_eq!(paths(&tree, "/zookeeper/quota"), [""; 0]);
}

#[test]
fn a_clone_does_not_see_what_happens_to_the_other() {
    let mut h = Harness::new();
    h.script(&["create /a x", "create /a/e ephemeral"]);
    let before = h.tree.clone();
    let nodes: Vec<_> = before.nodes().map(|(path, node)| (path.clone(), node.clone())).collect();
    h.script(&["set /a y", "create /a/b", "close"]);
    assert!(before.nodes().eq(nodes.iter().map(|(path, node)| (path, node))));
    assert_eq!(before.node("/a").unwrap().data, Data::from("x"));
    assert_eq!(before.ephemerals(SessionId::new(1)).count(), 1);
}

#[test]
fn trees_are_told_apart_by_everything_that_is_stored() {
    let base = Node::new(Data::NULL, open_acl(), NodeKind::Persistent, Zxid::new(1, 1), 0);
    let later = Zxid::new(1, 2);
    let acl: AclList = Arc::new([Acl { perms: Perms::READ, who: Identity::new("world", "anyone") }]);
    let variants = [
        base.clone(),
        Node { data: Data::from(""), ..base.clone() },
        Node { data: Data::from("x"), ..base.clone() },
        Node { acl, ..base.clone() },
        Node { kind: NodeKind::Container, ..base.clone() },
        Node { kind: NodeKind::Ephemeral(SessionId::new(1)), ..base.clone() },
        Node { kind: NodeKind::Ephemeral(SessionId::new(2)), ..base.clone() },
        Node { kind: NodeKind::Ttl(1), ..base.clone() },
        Node { czxid: later, ..base.clone() },
        Node { mzxid: later, ..base.clone() },
        Node { pzxid: later, ..base.clone() },
        Node { ctime_ms: 1, ..base.clone() },
        Node { mtime_ms: 1, ..base.clone() },
        Node { version: 1, ..base.clone() },
        Node { aversion: 1, ..base.clone() },
        Node { created: 1, ..base.clone() },
    ];
    let mut trees: Vec<DataTree> = variants
        .map(|node| {
            let mut tree = DataTree::new();
            tree.restore("/n".into(), node);
            tree
        })
        .into();
    let mut zxid = DataTree::new();
    zxid.set_last_zxid(later);
    trees.extend([zxid, DataTree::new()]);
    let hashed = |tree: &DataTree| BuildHasherDefault::<DefaultHasher>::default().hash_one(tree);
    for (at, tree) in trees.iter().enumerate() {
        assert!(
            trees[at + 1..].iter().all(|other| tree != other && hashed(tree) != hashed(other)),
            "{tree:?}"
        );
    }
}

#[test]
fn a_tree_is_printed_briefly() {
    let tree = tree_of(&[(1, create("/p", 1))]);
    let printed = "DataTree at 1:1 {\
        \"/\": Persistent \"\" cz=0:0 mz=0:0 pz=1:1 v=0 av=0 created=1, \
        \"/p\": Persistent null cz=1:1 mz=1:1 pz=1:1 v=0 av=0 created=0, \
        \"/zookeeper\": Persistent \"\" cz=0:0 mz=0:0 pz=0:0 v=0 av=0 created=0, \
        \"/zookeeper/config\": Persistent \"\" cz=0:0 mz=0:0 pz=0:0 v=0 av=-1 created=0 acl=[Acl { perms: r, who: world:anyone }], \
        \"/zookeeper/quota\": Persistent \"\" cz=0:0 mz=0:0 pz=0:0 v=0 av=0 created=0}";
    assert_eq!(format!("{tree:?}"), printed);
}
