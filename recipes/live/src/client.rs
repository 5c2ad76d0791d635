//! [`LiveClient`]: a session with a real ensemble.

use crate::convert;
use crate::failure::code;
use crate::hub::Hub;
use crate::perform::{Answer, perform};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::Handle;
use zk_api::{
    Call, Error, ErrorCode, KeeperState, Outcome, Pending, Request, Response, SessionId, Text, Watch,
    ZooKeeper,
};
use zookeeper_client::{Client, SessionState, StateWatcher};

/// A session with an ensemble. Clones are the same session; it is closed when the last one is dropped, or by
/// [`close`](ZooKeeper::close), which also tells when that is done.
///
/// **Order.** A request is handed to `zookeeper-client` within [`submit`](ZooKeeper::submit), which passes requests on
/// in the order in which they come. While there is no connection they wait, and are sent on the next one.
///
/// It works within the tokio runtime in which it was connected, and can be used from anywhere: a recipe may submit a
/// request when its future is dropped. What is submitted but not sent yet is lost if the runtime ends.
#[derive(Clone)]
pub struct LiveClient(Arc<Inner>);

struct Inner {
    /// `None` once the session's end was asked for. Calls on their way have a clone each, so that the end comes after
    /// them.
    client: Mutex<Option<Client>>,
    hub: Arc<Hub>,
    session: SessionId,
    timeout: Duration,
    runtime: Handle,
}

/// Why no session could be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectError {
    servers: String,
    why: String,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no session with {}: {}", self.servers, self.why)
    }
}

impl std::error::Error for ConnectError {}

impl fmt::Debug for LiveClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LiveClient({}, {:?})", self.0.session, self.state())
    }
}

impl LiveClient {
    /// Opens a session with one of the servers, `HOST:PORT[,HOST:PORT...]`. The ensemble may grant another timeout
    /// than the one asked for. Fails if no server has opened one within that time.
    ///
    /// Must be called within a tokio runtime whose timers are on.
    pub async fn connect(servers: &str, timeout: Duration) -> Result<LiveClient, ConnectError> {
        let connector = Client::connector().with_session_timeout(timeout);
        let client = connector
            .connect(servers)
            .await
            .map_err(|error| ConnectError { servers: servers.into(), why: error.to_string() })?;
        let states = client.state_watcher();
        let hub = Arc::new(Hub::new(convert::state(states.peek_state())));
        let inner = Arc::new(Inner {
            hub: hub.clone(),
            session: SessionId::new(client.session_id().0),
            timeout: client.session_timeout(),
            runtime: Handle::current(),
            client: Mutex::new(Some(client)),
        });
        tokio::spawn(keep(states, hub, Arc::downgrade(&inner)));
        Ok(LiveClient(inner))
    }

    /// The session timeout that the ensemble has granted.
    pub fn session_timeout(&self) -> Duration {
        self.0.timeout
    }

    /// The answer to what was not even sent.
    fn at_once(&self, answer: Result<(Response, Option<Watch>), Error>) -> Call {
        match answer {
            // Nobody is there to take requests, and there is no end of the session that would say so (the runtime
            // has gone, for one). Whoever tries again at once would never let go of its thread.
            Err(error) if error.outcome() == Outcome::Unknown && !error.is_session_over() => {
                let pause = self.sleep(Duration::from_millis(100));
                pause.map(|()| Err(error))
            }
            answer => Pending::ready(answer),
        }
    }

    /// Asks for the session's end, behind all that was asked before; tells how it came.
    fn end(&self) -> Call {
        // The last clone that goes is what makes `zookeeper-client` close the session.
        let was = self.0.client.lock().unwrap_or_else(PoisonError::into_inner).take();
        if was.is_none() {
            return refused(ErrorCode::SessionExpired, "closeSession", "".into());
        }
        drop(was);
        let hub = self.0.hub.clone();
        Pending::boxed(async move {
            match hub.end().await {
                KeeperState::Closed => Ok((Response::Closed, None)),
                KeeperState::AuthFailed => Err(error(ErrorCode::AuthFailed, "closeSession", "".into())),
                KeeperState::Disconnected | KeeperState::SyncConnected | KeeperState::Expired => {
                    Err(error(ErrorCode::SessionExpired, "closeSession", "".into()))
                }
            }
        })
    }
}

impl Inner {
    fn client(&self) -> Option<Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ZooKeeper for LiveClient {
    fn submit(&self, request: Request) -> Call {
        let (tried, path) = (request.name(), request.path());
        match request {
            Request::CloseSession => return self.end(),
            Request::RemoveWatches { .. } | Request::CheckWatches { .. } => {
                return refused(ErrorCode::Unimplemented, tried, path);
            }
            _ => {}
        }
        // What comes after the end was asked for reaches no server.
        let Some(client) = self.0.client() else { return refused(ErrorCode::SessionExpired, tried, path) };
        let mut performing: Performing = Box::pin(perform(client, self.0.hub.clone(), request));
        // The first poll hands the request over: `zookeeper-client` sends as its method is called, and no step of
        // `perform` waits before that.
        match performing.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => self.at_once(finish(answer, tried, path)),
            Poll::Pending => {
                let (completer, call) = Pending::slot();
                // Taken to its end whether or not anybody waits: an answer that nobody takes must let go of the
                // session, and of the watch that came with it.
                self.0.runtime.spawn(async move {
                    let answer = performing.await;
                    completer.complete(finish(answer, tried, path));
                });
                call
            }
        }
    }

    fn sleep(&self, duration: Duration) -> Pending<()> {
        let _within = self.0.runtime.enter();
        Pending::boxed(tokio::time::sleep(duration))
    }

    fn session(&self) -> SessionId {
        self.0.session
    }

    fn state(&self) -> KeeperState {
        self.0.hub.state()
    }

    fn state_change(&self) -> Pending<KeeperState> {
        self.0.hub.change()
    }
}

type Performing = Pin<Box<dyn Future<Output = Answer> + Send>>;

fn finish(answer: Answer, tried: &'static str, path: Text) -> Result<(Response, Option<Watch>), Error> {
    answer.map_err(|failure| error(code(&failure), tried, path))
}

fn error(code: ErrorCode, tried: &'static str, path: Text) -> Error {
    Error { code, tried, path }
}

fn refused(code: ErrorCode, tried: &'static str, path: Text) -> Call {
    Pending::ready(Err(error(code, tried, path)))
}

/// Follows the session's state to its end. Does not keep the session.
async fn keep(mut states: StateWatcher, hub: Arc<Hub>, session: Weak<Inner>) {
    loop {
        let state = states.changed().await;
        if state == SessionState::SyncConnected
            && let Some(client) = session.upgrade().and_then(|inner| inner.client())
        {
            // Sent as they are called. A second watcher of a path is not removed at the server while there is a
            // first, so that nobody needs the one that comes with the answer.
            for (path, mode) in hub.persistent() {
                drop(client.watch(&path, convert::add_watch_mode(mode)));
            }
        }
        hub.learn(convert::state(state));
        if state.is_terminated() {
            return;
        }
    }
}
