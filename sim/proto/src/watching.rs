//! Watches as a client knows them: which request sets one, which event is for it, and which request removes it.
//!
//! ```
//! use zk_api::{EventType, Request, Response, WatchedEvent};
//! use zk_proto::watching::{Kind, Watching};
//!
//! let look = Request::Exists { path: "/a".into(), watch: true };
//! let watching = Watching::set_by(&look, &Response::Exists(None)).expect("it asks for one");
//! assert_eq!(watching, Watching { path: "/a".into(), kind: Kind::Exist });
//! assert!(watching.sees(&WatchedEvent::node(EventType::NodeCreated, "/a".into())));
//! assert!(!watching.sees(&WatchedEvent::node(EventType::NodeCreated, "/a/b".into())));
//! ```

use crate::message::WatchList;
use crate::watch::OneShot;
use zk_api::{AddWatchMode, EventType, Request, Response, Text, WatchedEvent, WatcherKind};

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
    /// The watch that a request sets by its answer.
    pub fn set_by(request: &Request, response: &Response) -> Option<Watching> {
        let (path, kind) = match (request, response) {
            (Request::Exists { path, watch: true }, Response::Exists(None)) => (path, Kind::Exist),
            (Request::Exists { path, watch: true } | Request::GetData { path, watch: true }, _) => {
                (path, Kind::Data)
            }
            (Request::GetChildren { path, watch: true, .. }, _) => (path, Kind::Child),
            (Request::AddWatch { path, mode: AddWatchMode::Persistent }, _) => (path, Kind::Persistent),
            (Request::AddWatch { path, mode: AddWatchMode::PersistentRecursive }, _) => {
                (path, Kind::Recursive)
            }
            _ => return None,
        };
        Some(Watching { path: path.clone(), kind })
    }

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

/// A list with these paths of each kind.
pub fn list_by_kind(paths: impl Fn(Kind) -> Vec<Text>) -> WatchList {
    WatchList {
        data: paths(Kind::Data),
        exist: paths(Kind::Exist),
        child: paths(Kind::Child),
        persistent: paths(Kind::Persistent),
        recursive: paths(Kind::Recursive),
    }
}

/// The watches of a list, one by one.
pub fn watches_in(list: &WatchList) -> Vec<Watching> {
    let kinds = [
        (&list.data, Kind::Data),
        (&list.exist, Kind::Exist),
        (&list.child, Kind::Child),
        (&list.persistent, Kind::Persistent),
        (&list.recursive, Kind::Recursive),
    ];
    let of = |(paths, kind): (&Vec<Text>, Kind)| {
        paths.iter().map(|path| Watching { path: path.clone(), kind }).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of).collect()
}
