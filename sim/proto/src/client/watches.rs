//! The watches of a client's user: which are armed, and who hears of an event.
//!
//! A server keeps one watch of a kind for a client and a path; here each may have several listeners.

use super::event::{ClientOutput, WatchId};
use crate::message::WatchList;
use std::sync::Arc;
use zk_api::{AddWatchMode, EventType, Request, Response, Text, WatchedEvent, WatcherKind};

/// The watches of one kind, in the order their paths were first registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Kind(Vec<(Text, Vec<WatchId>)>);

/// All watches of a client that a server has answered for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct UserWatches {
    data: Kind,
    exist: Kind,
    child: Kind,
    persistent: Kind,
    recursive: Kind,
}

impl Kind {
    fn add(&mut self, path: &Text, watch: WatchId) {
        match self.0.iter_mut().find(|(at, _)| at == path) {
            Some((_, watches)) => watches.push(watch),
            None => self.0.push((path.clone(), vec![watch])),
        }
    }

    /// The watches on a path, which are armed no longer.
    fn take(&mut self, path: &str) -> Vec<WatchId> {
        match self.0.iter().position(|(at, _)| **at == *path) {
            Some(at) => self.0.remove(at).1,
            None => Vec::new(),
        }
    }

    fn remove(&mut self, watch: WatchId) {
        for (_, watches) in &mut self.0 {
            watches.retain(|other| *other != watch);
        }
        self.0.retain(|(_, watches)| !watches.is_empty());
    }

    fn paths(&self) -> Vec<Text> {
        self.0.iter().map(|(path, _)| path.clone()).collect()
    }

    /// The watches whose path passes, which stay.
    fn matching(&self, passes: impl Fn(&str) -> bool) -> Vec<WatchId> {
        self.0.iter().filter(|(at, _)| passes(at)).flat_map(|(_, watches)| watches.clone()).collect()
    }
}

impl UserWatches {
    /// Takes a good answer to a request. Registers `watch` if the request sets one, and tells whether it did;
    /// forgets what the request has removed.
    pub(super) fn answered(&mut self, request: &Request, answer: &Response, watch: Option<WatchId>) -> bool {
        if let Request::RemoveWatches { path, kind } = request {
            self.forget(path, *kind);
            return false;
        }
        let (kind, path) = match (request, answer) {
            (Request::Exists { path, watch: true }, Response::Exists(Some(_))) => (&mut self.data, path),
            (Request::Exists { path, watch: true }, Response::Exists(None)) => (&mut self.exist, path),
            (Request::GetData { path, watch: true }, _) => (&mut self.data, path),
            (Request::GetChildren { path, watch: true, .. }, _) => (&mut self.child, path),
            (Request::AddWatch { path, mode: AddWatchMode::Persistent }, _) => (&mut self.persistent, path),
            (Request::AddWatch { path, mode: AddWatchMode::PersistentRecursive }, _) => {
                (&mut self.recursive, path)
            }
            _ => return false,
        };
        if let Some(watch) = watch {
            kind.add(path, watch);
        }
        watch.is_some()
    }

    /// Tells all listeners of an event, and disarms the one-shot ones.
    ///
    /// Source: ZooKeeper 3.9, `ZKWatchManager.materialize`.
    pub(super) fn hear(&mut self, event: WatchedEvent, out: &mut Vec<ClientOutput>) {
        let path = event.path.clone();
        let mut once = Vec::new();
        match event.kind {
            EventType::NodeCreated | EventType::NodeDataChanged => {
                once.extend(self.data.take(&path));
                once.extend(self.exist.take(&path));
            }
            EventType::NodeChildrenChanged => once.extend(self.child.take(&path)),
            EventType::NodeDeleted => {
                once.extend(self.data.take(&path));
                once.extend(self.exist.take(&path));
                once.extend(self.child.take(&path));
            }
            EventType::None => {}
        }
        let mut stay = self.persistent.matching(|at| *at == *path);
        if event.kind != EventType::NodeChildrenChanged && event.kind != EventType::None {
            stay.extend(self.recursive.matching(|at| covers(at, &path)));
        }
        let event = Arc::new(event);
        for (watches, last) in [(once, true), (stay, false)] {
            for watch in watches {
                out.push(ClientOutput::Event { watch, event: event.clone(), last });
            }
        }
    }

    /// What to register again on another connection.
    pub(super) fn list(&self) -> WatchList {
        WatchList {
            data: self.data.paths(),
            exist: self.exist.paths(),
            child: self.child.paths(),
            persistent: self.persistent.paths(),
            recursive: self.recursive.paths(),
        }
    }

    /// The user no longer listens.
    pub(super) fn abandon(&mut self, watch: WatchId) {
        for kind in self.kinds() {
            kind.remove(watch);
        }
    }

    /// All watches, by kind, in the order they were registered. None is armed any more.
    pub(super) fn drain(&mut self) -> Vec<WatchId> {
        self.kinds()
            .into_iter()
            .flat_map(|kind| std::mem::take(&mut kind.0))
            .flat_map(|(_, ids)| ids)
            .collect()
    }

    /// The server has removed watches, which tells nobody.
    fn forget(&mut self, path: &str, kind: WatcherKind) {
        let kinds = match kind {
            WatcherKind::Children => vec![&mut self.child],
            WatcherKind::Data => vec![&mut self.data, &mut self.exist],
            WatcherKind::Any => self.kinds().into(),
            WatcherKind::Persistent => vec![&mut self.persistent],
            WatcherKind::PersistentRecursive => vec![&mut self.recursive],
        };
        for kind in kinds {
            kind.take(path);
        }
    }

    fn kinds(&mut self) -> [&mut Kind; 5] {
        [&mut self.data, &mut self.exist, &mut self.child, &mut self.persistent, &mut self.recursive]
    }
}

/// Whether `path` is `root` or lies below it.
fn covers(root: &str, path: &str) -> bool {
    root == "/" || path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
