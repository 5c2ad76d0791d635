//! A small engine: one server, sessions, watches and faults, in an order drawn from a seed. It is to show that
//! the trials run and break as they say, no more; zoocheck's engines do the judging.

mod client;
mod server;

use client::{Client, Delivery, Desk};
use server::Server;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use zk_api::{ErrorCode, KeeperState, SessionId, Text, WatchedEvent};
use zk_harness::event::{ActorId, Event, GroundTruth};
use zk_harness::promise::{AnyPromise, Finding, Rest, Violation};
use zk_harness::trial::{Actor, Bounds, Role, Trial};

/// The session of somebody who is no actor.
const ADMINISTRATOR: SessionId = SessionId::new(99);

/// Everything outside the actors.
pub struct Outside {
    server: Server,
    clients: Vec<Client>,
    events: Vec<Event>,
    points: Vec<(usize, zk_api::Completer<()>)>,
    writes: Vec<client::Write>,
    resources: zk_harness::outside::Outside,
    guids: u32,
}

pub type Shared = Arc<Mutex<Outside>>;

fn open(outside: &Shared) -> MutexGuard<'_, Outside> {
    outside.lock().expect("nothing panics while it holds this")
}

#[derive(Clone, Copy)]
enum Move {
    Serve(usize),
    Deliver(usize),
    Reconnect(usize),
    Point(usize),
    Write(usize),
    Expire(usize),
    /// The flag: with the next request served, and its answer lost.
    Drop(usize, bool),
    Crash(usize),
    /// An administrator deletes an ephemeral znode.
    Delete(usize),
}

/// What came of one run.
#[derive(Default)]
pub struct Outcome {
    pub broken: Vec<(&'static str, Violation)>,
    pub tested: Vec<&'static str>,
}

/// Runs a trial under one seed.
pub fn run(trial: &Arc<Trial>, bounds: Bounds, seed: u64) -> Outcome {
    run_with(trial, bounds, 0, seed)
}

/// The same, with an administrator who deletes so many ephemeral znodes.
pub fn run_with(trial: &Arc<Trial>, bounds: Bounds, deletions: u8, seed: u64) -> Outcome {
    let mut run = Run::new(trial, bounds, seed);
    run.deletions = deletions;
    for actor in 0..run.actors.len() {
        run.poll(actor);
    }
    for _ in 0..20_000 {
        let Some(next) = run.draw() else { return run.rest() };
        run.make(next);
    }
    panic!("{} does not come to rest under seed {seed}", trial.about.name);
}

struct Run {
    outside: Shared,
    actors: Vec<Option<Actor>>,
    promises: Vec<Box<dyn AnyPromise>>,
    outcome: Outcome,
    random: u64,
    expiries: u8,
    drops: u8,
    crashes: u8,
    deletions: u8,
}

impl Run {
    fn new(trial: &Arc<Trial>, bounds: Bounds, seed: u64) -> Run {
        let clients = (0..bounds.clients.into()).map(Client::new).collect::<Vec<_>>();
        let opened = clients
            .iter()
            .map(|c| Event::Is(GroundTruth::SessionOpened { session: c.session, actor: c.actor }));
        let outside = Outside {
            server: Server::new(&trial.setup),
            events: opened.collect(),
            clients,
            points: Vec::new(),
            writes: Vec::new(),
            resources: Default::default(),
            guids: 0,
        };
        let outside = Arc::new(Mutex::new(outside));
        let actors = (0..bounds.clients).map(|process| {
            let me = ActorId { process: process.into(), life: 0, thread: 0 };
            let role =
                Role { me, clients: bounds.clients.into(), rounds: bounds.rounds, effects: bounds.effects };
            let desk = Arc::new(Desk { outside: outside.clone(), me: process.into() });
            Some(trial.clone().actor(desk.clone(), desk, role))
        });
        Run {
            actors: actors.collect(),
            outside,
            promises: trial.owed(),
            outcome: Outcome::default(),
            random: seed,
            expiries: bounds.expiries,
            drops: bounds.drops,
            crashes: bounds.crashes,
            deletions: 0,
        }
    }

