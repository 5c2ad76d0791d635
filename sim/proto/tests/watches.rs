//! The table of watches against a naive reference: a list of registrations.

use proptest::prelude::*;
use proptest::sample::select;
use zk_api::*;
use zk_proto::message::{WatchList, Xid};
use zk_proto::tree::{Change, DataTree};
use zk_proto::txn::{NodeKind, Txn, TxnBody};
use zk_proto::watch::{OneShot, WatchKind, WatchTable};

/// What can happen to the table.
#[derive(Clone, Debug)]
enum TableStep {
    Add(Text, u8, OneShot),
    Persist(Text, u8, AddWatchMode),
    Fire(Vec<Change>),
    Remove(Text, u8, WatcherKind),
    Forget(u8),
    SetWatches(u8, Zxid, WatchList),
}

/// Who watches what, in the order of registration.
#[derive(Default)]
struct Reference(Vec<(u8, WatchKind, Text)>);

impl Reference {
    fn add(&mut self, watcher: u8, kind: WatchKind, path: &Text) {
        let registration = (watcher, kind, path.clone());
        if !self.0.contains(&registration) {
            self.0.push(registration);
        }
    }

    /// The events of one change for one watcher.
    fn fire(&mut self, watcher: u8, change: &Change) -> Vec<WatchedEvent> {
        let Change { path, kind, .. } = change;
        let under = |at: &str| at == &**path || at == "/" || path.starts_with(&format!("{at}/"));
        let parent = path.rsplit_once('/').map(|(p, _)| if p.is_empty() { "/" } else { p }).unwrap();
        let mut own = false;
        let mut of_parent = false;
        self.0.retain(|(w, watch, at)| {
            if *w != watcher {
                return true;
            }
            let here = at == path;
            let sees = match watch {
                WatchKind::Data | WatchKind::Persistent => here,
                WatchKind::Child => here && *kind == EventType::NodeDeleted,
                WatchKind::PersistentRecursive => under(at),
            };
            own |= sees;
            let is_listed = *kind != EventType::NodeDataChanged
                && &**at == parent
                && matches!(watch, WatchKind::Child | WatchKind::Persistent);
            of_parent |= is_listed;
            !(matches!(watch, WatchKind::Data | WatchKind::Child) && (sees || is_listed))
        });
        let mut events = Vec::new();
        if own {
            events.push(WatchedEvent::node(*kind, path.clone()));
        }
        if of_parent {
            events.push(WatchedEvent::node(EventType::NodeChildrenChanged, parent.into()));
        }
        events
    }

    fn remove(&mut self, watcher: u8, path: &Text, kind: WatcherKind) -> bool {
        let before = self.0.len();
        self.0.retain(|(w, watch, at)| {
            let meant = match kind {
                WatcherKind::Any => true,
                WatcherKind::Data => *watch == WatchKind::Data,
                WatcherKind::Children => *watch == WatchKind::Child,
                WatcherKind::Persistent => *watch == WatchKind::Persistent,
                WatcherKind::PersistentRecursive => *watch == WatchKind::PersistentRecursive,
            };
            *w != watcher || at != path || !meant
        });
        self.0.len() < before
    }

    fn set(&mut self, tree: &DataTree, watcher: u8, since: Zxid, list: &WatchList) -> Vec<WatchedEvent> {
        let mut events = Vec::new();
        for (kind, paths) in [(0, &list.data), (1, &list.exist), (2, &list.child)] {
            for path in paths {
                let missed = match (kind, tree.stat(path)) {
                    (1, None) => None,
                    (1, Some(_)) => Some(EventType::NodeCreated),
                    (_, None) => Some(EventType::NodeDeleted),
                    (0, Some(stat)) => (since < stat.mzxid()).then_some(EventType::NodeDataChanged),
                    (_, Some(stat)) => (since < stat.pzxid()).then_some(EventType::NodeChildrenChanged),
                };
                match missed {
                    Some(event) => events.push(WatchedEvent::node(event, path.clone())),
                    None if kind == 2 => self.add(watcher, WatchKind::Child, path),
                    None => self.add(watcher, WatchKind::Data, path),
                }
            }
        }
        list.persistent.iter().for_each(|path| self.add(watcher, WatchKind::Persistent, path));
        list.recursive.iter().for_each(|path| self.add(watcher, WatchKind::PersistentRecursive, path));
        events
    }
}

fn path() -> impl Strategy<Value = Text> {
    select(vec!["/", "/a", "/a/b", "/a/b/c", "/ab", "/ab/c"]).prop_map(Text::from)
}

fn paths() -> impl Strategy<Value = Vec<Text>> {
    prop::collection::vec(path(), 0..3)
}

fn change() -> impl Strategy<Value = Change> {
    let kinds = vec![EventType::NodeCreated, EventType::NodeDeleted, EventType::NodeDataChanged];
    (path().prop_filter("the root stays", |p| p.len() > 1), select(kinds))
        .prop_map(|(path, kind)| Change::open(path, kind))
}

