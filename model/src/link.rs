//! A client process and its connection: what it sent, what comes to it, and what it believes.

mod op;
mod proven;

pub use op::Op;

use crate::digest::{Digest, Digester};
use crate::life::Life;
use crate::message::{Events, HashedMessage, List, Message, Post};
use crate::orders;
use crate::process::{Answer, Given, Input, Node, ProcessStep, Replayer, Req};
use crate::reads::Reads;
use crate::replay_runtime::Watching;
use crate::symmetry::{Eyes, rank_of, session_of};
use proven::proven_by;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zk_api::{Identity, KeeperState, Request, Response, SessionId, Zxid};
use zk_trials::event::{ActorId, End, Event, GroundTruth, Observation, Resource};

/// A client process and its connection.
#[derive(Clone, Debug)]
pub struct Client {
    /// The process.
    pub node: Arc<Node>,
    /// Its session; `NONE` while its code runs and has none yet.
    pub session: SessionId,
    /// How many rounds it has still to do, where a next life would have to know; else none.
    pub rounds_left: u8,
    /// See [`Life::rank`].
    pub rank: u16,
    /// How it fares.
    pub phase: Phase,
    /// What the client knows of its session.
    pub state: KeeperState,
    /// Its session lives, whether it knows or not.
    pub lives: bool,
    /// Its server takes it for alive, or the next one does.
    pub served: bool,
    /// Requests sent and not served, or waiting for a connection.
    pub queue: Vec<Arc<Req>>,
    /// Answers and events on their way to it.
    pub inbox: Vec<Arc<HashedMessage>>,
    /// Writes of a connection that is gone, still to be served.
    pub ghosts: Vec<Arc<Req>>,
    /// Whom the server of its connection takes it for.
    pub identities: Arc<[Identity]>,
    /// Whom the server of the lost connection takes it for, as it comes to each of these writes.
    pub proven: Vec<Arc<[Identity]>>,
    /// Credentials that it repeats on each later connection, in the order in which it was given them.
    pub credentials: Vec<Arc<Req>>,
    /// Writes to outside resources, in the order in which they were sent.
    pub writes: Vec<Write>,
    /// Calls not answered yet, those that nobody waits for included.
    outstanding: u8,
    /// What tells it from others.
    pub digest: Digest,
    /// The same, as it sees itself; zero without symmetry.
    pub seen: Digest,
}

/// How a process fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Its code is to begin, with the session that its server has for it, or before it knows of that.
    Unbegun,
    /// It runs.
    Running,
    /// It was stopped, as in a garbage collection.
    Paused,
    /// It is gone.
    Crashed,
}

/// A write to an outside resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// Which thread has sent it.
    pub thread: u8,
    /// Where it goes.
    pub resource: Resource,
    /// What it shows.
    pub token: Option<Zxid>,
    /// It has arrived, and was accepted or not; its writer is paused and does not know.
    pub arrived: Option<bool>,
}

/// What came of it.
#[derive(Debug)]
pub struct Moved {
    /// The client after it.
    pub client: Arc<Client>,
    /// What monitors see of it.
    pub events: Events,
    /// Watches that nobody waits for any more.
    pub unwatched: Vec<Watching>,
}

impl Client {
    /// A client whose process has taken its first step.
    ///
    /// `counted`: a next life may have to know how many rounds are left.
    pub fn start(replayer: &Replayer, life: Life, counted: bool, symmetry: bool) -> Moved {
        let step = replayer.start(life);
        let client = Client {
            session: if life.early { SessionId::NONE } else { life.session() },
            rank: life.rank,
            rounds_left: if counted { life.rounds } else { 0 },
            phase: Phase::Running,
            state: life.first_state(),
            lives: !life.early,
            ..Client::blank(step.node.clone())
        };
        let mut at = At { client, replayer, busy: false, events: Vec::new(), unwatched: Vec::new() };
        at.absorb(&step);
        at.done(symmetry)
    }

    /// A client whose process is to begin. `rank`: see [`Life::rank`]; 0 while it has none yet.
    pub fn unbegun(actor: ActorId, rank: u16, symmetry: bool) -> Arc<Client> {
        let blank = Client::blank(Arc::new(Node::unbegun(actor)));
        Arc::new(Client { session: session_of(actor, rank, 0), rank, ..blank }.sealed(symmetry))
    }

