//! A state that becomes the next: how an action goes through the parts of a model, and how the lives of processes
//! begin.
//!
//! A process has the place of its number among the clients, whatever life it is in. What it leaves behind, a session
//! that has still to expire, writes in flight, writes to what is outside, has a place of its own behind all processes,
//! until nothing of it is left.

use super::actors::Actors;
use super::scope::Scope;
use crate::action::Action;
use crate::digest::{digest_all, digest_of};
use crate::life::Life;
use crate::link::{self, Client, Moved, Op, Phase};
use crate::memo::Memo;
use crate::message::{Events, List, Post};
use crate::monitors::{Findings, Monitors};
use crate::process::Trouble;
use crate::reads::Reads;
use crate::service::{Order, Served};
use crate::state::State;
use crate::symmetry::session_after;
use std::sync::Arc;
use zk_api::{Data, KeeperState, Request, SessionId};
use zk_harness::event::{ActorId, Event, GroundTruth};
use zk_harness::promise::Violation;

/// One step taken.
#[derive(Debug)]
pub struct Taken {
    /// The state after it.
    pub state: State,
    /// What the promises say of it.
    pub findings: Findings,
    /// A read was served from an old state.
    pub stale: bool,
    /// What the promises saw, in order.
    pub events: Vec<Events>,
}

/// What the parts have come to before: the ensemble, clients, the promises.
pub(super) struct Known {
    orders: Memo<Arc<Served>>,
    moves: Memo<Arc<Moved>>,
    seen: Memo<(Arc<Monitors>, Arc<Findings>)>,
}

impl Known {
    /// Nothing; and so it stays without `memo`.
    pub(super) fn new(memo: bool) -> Known {
        Known { orders: Memo::new(memo), moves: Memo::new(memo), seen: Memo::new(memo) }
    }
}

