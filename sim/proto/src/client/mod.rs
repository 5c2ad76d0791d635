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
// | `event` | what happens to a client, and what it wants done |
// | `watches` | the watches of the user, and who hears of an event |

mod event;
mod watches;

use crate::message::{ConnId, ConnectRequest, ConnectResponse, Password, ToClient, ToServer, Xid};
use crate::watching::Watching;
use event::ClientStep;
pub use event::{CallId, ClientConfig, ClientEvent, ClientInput, ClientOutput, ClientTimer, WatchId};
use std::collections::VecDeque;
use std::sync::Arc;
use watches::UserWatches;
use zk_api::{Data, Error, ErrorCode, KeeperState, Request, Response, SessionId, Text, WatchedEvent, Zxid};

/// Before the first attempt after a connection was lost; doubled with each attempt that fails.
const BACKOFF_MS: u32 = 50;

/// Never longer than this. Source: ZooKeeper 3.9, where it is drawn up to this.
const BACKOFF_MS_MAX: u32 = 1_000;

/// Doublings after which it is that long at the latest.
const DOUBLINGS_MAX: u32 = 5;

/// Never longer without a ping. Source: ZooKeeper 3.9, `MAX_SEND_PING_INTERVAL`.
const PING_MS_MAX: i64 = 10_000;

/// The number of credentials that are repeated, which nobody waits for. Source: ZooKeeper 3.9, `AUTHPACKET_XID`.
const REPEATED_AUTH: Xid = Xid(-4);

/// Where a client stands with its server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LinkState {
    /// Not begun, waiting to try again, or done for good.
    Down,
    /// Asked for, not open. `since_ms` is when.
    Opening { since_ms: i64 },
    /// Open; the session is asked for.
    Asking { conn: ConnId, since_ms: i64 },
    /// The session is connected. When something was last heard, and last sent.
    Up { conn: ConnId, heard_ms: i64, sent_ms: i64 },
}

