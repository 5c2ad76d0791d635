//! Watches as a server keeps them.

use crate::message::WatchList;
use crate::tree::{Change, DataTree};
use std::marker::PhantomData;
use zk_api::{AddWatchMode, WatchedEvent, WatcherKind, Zxid};

/// The watches of a server's clients. `W` names a client: a connection, or a process of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WatchTable<W: Ord + Copy> {
    todo: PhantomData<W>,
}

/// Which one-shot watch a read sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OneShot {
    /// Set by `getData` and `exists`.
    Data,
    /// Set by `getChildren`.
    Child,
}

impl<W: Ord + Copy> WatchTable<W> {
    /// No watches.
    pub fn new() -> WatchTable<W> {
        todo!()
    }
    /// Registers a one-shot watch.
    pub fn add(&mut self, _path: &str, _watcher: W, _kind: OneShot) {
        todo!()
    }
    /// Registers a persistent watch.
    pub fn add_persistent(&mut self, _path: &str, _watcher: W, _mode: AddWatchMode) {
        todo!()
    }
    /// Fires for the changes of one transaction, in order: what to tell whom.
    pub fn fire(&mut self, _changes: &[Change]) -> Vec<(W, WatchedEvent)> {
        todo!()
    }
    /// Registers a client's watches again; gives what it has missed since `since`, in ZooKeeper's order.
    pub fn set_watches(
        &mut self,
        _tree: &DataTree,
        _watcher: W,
        _since: Zxid,
        _watches: &WatchList,
    ) -> Vec<WatchedEvent> {
        todo!()
    }
    /// Removes watches of a kind; tells whether there was one.
    pub fn remove(&mut self, _path: &str, _watcher: W, _kind: WatcherKind) -> bool {
        todo!()
    }
    /// Whether there is a watch of a kind.
    pub fn contains(&self, _path: &str, _watcher: W, _kind: WatcherKind) -> bool {
        todo!()
    }
    /// Forgets a client that is gone.
    pub fn forget(&mut self, _watcher: W) {
        todo!()
    }
}

impl<W: Ord + Copy> Default for WatchTable<W> {
    fn default() -> Self {
        Self::new()
    }
}
