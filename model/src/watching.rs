//! Watches as the client knows them.

use zk_api::{EventType, Text, WatchedEvent, WatcherKind};
use zk_proto::watch::OneShot;

/// A watch of the client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watching {
    /// Where.
    pub path: Text,
    /// For what.
    pub kind: Kind,
}

/// What a watch of the client is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The data of a znode that existed.
    Data,
    /// A znode that did not exist.
    Exist,
    /// The children.
    Child,
    /// Persistent.
    Persistent,
    /// Persistent, for all below as well.
    Recursive,
}

impl Kind {
    /// Whether it is of the kinds that a request removes.
    fn is_removed_by(self, removed: WatcherKind) -> bool {
        match removed {
            WatcherKind::Children => self == Kind::Child,
            WatcherKind::Data => matches!(self, Kind::Data | Kind::Exist),
            WatcherKind::Any => true,
            WatcherKind::Persistent => self == Kind::Persistent,
            WatcherKind::PersistentRecursive => self == Kind::Recursive,
        }
    }

    /// The one-shot watch that the server keeps for it.
    pub fn one_shot(self) -> Option<OneShot> {
        match self {
            Kind::Data | Kind::Exist => Some(OneShot::Data),
            Kind::Child => Some(OneShot::Child),
            Kind::Persistent | Kind::Recursive => None,
        }
    }
}

impl Watching {
    /// Whether it is among what a request removes.
    pub fn is_removed_by(&self, path: &Text, kind: WatcherKind) -> bool {
        self.path == *path && self.kind.is_removed_by(kind)
    }

    /// Whether the event is for this watch. Source: ZooKeeper 3.9, `ZKWatchManager.materialize`.
    pub fn sees(&self, event: &WatchedEvent) -> bool {
        let here = self.path == event.path;
        match (self.kind, event.kind) {
            (_, EventType::None) => true,
            (Kind::Data | Kind::Exist, EventType::NodeCreated | EventType::NodeDataChanged) => here,
            (Kind::Data | Kind::Exist | Kind::Child, EventType::NodeDeleted) => here,
            (Kind::Child, EventType::NodeChildrenChanged) => here,
            (Kind::Data | Kind::Exist, EventType::NodeChildrenChanged) => false,
            (Kind::Child, EventType::NodeCreated | EventType::NodeDataChanged) => false,
            (Kind::Persistent, _) => here,
            (Kind::Recursive, EventType::NodeChildrenChanged) => false,
            (Kind::Recursive, _) => {
                let below = event.path.strip_prefix(&*self.path);
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || &*self.path == "/")
            }
        }
    }
}
