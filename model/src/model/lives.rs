//! How the lives of a process begin, and what is left of its former sessions.
//!
//! A process has the place of its number among the clients, whatever life it is in. What it leaves behind, a session that
//! has still to expire, writes in flight, writes to what is outside, has a place of its own behind all processes, until
//! nothing of it is left.

use super::{Turn, opened, violation};
use crate::digest::digest_of;
use crate::life::Life;
use crate::link::{self, Client, Op, Phase};
use crate::message::List;
use crate::service::Order;
use crate::symmetry::session_after;
use std::sync::Arc;
use zk_api::{KeeperState, SessionId};
use zk_trials::event::ActorId;

impl Turn<'_> {
    /// Where somebody looks at it, the ids of a process's sessions have their place in the order of all.
    pub(super) fn rank(&mut self, me: u8) {
        let ranked = self.state.clients.iter().filter(|client| client.rank > 0).count() as u16;
        let actor = self.state.clients[usize::from(me)].actor();
        // With room for later ones between any two.
        let apart = u16::MAX / (self.model.clients() as u16 + 1);
        let client = Client::unbegun(actor, (ranked + 1) * apart, self.model.rules.symmetry);
        self.open_view(me, client.session);
        self.state.clients[usize::from(me)] = client;
    }

    /// A process begins: its first life, or another one with the rounds that are left. `early`: it has no session yet.
    pub(super) fn begin(&mut self, me: u8, rank: u16, early: bool) {
        let (former, model) = (self.state.clients[usize::from(me)].clone(), self.model);
        let is_first = former.phase == Phase::Unbegun;
        let (actor, rounds) = match is_first {
            true => (former.actor(), model.bounds.rounds),
            false => (ActorId { life: former.actor().life + 1, ..former.actor() }, former.rounds_left),
        };
        let life = Life { actor, rounds, early, rank };
        if !is_first {
            self.state.left.restarts -= 1;
            self.leave(me, former.remains(false, model.rules.symmetry));
            // What a first life sees of the ensemble is there from the start, and may be old by now.
            self.open_view(me, life.session());
        }
        let counted = model.bounds.restarts > 0;
        let work = || Arc::new(link::start(&model.replayer, life, counted, model.rules.symmetry));
        let moved = model.moves.get(digest_of(0x61, &life), work);
        if !early {
            self.see(&List::new(opened(life.session(), actor).to_vec()));
        }
        self.state.clients[usize::from(me)] = moved.client.clone();
        self.see(&moved.events);
        let trouble = moved.client.node.trouble.as_ref().and_then(violation);
        self.findings.broken.extend(trouble.map(|(own, violation)| (model.own(own), violation)));
        if moved.client.phase == Phase::Crashed {
            self.order(&Order::Forget { client: me });
        }
    }

    /// A client whose code has begun before that is connected for the first time. What it was told to prove who it is comes
    /// to its server before what else it has to send.
    pub(super) fn connect(&mut self, me: u8) {
        let client = &self.state.clients[usize::from(me)];
        let (actor, session) = (client.actor(), client.node.life.session());
        let identities = (!client.credentials.is_empty()).then(|| client.repeated());
        self.see(&List::new(opened(session, actor).to_vec()));
        let first = identities.and_then(|identities| self.order_connection(me, &[], 0, identities));
        self.go(me, &Op::Renewed { session, first });
    }

    /// A client goes on with a new session, of this rank. The former may still live, if it was told otherwise.
    pub(super) fn renew(&mut self, me: u8, rank: u16) {
        if self.state.clients[usize::from(me)].state != KeeperState::Expired {
            self.go(me, &Op::LearnExpiry);
        }
        let former = self.state.clients[usize::from(me)].clone();
        self.leave(me, former.remains(true, self.model.rules.symmetry));
        let session = session_after(former.session, rank);
        self.open_view(me, session);
        self.see(&List::new(opened(session, former.actor()).to_vec()));
        self.go(me, &Op::Renewed { session, first: None });
    }

    /// What is left of a client's session gets a place of its own.
    fn leave(&mut self, me: u8, remains: Option<Arc<Client>>) {
        let Some(remains) = remains else { return };
        let clients = &self.state.clients;
        let place = self.model.clients();
        let place = place + clients[place..].partition_point(|other| other.session < remains.session);
        self.state.clients.insert(place, remains);
        let order = Order::Leave { client: me, place: place as u8 };
        self.order(&order);
    }

    /// A client has a new session, of which it need not know yet.
    pub(super) fn open_view(&mut self, me: u8, session: SessionId) {
        let goes_back = self.state.left.drops > 0;
        let order = Order::Open { client: me, session, goes_back };
        self.order(&order);
    }

    /// Of former sessions of which nothing is left, nothing is remembered.
    pub(super) fn remove_former(&mut self) {
        for me in (self.model.clients()..self.state.clients.len()).rev() {
            if !self.state.clients[me].is_left() {
                self.state.clients.remove(me);
                self.order(&Order::Remove { client: me as u8 });
            }
        }
    }
}
