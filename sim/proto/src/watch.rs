//! Watches as a server keeps them.
//!
//! ```
//! use zk_api::{AddWatchMode, EventType};
//! use zk_proto::tree::Change;
//! use zk_proto::watch::{OneShot, WatchTable};
//!
//! let mut watches = WatchTable::new();
//! watches.add("/a", 1, OneShot::Data);
//! watches.add_persistent("/", 2, AddWatchMode::PersistentRecursive);
//! let mut told = || {
//!     let change = Change::open("/a".into(), EventType::NodeDataChanged);
//!     watches.fire(&[change]).into_iter().map(|(client, _)| client).collect::<Vec<_>>()
//! };
//! assert_eq!(told(), [1, 2]);
//! assert_eq!(told(), [2], "a one-shot watch is used up");
//! ```

use crate::message::WatchList;
use crate::tree::{Change, DataTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use zk_api::{
    AclList, AddWatchMode, ErrorCode, EventType, Request, Response, Text, WatchedEvent, WatcherKind, Zxid,
    split,
};

/// The watches of a server's clients. `W` names a client: a connection, or a process of a model.
///
/// A client has at most one watch of each [kind](WatchKind) on a path, and gets at most one event for one
/// change of one znode, however many of its watches see it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WatchTable<W: Ord + Copy> {
    data: Watchers<W>,
    child: Watchers<W>,
    persistent: Watchers<W>,
    recursive: Watchers<W>,
}

/// By path; no set is empty, so that equal tables compare equal.
type Watchers<W> = BTreeMap<Text, BTreeSet<W>>;

/// Which one-shot watch a read sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OneShot {
    /// Set by `getData` and `exists`.
    Data,
    /// Set by `getChildren`.
    Child,
}

/// What kinds of watches there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchKind {
    /// One-shot, for the znode's creation, deletion and data.
    Data,
    /// One-shot, for the list of its children and its deletion.
    Child,
    /// Stays; sees what both of the above see.
    Persistent,
    /// Stays; sees creation, deletion and data of the znode and of all below it.
    PersistentRecursive,
}

impl WatchKind {
    /// Which one-shot watch it is, if it is one.
    pub fn one_shot(self) -> Option<OneShot> {
        match self {
            WatchKind::Data => Some(OneShot::Data),
            WatchKind::Child => Some(OneShot::Child),
            WatchKind::Persistent | WatchKind::PersistentRecursive => None,
        }
    }
}

/// The watch that a read sets, by its answer: `exists` always, the others only where they found the znode.
pub fn one_shot<'a>(
    request: &'a Request,
    answer: &Result<Response, ErrorCode>,
) -> Option<(&'a Text, OneShot)> {
    match request {
        Request::Exists { path, watch: true } if answer.is_ok() => Some((path, OneShot::Data)),
        Request::GetData { path, watch: true } if answer.is_ok() => Some((path, OneShot::Data)),
        Request::GetChildren { path, watch: true, .. } if answer.is_ok() => Some((path, OneShot::Child)),
        _ => None,
    }
}

impl<W: Ord + Copy> WatchTable<W> {
    /// No watches.
    pub fn new() -> WatchTable<W> {
        WatchTable {
            data: BTreeMap::new(),
            child: BTreeMap::new(),
            persistent: BTreeMap::new(),
            recursive: BTreeMap::new(),
        }
    }

    /// Whether there is no watch at all.
    pub fn is_empty(&self) -> bool {
        self.tables().into_iter().all(|(_, table)| table.is_empty())
    }

    /// All watches, by kind and path.
    pub fn iter(&self) -> impl Iterator<Item = (WatchKind, &Text, W)> {
        self.tables().into_iter().flat_map(|(kind, table)| {
            table.iter().flat_map(move |(path, clients)| clients.iter().map(move |&w| (kind, path, w)))
        })
    }