fn step() -> impl Strategy<Value = TableStep> {
    let who = 0u8..3;
    let shot = select(vec![OneShot::Data, OneShot::Child]);
    let mode = select(vec![AddWatchMode::Persistent, AddWatchMode::PersistentRecursive]);
    let kind = select(vec![
        WatcherKind::Data,
        WatcherKind::Children,
        WatcherKind::Any,
        WatcherKind::Persistent,
        WatcherKind::PersistentRecursive,
    ]);
    let list = (paths(), paths(), paths(), paths(), paths()).prop_map(
        |(data, exist, child, persistent, recursive)| WatchList { data, exist, child, persistent, recursive },
    );
    prop_oneof![
        8 => (path(), who.clone(), shot).prop_map(|(p, w, k)| TableStep::Add(p, w, k)),
        3 => (path(), who.clone(), mode).prop_map(|(p, w, m)| TableStep::Persist(p, w, m)),
        6 => prop::collection::vec(change(), 1..4).prop_map(TableStep::Fire),
        2 => (path(), who.clone(), kind).prop_map(|(p, w, k)| TableStep::Remove(p, w, k)),
        1 => who.clone().prop_map(TableStep::Forget),
        2 => (who, 0u32..6, list).prop_map(|(w, z, l)| TableStep::SetWatches(w, Zxid::new(1, z), l)),
    ]
}

/// `/a` and `/a/b`, created by 1:1 and 1:2, and `/a` set by 1:4.
fn small_tree() -> DataTree {
    let create = |path: &str| TxnBody::Create {
        path: path.into(),
        data: Data::NULL,
        acl: open_acl(),
        kind: NodeKind::Persistent,
        parent_created: 1,
    };
    let set = TxnBody::SetData { path: "/a".into(), data: Data::NULL, version: 1 };
    let mut tree = DataTree::new();
    for (counter, body) in [(1, create("/a")), (2, create("/a/b")), (4, set)] {
        let zxid = Zxid::new(1, counter);
        tree.apply(&Txn { zxid, session: SessionId::NONE, xid: Xid(0), time_ms: 0, body });
    }
    tree
}

fn assert_same(table: &WatchTable<u8>, reference: &Reference) {
    let mut left: Vec<_> = table.iter().map(|(kind, path, w)| (w, kind, path.clone())).collect();
    let mut right = reference.0.clone();
    left.sort();
    right.sort();
    assert_eq!(left, right);
    assert_eq!(table.is_empty(), right.is_empty());
    // Nothing of what was removed may be left to tell equal tables apart.
    let mut built = WatchTable::new();
    for (watcher, kind, path) in &right {
        match kind {
            WatchKind::Data => built.add(path, *watcher, OneShot::Data),
            WatchKind::Child => built.add(path, *watcher, OneShot::Child),
            WatchKind::Persistent => built.add_persistent(path, *watcher, AddWatchMode::Persistent),
            WatchKind::PersistentRecursive => {
                built.add_persistent(path, *watcher, AddWatchMode::PersistentRecursive);
            }
        }
    }
    assert_eq!(*table, built);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_watcher_is_told_what_the_reference_tells_it(steps in prop::collection::vec(step(), 0..40)) {
        let tree = small_tree();
        let (mut table, mut reference) = (WatchTable::new(), Reference::default());
        for step in &steps {
            match step {
                TableStep::Add(path, w, kind) => {
                    table.add(path, *w, *kind);
                    let kind = if *kind == OneShot::Data { WatchKind::Data } else { WatchKind::Child };
                    reference.add(*w, kind, path);
                }
                TableStep::Persist(path, w, mode) => {
                    table.add_persistent(path, *w, *mode);
                    let kind = match mode {
                        AddWatchMode::Persistent => WatchKind::Persistent,
                        AddWatchMode::PersistentRecursive => WatchKind::PersistentRecursive,
                    };
                    reference.add(*w, kind, path);
                }
                TableStep::Fire(changes) => {
                    let told = table.fire(changes);
                    for w in 0..3 {
                        let mine: Vec<_> = told.iter().filter(|(to, _)| *to == w).map(|(_, e)| e.clone()).collect();
                        let expected: Vec<_> =
                            changes.iter().flat_map(|change| reference.fire(w, change)).collect();
                        assert_eq!(mine, expected, "{step:?} to {w}");
                    }
                }
                TableStep::Remove(path, w, kind) => {
                    let there = table.contains(path, *w, *kind);
                    assert_eq!(there, table.remove(path, *w, *kind), "{step:?}");
                    assert_eq!(there, reference.remove(*w, path, *kind), "{step:?}");
                    assert!(!table.contains(path, *w, *kind));
                }
                TableStep::Forget(w) => {
                    table.forget(*w);
                    reference.0.retain(|(watcher, ..)| watcher != w);
                }
                TableStep::SetWatches(w, since, list) => {
                    let told = table.set_watches(&tree, *w, *since, list);
                    assert_eq!(told, reference.set(&tree, *w, *since, list));
                }
            }
            assert_same(&table, &reference);
        }
    }
}
