//! The watches of a client's user: which are armed, and who hears of an event.
//!
//! A server keeps one watch of a kind for a client and a path; here each may have several listeners.

use super::event::{ClientOutput, WatchId};
use crate::message::WatchList;
use crate::watching::{Watching, list_by_kind};
use std::sync::Arc;
use zk_api::{EventType, Request, Response, WatchedEvent};

/// All watches of a client that a server has answered for, each with its listeners: by kind, and those of a kind in the
/// order in which their paths were first registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct UserWatches(Vec<(Watching, Vec<WatchId>)>);

impl UserWatches {
    /// Takes a good answer to a request. Registers `watch` if the request sets one, and tells whether it did;
    /// forgets what the request has removed, which tells nobody.
    pub(super) fn answered(&mut self, request: &Request, answer: &Response, watch: Option<WatchId>) -> bool {
        if let Request::RemoveWatches { path, kind } = request {
            self.0.retain(|(watching, _)| !watching.is_removed_by(path, *kind));
        }
        let (Some(watching), Some(watch)) = (Watching::set_by(request, answer), watch) else { return false };
        match self.0.iter_mut().find(|(known, _)| *known == watching) {
            Some((_, listeners)) => listeners.push(watch),
            None => {
                let place = self.0.partition_point(|(known, _)| known.kind <= watching.kind);
                self.0.insert(place, (watching, vec![watch]));
            }
        }
        true
    }

    /// Tells all listeners of an event, and disarms the one-shot ones, which hear of it first.
    pub(super) fn hear(&mut self, event: WatchedEvent, out: &mut Vec<ClientOutput>) {
        // The end of a session is no server's to tell.
        if event.kind == EventType::None {
            return;
        }
        let event = Arc::new(event);
        self.0.retain(|(watching, listeners)| {
            let sees = watching.sees(&event);
            let last = watching.kind.one_shot().is_some();
            let told = |watch: &WatchId| ClientOutput::Event { watch: *watch, event: event.clone(), last };
            out.extend(listeners.iter().filter(|_| sees).map(told));
            !(sees && last)
        });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Watching> {
        self.0.iter().map(|(watching, _)| watching)
    }

    /// What to register again on another connection.
    pub(super) fn list(&self) -> WatchList {
        list_by_kind(|kind| {
            let of_kind = self.0.iter().filter(|(watching, _)| watching.kind == kind);
            of_kind.map(|(watching, _)| watching.path.clone()).collect()
        })
    }

    /// The user no longer listens.
    pub(super) fn abandon(&mut self, watch: WatchId) {
        self.0.retain_mut(|(_, listeners)| {
            listeners.retain(|other| *other != watch);
            !listeners.is_empty()
        });
    }

    /// All watches, by kind, in the order they were registered. None is armed any more.
    pub(super) fn drain(&mut self) -> Vec<WatchId> {
        self.0.drain(..).flat_map(|(_, listeners)| listeners).collect()
    }
}
