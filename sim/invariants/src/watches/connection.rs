//! The watches of one connection, and the events that it is owed; and a path's parent, which they all ask for.

use std::collections::{BTreeSet, VecDeque};
use zk_api::{EventType, Text, WatcherKind, Zxid};
use zk_proto::message::WatchList;

/// Whether a connection is told of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tells {
    Yes,
    No,
    /// It cannot be known from outside.
    Perhaps,
}

/// The watches of one connection.
#[derive(Debug, Default)]
pub(super) struct Of {
    /// Set by getData and exists.
    pub(super) data: BTreeSet<Text>,
    pub(super) child: BTreeSet<Text>,
    pub(super) persistent: BTreeSet<Text>,
    pub(super) recursive: BTreeSet<Text>,
    /// Events that the connection is owed, and not sent.
    pub(super) due: Vec<(Zxid, Text, EventType)>,
    /// Events of private znodes that a multi made or removed, which it gets or does not get.
    pub(super) allowed: Vec<(Zxid, Text, EventType)>,
    /// Watches that the client asks to have again, and since when it has missed changes. Where they are many, it
    /// asks several times, before any is answered.
    pub(super) again: VecDeque<(Zxid, WatchList)>,
    /// Events that were told without a zxid since then.
    pub(super) caught_up: Vec<(Text, EventType)>,
}

impl Of {
    /// The paths of all watches that are for one znode.
    pub(super) fn exact(&self) -> impl Iterator<Item = &Text> {
        self.data.iter().chain(&self.child).chain(&self.persistent)
    }

    pub(super) fn is_exactly_at(&self, path: &str) -> bool {
        [&self.data, &self.child, &self.persistent].into_iter().any(|paths| paths.contains(path))
    }

    fn owe(&mut self, due: (Zxid, Text, EventType), tells: impl Fn(&Text) -> Tells) {
        match tells(&due.1) {
            Tells::Yes => self.due.push(due),
            Tells::No => {}
            Tells::Perhaps => self.allowed.push(due),
        }
    }

    pub(super) fn changed(
        &mut self,
        zxid: Zxid,
        path: &Text,
        kind: EventType,
        tells: impl Fn(&Text) -> Tells,
    ) {
        let mut one_shot = self.data.remove(path);
        if kind == EventType::NodeDeleted {
            one_shot |= self.child.remove(path);
        }
        if one_shot || self.persistent.contains(path) || self.is_under_recursive(path) {
            self.owe((zxid, path.clone(), kind), &tells);
        }
        if kind == EventType::NodeDataChanged {
            return;
        }
        let parent = parent(path);
        if self.child.remove(parent) | self.persistent.contains(parent) {
            self.owe((zxid, parent.into(), EventType::NodeChildrenChanged), &tells);
        }
    }

    fn is_under_recursive(&self, path: &str) -> bool {
        self.recursive.iter().any(|root| {
            **root == *path
                || &**root == "/"
                || (!root.is_empty() && path.strip_prefix(&**root).is_some_and(|rest| rest.starts_with('/')))
        })
    }

    pub(super) fn has(&self, path: &Text, kind: WatcherKind) -> bool {
        match kind {
            WatcherKind::Data => self.data.contains(path),
            WatcherKind::Children => self.child.contains(path),
            WatcherKind::Persistent => self.persistent.contains(path),
            WatcherKind::PersistentRecursive => self.recursive.contains(path),
            WatcherKind::Any => {
                let all = [&self.data, &self.child, &self.persistent, &self.recursive];
                all.into_iter().any(|paths| paths.contains(path))
            }
        }
    }

    pub(super) fn remove(&mut self, path: &Text, kind: WatcherKind) {
        if matches!(kind, WatcherKind::Data | WatcherKind::Any) {
            self.data.remove(path);
        }
        if matches!(kind, WatcherKind::Children | WatcherKind::Any) {
            self.child.remove(path);
        }
        if matches!(kind, WatcherKind::Persistent | WatcherKind::Any) {
            self.persistent.remove(path);
        }
        if matches!(kind, WatcherKind::PersistentRecursive | WatcherKind::Any) {
            self.recursive.remove(path);
        }
    }
}

/// The path of a znode's parent; the root is its own.
pub(super) fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => &path[..slash],
    }
}
