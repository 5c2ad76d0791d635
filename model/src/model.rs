//! A recipe model: replayed processes, the ensemble and the promises, as one state machine.

mod left_out;
mod lists;
mod lives;
mod starts;

use crate::action::Action;
use crate::config::CheckConfig;
use crate::digest::{digest_all, digest_of};
use crate::life::Life;
use crate::link::{self, Client, Moved, Op, Phase};
use crate::memo::Memo;
use crate::message::{Events, List, Post};
use crate::monitors::{Findings, Monitors};
pub use crate::own_promises::{HONEST_CHECKPOINTS, NO_LIVELOCK, OWN_PROMISES};
use crate::process::{Replayer, Setup, Trouble};
use crate::reads::Reads;
use crate::service::{Order, Rules, Served, Service};
use crate::state::{Left, State};
use crate::stop::Stop;
use crate::watching::Watching;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zk_api::{Data, Identity, KeeperState, Request, SessionId, Text};
use zk_trials::event::{ActorId, Event, GroundTruth};
use zk_trials::outside::Outside;
use zk_trials::promise::Violation;
use zk_trials::trial::{Bounds, Reductions, Trial};

/// A recipe model.
#[derive(Debug)]
pub struct RecipeModel {
    /// The bounds it is explored within.
    pub bounds: Bounds,
    /// Which reductions are on.
    pub reductions: Reductions,
    /// The promises' names, the model's own last.
    pub promises: Vec<&'static str>,
    /// The one of them that the search is for: the one that is asked for, or that the trial is known to break.
    pub to_break: Option<usize>,
    /// Whether clients open a new session by themselves once the former is over.
    pub renews: bool,
    /// Whether ends may be told before they come to be, if they ever do.
    pub false_expiries: bool,
    /// What it varies, as it is read.
    pub varied: Reads,
    audit: bool,
    rules: Rules,
    pub(crate) replayer: Replayer,
    start: Start,
    orders: Memo<Arc<Served>>,
    moves: Memo<Arc<Moved>>,
    seen: Memo<(Arc<Monitors>, Arc<Findings>)>,
    /// Which lives begin in two ways, and which say something as they begin.
    starts: Memo<bool>,
    /// A list has come to code that reads the order of its names, which were too many for all of their orders.
    pub(crate) has_left_out_orders: AtomicBool,
    /// Messages came together to code that waits for many things, and not every way in which they could.
    pub(crate) has_left_out_heaps: AtomicBool,
}

struct Start {
    trial: Arc<Trial>,
    setup: Vec<Text>,
    texts: Vec<Text>,
    /// An administrator may delete znodes of the setup, too.
    parents: bool,
}

impl std::fmt::Debug for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.trial.about.name)
    }
}

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

impl RecipeModel {
    /// A model of a trial, which varies these.
    pub fn new(trial: Arc<Trial>, config: &CheckConfig, varied: Reads) -> RecipeModel {
        let CheckConfig { bounds, reductions, memo, keys, audit, other_time, guids_fall, .. } = *config;
        let symmetry = reductions.symmetry;
        let effects = config.effects || bounds.effects;
        let clients = bounds.clients;
        let setup = Setup { clients, effects, memo, keys, audit, other_time, symmetry, guids_fall, varied };
        let promises = trial.held_to();
        let promises: Vec<_> = promises.iter().map(|promise| promise.name()).chain(OWN_PROMISES).collect();
        let known = trial.about.breaks.map(|breaks| breaks.promise);
        let sought = config.promise.as_deref().or(known);
        RecipeModel {
            bounds,
            reductions,
            to_break: sought.and_then(|sought| promises.iter().position(|name| *name == sought)),
            promises,
            renews: trial.renews_session,
            false_expiries: config.false_expiries,
            varied,
            audit,
            rules: Rules {
                lag: bounds.lag.into(),
                stale_syncs: config.stale_syncs,
                goes_back: bounds.drops > 0 && (bounds.lag > 0 || varied.has(Reads::WITHHELD)),
                lost_answers_bind: false,
                outlives: true,
                registers_late: true,
                counts_wakes: trial.counts_wakes,
                true_zxids: config.true_zxids || varied.has(Reads::NUMBERS),
                pzxids: varied.has(Reads::PZXID),
                times: varied.has(Reads::TIMES),
                symmetry,
                ranks: config.ranks && !varied.has(Reads::PZXID) && !varied.has(Reads::NUMBERS),
            },
            replayer: Replayer::new(trial.clone(), setup),
            start: Start {
                setup: trial.setup.clone(),
                texts: trial.administered.clone(),
                parents: config.admin_parents,
                trial,
            },
            orders: Memo::new(memo),
            moves: Memo::new(memo),
            seen: Memo::new(memo),
            starts: Memo::new(true),
            has_left_out_orders: AtomicBool::new(false),
            has_left_out_heaps: AtomicBool::new(false),
        }
    }

