//! The tree against a naive reference, and what must hold of every run.

use crate::generate::{TreeStep, identities, steps};
use crate::reference::Reference;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use zk_api::*;
use zk_proto::message::Xid;
use zk_proto::order::NameOrder;
use zk_proto::prepare::{Caller, TreeConfig, answer, prepare, read};
use zk_proto::tree::{Applied, DataTree};
use zk_proto::txn::{NodeKind, Txn, TxnBody};

const CONFIG: TreeConfig = TreeConfig { extended_types: true, order: NameOrder::Salted(1) };

/// A tree, its clock, and the transactions that made it.
struct Run {
    tree: DataTree,
    zxid: Zxid,
    now_ms: i64,
    log: Vec<Txn>,
}

impl Run {
    fn new() -> Run {
        Run { tree: DataTree::new(), zxid: Zxid::ZERO, now_ms: 0, log: Vec::new() }
    }

    fn commit(&mut self, body: TxnBody) -> Applied {
        self.zxid = self.zxid.next();
        let txn = Txn { zxid: self.zxid, session: SessionId::NONE, xid: Xid(0), time_ms: self.now_ms, body };
        let applied = self.tree.apply(&txn);
        self.log.push(txn);
        applied
    }

    fn step(&mut self, step: &TreeStep) -> Option<Result<Response, ErrorCode>> {
        match step {
            TreeStep::Ask(session, request) => {
                let caller = Caller { session: *session, identities: &identities(*session) };
                let body = prepare(&self.tree, &CONFIG, caller, request);
                return Some(answer(request, self.commit(body).result));
            }
            TreeStep::Wait(ms) => self.now_ms += ms,
            TreeStep::Sweep => {
                for path in self.tree.expired_nodes(self.now_ms) {
                    self.commit(TxnBody::Delete { path });
                }
            }
        }
        None
    }

    fn of(steps: &[TreeStep]) -> Run {
        let mut run = Run::new();
        for step in steps {
            run.step(step);
        }
        run
    }
}

fn reference_step(reference: &mut Reference, step: &TreeStep) -> Option<Result<Response, ErrorCode>> {
    match step {
        TreeStep::Ask(session, request) => {
            return Some(reference.write(*session, &identities(*session), request));
        }
        TreeStep::Wait(ms) => reference.now_ms += ms,
        TreeStep::Sweep => {
            for path in reference.expired() {
                reference.zxid = reference.zxid.next();
                reference.unlink(&path);
            }
        }
    }
    None
}

fn assert_same(tree: &DataTree, reference: &Reference) {
    assert_eq!(tree.node_count(), reference.nodes.len());
    for (path, plain) in &reference.nodes {
        let node = tree.node(path).unwrap_or_else(|| panic!("{path} is missing"));
        assert_eq!(node.stat(), plain.stat.into(), "{path}");
        assert_eq!((&node.data, &*node.acl), (&plain.data, &*plain.acl), "{path}");
        assert_eq!(node.created, plain.ever, "{path}");
        let kind = match (plain.container, plain.ttl_ms, plain.stat.ephemeral_owner) {
            (true, _, _) => NodeKind::Container,
            (_, Some(ttl_ms), _) => NodeKind::Ttl(ttl_ms),
            (_, _, SessionId::NONE) => NodeKind::Persistent,
            (_, _, owner) => NodeKind::Ephemeral(owner),
        };
        assert_eq!(node.kind, kind, "{path}");
        assert_reads_same(tree, reference, path);
    }
}

fn assert_reads_same(tree: &DataTree, reference: &Reference, path: &str) {
    let root = [Identity::new("super", "")];
    let caller = Caller { session: SessionId::new(1), identities: &root };
    let children = Request::GetChildren { path: path.into(), watch: false, stat: false };
    let Ok(Response::Children { names, .. }) = read(tree, &CONFIG, caller, &children) else {
        panic!("{path} has no children to list");
    };
    let names: BTreeSet<String> = names.iter().map(|name| name.to_string()).collect();
    assert_eq!(names, reference.children(path).into_iter().collect(), "{path}");
    let below =
        reference.nodes.keys().filter(|p| *p != path && (path == "/" || p.starts_with(&format!("{path}/"))));
    assert_eq!(tree.count_below(path), below.count(), "{path}");
}

fn assert_indices_fit(tree: &DataTree) {
    for (path, node) in tree.nodes() {
        let (parent, name) = split(path);
        assert!(name.is_empty() || tree.node(parent).is_some_and(|p| p.children.contains(name)), "{path}");
        for child in &node.children {
            assert!(tree.node(&join(path, child)).is_some(), "{path} has no {child}");
        }
    }
    let listed: BTreeSet<_> = tree
        .ephemeral_owners()
        .into_iter()
        .flat_map(|s| tree.ephemerals(s).map(move |p| (s, p.clone())))
        .collect();
    let found: BTreeSet<_> = tree.nodes().filter_map(|(p, n)| Some((n.owner()?, p.clone()))).collect();
    assert_eq!(listed, found);
}

