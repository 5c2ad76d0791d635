//! A client's session: first in, first out; reconnects; registers its watches again.
//!
//! The caller opens connections, and the session says what to send on them:
//!
//! ```
//! use zk_proto::client::{ClientConfig, ClientEvent, ClientInput, ClientOutput, ClientSession};
//! use zk_proto::message::{ConnId, ToServer};
//! use zk_proto::server::ServerId;
//!
//! let mut session = ClientSession::new(ClientConfig { servers: vec![ServerId(1)], timeout_ms: 4000 });
//! let mut out = Vec::new();
//! session.step(ClientInput { now_ms: 0, event: ClientEvent::Start }, &mut out);
//! assert!(out.contains(&ClientOutput::Open { server: ServerId(1) }));
//! session.step(ClientInput { now_ms: 5, event: ClientEvent::Opened { conn: ConnId(1) } }, &mut out);
//! let asks = |output: &ClientOutput| {
//!     matches!(output, ClientOutput::Send { message: ToServer::Connect(asked), .. } if asked.timeout_ms == 4000)
//! };
//! assert!(out.iter().any(asks));
//! ```

// The private modules, for whoever works on them:
//
// | file | what is in it |
// |---|---|
// | `link` | opening a connection, keeping it alive, giving it up |
// | `calls` | requests on their way and their answers |
// | `watches` | the watches of the user, and who hears of an event |

mod calls;
mod link;
mod watches;

use crate::message::{ConnId, Password, ToClient, ToServer, Xid};
use crate::server::ServerId;
use calls::Call;
use link::LinkState;
use std::collections::VecDeque;
use std::sync::Arc;
use watches::UserWatches;
use zk_api::{Data, Error, ErrorCode, KeeperState, Request, Response, SessionId, Text, WatchedEvent, Zxid};

/// A request of the user, named by the user's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// A watch of the user. The one that a request sets is named after the request's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub u64);

/// How a client is set up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientConfig {
    /// The servers, in the order they are tried; the caller shuffles them.
    pub servers: Vec<ServerId>,
    /// The session timeout to ask for.
    pub timeout_ms: u32,
}

/// What happened to a client, and when by its own clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientInput {
    /// Milliseconds by this client's clock.
    pub now_ms: i64,
    /// What happened.
    pub event: ClientEvent,
}

/// What can happen to a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientEvent {
    /// Begin to connect.
    Start,
    /// The user submits a request.
    Submit { call: CallId, request: Request },
    /// The user no longer waits for this watch.
    Abandon { watch: WatchId },
    /// The connection asked for is open.
    Opened { conn: ConnId },
    /// The connection could not be opened, or is gone. Not told of one that the client itself has closed.
    Lost { conn: ConnId },
    /// A message of the server.
    Received { conn: ConnId, message: ToClient },
    /// A timer that was set has come.
    Timer(ClientTimer),
}

/// A client's timers. Setting one again moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientTimer {
    /// Sends a ping, or gives the connection up where the server was silent for too long.
    Liveness,
    /// Tries the next server.
    Reconnect,
}

/// What a client wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientOutput {
    /// Open a connection to a server; answered by `Opened` or `Lost`. The caller names it: `Opened` of another
    /// name than the last is ignored.
    Open { server: ServerId },
    /// Send on the open connection.
    Send { conn: ConnId, message: ToServer },
    /// Close the connection, or stop opening it.
    Close { conn: Option<ConnId> },
    /// The answer to a call. `watch` says that the call has set the watch of the same number.
    Complete { call: CallId, result: Result<Response, Error>, watch: Option<WatchId> },
    /// A watch has its event; `last` says that no other will come.
    Event { watch: WatchId, event: Arc<WatchedEvent>, last: bool },
    /// The session's state has changed.
    State(KeeperState),
    /// Fire `timer` so many milliseconds from now by this client's clock.
    SetTimer { timer: ClientTimer, after_ms: u32 },
}