/// A request that is not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Call {
    xid: Xid,
    /// Who asked; nobody waits for credentials that are repeated.
    call: Option<CallId>,
    request: Request,
    /// Whether the user still wants the watch that it sets.
    wants_watch: bool,
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

    /// The watches that its user waits for.
    pub fn watches(&self) -> impl Iterator<Item = &Watching> {
        self.watches.iter()
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

    fn start(&mut self, step: &mut ClientStep<'_>) {
        self.reconnect(step);
    }

    /// Tries the next server.
    fn reconnect(&mut self, step: &mut ClientStep<'_>) {
        if self.link != LinkState::Down || self.state.is_final() || self.config.servers.is_empty() {
            return;
        }
        let server = self.config.servers[self.next_server % self.config.servers.len()];
        self.next_server = (self.next_server + 1) % self.config.servers.len();
        self.link = LinkState::Opening { since_ms: step.now_ms };
        step.out.push(ClientOutput::Open { server });
        step.set_timer(ClientTimer::Liveness, self.connect_timeout_ms());
    }

    /// The connection is open: ask for the session.
    fn opened(&mut self, conn: ConnId, step: &mut ClientStep<'_>) {
        let LinkState::Opening { since_ms } = self.link else { return };
        if self.former == Some(conn) {
            return;
        }
        self.link = LinkState::Asking { conn, since_ms };
        let request = ConnectRequest {
            last_zxid: self.last_zxid,
            timeout_ms: self.config.timeout_ms,
            session: self.session,
            password: self.password,
        };
        step.send(conn, ToServer::Connect(request));
    }

    /// The connection is gone, or did not come about.
    fn lost(&mut self, conn: ConnId, step: &mut ClientStep<'_>) {
        match self.link {
            LinkState::Opening { .. } if self.former != Some(conn) => self.give_up(step),
            LinkState::Asking { conn: ours, .. } | LinkState::Up { conn: ours, .. } if ours == conn => {
                self.give_up(step)
            }
            LinkState::Down | LinkState::Opening { .. } | LinkState::Asking { .. } | LinkState::Up { .. } => {
            }
        }
    }

    /// A message of the server.
    fn received(&mut self, from: ConnId, message: ToClient, step: &mut ClientStep<'_>) {
        match (&mut self.link, message) {
            (LinkState::Asking { conn, .. }, ToClient::Connected(response)) if *conn == from => {
                self.connected(from, response, step);
            }
            (LinkState::Up { conn, heard_ms, .. }, message) if *conn == from => {
                *heard_ms = step.now_ms;
                match message {
                    ToClient::Reply { xid, zxid, result } => self.answered(xid, zxid, result, step),
                    ToClient::Event { zxid: _, event } => self.watches.hear(event, step.out),
                    ToClient::WatchesSet { zxid } => self.last_zxid = self.last_zxid.max(zxid),
                    ToClient::Pong { zxid: _ } => {}
                    // No server says this twice.
                    ToClient::Connected(_) => self.hang_up(step),
                }
            }
            // Nothing but the answer may come first.
            (LinkState::Asking { conn, .. }, _) if *conn == from => self.hang_up(step),
            // Of a connection that is no longer ours.
            (
                LinkState::Down | LinkState::Opening { .. } | LinkState::Asking { .. } | LinkState::Up { .. },
                _,
            ) => {}
        }
    }

    /// The server has answered for the session.
    fn connected(&mut self, conn: ConnId, response: ConnectResponse, step: &mut ClientStep<'_>) {
        if response.timeout_ms == 0 || response.session == SessionId::NONE {
            self.former = Some(conn);
            step.out.push(ClientOutput::Close { conn: Some(conn) });
            self.end(KeeperState::Expired, ErrorCode::SessionExpired, step);
            return;
        }
        self.session = response.session;
        self.password = response.password;
        self.timeout_ms = response.timeout_ms;
        self.failed_attempts = 0;
        self.link = LinkState::Up { conn, heard_ms: step.now_ms, sent_ms: step.now_ms };
        self.enter(KeeperState::SyncConnected, step);
        self.resume(conn, step);
        self.set_liveness_timer(step);
    }

    /// Before anything else: who the client is, and its watches. Then what was queued.
    fn resume(&mut self, conn: ConnId, step: &mut ClientStep<'_>) {
        for (scheme, credentials) in self.credentials.clone() {
            self.repeat_credentials(conn, Request::Auth { scheme, credentials }, step);
        }
        let watches = self.watches.list();
        if !watches.is_empty() {
            step.send(conn, ToServer::SetWatches { since: self.last_zxid, watches });
        }
        for call in std::mem::take(&mut self.queued) {
            self.send_call(conn, call, step);
        }
    }

    /// Sends a ping if the client was silent, and gives the connection up if the server was.
    fn check_liveness(&mut self, step: &mut ClientStep<'_>) {
        self.distrust_later_than(step.now_ms);
        match self.link {
            LinkState::Down => {}
            LinkState::Opening { since_ms } | LinkState::Asking { since_ms, .. } => {
                let left_ms = i64::from(self.connect_timeout_ms()) - passed_ms(since_ms, step);
                if left_ms <= 0 {
                    self.hang_up(step);
                } else {
                    step.set_timer(ClientTimer::Liveness, clamp_ms(left_ms));
                }
            }
            LinkState::Up { conn, heard_ms, sent_ms } => {
                if passed_ms(heard_ms, step) >= self.read_timeout_ms() {
                    self.hang_up(step);
                    return;
                }
                if passed_ms(sent_ms, step) >= self.ping_interval_ms() {
                    step.send(conn, ToServer::Ping);
                    self.link = LinkState::Up { conn, heard_ms, sent_ms: step.now_ms };
                }
                self.set_liveness_timer(step);
            }
        }
    }

    /// A moment that is still to come was noted before the clock was set back: count from now on.
    fn distrust_later_than(&mut self, now_ms: i64) {
        match &mut self.link {
            LinkState::Down => {}
            LinkState::Opening { since_ms } | LinkState::Asking { since_ms, .. } => {
                *since_ms = now_ms.min(*since_ms)
            }
            LinkState::Up { heard_ms, sent_ms, .. } => {
                *heard_ms = now_ms.min(*heard_ms);
                *sent_ms = now_ms.min(*sent_ms);
            }
        }
    }

    fn set_liveness_timer(&self, step: &mut ClientStep<'_>) {
        if let LinkState::Up { heard_ms, sent_ms, .. } = self.link {
            let silent_ms = self.read_timeout_ms() - passed_ms(heard_ms, step);
            let ping_ms = self.ping_interval_ms() - passed_ms(sent_ms, step);
            step.set_timer(ClientTimer::Liveness, clamp_ms(silent_ms.min(ping_ms)));
        }
    }

    /// Closes the connection from here.
    fn hang_up(&mut self, step: &mut ClientStep<'_>) {
        let conn = match self.link {
            LinkState::Down => return,
            LinkState::Opening { .. } => None,
            LinkState::Asking { conn, .. } | LinkState::Up { conn, .. } => Some(conn),
        };
        step.out.push(ClientOutput::Close { conn });
        self.give_up(step);
    }

    /// There is no connection any more: whatever was asked fails, also what was queued for it.
    fn give_up(&mut self, step: &mut ClientStep<'_>) {
        match self.link {
            LinkState::Asking { conn, .. } | LinkState::Up { conn, .. } => self.former = Some(conn),
            LinkState::Down | LinkState::Opening { .. } => {}
        }
        self.link = LinkState::Down;
        if self.closing {
            // The user wants no other connection. The session ends by silence, if it has not ended.
            self.end_closing(step);
            return;
        }
        self.fail_all(ErrorCode::ConnectionLoss, step);
        self.enter(KeeperState::Disconnected, step);
        let after_ms = (BACKOFF_MS << self.failed_attempts).min(BACKOFF_MS_MAX);
        self.failed_attempts = (self.failed_attempts + 1).min(DOUBLINGS_MAX);
        step.set_timer(ClientTimer::Reconnect, after_ms);
    }

    /// How long a server has to answer for the session. Source: `ClientCnxn.connectTimeout`.
    fn connect_timeout_ms(&self) -> u32 {
        (self.timeout_ms / self.config.servers.len().max(1) as u32).max(1)
    }

    /// How long a server may be silent. Source: `ClientCnxn.readTimeout`.
    fn read_timeout_ms(&self) -> i64 {
        (i64::from(self.timeout_ms) * 2 / 3).max(1)
    }

    /// How long the client is silent.
    fn ping_interval_ms(&self) -> i64 {
        (i64::from(self.timeout_ms) / 3).clamp(1, PING_MS_MAX)
    }

    /// The user submits a request.
    fn submit(&mut self, call: CallId, request: Request, step: &mut ClientStep<'_>) {
        let call = Call { xid: Xid(0), call: Some(call), request, wants_watch: true };
        let over = match self.state {
            KeeperState::Disconnected | KeeperState::SyncConnected => None,
            KeeperState::AuthFailed => Some(ErrorCode::AuthFailed),
            KeeperState::Expired | KeeperState::Closed => Some(ErrorCode::SessionExpired),
        };
        if let Some(code) = over {
            fail(call, code, step);
            return;
        }
        if self.closing {
            // No server will ever see it. It keeps its place: it fails when the end has come.
            self.queued.push_back(call);
            return;
        }
        self.closing = call.request == Request::CloseSession;
        if let Request::Auth { scheme, credentials } = &call.request {
            let new = (scheme.clone(), credentials.clone());
            if !self.credentials.contains(&new) {
                self.credentials.push(new);
            }
        }
        match self.link {
            LinkState::Up { conn, .. } => self.send_call(conn, call, step),
            LinkState::Down | LinkState::Opening { .. } | LinkState::Asking { .. } => {
                self.queued.push_back(call)
            }
        }
    }

    /// Sends a request with the next number.
    fn send_call(&mut self, conn: ConnId, mut call: Call, step: &mut ClientStep<'_>) {
        // What was submitted after the session's end was asked for is not sent.
        if self.sent.back().is_some_and(|last| last.request == Request::CloseSession) {
            self.queued.push_back(call);
            return;
        }
        self.last_xid = Xid(self.last_xid.0.checked_add(1).unwrap_or(1));
        call.xid = self.last_xid;
        self.send_numbered(conn, call, step);
    }

    /// Says again who the client is.
    fn repeat_credentials(&mut self, conn: ConnId, request: Request, step: &mut ClientStep<'_>) {
        self.send_numbered(conn, Call { xid: REPEATED_AUTH, call: None, request, wants_watch: false }, step);
    }

    fn send_numbered(&mut self, conn: ConnId, call: Call, step: &mut ClientStep<'_>) {
        step.send(conn, ToServer::Request { xid: call.xid, request: call.request.clone() });
        if let LinkState::Up { sent_ms, .. } = &mut self.link {
            *sent_ms = step.now_ms;
        }
        self.sent.push_back(call);
    }

    /// An answer has come. It is that of the first request sent, or the server is out of order.
    fn answered(
        &mut self,
        xid: Xid,
        zxid: Zxid,
        result: Result<Response, ErrorCode>,
        step: &mut ClientStep<'_>,
    ) {
        if self.sent.front().is_none_or(|call| call.xid != xid) {
            self.hang_up(step);
            return;
        }
        let call = self.sent.pop_front().expect("the front was just seen");
        self.last_zxid = self.last_zxid.max(zxid);
        let is_auth = matches!(call.request, Request::Auth { .. });
        let is_close = call.request == Request::CloseSession;
        let refused = is_auth && result == Err(ErrorCode::AuthFailed);
        let closed = is_close && result.is_ok();
        self.complete(call, result, step);
        if refused {
            self.part(KeeperState::AuthFailed, ErrorCode::AuthFailed, step);
        } else if closed {
            self.part(KeeperState::Closed, ErrorCode::SessionExpired, step);
        }
    }

    /// The session ends while it is connected.
    fn part(&mut self, state: KeeperState, code: ErrorCode, step: &mut ClientStep<'_>) {
        if let LinkState::Up { conn, .. } = self.link {
            self.former = Some(conn);
            step.out.push(ClientOutput::Close { conn: Some(conn) });
        }
        self.end(state, code, step);
    }

    /// The connection went while the session's end was on its way: for the user it is over all the same.
    /// What was asked before the end, and the end itself, may have happened; what came later did not.
    fn end_closing(&mut self, step: &mut ClientStep<'_>) {
        let mut calls: VecDeque<Call> = std::mem::take(&mut self.sent);
        calls.append(&mut self.queued);
        let end = calls.iter().position(|call| call.request == Request::CloseSession);
        self.queued = calls.split_off(end.map_or(calls.len(), |at| at + 1));
        for call in calls {
            fail(call, ErrorCode::ConnectionLoss, step);
        }
        self.end(KeeperState::Closed, ErrorCode::SessionExpired, step);
    }

    fn complete(&mut self, call: Call, result: Result<Response, ErrorCode>, step: &mut ClientStep<'_>) {
        let Some(id) = call.call else { return };
        let Call { request, wants_watch, .. } = call;
        let mut watch = None;
        if let Ok(response) = &result
            && self.watches.answered(&request, response, wants_watch.then_some(WatchId(id.0)))
        {
            watch = Some(WatchId(id.0));
        }
        let result = result.map_err(|code| Error { code, tried: request.name(), path: request.path() });
        step.out.push(ClientOutput::Complete { call: id, result, watch });
    }

    /// Everything that was asked fails, in order.
    fn fail_all(&mut self, code: ErrorCode, step: &mut ClientStep<'_>) {
        let sent = std::mem::take(&mut self.sent);
        let queued = std::mem::take(&mut self.queued);
        for call in sent.into_iter().chain(queued) {
            fail(call, code, step);
        }
    }

    /// The user no longer waits for a watch.
    fn abandon(&mut self, watch: WatchId) {
        self.watches.abandon(watch);
        for call in self.sent.iter_mut().chain(&mut self.queued) {
            if call.call == Some(CallId(watch.0)) {
                call.wants_watch = false;
            }
        }
    }
}

fn fail(call: Call, code: ErrorCode, step: &mut ClientStep<'_>) {
    if let Some(id) = call.call {
        let result = Err(Error { code, tried: call.request.name(), path: call.request.path() });
        step.out.push(ClientOutput::Complete { call: id, result, watch: None });
    }
}

/// How long ago that was.
fn passed_ms(since_ms: i64, step: &ClientStep<'_>) -> i64 {
    step.now_ms.saturating_sub(since_ms).max(0)
}

fn clamp_ms(ms: i64) -> u32 {
    u32::try_from(ms.max(1)).unwrap_or(u32::MAX)
}