/// What a snapshot has that is written `width` znodes at a time, with transactions in between, as `pace` says.
/// Gives the tree restored from it, before anything is replayed.
fn fuzzy_snapshot(log: &[Txn], begin: usize, width: usize, pace: &[usize]) -> DataTree {
    let mut tree = DataTree::new();
    log[..begin].iter().for_each(|txn| {
        tree.apply(txn);
    });
    let mut restored = DataTree::new();
    restored.set_last_zxid(tree.last_zxid());
    let mut rest = log[begin..].iter();
    let mut pace = pace.iter().cycle();
    let mut last: Text = "".into();
    loop {
        let pieces: Vec<_> =
            tree.nodes_after(&last).take(width).map(|(p, n)| (p.clone(), n.clone())).collect();
        let Some((path, _)) = pieces.last() else { return restored };
        last = path.clone();
        for (path, mut node) in pieces {
            // What is on the disk has no children: they follow from the paths.
            node.children.clear();
            restored.restore(path, node);
        }
        for txn in rest.by_ref().take(*pace.next().unwrap()) {
            tree.apply(txn);
        }
    }
}

/// A run's steps, and where and how slowly its snapshot is written.
fn fuzzy_case() -> impl Strategy<Value = (Vec<TreeStep>, usize, usize, Vec<usize>)> {
    (steps(120), 0usize..60, 1usize..3, prop::collection::vec(0usize..24, 1..8))
}

#[test]
fn the_snapshots_tried_are_fuzzy_in_every_way() {
    let mut runner = TestRunner::deterministic();
    let (mut orphans, mut met_again, mut met_later, mut early) = (0, 0, 0, 0);
    for _ in 0..500 {
        let (steps, begin, width, pace) = fuzzy_case().new_tree(&mut runner).unwrap().current();
        let run = Run::of(&steps);
        let begin = begin.min(run.log.len());
        let mut restored = fuzzy_snapshot(&run.log, begin, width, &pace);
        orphans += restored.nodes().filter(|(path, _)| restored.node(split(path).0).is_none()).count();
        for txn in &run.log[begin..] {
            let ops = match &txn.body {
                TxnBody::Multi { ops } => ops.as_slice(),
                body => std::slice::from_ref(body),
            };
            for op in ops {
                match op {
                    TxnBody::Create { path, .. } if restored.node(path).is_some() => met_again += 1,
                    TxnBody::Delete { path } => match restored.node(path) {
                        None => early += 1,
                        Some(node) if node.czxid > txn.zxid => met_later += 1,
                        Some(_) => {}
                    },
                    _ => {}
                }
            }
            restored.apply(txn);
        }
    }
    assert!(orphans > 5, "children whose parents were passed before they were created: {orphans}");
    assert!(met_again > 100, "creates of what is there: {met_again}");
    assert!(early > 10, "deletes of what is gone: {early}");
    assert!(met_later > 10, "deletes that meet a later incarnation: {met_later}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_answer_and_every_znode_is_as_the_reference_has_it(steps in steps(60)) {
        let (mut run, mut reference) = (Run::new(), Reference::new());
        for step in &steps {
            assert_eq!(run.step(step), reference_step(&mut reference, step), "{step:?}");
        }
        assert_same(&run.tree, &reference);
        assert_indices_fit(&run.tree);
        for session in [1, 2, 3].map(SessionId::new) {
            let listed: Vec<String> = run.tree.ephemerals(session).map(|p| p.to_string()).collect();
            assert_eq!(listed, reference.ephemerals(session));
        }
    }

    #[test]
    fn a_transaction_applied_twice_is_applied_once(steps in steps(60)) {
        let run = Run::of(&steps);
        let (mut once, mut twice) = (DataTree::new(), DataTree::new());
        for txn in &run.log {
            once.apply(txn);
            twice.apply(txn);
            twice.apply(txn);
            assert_eq!(once, twice, "{txn:?}");
        }
    }

    #[test]
    fn a_log_replayed_over_its_own_result_changes_nothing_in_the_end(steps in steps(40), from in 0usize..40) {
        let run = Run::of(&steps);
        let mut again = run.tree.clone();
        for txn in run.log.iter().skip(from) {
            again.apply(txn);
        }
        assert_eq!(again, run.tree);
    }

    #[test]
    fn a_fuzzy_snapshot_and_the_log_behind_it_give_the_tree(
        (steps, begin, width, pace) in fuzzy_case(),
    ) {
        let run = Run::of(&steps);
        let begin = begin.min(run.log.len());
        let mut restored = fuzzy_snapshot(&run.log, begin, width, &pace);
        for txn in &run.log[begin..] {
            restored.apply(txn);
        }
        assert_indices_fit(&restored);
        assert_eq!(restored, run.tree);
    }

    #[test]
    fn a_snapshot_at_rest_gives_the_same_tree_in_any_order_of_its_pieces(
        steps in steps(40),
        backwards in any::<bool>(),
    ) {
        let run = Run::of(&steps);
        let mut pieces: Vec<_> = run.tree.nodes().map(|(p, n)| (p.clone(), n.clone())).collect();
        if backwards {
            pieces.reverse();
        }
        let mut restored = DataTree::new();
        for (path, node) in pieces {
            restored.restore(path, node);
        }
        restored.set_last_zxid(run.tree.last_zxid());
        assert_eq!(restored, run.tree);
    }
}