    /// Registers a one-shot watch.
    pub fn add(&mut self, path: &str, watcher: W, kind: OneShot) {
        match kind {
            OneShot::Data => insert(&mut self.data, path, watcher),
            OneShot::Child => insert(&mut self.child, path, watcher),
        }
    }

    /// Registers a persistent watch.
    pub fn add_persistent(&mut self, path: &str, watcher: W, mode: AddWatchMode) {
        match mode {
            AddWatchMode::Persistent => insert(&mut self.persistent, path, watcher),
            AddWatchMode::PersistentRecursive => insert(&mut self.recursive, path, watcher),
        }
    }

    /// Fires for the changes of one transaction, in order: what to tell whom.
    ///
    /// A znode's own event comes before the one of its parent. Source: ZooKeeper 3.9, `DataTree` and
    /// `WatchManager.triggerWatch`.
    pub fn fire(&mut self, changes: &[Change]) -> Vec<(W, WatchedEvent)> {
        self.fire_for(changes, |_, _| true)
    }

    /// The same, but those are told only who may read what the ACL is of. A one-shot watch of another is used
    /// up all the same.
    ///
    /// Source: ZooKeeper 3.9.2, `ServerCnxn.process`; measured on 3.9.3.
    pub fn fire_for(
        &mut self,
        changes: &[Change],
        may_read: impl Fn(W, &AclList) -> bool,
    ) -> Vec<(W, WatchedEvent)> {
        let mut events = Vec::new();
        if self.is_empty() {
            return events;
        }
        for Change { path, kind, acl, parent_acl } in changes {
            let mut own = self.own_watchers(path, *kind);
            own.retain(|watcher| may_read(*watcher, acl));
            events.extend(own.into_iter().map(|w| (w, WatchedEvent::node(*kind, path.clone()))));
            match kind {
                EventType::NodeCreated | EventType::NodeDeleted => {
                    self.fire_parent(path, |watcher| may_read(watcher, parent_acl), &mut events);
                }
                EventType::NodeDataChanged | EventType::NodeChildrenChanged | EventType::None => {}
            }
        }
        events
    }

    /// Who is told of a znode's own change. Their one-shot watches are used up.
    fn own_watchers(&mut self, path: &Text, kind: EventType) -> BTreeSet<W> {
        let mut watchers = self.data.remove(path).unwrap_or_default();
        if kind == EventType::NodeDeleted {
            watchers.extend(self.child.remove(path).unwrap_or_default());
        }
        watchers.extend(self.persistent.get(path).into_iter().flatten());
        if !self.recursive.is_empty() {
            let mut at: &str = path;
            loop {
                watchers.extend(self.recursive.get(at).into_iter().flatten());
                if at.len() <= 1 {
                    break;
                }
                at = split(at).0;
            }
        }
        watchers
    }

    fn fire_parent(
        &mut self,
        path: &Text,
        may_read: impl Fn(W) -> bool,
        events: &mut Vec<(W, WatchedEvent)>,
    ) {
        let parent = split(path).0;
        let mut watchers = self.child.remove(parent).unwrap_or_default();
        watchers.extend(self.persistent.get(parent).into_iter().flatten());
        watchers.retain(|watcher| may_read(*watcher));
        if watchers.is_empty() {
            return;
        }
        let parent: Text = parent.into();
        events.extend(
            watchers
                .into_iter()
                .map(|w| (w, WatchedEvent::node(EventType::NodeChildrenChanged, parent.clone()))),
        );
    }