    /// Knuth's MMIX generator; its high bits are good enough to pick a move.
    fn random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) as usize % below
    }

    fn draw(&mut self) -> Option<Move> {
        let outside = open(&self.outside);
        let mut moves: Vec<_> = (0..outside.points.len()).map(Move::Point).collect();
        moves.extend((0..outside.writes.len()).map(Move::Write));
        let mut faults = Vec::new();
        for (i, client) in outside.clients.iter().enumerate() {
            if client.connected && !client.requests.is_empty() {
                moves.push(Move::Serve(i));
            }
            if !client.inbox.is_empty() && !client.crashed {
                moves.push(Move::Deliver(i));
            }
            if !client.connected && !client.state.is_final() && !client.crashed {
                moves.push(Move::Reconnect(i));
            }
            if outside.server.is_live(client.session) {
                if client.crashed {
                    moves.push(Move::Expire(i));
                } else if self.expiries > 0 {
                    faults.push(Move::Expire(i));
                }
            }
            if self.crashes > 0 && !client.crashed {
                faults.push(Move::Crash(i));
            }
            if self.drops > 0 && client.connected && !client.state.is_final() {
                faults.extend([Move::Drop(i, false), Move::Drop(i, true)]);
            }
        }
        if self.deletions > 0 {
            faults.extend((0..outside.server.ephemerals().len()).map(Move::Delete));
        }
        drop(outside);
        // Faults are over when nothing else moves.
        let faulty = !moves.is_empty() && !faults.is_empty() && self.random(8) == 0;
        let from = if faulty { faults } else { moves };
        (!from.is_empty()).then(|| from[self.random(from.len())])
    }

    fn make(&mut self, next: Move) {
        let mut outside = open(&self.outside);
        let who = match next {
            Move::Serve(i) => outside.serve(i),
            Move::Deliver(i) => outside.deliver(i),
            Move::Reconnect(i) => outside.reconnect(i),
            Move::Point(at) => {
                let (i, done) = outside.points.remove(at);
                done.complete(());
                i
            }
            Move::Write(at) => outside.write(at),
            Move::Expire(i) => {
                self.expiries -= u8::from(!outside.clients[i].crashed);
                outside.expire(i)
            }
            Move::Drop(i, answer) => {
                self.drops -= 1;
                outside.lose_connection(i, answer)
            }
            Move::Crash(i) => {
                self.crashes -= 1;
                outside.clients[i].crashed = true;
                let actor = outside.clients[i].actor;
                outside.events.push(Event::Is(GroundTruth::Crashed { actor }));
                drop(outside);
                // What it submits as it is dropped goes nowhere.
                self.actors[i] = None;
                return self.judge();
            }
            Move::Delete(at) => {
                self.deletions -= 1;
                let (path, owner) = outside.server.ephemerals()[at].clone();
                outside.server.delete(ADMINISTRATOR, &path).expect("it is there");
                outside.tell();
                outside.clients.iter().position(|c| c.session == owner).expect("a known session")
            }
        };
        drop(outside);
        self.poll(who);
    }

    fn poll(&mut self, i: usize) {
        self.judge();
        let Some(actor) = &mut self.actors[i] else { return };
        if let Poll::Ready(end) = actor.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            self.actors[i] = None;
            let mut outside = open(&self.outside);
            let actor = outside.clients[i].actor;
            outside.events.push(Event::Is(GroundTruth::Finished { actor, end }));
        }
        self.judge();
    }

    fn judge(&mut self) {
        let events = std::mem::take(&mut open(&self.outside).events);
        for event in &events {
            for promise in &mut self.promises {
                let mut found = Vec::new();
                promise.see(event, &mut found);
                self.outcome.add(promise.name(), found);
            }
        }
    }

    fn rest(mut self) -> Outcome {
        let outside = open(&self.outside);
        let live = |i: &usize| outside.server.is_live(outside.clients[*i].session);
        let rest = Rest {
            unfinished: (0..self.actors.len())
                .filter(|i| self.actors[*i].is_some() && live(i))
                .map(|i| outside.clients[i].actor)
                .collect(),
            nodes: outside.server.nodes(),
            sessions: (0..self.actors.len())
                .filter(live)
                .map(|i| (outside.clients[i].session, outside.clients[i].actor))
                .collect(),
            ..Rest::default()
        };
        drop(outside);
        for promise in &self.promises {
            let mut found = Vec::new();
            promise.at_rest(&rest, &mut found);
            self.outcome.add(promise.name(), found);
        }
        self.outcome
    }
}

