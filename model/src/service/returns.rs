//! How a client loses its connection and comes back: what it registers again, and what it is told that it has missed.

use super::view::{View, in_orders, listed};
use super::{At, Service};
use crate::message::Message;
use crate::watching::Watching;
use std::sync::Arc;
use zk_api::{Identity, Text, WatchedEvent, Zxid};

impl Service {
    /// In how many orders the next server of a client, which registers these watches or has sent them before, may tell what
    /// has been missed.
    pub fn orders_of_missed(&self, client: usize, watches: &[Watching]) -> u8 {
        let View { registers, now, .. } = &self.views[client];
        let watches = registers.as_deref().unwrap_or(watches);
        let tree = &self.moments[now.at].tree;
        let told: Vec<_> = watches.iter().filter(|w| now.tells_at_once(tree, w)).cloned().collect();
        if told.len() < 2 { 1 } else { in_orders(&told).len() as u8 }
    }
}

impl At<'_> {
    /// What the client will not ask for again, its server forgets. The next server may lag as this one did, or as the
    /// one that last answered; but never behind what the client has seen in an answer.
    pub(super) fn cut(&mut self, client: usize, lost: &[Arc<WatchedEvent>], watches: &[Watching]) {
        let name = client as u8;
        let view = &mut self.service.views[client];
        (view.connected, view.registers) = (false, None);
        view.identities = Arc::default();
        let has =
            |path: &Text, kind| watches.iter().any(|w| w.path == *path && w.kind.one_shot() == Some(kind));
        match view.heard.clone() {
            // What it missed, it misses when that happens again.
            Some(heard) => view.now = heard,
            None => lost.iter().for_each(|event| view.now.miss(event, has)),
        }
        view.now.keep(name, watches);
        view.now.missed.retain(|(path, kind)| has(path, *kind));
        let (session, at) = (view.session, view.now.at);
        if view.heard.is_some() {
            view.heard = Some(view.now.clone());
            view.unheard.clear();
            if !view.served {
                let served = self.service.ends_after(at, session);
                self.service.views[client].served = served;
            }
        }
    }

    /// Where views lag, its watches come to its new server some time after the news that it is connected.
    pub(super) fn reconnect(
        &mut self,
        client: usize,
        watches: &[Watching],
        nth: u8,
        identities: Option<Arc<[Identity]>>,
    ) {
        let mut watches = watches.to_vec();
        watches.sort();
        watches.dedup();
        let is_late = self.rules.registers_late && self.rules.lag > 0 && !watches.is_empty();
        let view = &mut self.service.views[client];
        let Some(identities) = identities else {
            return self.send(client, Message::Refused);
        };
        view.identities = identities;
        (view.connected, view.registers) = (true, Some(watches));
        if !is_late {
            self.take_watches(client, nth);
        }
    }

    /// What it has missed it is told by its new server, as far as that one knows.
    pub(super) fn take_watches(&mut self, client: usize, nth: u8) {
        let name = client as u8;
        let Service { moments, views, .. } = &mut self.service;
        let View { registers, now, .. } = &mut views[client];
        let tree = &moments[now.at].tree;
        let watches = registers.take().unwrap_or_default();
        let (told, intact): (Vec<_>, Vec<_>) = watches.into_iter().partition(|w| now.tells_at_once(tree, w));
        let told = in_orders(&told).swap_remove(nth.into());
        now.missed.clear();
        now.watches.forget(name);
        // Since the beginning, something has happened to all of the one; since now, to none of the other.
        let events = now.watches.set_watches(tree, name, Zxid::ZERO, &told);
        now.watches.set_watches(tree, name, tree.last_zxid(), &listed(&intact));
        events.into_iter().for_each(|event| self.send(client, Message::Event(Arc::new(event))));
    }
}
