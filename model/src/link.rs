//! A client process and its connection: what it sent, what comes to it, and what it believes.

mod client;
mod op;
mod proven;

pub use client::{Client, Moved, Phase, Write};
pub use op::Op;

use crate::life::Life;
use crate::message::{HashedMessage, List, Message, Post};
use crate::process::{Answer, Given, Input, Node, ProcessStep, Replayer, Req};
use crate::reads::Reads;
use crate::replay_runtime::Watching;
use crate::symmetry::rank_of;
use proven::proven_by;
use std::sync::Arc;
use zk_api::{KeeperState, Request, Response, SessionId};
use zk_harness::event::{ActorId, End, Event, GroundTruth, Observation};

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

/// Takes an operation.
pub fn step(client: &Client, op: &Op, replayer: &Replayer, symmetry: bool) -> Moved {
    let mut at =
        At { client: client.clone(), replayer, busy: false, events: Vec::new(), unwatched: Vec::new() };
    at.take(op);
    at.client.is_news &= at.client.runs() && !at.client.node.ready.is_empty();
    at.done(symmetry)
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
            Op::Arrive { nth, accepted, later } => self.arrive(*nth, *accepted, *later),
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
                self.client.is_news = true;
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

    /// Tells of a connection. Whoever waits for that and for answers or events as well, be it in two tasks, may look
    /// when some of these are there.
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
        if step.node.end == Some(End::Exited) && self.client.phase == Phase::Running {
            self.crash();
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
                self.client.is_news = true;
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

    /// The client learns it at once, or that it finds no server: what it would do in ignorance it could as well have
    /// done before.
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

    /// `later`: its writer is told of it in another step.
    fn arrive(&mut self, nth: u8, accepted: bool, later: bool) {
        let at = usize::from(nth);
        if !self.client.node.is_done && (later || self.client.phase == Phase::Paused) {
            self.client.writes[at].arrived = Some(accepted);
            return;
        }
        self.client.writes.remove(at);
        self.feed(&Input::Written { nth, accepted });
    }

    /// What the code has sent by way of credentials is sent again on each later connection.
    fn keep_credentials(&mut self, sent: &[Arc<Req>]) {
        for request in sent.iter().filter(|sent| matches!(sent.request, Request::Auth { .. })) {
            if !self.client.credentials.iter().any(|known| known.digest == request.digest) {
                self.client.credentials.push(request.clone());
            }
        }
    }

    /// A new handle knows no credentials.
    fn forget_who_it_is(&mut self) {
        self.client.proven.clear();
        self.client.credentials.clear();
        self.client.identities = Arc::default();
    }

    /// So many of the writes that it has sent may still be served, each for whom the server takes it by then. A server
    /// that refuses credentials, or has refused them, listens no more.
    fn leave_in_flight(&mut self, ghosts: usize) {
        let refuses =
            |hashed: &Arc<HashedMessage>| hashed.message.last_state() == Some(KeeperState::AuthFailed);
        let mut left = if self.client.inbox.iter().any(refuses) { 0 } else { ghosts };
        let mut identities = std::mem::take(&mut self.client.identities);
        for request in std::mem::take(&mut self.client.queue) {
            if let Some(proven) = proven_by(&identities, &request.request) {
                let Some(proven) = proven else { return };
                identities = proven;
            } else if left > 0 && request.request.is_write() {
                left -= 1;
                self.client.ghosts.push(request);
                self.client.proven.push(identities.clone());
            }
        }
    }
}

/// Whether what is seen is the end of a round, which a next life need not do again: each thread goes through all of
/// them, and the main one counts.
fn ends_round(event: &Event) -> bool {
    match event {
        Event::Observed { actor, what: Observation::Leaves { .. } | Observation::Ends { .. } } => {
            actor.thread == 0
        }
        Event::Observed { .. } | Event::Is(_) => false,
    }
}
