//! A ZooKeeper by script: it notes requests, and the test answers them one by one.

#![allow(dead_code, reason = "not every test file uses all of it")]

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use zk_api::{
    Call, Completer, Error, ErrorCode, EventType, KeeperState, Local, MultiOutcome, OpResult, Pending,
    Request, Response, SessionId, Stat, StatFields, Text, Watch, WatchedEvent, ZooKeeper, Zxid,
};

type Answer = Result<(Response, Option<Watch>), Error>;

/// The session of the script.
pub const ME: SessionId = SessionId::new(1);

#[derive(Clone)]
pub struct Script(Arc<Mutex<Inner>>);

struct Inner {
    requests: VecDeque<(Request, Completer<Answer>)>,
    state: KeeperState,
    listeners: Vec<Completer<KeeperState>>,
    checkpoints: Vec<String>,
    sleepers: Vec<Completer<()>>,
    slept: Vec<Duration>,
}

impl Script {
    pub fn new() -> Script {
        Script(Arc::new(Mutex::new(Inner {
            requests: VecDeque::new(),
            state: KeeperState::SyncConnected,
            listeners: Vec::new(),
            checkpoints: Vec::new(),
            sleepers: Vec::new(),
            slept: Vec::new(),
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// What is asked and not answered yet, such as `create /lock/g-lock-`.
    pub fn asked(&self) -> Vec<String> {
        let told = |r: &Request| {
            let watch = matches!(
                r,
                Request::Exists { watch: true, .. }
                    | Request::GetData { watch: true, .. }
                    | Request::GetChildren { watch: true, .. }
            );
            format!("{} {}{}", r.name(), r.path(), if watch { " watch" } else { "" })
        };
        self.inner().requests.iter().map(|(request, _)| told(request)).collect()
    }

    /// The oldest that is not answered yet, with all that is in it.
    #[allow(dead_code, reason = "not every recipe's test looks into requests")]
    pub fn oldest(&self) -> Request {
        self.inner().requests.front().expect("something is asked").0.clone()
    }

    fn next(&self, asked: &str) -> Completer<Answer> {
        assert_eq!(self.asked().first().map(String::as_str), Some(asked));
        self.inner().requests.pop_front().expect("just seen").1
    }

    /// Answers the oldest request, which must be this one.
    pub fn answer(&self, asked: &str, response: Response) {
        self.next(asked).complete(Ok((response, None)));
    }

    /// The same with a watch; gives the means to fire it.
    pub fn answer_watch(&self, asked: &str, response: Response) -> Completer<WatchedEvent> {
        let (completer, watch) = Pending::slot();
        self.next(asked).complete(Ok((response, Some(watch))));
        completer
    }

    pub fn fail(&self, asked: &str, code: ErrorCode) {
        self.next(asked).complete(Err(Error { code, tried: "it", path: "".into() }));
    }

    pub fn set_state(&self, state: KeeperState) {
        let mut inner = self.inner();
        inner.state = state;
        for listener in std::mem::take(&mut inner.listeners) {
            listener.complete(state);
        }
    }

    /// Whatever time anybody waits for is over.
    pub fn wake(&self) {
        for sleeper in std::mem::take(&mut self.inner().sleepers) {
            sleeper.complete(());
        }
    }

    /// For how long anybody has asked to sleep.
    pub fn slept(&self) -> Vec<Duration> {
        self.inner().slept.clone()
    }

    pub fn checkpoints(&self) -> Vec<String> {
        self.inner().checkpoints.clone()
    }
}

impl ZooKeeper for Script {
    fn submit(&self, request: Request) -> Call {
        let (answer, call) = Pending::slot();
        self.inner().requests.push_back((request, answer));
        call
    }

    fn sleep(&self, duration: Duration) -> Pending<()> {
        let (sleeper, sleep) = Pending::slot();
        self.inner().sleepers.push(sleeper);
        self.inner().slept.push(duration);
        sleep
    }

    fn session(&self) -> SessionId {
        ME
    }

    fn state(&self) -> KeeperState {
        self.inner().state
    }

    fn state_change(&self) -> Pending<KeeperState> {
        let (listener, change) = Pending::slot();
        self.inner().listeners.push(listener);
        change
    }

    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        self.inner().checkpoints.push(format!("{label} {locals:?}"));
    }
}

/// Taking a place in the order of writes, by a check of a znode.
pub const ORDERED: &str = "multi ";

/// It is taken, and the znode is there.
pub fn ordered() -> Response {
    Response::Multi(MultiOutcome::Applied(vec![OpResult::Checked]))
}

/// Starts a task: polls it once.
pub fn start<'a, T>(future: impl Future<Output = T> + 'a) -> Running<'a, T> {
    let mut running = Running(Box::pin(future), None);
    running.go();
    running
}

/// A task and, once it is over, what it gave.
pub struct Running<'a, T>(Pin<Box<dyn Future<Output = T> + 'a>>, Option<T>);

impl<T> Running<'_, T> {
    /// Polls it unless it is over.
    pub fn go(&mut self) {
        if self.1.is_none()
            && let Poll::Ready(value) = self.0.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            self.1 = Some(value);
        }
    }

    /// Polls it; it must not be over.
    pub fn waits(&mut self) {
        self.go();
        assert!(self.1.is_none(), "it does not wait");
    }

    /// Polls it; it must be over.
    pub fn ends(mut self) -> T {
        self.go();
        self.1.expect("it is over")
    }
}

pub fn created(path: &str) -> Response {
    Response::Created { path: path.into(), stat: None }
}

pub fn names(names: &[&str]) -> Response {
    Response::Children { names: names.iter().map(|name| Text::from(*name)).collect(), stat: None }
}

/// There, and owned by this session, or by that one.
pub fn there(owner: SessionId) -> Response {
    Response::Exists(Some(Stat::from(StatFields {
        ephemeral_owner: owner,
        czxid: Zxid::new(1, 7),
        ..StatFields::default()
    })))
}

pub fn event(kind: EventType) -> WatchedEvent {
    WatchedEvent::node(kind, "".into())
}
