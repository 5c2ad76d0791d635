//! A client's side: `ZooKeeper` and `Probe` for one actor.

use super::{Shared, open};
use std::collections::VecDeque;
use std::time::Duration;
use zk_api::{
    Call, Completer, Error, ErrorCode, KeeperState, Pending, Request, Response, SessionId, Text, Watch,
    WatchedEvent, ZooKeeper, Zxid,
};
use zk_harness::event::{ActorId, Event, Observation, Resource};
use zk_harness::probe::{Probe, Task};

pub type Answer = Result<(Response, Option<Watch>), Error>;

pub enum Delivery {
    Answer(Completer<Answer>, Answer),
    Event(Completer<WatchedEvent>, WatchedEvent),
    Expired,
}

pub struct Client {
    pub actor: ActorId,
    pub session: SessionId,
    pub state: KeeperState,
    pub connected: bool,
    pub crashed: bool,
    pub requests: VecDeque<(Request, Completer<Answer>)>,
    pub inbox: VecDeque<Delivery>,
    pub listeners: Vec<Completer<KeeperState>>,
}

/// A write on its way to an outside resource.
pub struct Write {
    pub by: usize,
    pub thread: u8,
    pub resource: Resource,
    pub token: Option<Zxid>,
    pub answer: Completer<bool>,
}

impl Client {
    pub fn new(process: u16) -> Client {
        Client {
            actor: ActorId { process, life: 0, thread: 0 },
            session: SessionId::new(i64::from(process) + 1),
            state: KeeperState::SyncConnected,
            connected: true,
            crashed: false,
            requests: VecDeque::new(),
            inbox: VecDeque::new(),
            listeners: Vec::new(),
        }
    }
}

pub fn error(code: ErrorCode) -> Error {
    Error { code, tried: "request", path: "".into() }
}

/// What one actor sees of the outside.
pub struct Desk {
    pub outside: Shared,
    pub me: usize,
}

impl ZooKeeper for Desk {
    fn submit(&self, request: Request) -> Call {
        let client = &mut open(&self.outside).clients[self.me];
        let (answer, call) = Pending::slot();
        if client.crashed {
            return call;
        }
        match client.state {
            KeeperState::SyncConnected => client.requests.push_back((request, answer)),
            KeeperState::Disconnected => {
                answer.complete(Err(error(ErrorCode::ConnectionLoss)));
            }
            KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed => {
                answer.complete(Err(error(ErrorCode::SessionExpired)));
            }
        }
        call
    }

    fn sleep(&self, _duration: Duration) -> Pending<()> {
        self.point()
    }

    fn session(&self) -> SessionId {
        open(&self.outside).clients[self.me].session
    }

    fn state(&self) -> KeeperState {
        open(&self.outside).clients[self.me].state
    }

    fn state_change(&self) -> Pending<KeeperState> {
        let (listener, change) = Pending::slot();
        open(&self.outside).clients[self.me].listeners.push(listener);
        change
    }
}

impl Probe for Desk {
    fn observe_of(&self, thread: u8, what: Observation) {
        let mut outside = open(&self.outside);
        let actor = outside.clients[self.me].actor.of_thread(thread);
        outside.events.push(Event::Observed { actor, what });
    }

    fn point(&self) -> Pending<()> {
        let (done, point) = Pending::slot();
        open(&self.outside).points.push((self.me, done));
        point
    }

    fn work(&self) -> Pending<()> {
        self.point()
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        let (answer, written) = Pending::slot();
        open(&self.outside).writes.push(Write { by: self.me, thread, resource, token, answer });
        written
    }

    fn guid(&self) -> Text {
        let mut outside = open(&self.outside);
        outside.guids += 1;
        format!("g{}", outside.guids).into()
    }

    fn spawn(&self, _task: Task) {
        panic!("no trial here has a second task");
    }

    fn thread_ends(&self, _: u8) {}
}