impl Outcome {
    fn add(&mut self, name: &'static str, found: Vec<Finding>) {
        for finding in found {
            match finding {
                Finding::Tested => self.tested.push(name),
                Finding::Broken(violation) => self.broken.push((name, violation)),
            }
        }
    }
}

impl Outside {
    fn serve(&mut self, i: usize) -> usize {
        let (request, answer) = self.clients[i].requests.pop_front().expect("there is one");
        let session = self.clients[i].session;
        let result = self.server.serve(session, &request);
        self.tell();
        self.clients[i].inbox.push_back(Delivery::Answer(answer, result));
        i
    }

    /// Passes on what the server has done: ground truth to the promises, fired watches to the clients.
    fn tell(&mut self) {
        for change in self.server.take_changes() {
            let mut woken = Vec::new();
            for (session, completer) in change.fired {
                let client = self.clients.iter_mut().find(|c| c.session == session).expect("a known session");
                if !completer.is_abandoned() && !woken.contains(&client.actor) {
                    woken.push(client.actor);
                }
                let event = WatchedEvent::node(change.kind, change.path.clone());
                client.inbox.push_back(Delivery::Event(completer, event));
            }
            self.events.push(Event::Is(change.truth));
            self.events.push(Event::Is(GroundTruth::Fired { path: change.path, kind: change.kind, woken }));
        }
    }

    fn deliver(&mut self, i: usize) -> usize {
        let client = &mut self.clients[i];
        match client.inbox.pop_front().expect("there is one") {
            Delivery::Answer(answer, result) => {
                answer.complete(result);
            }
            Delivery::Event(watch, event) => {
                watch.complete(event);
            }
            Delivery::Expired => {
                client.fail_all(ErrorCode::SessionExpired);
                client.set_state(KeeperState::Expired);
                for watch in self.server.take_watches(client.session) {
                    watch.complete(WatchedEvent::session_ended(KeeperState::Expired));
                }
            }
        }
        i
    }

    fn reconnect(&mut self, i: usize) -> usize {
        let client = &mut self.clients[i];
        client.connected = true;
        if self.server.is_live(client.session) {
            client.set_state(KeeperState::SyncConnected);
        } else {
            client.inbox.push_back(Delivery::Expired);
        }
        i
    }

    fn write(&mut self, at: usize) -> usize {
        let write = self.writes.remove(at);
        let accepted = self.resources.write(write.resource, write.token);
        let actor = self.clients[write.by].actor.of_thread(write.thread);
        let (resource, token) = (write.resource, write.token);
        self.events.push(Event::Is(GroundTruth::Wrote { resource, actor, token, accepted }));
        write.answer.complete(accepted);
        write.by
    }

    fn expire(&mut self, i: usize) -> usize {
        let (session, actor) = (self.clients[i].session, self.clients[i].actor);
        self.server.close(session);
        self.events.push(Event::Is(GroundTruth::SessionClosed { session, actor, expired: true }));
        self.tell();
        if self.clients[i].connected {
            self.clients[i].inbox.push_back(Delivery::Expired);
        }
        i
    }

    fn lose_connection(&mut self, i: usize, serve: bool) -> usize {
        if serve && !self.clients[i].requests.is_empty() {
            self.serve(i);
        }
        let client = &mut self.clients[i];
        client.connected = false;
        client.fail_all(ErrorCode::ConnectionLoss);
        client.set_state(KeeperState::Disconnected);
        i
    }
}

impl Client {
    /// Answers everything outstanding with an error. Events stay: they are caught up with when connected again.
    fn fail_all(&mut self, code: ErrorCode) {
        let mut kept = std::collections::VecDeque::new();
        for delivery in self.inbox.drain(..) {
            match delivery {
                Delivery::Answer(answer, _) => {
                    answer.complete(Err(client::error(code)));
                }
                Delivery::Event(..) => kept.push_back(delivery),
                Delivery::Expired => {}
            }
        }
        self.inbox = kept;
        for (_, answer) in self.requests.drain(..) {
            answer.complete(Err(client::error(code)));
        }
    }

    fn set_state(&mut self, state: KeeperState) {
        self.state = state;
        for listener in self.listeners.drain(..) {
            listener.complete(state);
        }
    }
}

/// A text for the server's paths.
fn text(path: &str) -> Text {
    path.into()
}