    fn blank(node: Arc<Node>) -> Client {
        Client {
            session: session_of(node.actor, 0, 0),
            node,
            rank: 0,
            rounds_left: 0,
            phase: Phase::Unbegun,
            state: KeeperState::SyncConnected,
            lives: false,
            served: true,
            queue: Vec::new(),
            inbox: Vec::new(),
            ghosts: Vec::new(),
            identities: Arc::default(),
            proven: Vec::new(),
            credentials: Vec::new(),
            writes: Vec::new(),
            outstanding: 0,
            digest: 0,
            seen: 0,
        }
    }

    /// Takes an operation.
    pub fn step(&self, op: &Op, replayer: &Replayer, symmetry: bool) -> Moved {
        let mut at =
            At { client: self.clone(), replayer, busy: false, events: Vec::new(), unwatched: Vec::new() };
        at.take(op);
        at.done(symmetry)
    }

    /// Who it is.
    pub fn actor(&self) -> ActorId {
        self.node.actor
    }

    /// Whether its code has begun before it has a session, and has none yet.
    pub fn is_early(&self) -> bool {
        self.session == SessionId::NONE
    }

    /// Whether its process may do something.
    pub fn runs(&self) -> bool {
        self.phase == Phase::Running && !self.node.is_done
    }

    /// Whether it may be given a new session, where its client library opens one by itself. That goes on when the code has
    /// ended, as long as the process does.
    pub fn may_renew(&self) -> bool {
        let ends_well = matches!(self.node.end, Some(End::Done | End::Failed)) && self.node.trouble.is_none();
        let outlives_code = self.phase == Phase::Running && self.node.is_done && ends_well;
        match self.state {
            KeeperState::Expired => outlives_code || (self.runs() && self.node.ready.is_empty()),
            // It is told of the end in the same step, as nobody looks.
            KeeperState::SyncConnected | KeeperState::Disconnected => {
                outlives_code && !self.lives && !self.is_early()
            }
            KeeperState::AuthFailed | KeeperState::Closed => false,
        }
    }

    /// Whether it waits for answers or events, or has asked for something that it has given up: some may have come when it
    /// comes to the news of its connection.
    pub fn may_be_late(&self) -> bool {
        let waits = &self.node.waits;
        !(waits.calls.is_empty() && waits.watches.is_empty() && self.queue.is_empty())
    }

    /// Whether it has asked for the end of its session, and was not answered.
    fn closes(&self) -> bool {
        self.queue.iter().any(|sent| sent.request == Request::CloseSession)
    }

    /// How many of the next answers are for calls that were given up.
    pub fn given_up(&self) -> usize {
        usize::from(self.outstanding).saturating_sub(self.node.waits.calls.len())
    }

    /// How many of the queue's requests are writes.
    pub fn queued_writes(&self) -> usize {
        self.queue.iter().filter(|request| request.request.is_write()).count()
    }

    /// The answers among the next so many messages that somebody waits for and that have lists of names.
    pub fn lists_to_come(&self, many: u8) -> impl Iterator<Item = &Answer> {
        let next = self.inbox.iter().take(many.into()).filter_map(|hashed| hashed.message.answer());
        next.skip(self.given_up()).filter(|answer| !orders::names_in(answer).is_empty())
    }

    /// A server tells of watches that were given up as well: nobody hears of those events. What an answer sets that is
    /// before an event, that event may be for.
    fn forget_events(&mut self) {
        if !self.inbox.iter().any(|hashed| matches!(hashed.message, Message::Event(_))) {
            return;
        }
        let mut seen_by = self.node.waits.watches.clone();
        self.inbox.retain(|hashed| match &hashed.message {
            Message::Answer { sets, .. } => {
                seen_by.extend(sets.clone());
                true
            }
            Message::Event(event) => seen_by.iter().any(|watching| watching.sees(event)),
            Message::Lost | Message::Refused => true,
        });
    }

    /// Whether its process has ended so that another life may follow.
    pub fn may_come_back(&self) -> bool {
        let has_ended = self.phase == Phase::Crashed || self.node.end == Some(End::SessionLost);
        has_ended && self.rounds_left > 0
    }

    /// What is left of its session where its process has gone on to another one: it expires, and what was sent arrives.
    /// `goes_on`: with the same code, whose writes to what is outside are its own.
    pub fn remains(&self, goes_on: bool, symmetry: bool) -> Option<Arc<Client>> {
        let writes = if goes_on { Vec::new() } else { self.writes.clone() };
        let remains = Client {
            writes,
            state: KeeperState::SyncConnected,
            node: Arc::new(Node::crashed(self.actor())),
            phase: Phase::Crashed,
            rounds_left: 0,
            queue: Vec::new(),
            inbox: Vec::new(),
            credentials: Vec::new(),
            outstanding: 0,
            ..self.clone()
        };
        remains.is_left().then(|| Arc::new(remains.sealed(symmetry)))
    }