    /// What the actors have read by now.
    pub fn reads(&self) -> Reads {
        self.replayer.noted.reads()
    }

    /// How many steps of parts were worked out: of processes, of clients, of the ensemble, of the promises.
    pub fn worked_out(&self) -> [usize; 4] {
        [self.replayer.replayed(), self.moves.len(), self.orders.len(), self.seen.len()]
    }

    /// Why nothing that was found since can be relied on, if so.
    pub fn stop(&self) -> Option<&Stop> {
        self.replayer.stop()
    }

    /// Whether the audit of checkpoints left out histories.
    pub fn audit_is_cut(&self) -> bool {
        self.replayer.audit_is_cut()
    }

    /// The first state, in which each process has taken its first step, unless it makes a difference when it does, or
    /// whether it has a session by then; and what the promises say of that.
    pub fn init(&self) -> Taken {
        let actors: Vec<ActorId> = (0..self.bounds.clients)
            .map(|process| ActorId { process: process.into(), life: 0, thread: 0 })
            .collect();
        let symmetry = self.rules.symmetry;
        let eyes = if symmetry { actors.len() } else { 0 };
        let Bounds { rounds, restarts, .. } = self.bounds;
        let start = |actor: &ActorId| {
            let life = Life::new(*actor, rounds);
            if self.ranks_sessions() || self.begins_early(*actor, rounds) || self.speaks_first(life) {
                let (client, events) = (Client::unbegun(*actor, 0, symmetry), List::new(Vec::new()));
                return Moved { client, events, unwatched: Vec::new() };
            }
            link::start(&self.replayer, life, restarts > 0, symmetry)
        };
        let started: Vec<Moved> = actors.iter().map(start).collect();
        let begun = started.iter().filter(|moved| moved.client.phase != Phase::Unbegun);
        let opened = begun.flat_map(|moved| opened(moved.client.session, moved.client.actor()));
        let state = State {
            service: Service::new(&self.start.setup, &self.start.trial.counters, &actors, &self.rules),
            clients: started.iter().map(|moved| moved.client.clone()).collect(),
            monitors: Arc::new(Monitors::new(self.start.trial.held_to(), eyes)),
            outside: Outside::default(),
            left: Left::of(&self.bounds),
            fingerprint: 0,
        };
        let mut turn =
            Turn { model: self, state, findings: Findings::default(), stale: false, events: Vec::new() };
        turn.see(&List::new(opened.collect()));
        started.iter().for_each(|moved| turn.see(&moved.events));
        let troubles: Vec<_> = started
            .iter()
            .filter_map(|moved| moved.client.node.trouble.as_ref().and_then(violation))
            .collect();
        turn.findings.broken.extend(troubles.into_iter().map(|(own, v)| (self.own(own), v)));
        let gone = (0..).zip(&started).filter(|(_, moved)| moved.client.phase == Phase::Crashed);
        gone.for_each(|(me, _)| turn.order(&Order::Forget { client: me }));
        turn.done()
    }