/// See the module.
pub(super) struct Turn<'a> {
    scope: &'a Scope,
    actors: &'a Actors,
    known: &'a Known,
    state: State,
    findings: Findings,
    stale: bool,
    events: Vec<Events>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(scope: &'a Scope, actors: &'a Actors, known: &'a Known, state: State) -> Turn<'a> {
        let (findings, events) = (Findings::default(), Vec::new());
        Turn { scope, actors, known, state, findings, stale: false, events }
    }

    pub(super) fn done(self) -> Taken {
        let state = self.state.sealed(self.scope.rules.symmetry);
        Taken { state, findings: self.findings, stale: self.stale, events: self.events }
    }

    /// Notes which of the model's own promises a client breaks whose code has gone wrong.
    pub(super) fn go_wrong(&mut self, client: &Client) {
        let broken = client.node.trouble.as_ref().and_then(violation);
        self.findings.broken.extend(broken.map(|(own, violation)| (self.scope.owed + own, violation)));
    }

    pub(super) fn take(&mut self, action: Action) {
        match action {
            Action::Deliver(me) => self.hear(me, 1, 0),
            Action::Together(me, many) => self.hear(me, many, 0),
            Action::Order(me, many, nth) => self.hear(me, many, nth),
            Action::Serve(me) => self.serve(me),
            Action::ServeGhost(me) => {
                let client = &self.state.clients[usize::from(me)];
                let (request, proven) = (client.ghosts[0].clone(), client.proven[0].clone());
                let order = Order::ServeLost { client: me, request: &request.request, identities: &proven };
                self.order(&order);
                self.go(me, &Op::GhostServed);
            }
            Action::Point(me, nth) => self.go(me, &Op::Point(nth)),
            Action::Timer(me, nth) => self.go(me, &Op::Timer(nth)),
            Action::Arrive(me, nth) => self.arrive(me, nth),
            Action::Take(me, nth) => self.go(me, &Op::Take(nth)),
            Action::Reconnect(me, nth) => self.reconnect(me, nth),
            Action::Renew(me, rank) => self.renew(me, rank),
            Action::Register(me, nth) => self.order(&Order::Register { client: me, nth }),
            Action::CatchUp(me) => self.order(&Order::CatchUp { client: me }),
            Action::Resume(me) => self.go(me, &Op::Resume),
            Action::Run(me, nth) => {
                let task = self.state.clients[usize::from(me)].node.ready[usize::from(nth)];
                self.go(me, &Op::Run(task));
            }
            Action::Clock(shows) => self.order(&Order::Clock { shows }),
            Action::EndsIn(order) => self.order(&Order::EndsIn { order }),
            Action::Expire(me) => self.expire(me),
            Action::Drop(me, ghosts) => self.drop_connection(me, ghosts),
            Action::FalseExpiry(me) => {
                self.state.left.expiries -= 1;
                self.go(me, &Op::LearnExpiry);
            }
            Action::Crash(me) => {
                self.state.left.crashes -= 1;
                self.go(me, &Op::Crash);
            }
            Action::Rank(me) => self.rank(me),
            Action::Begin(me, rank) => self.begin(me, rank, false),
            Action::Early(me, rank) => self.begin(me, rank, true),
            Action::Delete(nth) => {
                let path = self.scope.administered(&self.state).nth(usize::from(nth)).expect("it is there");
                self.administer(&Request::Delete { path: path.clone(), version: -1 });
            }
            Action::Set(nth, text) => {
                let path = self.scope.administered(&self.state).nth(usize::from(nth)).expect("it is there");
                let data = Data::from(&*self.scope.text(text));
                self.administer(&Request::SetData { path: path.clone(), data, version: -1 });
            }
            Action::Pause(me) => {
                self.state.left.pauses -= 1;
                self.go(me, &Op::Pause);
            }
        }
    }

    /// Tells clients and ensemble what each has to know of the other; where nothing lags or is withheld, ends of
    /// sessions.
    pub(super) fn settle(&mut self) {
        for me in 0..self.state.clients.len() {
            let name = me as u8;
            let service = &self.state.service;
            if service.serves(me) != self.state.clients[me].served {
                self.go(name, &Op::Stands { served: service.serves(me) });
            }
            if self.scope.rules.lag == 0 && !self.scope.rules.goes_back {
                continue;
            }
            let (client, service) = (&self.state.clients[me], &self.state.service);
            let left = client.inbox.iter().filter_map(|hashed| hashed.message.answer()).count();
            if service.unheard(me) > left {
                self.order(&Order::Hear { client: name, left });
            }
            if self.state.service.remembers(me) && self.never_looks_again(me) {
                self.forget(me);
            }
        }
        self.remove_former();
    }

    /// Of a client that will never look again nothing is remembered but watches on its connection, as somebody may
    /// count whom a change wakes.
    fn forget(&mut self, me: usize) {
        let name = me as u8;
        let service = &self.state.service;
        if self.state.clients[me].node.is_done && service.watches(me) && !service.is_idle(me) {
            self.order(&Order::Finish { client: name });
        }
        if !self.state.service.watches(me) {
            self.order(&Order::Forget { client: name });
            self.go(name, &Op::Stands { served: false });
        }
    }

    /// Whether a client will never ask for anything again, and nothing will reach it.
    fn never_looks_again(&self, me: usize) -> bool {
        let (client, service) = (&self.state.clients[me], &self.state.service);
        match client.state {
            _ if client.phase == Phase::Unbegun => false,
            _ if client.node.is_done => client.queue.is_empty() && !service.registers(me),
            KeeperState::Expired | KeeperState::Closed | KeeperState::AuthFailed => true,
            KeeperState::Disconnected => !client.served,
            KeeperState::SyncConnected => !(client.served || service.can_go_back(me)),
        }
    }

    /// Gives the service an order, and sends what it sends.
    pub(super) fn order(&mut self, order: &Order<'_>) {
        self.order_for(order, None);
    }

    /// The same, but gives back what is for `own`.
    fn order_for(&mut self, order: &Order<'_>, own: Option<u8>) -> Option<Arc<Post>> {
        let service = &self.state.service;
        let key = digest_all(0x03de3, [service.digest, digest_of(0x03de3, order)]);
        let served = self.known.orders.get(key, || Arc::new(service.step(order, &self.scope.rules)));
        self.state.service = served.service.clone();
        self.stale |= served.stale;
        if served.tells_order {
            self.actors.replayer.noted.add(Reads::ENDS);
        }
        self.see(&served.events);
        let mut mine = None;
        for (client, post) in &served.post {
            if own.map(usize::from) == Some(*client) {
                mine = Some(post.clone());
            } else {
                self.go(*client as u8, &Op::Post(post.clone()));
            }
        }
        mine
    }

    /// The next so many messages reach a client, with their names in the order of this number.
    fn hear(&mut self, me: u8, many: u8, nth: u8) {
        let order = self.actors.orders(&self.state, me, many).into_iter().nth(usize::from(nth));
        if let Some(order) = order {
            let inbox = &self.state.clients[usize::from(me)].inbox;
            let messages = inbox.iter().take(many.into()).map(|hashed| hashed.in_order(&order)).collect();
            self.go(me, &Op::Sorted(messages));
        }
        self.go(me, &if many == 1 { Op::Deliver } else { Op::Together(many) });
    }

    /// Lets something happen to a client.
    fn go(&mut self, me: u8, op: &Op) {
        let at = usize::from(me);
        let client = self.state.clients[at].clone();
        // Clients with one digest may have different histories, which the audit is to tell apart.
        let history = if self.scope.audit { client.node.whole } else { 0 };
        let key = digest_all(0x60, [client.digest, digest_of(0x60, op), history]);
        let work = || Arc::new(link::step(&client, op, &self.actors.replayer, self.scope.rules.symmetry));
        let moved = self.known.moves.get(key, work);
        if client.node.trouble.is_none() {
            self.go_wrong(&moved.client);
        }
        self.state.clients[at] = moved.client.clone();
        if moved.client.phase == Phase::Crashed && client.phase != Phase::Crashed {
            self.order(&Order::Forget { client: me });
        }
        self.see(&moved.events);
        if !moved.unwatched.is_empty() && self.state.service.serves(at) {
            self.order(&Order::Unwatch { client: me, watches: &moved.unwatched });
        }
    }

    pub(super) fn see(&mut self, events: &Events) {
        if events.items.is_empty() {
            return;
        }
        let monitors = &self.state.monitors;
        let (next, findings) =
            self.known.seen.get(digest_all(0x5ee, [monitors.digest, events.digest]), || {
                let (next, findings) = monitors.see(&events.items);
                self.actors.note(&findings);
                (next, Arc::new(findings))
            });
        self.state.monitors = next;
        self.findings.merge(&findings);
        self.events.push(events.clone());
    }

    fn serve(&mut self, me: u8) {
        let request = self.state.clients[usize::from(me)].queue[0].clone();
        let order = Order::Serve { client: me, request: &request.request };
        let post = self.order_for(&order, Some(me));
        let post = post.expect("every request is answered");
        self.go(me, &Op::Served { post, eager: self.scope.reductions.eager });
    }

    fn arrive(&mut self, me: u8, nth: u8) {
        let client = &self.state.clients[usize::from(me)];
        let write = client.writes[usize::from(nth)];
        let actor = client.actor().of_thread(write.thread);
        let later = self.state.may_be_overtaken(&write);
        let accepted = self.state.outside.write(write.resource, write.token);
        let (resource, token) = (write.resource, write.token);
        self.see(&List::new(vec![Event::Is(GroundTruth::Wrote { resource, actor, token, accepted })]));
        self.go(me, &Op::Arrive { nth, accepted, later });
    }

    fn reconnect(&mut self, me: u8, nth: u8) {
        let client = &self.state.clients[usize::from(me)];
        if !client.served {
            self.go(me, &Op::LearnExpiry);
            return;
        }
        if client.is_early() {
            return self.connect(me);
        }
        let (node, identities) = (client.node.clone(), client.repeated());
        let order = Order::Reconnect { client: me, watches: &node.waits.watches, nth, identities };
        let post = self.order_for(&order, Some(me));
        self.go(me, &Op::Reconnected(post));
    }

    fn administer(&mut self, request: &Request) {
        self.state.left.admin -= 1;
        self.order(&Order::Administer { request });
    }

    fn expire(&mut self, me: u8) {
        let client = &self.state.clients[usize::from(me)];
        // That of one who was told so before is no further fault.
        if client.phase == Phase::Running && !client.state.is_final() {
            self.state.left.expiries -= 1;
        }
        let post = self.order_for(&Order::Expire { client: me }, Some(me));
        self.go(me, &Op::Expired(post));
    }

    fn drop_connection(&mut self, me: u8, ghosts: u8) {
        self.state.left.drops -= 1;
        let client = &self.state.clients[usize::from(me)];
        let lost: Vec<_> = client.inbox.iter().filter_map(|hashed| hashed.message.event().cloned()).collect();
        let finds_none = self.state.clients[usize::from(me)].state == KeeperState::Disconnected;
        self.go(me, &Op::Drop { ghosts });
        let service = &self.state.service;
        if self.state.clients[usize::from(me)].is_early() {
            let session = self.state.clients[usize::from(me)].node.life.session();
            self.open_view(me, session);
        } else if finds_none {
            // Its connection is gone already.
        } else if service.serves(usize::from(me)) || service.can_go_back(usize::from(me)) {
            // What its code has given up in this step it will not ask for again.
            let node = self.state.clients[usize::from(me)].node.clone();
            let watches = &node.waits.watches;
            self.order(&Order::Cut { client: me, lost, watches });
        }
        if self.state.left.drops == 0 {
            self.order(&Order::Settle);
        }
    }

    /// Where somebody looks at it, the ids of a process's sessions have their place in the order of all.
    fn rank(&mut self, me: u8) {
        let ranked = self.state.clients.iter().filter(|client| client.rank > 0).count() as u16;
        let actor = self.state.clients[usize::from(me)].actor();
        // With room for later ones between any two.
        let apart = u16::MAX / (self.scope.clients() as u16 + 1);
        let client = Client::unbegun(actor, (ranked + 1) * apart, self.scope.rules.symmetry);
        self.open_view(me, client.session);
        self.state.clients[usize::from(me)] = client;
    }

    /// A process begins: its first life, or another one with the rounds that are left. `early`: it has no session yet.
    fn begin(&mut self, me: u8, rank: u16, early: bool) {
        let former = self.state.clients[usize::from(me)].clone();
        let is_first = former.phase == Phase::Unbegun;
        let (actor, rounds) = match is_first {
            true => (former.actor(), self.scope.bounds.rounds),
            false => (ActorId { life: former.actor().life + 1, ..former.actor() }, former.rounds_left),
        };
        let life = Life { actor, rounds, early, rank };
        if !is_first {
            self.state.left.restarts -= 1;
            self.leave(me, former.remains(false, self.scope.rules.symmetry));
            // What a first life sees of the ensemble is there from the start, and may be old by now.
            self.open_view(me, life.session());
        }
        let counted = self.scope.bounds.restarts > 0;
        let work = || Arc::new(link::start(&self.actors.replayer, life, counted, self.scope.rules.symmetry));
        let moved = self.known.moves.get(digest_of(0x61, &life), work);
        if !early {
            self.see(&List::new(opened(life.session(), actor).to_vec()));
        }
        self.state.clients[usize::from(me)] = moved.client.clone();
        self.see(&moved.events);
        self.go_wrong(&moved.client);
        if moved.client.phase == Phase::Crashed {
            self.order(&Order::Forget { client: me });
        }
    }

    /// A client whose code has begun before that is connected for the first time. What it was told to prove who it is
    /// comes to its server before what else it has to send.
    fn connect(&mut self, me: u8) {
        let client = &self.state.clients[usize::from(me)];
        let (actor, session) = (client.actor(), client.node.life.session());
        let identities = (!client.credentials.is_empty()).then(|| client.repeated());
        self.see(&List::new(opened(session, actor).to_vec()));
        let first = identities.and_then(|identities| {
            self.order_for(&Order::Reconnect { client: me, watches: &[], nth: 0, identities }, Some(me))
        });
        self.go(me, &Op::Renewed { session, first });
    }

    /// A client goes on with a new session, of this rank. The former may still live, if it was told otherwise.
    fn renew(&mut self, me: u8, rank: u16) {
        if self.state.clients[usize::from(me)].state != KeeperState::Expired {
            self.go(me, &Op::LearnExpiry);
        }
        let former = self.state.clients[usize::from(me)].clone();
        self.leave(me, former.remains(true, self.scope.rules.symmetry));
        let session = session_after(former.session, rank);
        self.open_view(me, session);
        self.see(&List::new(opened(session, former.actor()).to_vec()));
        self.go(me, &Op::Renewed { session, first: None });
    }

    /// What is left of a client's session gets a place of its own.
    fn leave(&mut self, me: u8, remains: Option<Arc<Client>>) {
        let Some(remains) = remains else { return };
        let clients = &self.state.clients;
        let place = self.scope.clients();
        let place = place + clients[place..].partition_point(|other| other.session < remains.session);
        self.state.clients.insert(place, remains);
        self.order(&Order::Leave { client: me, place: place as u8 });
    }

    /// A client has a new session, of which it need not know yet.
    fn open_view(&mut self, me: u8, session: SessionId) {
        self.order(&Order::Open { client: me, session, goes_back: self.state.left.drops > 0 });
    }

    /// Of former sessions of which nothing is left, nothing is remembered.
    fn remove_former(&mut self) {
        for me in (self.scope.clients()..self.state.clients.len()).rev() {
            if !self.state.clients[me].is_left() {
                self.state.clients.remove(me);
                self.order(&Order::Remove { client: me as u8 });
            }
        }
    }
}

/// What promises see of a session that is opened.
pub(super) fn opened(session: SessionId, actor: ActorId) -> [Event; 2] {
    [GroundTruth::SessionOpened { session, actor }, GroundTruth::Connected { actor }].map(Event::Is)
}

/// Which of the model's own promises is broken, and how; none where nothing can be relied on.
fn violation(trouble: &Trouble) -> Option<(usize, Violation)> {
    let (own, what) = match trouble {
        Trouble::Panic(what) => (0, format!("the recipe panics: {what}")),
        Trouble::Spin => (1, "the recipe asks or polls without end".to_owned()),
        Trouble::Key(what) => (2, what.clone()),
        Trouble::NotDetermined | Trouble::Beyond => return None,
    };
    Some((own, Violation::new(what, None)))
}