    /// Whether anything of it can still make a difference once its process has gone on.
    pub fn is_left(&self) -> bool {
        self.lives || !self.writes.is_empty()
    }

    fn hash_state(&self, hasher: &mut impl Hasher) {
        let unheard = self.given_up() as u8;
        (self.phase, self.state, self.lives, self.served, unheard, &self.writes).hash(hasher);
        (self.queue.len(), self.inbox.len(), self.rounds_left).hash(hasher);
        (self.session, u32::from(self.rank), self.ghosts.len(), &self.identities, &self.proven).hash(hasher);
    }

    fn sealed(mut self, symmetry: bool) -> Client {
        let mut digester = Digester::new(0xc11e);
        digester.digest(self.node.digest);
        self.hash_state(&mut digester);
        let requests = self.queue.iter().chain(&self.ghosts).chain(&self.credentials);
        let requests = requests.map(|request| request.digest);
        let digests = requests.chain(self.inbox.iter().map(|hashed| hashed.digest));
        digests.for_each(|digest| digester.digest(digest));
        self.digest = digester.end();
        if symmetry {
            let mut eyes = Eyes::new(0xc11e, usize::from(self.actor().process));
            eyes.digest(self.node.seen);
            self.hash_state(&mut eyes);
            let requests = self.queue.iter().chain(&self.ghosts).chain(&self.credentials);
            requests.for_each(|request| request.request.hash(&mut eyes));
            self.inbox.iter().for_each(|hashed| hashed.message.hash(&mut eyes));
            self.seen = eyes.end();
        }
        self
    }
}

/// A client while something happens to it.
struct At<'a> {
    client: Client,
    replayer: &'a Replayer,
    /// Its code is busy, and looks at nothing that it is given.
    busy: bool,
    events: Vec<Event>,
    unwatched: Vec<Watching>,
}