/// A client's session as a pure state machine.
///
/// It behaves as ZooKeeper's Java client does. Source: ZooKeeper 3.9, `ClientCnxn`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientSession {
    config: ClientConfig,
    state: KeeperState,
    session: SessionId,
    password: Password,
    /// The timeout granted; what is asked for until then.
    timeout_ms: u32,
    last_zxid: Zxid,
    link: LinkState,
    /// The server to be tried next, as an index into `config.servers`.
    next_server: usize,
    /// Attempts that failed since the session was last connected, as far as they still count.
    failed_attempts: u32,
    /// The connection that was open last, of which nothing is to be heard any more.
    former: Option<ConnId>,
    last_xid: Xid,
    /// Sent and not answered, in order.
    sent: VecDeque<Call>,
    /// To be sent when the session is connected, in order. Empty while it is.
    queued: VecDeque<Call>,
    /// Whether the user has asked for the session's end. Later requests fail when it has come.
    closing: bool,
    /// Repeated on every later connection, in order.
    credentials: Vec<(Text, Data)>,
    watches: UserWatches,
}

/// One step: when it is taken, and what it gives.
struct ClientStep<'a> {
    now_ms: i64,
    out: &'a mut Vec<ClientOutput>,
}

impl ClientStep<'_> {
    fn send(&mut self, conn: ConnId, message: ToServer) {
        self.out.push(ClientOutput::Send { conn, message });
    }

    fn set_timer(&mut self, timer: ClientTimer, after_ms: u32) {
        self.out.push(ClientOutput::SetTimer { timer, after_ms });
    }
}

impl ClientSession {
    /// A client that has not begun to connect.
    pub fn new(config: ClientConfig) -> ClientSession {
        ClientSession {
            timeout_ms: config.timeout_ms,
            config,
            state: KeeperState::Disconnected,
            session: SessionId::NONE,
            password: [0; 16],
            last_zxid: Zxid::ZERO,
            link: LinkState::Down,
            next_server: 0,
            failed_attempts: 0,
            former: None,
            last_xid: Xid(0),
            sent: VecDeque::new(),
            queued: VecDeque::new(),
            closing: false,
            credentials: Vec::new(),
            watches: UserWatches::default(),
        }
    }

    /// Takes what happened and adds what to do.
    pub fn step(&mut self, input: ClientInput, out: &mut Vec<ClientOutput>) {
        let mut step = ClientStep { now_ms: input.now_ms, out };
        match input.event {
            ClientEvent::Start => self.start(&mut step),
            ClientEvent::Submit { call, request } => self.submit(call, request, &mut step),
            ClientEvent::Abandon { watch } => self.abandon(watch),
            ClientEvent::Opened { conn } => self.opened(conn, &mut step),
            ClientEvent::Lost { conn } => self.lost(conn, &mut step),
            ClientEvent::Received { conn, message } => self.received(conn, message, &mut step),
            ClientEvent::Timer(ClientTimer::Liveness) => self.check_liveness(&mut step),
            ClientEvent::Timer(ClientTimer::Reconnect) => self.reconnect(&mut step),
        }
    }

    /// The session's id, `NONE` before the first connection.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// What the client knows of its session.
    pub fn state(&self) -> KeeperState {
        self.state
    }

    /// The newest transaction that an answer has told of.
    pub fn last_zxid(&self) -> Zxid {
        self.last_zxid
    }

    fn enter(&mut self, state: KeeperState, step: &mut ClientStep<'_>) {
        if self.state != state {
            self.state = state;
            step.out.push(ClientOutput::State(state));
        }
    }

    /// The session is over. All watches are told, then whatever was asked fails, in order.
    fn end(&mut self, state: KeeperState, code: ErrorCode, step: &mut ClientStep<'_>) {
        self.link = LinkState::Down;
        self.enter(state, step);
        let event = Arc::new(WatchedEvent::session_ended(state));
        for watch in self.watches.drain() {
            step.out.push(ClientOutput::Event { watch, event: event.clone(), last: true });
        }
        self.fail_all(code, step);
    }
}