    /// The state after an action that [can happen](RecipeModel::actions).
    pub fn step(&self, state: &State, action: Action) -> Taken {
        let mut turn = Turn {
            model: self,
            state: state.clone(),
            findings: Findings::default(),
            stale: false,
            events: Vec::new(),
        };
        turn.take(action);
        turn.settle();
        turn.done()
    }

    /// What the promises say of a state in which nothing moves.
    pub fn rest(&self, state: &State) -> Findings {
        let findings = state.monitors.rest(&state.rest(&self.start.setup));
        self.note(&findings);
        findings
    }

    /// Notes what a promise has read.
    fn note(&self, findings: &Findings) {
        if findings.numbered {
            self.replayer.noted.add(Reads::NUMBERS);
        }
    }

    /// Whether a promise was broken on the way to this state where it was owed.
    pub fn is_broken(&self, state: &State) -> bool {
        state.monitors.broken != 0 || state.clients.iter().any(|client| client.node.trouble.is_some())
    }

    /// What an administrator may change: all below what the trial has set up, or that, too.
    pub fn administered<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a Text> {
        let Start { setup, parents, .. } = &self.start;
        let is_below = move |path: &Text| {
            setup.iter().any(|own| path.strip_prefix(&**own).is_some_and(|rest| rest.starts_with('/')))
        };
        let may = move |path: &&Text| match setup.contains(path) {
            true => *parents,
            false => is_below(path),
        };
        state.service.tree().nodes().map(|(path, _)| path).filter(may)
    }

    /// How many texts an administrator may set a znode's data to.
    pub fn texts(&self) -> u8 {
        self.start.texts.len() as u8
    }

    /// The text of this number.
    pub fn text(&self, nth: u8) -> Text {
        self.start.texts[usize::from(nth)].clone()
    }

    /// Whether a promise counts whom a change wakes.
    pub fn counts_wakes(&self) -> bool {
        self.rules.counts_wakes
    }

    /// How many processes there are.
    pub fn clients(&self) -> usize {
        usize::from(self.bounds.clients)
    }

    fn own(&self, nth: usize) -> usize {
        self.promises.len() - OWN_PROMISES.len() + nth
    }
}

/// What promises see of a session that is opened.
fn opened(session: SessionId, actor: ActorId) -> [Event; 2] {
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

/// A state that is becoming the next.
struct Turn<'a> {
    model: &'a RecipeModel,
    state: State,
    findings: Findings,
    stale: bool,
    events: Vec<Events>,
}

