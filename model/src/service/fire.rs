//! Whom a change wakes, and when the servers of clients come to it.

use super::view::{View, Woken, kind_of};
use super::{At, Service};
use crate::message::Message;
use crate::symmetry::actor_of;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::{AclList, EventType, Perms, Text, split};
use zk_proto::prepare::acl;
use zk_trials::event::{ActorId, Event, GroundTruth};

impl At<'_> {
    /// Fires one change of a moment for these clients. It is told with all that it has woken so far, as a herd is one
    /// wherever its members are connected; `told`: also if nobody is woken.
    pub(super) fn fire(&mut self, (at, nth): (usize, usize), clients: &[usize], told: bool) {
        let moment = self.service.moments[at].clone();
        let change = &moment.changes[nth];
        let counts = self.rules.counts_wakes;
        let (mut own, mut parents) = (told && counts, told && counts);
        for &client in clients {
            let view = &mut self.service.views[client];
            let is_here = view.connected && view.registers.is_none();
            let before = view.now.watches.clone();
            let had = |path: &Text, kind| before.contains(path, client as u8, kind_of(kind));
            let View { identities, now, .. } = view;
            // Who comes back is told of what it has missed whether it may read it or not.
            let may_read = |_, list: &AclList| !is_here || acl::check(list, Perms::READ, identities).is_ok();
            let fired = now.watches.fire_for(std::slice::from_ref(change), may_read);
            if is_here {
                now.withhold(change, client as u8, &before, &fired);
            }
            let session = view.session;
            for (_, event) in fired {
                if !is_here {
                    self.service.views[client].now.miss(&event, had);
                    continue;
                }
                let woken = &mut self.service.woken[at][nth];
                let (woken, more) = match event.path == change.path {
                    true => (&mut woken.own, &mut own),
                    false => (&mut woken.parents, &mut parents),
                };
                if let Some(actor) = actor_of(session).filter(|_| counts) {
                    *more |= woken.insert(actor);
                }
                if moment.ends.is_some() {
                    self.tells_order |= self.told.contains(&client);
                    self.told.push(client);
                }
                self.send(client, Message::Event(Arc::new(event)));
            }
        }
        let Woken { own: by_own, parents: by_parents } = &self.service.woken[at][nth];
        let mut fired = |path: Text, kind, woken: &BTreeSet<ActorId>, is_told| {
            if is_told {
                let woken = woken.iter().copied().collect();
                self.events.push(Event::Is(GroundTruth::Fired { path, kind, woken }));
            }
        };
        fired(change.path.clone(), change.kind, by_own, own);
        if matches!(change.kind, EventType::NodeCreated | EventType::NodeDeleted) {
            let parent = split(&change.path).0.into();
            fired(parent, EventType::NodeChildrenChanged, by_parents, parents);
        }
    }

    /// Nobody lags more than is allowed.
    pub(super) fn hasten(&mut self) {
        let Some(least) = self.service.last().checked_sub(self.rules.lag) else { return };
        for client in 0..self.service.views.len() {
            while self.service.serves(client) && self.service.views[client].now.at < least {
                self.catch_up(client);
            }
            let Service { moments, views, .. } = &mut self.service;
            let View { heard, unheard, .. } = &mut views[client];
            for sight in heard.iter_mut().chain(unheard) {
                while sight.at < least {
                    sight.go_on_alone(client as u8, &moments[sight.at + 1]);
                }
            }
        }
    }

    /// A client's server takes the next transaction; if that was the end of its session, it knows now.
    pub(super) fn catch_up(&mut self, client: usize) {
        let last = self.service.last();
        let view = &mut self.service.views[client];
        if !view.served || view.now.at == last {
            return;
        }
        view.now.at += 1;
        let at = view.now.at;
        let moment = &self.service.moments[at];
        let (is_over, changes) = (moment.ends == Some(view.session), moment.changes.len());
        for nth in 0..changes {
            self.fire((at, nth), &[client], false);
        }
        if is_over {
            self.close(client);
        }
    }
}