    /// Registers a client's watches again; gives what it has missed since `since`, in ZooKeeper's order.
    ///
    /// A data watch and a child watch on a znode that is gone tell `NodeDeleted` twice. What was created and
    /// deleted again meanwhile is not seen, and persistent watches tell nothing.
    /// Source: ZooKeeper 3.9, `DataTree.setWatches`, and measurements.
    pub fn set_watches(
        &mut self,
        tree: &DataTree,
        watcher: W,
        since: Zxid,
        watches: &WatchList,
    ) -> Vec<WatchedEvent> {
        let mut missed = Vec::new();
        let mut tell = |kind, path: &Text| missed.push(WatchedEvent::node(kind, path.clone()));
        for path in &watches.data {
            match tree.node(path) {
                None => tell(EventType::NodeDeleted, path),
                Some(node) if node.mzxid > since => tell(EventType::NodeDataChanged, path),
                Some(_) => insert(&mut self.data, path, watcher),
            }
        }
        for path in &watches.exist {
            match tree.node(path) {
                Some(_) => tell(EventType::NodeCreated, path),
                None => insert(&mut self.data, path, watcher),
            }
        }
        for path in &watches.child {
            match tree.node(path) {
                None => tell(EventType::NodeDeleted, path),
                Some(node) if node.pzxid > since => tell(EventType::NodeChildrenChanged, path),
                Some(_) => insert(&mut self.child, path, watcher),
            }
        }
        for path in &watches.persistent {
            insert(&mut self.persistent, path, watcher);
        }
        for path in &watches.recursive {
            insert(&mut self.recursive, path, watcher);
        }
        missed
    }

    /// Removes watches of a kind; tells whether there was one.
    pub fn remove(&mut self, path: &str, watcher: W, kind: WatcherKind) -> bool {
        match kind {
            WatcherKind::Data => take(&mut self.data, path, watcher),
            WatcherKind::Children => take(&mut self.child, path, watcher),
            WatcherKind::Persistent => take(&mut self.persistent, path, watcher),
            WatcherKind::PersistentRecursive => take(&mut self.recursive, path, watcher),
            WatcherKind::Any => {
                let tables = [&mut self.data, &mut self.child, &mut self.persistent, &mut self.recursive];
                tables.map(|table| take(table, path, watcher)).contains(&true)
            }
        }
    }

    /// Whether there is a watch of a kind.
    pub fn contains(&self, path: &str, watcher: W, kind: WatcherKind) -> bool {
        let has = |table: &Watchers<W>| table.get(path).is_some_and(|clients| clients.contains(&watcher));
        match kind {
            WatcherKind::Data => has(&self.data),
            WatcherKind::Children => has(&self.child),
            WatcherKind::Persistent => has(&self.persistent),
            WatcherKind::PersistentRecursive => has(&self.recursive),
            WatcherKind::Any => self.tables().into_iter().any(|(_, table)| has(table)),
        }
    }

    /// Forgets a client that is gone.
    pub fn forget(&mut self, watcher: W) {
        for table in [&mut self.data, &mut self.child, &mut self.persistent, &mut self.recursive] {
            table.retain(|_, clients| {
                clients.remove(&watcher);
                !clients.is_empty()
            });
        }
    }

    fn tables(&self) -> [(WatchKind, &Watchers<W>); 4] {
        [
            (WatchKind::Data, &self.data),
            (WatchKind::Child, &self.child),
            (WatchKind::Persistent, &self.persistent),
            (WatchKind::PersistentRecursive, &self.recursive),
        ]
    }
}

impl<W: Ord + Copy + fmt::Debug> fmt::Debug for WatchTable<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(kind, path, w)| (w, kind, path))).finish()
    }
}

impl<W: Ord + Copy> Default for WatchTable<W> {
    fn default() -> Self {
        Self::new()
    }
}

fn insert<W: Ord + Copy>(table: &mut Watchers<W>, path: &str, watcher: W) {
    match table.get_mut(path) {
        Some(clients) => {
            clients.insert(watcher);
        }
        None => {
            table.insert(path.into(), BTreeSet::from([watcher]));
        }
    }
}

fn take<W: Ord + Copy>(table: &mut Watchers<W>, path: &str, watcher: W) -> bool {
    let Some(clients) = table.get_mut(path) else { return false };
    let had = clients.remove(&watcher);
    if clients.is_empty() {
        table.remove(path);
    }
    had
}