impl At<'_> {
    fn done(mut self, symmetry: bool) -> Moved {
        self.settle();
        let Client { node, inbox, .. } = &self.client;
        let mut unwatched = std::mem::take(&mut self.unwatched);
        // The server keeps one watch for all of a client's on one znode.
        unwatched.retain(|gone| {
            let same = |w: &Watching| w.path == gone.path && w.kind.one_shot() == gone.kind.one_shot();
            let coming = |hashed: &Arc<HashedMessage>| hashed.message.sets().is_some_and(same);
            !node.waits.watches.iter().any(same) && !inbox.iter().any(coming)
        });
        let client = Arc::new(self.client.sealed(symmetry));
        Moved { client, events: List::new(self.events), unwatched }
    }

    /// Forgets what can no longer matter.
    fn settle(&mut self) {
        let client = &mut self.client;
        if !client.served {
            client.queue.retain(|request| request.request == Request::CloseSession);
        }
        if !client.lives {
            client.ghosts.clear();
            client.proven.clear();
        }
        client.forget_events();
        if !client.node.is_done {
            return;
        }
        for hashed in client.inbox.drain(..) {
            self.unwatched.extend(hashed.message.sets().cloned());
            client.state = hashed.message.last_state().unwrap_or(client.state);
        }
        client.outstanding = 0;
        client.writes.retain(|write| write.arrived.is_none());
        // Reads of a process that is gone change nothing; who it is changes its writes.
        client
            .queue
            .retain(|request| matches!(request.request, Request::Auth { .. }) || request.request.is_write());
        if client.queue.is_empty() {
            client.credentials.clear();
        }
        // Who was told of an end too early has a session that is still to expire.
        let is_told_early = client.state.is_final();
        // A library that opens another does so or not by how the session has come to its end.
        let matters = if client.lives { is_told_early } else { self.replayer.trial.renews_session };
        if client.queue.is_empty() && !client.is_early() && !matters {
            client.state = KeeperState::SyncConnected;
        }
    }

    fn take(&mut self, op: &Op) {
        match op {
            Op::Served { post, eager } => self.served(post, *eager),
            Op::Post(post) => self.receive(post),
            Op::Deliver => self.deliver(),
            Op::Sorted(messages) => self.client.inbox[..messages.len()].clone_from_slice(messages),
            Op::Point(nth) => self.feed(&Input::Point(*nth)),
            Op::Timer(nth) => self.feed(&Input::Timer(*nth)),
            Op::Arrive { nth, accepted } => self.arrive(*nth, *accepted),
            Op::Take(nth) => {
                let write = self.client.writes.remove(usize::from(*nth));
                let accepted = write.arrived.expect("it has arrived");
                self.feed(&Input::Written { nth: *nth, accepted });
            }
            Op::Expired(last) => {
                self.client.lives = false;
                last.iter().for_each(|post| self.receive(post));
            }
            Op::Drop { ghosts } => self.drop_connection(usize::from(*ghosts)),
            Op::GhostServed => {
                self.client.proven.remove(0);
                let served = self.client.ghosts.remove(0);
                self.client.lives &= !matches!(served.request, Request::CloseSession);
            }
            Op::Reconnected(first) => {
                self.client.state = KeeperState::SyncConnected;
                self.client.identities = self.client.repeated().unwrap_or_default();
                self.is_so(|actor| GroundTruth::Connected { actor });
                self.connected(&Input::Connected);
                first.iter().for_each(|post| self.receive(post));
            }
            Op::LearnExpiry => {
                self.is_so(|actor| GroundTruth::LearnsExpiry { actor });
                self.end_session(KeeperState::Expired, true);
            }
            Op::Renewed { session, first } => {
                match self.client.is_early() {
                    true => self.client.identities = self.client.repeated().unwrap_or_default(),
                    false => self.forget_who_it_is(),
                }
                (self.client.session, self.client.rank) = (*session, rank_of(*session));
                (self.client.lives, self.client.served) = (true, true);
                self.client.ghosts.clear();
                self.client.state = KeeperState::SyncConnected;
                self.connected(&Input::Renewed(*session));
                first.iter().for_each(|post| self.receive(post));
            }
            Op::Stands { served } => self.client.served = *served,
            Op::Together(many) => {
                self.busy = true;
                (0..*many).for_each(|_| self.deliver());
                self.busy = false;
                if let &[task] = &*self.client.node.ready {
                    self.feed(&Input::Run(task));
                }
            }
            Op::Run(task) => self.feed(&Input::Run(*task)),
            Op::Crash => self.crash(),
            Op::Pause => {
                self.client.phase = Phase::Paused;
                self.is_so(|actor| GroundTruth::Paused { actor });
            }
            Op::Resume => {
                self.client.phase = Phase::Running;
                self.is_so(|actor| GroundTruth::Resumed { actor });
            }
        }
    }

    fn served(&mut self, post: &Arc<Post>, eager: bool) {
        let served = self.client.queue.remove(0);
        self.client.lives &= !matches!(served.request, Request::CloseSession);
        if let Some(Some(proven)) = proven_by(&self.client.identities, &served.request) {
            self.client.identities = proven;
        }
        self.receive(post);
        let is_answer = |hashed: &Arc<HashedMessage>| hashed.message.answer().is_some();
        while eager && self.client.runs() && self.client.inbox.iter().any(is_answer) {
            if self.replayer.varies(Reads::ORDER) && self.client.lists_to_come(1).next().is_some() {
                break;
            }
            self.deliver();
        }
    }

    fn is_so(&mut self, truth: impl FnOnce(ActorId) -> GroundTruth) {
        self.events.push(Event::Is(truth(self.client.actor())));
    }

    fn receive(&mut self, post: &Arc<Post>) {
        if self.client.node.is_done {
            let last = post.messages.iter().find_map(|hashed| hashed.message.last_state());
            self.client.state = last.unwrap_or(self.client.state);
            return;
        }
        self.client.inbox.extend(post.messages.iter().cloned());
        assert!(self.client.inbox.len() <= u8::MAX.into(), "at most 255 messages are on their way");
    }

    /// Gives the process an input, if it makes a difference to it.
    fn feed(&mut self, input: &Input) {
        if !self.client.node.minds(input) {
            return;
        }
        let busy = self.busy || (self.client.node.may_stand_over(input) && !self.replayer.trial.hears_singly);
        let given = Given { input: input.clone(), state: self.client.state, busy };
        let step = self.replayer.step(&self.client.node, &given);
        self.absorb(&step);
    }

    /// Tells of a connection. Whoever waits for that and for answers or events as well, be it in two tasks, may look when
    /// some of these are there.
    fn connected(&mut self, news: &Input) {
        self.busy = self.client.may_be_late() && !self.replayer.trial.hears_singly;
        self.feed(news);
        self.busy = false;
    }

    fn absorb(&mut self, step: &Arc<ProcessStep>) {
        let out = &step.out;
        self.client.node = step.node.clone();
        let asked = u8::try_from(out.requests.len()).ok();
        let outstanding = asked.and_then(|asked| self.client.outstanding.checked_add(asked));
        self.client.outstanding = outstanding.expect("at most 255 answers are outstanding");
        self.keep_credentials(&out.requests);
        self.client.queue.extend(out.requests.iter().cloned());
        let write = |&(thread, resource, token): &_| Write { thread, resource, token, arrived: None };
        self.client.writes.extend(out.writes.iter().map(write));
        let rounds = out.events.iter().filter(|event| ends_round(event)).count() as u8;
        self.client.rounds_left = self.client.rounds_left.saturating_sub(rounds);
        self.events.extend(out.events.iter().cloned());
        self.unwatched.extend(out.unwatched.iter().cloned());
        // Whoever says that its session was lost closes its connection, whether it was lost or not.
        let has_any = self.client.lives || self.client.is_early();
        if step.node.end == Some(End::SessionLost) && has_any && self.client.phase == Phase::Running {
            self.leave();
        }
    }

    fn deliver(&mut self) {
        let hashed = self.client.inbox.remove(0);
        match &hashed.message {
            Message::Answer { answer, sets, removes } => {
                let heard = self.client.given_up() == 0;
                self.client.outstanding = self.client.outstanding.saturating_sub(1);
                let last = hashed.message.last_state();
                self.client.state = last.unwrap_or(self.client.state);
                if heard {
                    self.feed(&Input::Answer(answer.clone()));
                } else {
                    // Nobody waits for it; the next answer is for the next call.
                    self.unwatched.extend(sets.clone());
                    removes.iter().for_each(|(path, kind)| self.feed(&Input::Removed(path.clone(), *kind)));
                }
                if let Some(state) = last {
                    self.end_session(state, !heard);
                }
            }
            Message::Event(event) => self.feed(&Input::Event(event.clone())),
            Message::Refused => self.end_session(KeeperState::AuthFailed, true),
            // Its session is over for it, and ends by silence if it has not ended.
            Message::Lost if self.client.closes() => self.end_session(KeeperState::Closed, true),
            Message::Lost => {
                self.client.outstanding = 0;
                let knew = self.client.state == KeeperState::Disconnected;
                if !knew {
                    self.client.state = KeeperState::Disconnected;
                    self.is_so(|actor| GroundTruth::Disconnected { actor });
                }
                // The state changes no more; to who does not wait for that it is the same.
                let news =
                    if knew && self.client.node.waits.changes > 0 { Input::NoServer } else { Input::Lost };
                self.feed(&news);
            }
        }
    }

    /// `unheard`: the process was not told of it with an answer.
    fn end_session(&mut self, state: KeeperState, unheard: bool) {
        self.client.state = state;
        self.client.outstanding = 0;
        self.client.queue.clear();
        if unheard {
            self.feed(&Input::Over);
        }
    }

    /// The client learns it at once, or that it finds no server: what it would do in ignorance it could as well have done before.
    fn drop_connection(&mut self, ghosts: usize) {
        let is_closed = |answer: &Answer| matches!(**answer, Ok(Response::Closed));
        let mut answers = self.client.inbox.iter().filter_map(|hashed| hashed.message.answer());
        let closes = self.client.closes() || answers.any(is_closed);
        self.leave_in_flight(ghosts);
        self.client.inbox.clear();
        if closes {
            // Its session is over for it, and ends by silence if it has not ended.
            return self.end_session(KeeperState::Closed, true);
        }
        self.client.inbox.push(HashedMessage::new(Message::Lost));
        self.deliver();
    }

    fn crash(&mut self) {
        self.is_so(|actor| GroundTruth::Crashed { actor });
        self.client.node = Arc::new(Node::crashed(self.client.actor()));
        self.leave();
    }

    /// Nobody keeps its session alive. All its requests are in flight; they are lost if its session expires first.
    fn leave(&mut self) {
        let connected = self.client.state == KeeperState::SyncConnected;
        self.leave_in_flight(if connected { usize::MAX } else { 0 });
        self.client.inbox.clear();
        self.client.phase = Phase::Crashed;
    }

    fn arrive(&mut self, nth: u8, accepted: bool) {
        let at = usize::from(nth);
        if self.client.phase == Phase::Paused && !self.client.node.is_done {
            self.client.writes[at].arrived = Some(accepted);
            return;
        }
        self.client.writes.remove(at);
        self.feed(&Input::Written { nth, accepted });
    }
}

/// Whether what is seen is the end of a round, which a next life need not do again: each thread goes through all of them,
/// and the main one counts.
fn ends_round(event: &Event) -> bool {
    match event {
        Event::Observed { actor, what: Observation::Leaves { .. } | Observation::Ends { .. } } => {
            actor.thread == 0
        }
        Event::Observed { .. } | Event::Is(_) => false,
    }
}