impl Turn<'_> {
    fn done(self) -> Taken {
        let state = self.state.sealed(self.model.rules.symmetry);
        Taken { state, findings: self.findings, stale: self.stale, events: self.events }
    }

    fn take(&mut self, action: Action) {
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
            Action::Register(me, nth) => self.register(me, nth),
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
                let path = self.model.administered(&self.state).nth(usize::from(nth)).expect("it is there");
                self.administer(&Request::Delete { path: path.clone(), version: -1 });
            }
            Action::Set(nth, text) => {
                let path = self.model.administered(&self.state).nth(usize::from(nth)).expect("it is there");
                let data = Data::from(&*self.model.text(text));
                self.administer(&Request::SetData { path: path.clone(), data, version: -1 });
            }
            Action::Pause(me) => {
                self.state.left.pauses -= 1;
                self.go(me, &Op::Pause);
            }
        }
    }

    /// Tells clients and ensemble what each has to know of the other; where nothing lags or is withheld, ends of sessions.
    fn settle(&mut self) {
        for me in 0..self.state.clients.len() {
            let name = me as u8;
            let service = &self.state.service;
            if service.serves(me) != self.state.clients[me].served {
                self.go(name, &Op::Stands { served: service.serves(me) });
            }
            if self.model.rules.lag == 0 && !self.model.rules.goes_back {
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

    /// Of a client that will never look again nothing is remembered but watches on its connection, as somebody may count
    /// whom a change wakes.
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
    fn order(&mut self, order: &Order<'_>) {
        self.order_for(order, None);
    }

    /// The same, but gives back what is for `own`.
    fn order_for(&mut self, order: &Order<'_>, own: Option<u8>) -> Option<Arc<Post>> {
        let service = &self.state.service;
        let key = digest_all(0x03de3, [service.digest, digest_of(0x03de3, order)]);
        let served = self.model.orders.get(key, || Arc::new(service.step(order, &self.model.rules)));
        self.state.service = served.service.clone();
        self.stale |= served.stale;
        if served.tells_order {
            self.model.replayer.noted.add(Reads::ENDS);
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
        let order = self.model.orders(&self.state, me, many).into_iter().nth(usize::from(nth));
        if let Some(order) = order {
            let inbox = &self.state.clients[usize::from(me)].inbox;
            let messages = inbox.iter().take(many.into()).map(|hashed| hashed.in_order(&order)).collect();
            self.go(me, &Op::Sorted(messages));
        }
        self.go(me, &if many == 1 { Op::Deliver } else { Op::Together(many) });
    }

    /// Lets something happen to a client.
    fn go(&mut self, me: u8, op: &Op) {
        let (at, model) = (usize::from(me), self.model);
        let client = self.state.clients[at].clone();
        // Clients with one digest may have different histories, which the audit is to tell apart.
        let history = if model.audit { client.node.whole } else { 0 };
        let key = digest_all(0x60, [client.digest, digest_of(0x60, op), history]);
        let work = || Arc::new(link::step(&client, op, &model.replayer, model.rules.symmetry));
        let moved = model.moves.get(key, work);
        let trouble = match &client.node.trouble {
            Some(_) => None,
            None => moved.client.node.trouble.as_ref().and_then(violation),
        };
        if let Some((own, violation)) = trouble {
            self.findings.broken.push((model.own(own), violation));
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

    fn see(&mut self, events: &Events) {
        if events.items.is_empty() {
            return;
        }
        let monitors = &self.state.monitors;
        let (next, findings) =
            self.model.seen.get(digest_all(0x5ee, [monitors.digest, events.digest]), || {
                let (next, findings) = monitors.see(&events.items);
                self.model.note(&findings);
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
        self.go(me, &Op::Served { post, eager: self.model.reductions.eager });
    }

    fn arrive(&mut self, me: u8, nth: u8) {
        let client = &self.state.clients[usize::from(me)];
        let write = client.writes[usize::from(nth)];
        let actor = client.actor().of_thread(write.thread);
        let accepted = self.state.outside.write(write.resource, write.token);
        let (resource, token) = (write.resource, write.token);
        self.see(&List::new(vec![Event::Is(GroundTruth::Wrote { resource, actor, token, accepted })]));
        self.go(me, &Op::Arrive { nth, accepted });
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
        let post = self.order_connection(me, &node.waits.watches, nth, identities);
        self.go(me, &Op::Reconnected(post));
    }

    /// A connection brings the watches that a client has, and whom it has proven to be, unless its credentials are refused.
    fn order_connection(
        &mut self,
        me: u8,
        watches: &[Watching],
        nth: u8,
        identities: Option<Arc<[Identity]>>,
    ) -> Option<Arc<Post>> {
        self.order_for(&Order::Reconnect { client: me, watches, nth, identities }, Some(me))
    }

    fn administer(&mut self, request: &Request) {
        self.state.left.admin -= 1;
        self.order(&Order::Administer { request });
    }

    fn register(&mut self, me: u8, nth: u8) {
        self.order(&Order::Register { client: me, nth });
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
        if self.state.left.drops == 0 && (self.model.rules.lag > 0 || self.model.rules.goes_back) {
            self.order(&Order::Settle);
        }
    }
}
