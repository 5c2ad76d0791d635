//! The connection to a server: opened, kept alive, given up, opened to the next one.

use super::{ClientOutput, ClientSession, ClientStep, ClientTimer};
use crate::message::{ConnId, ConnectRequest, ConnectResponse, ToClient, ToServer};
use zk_api::{ErrorCode, KeeperState, Request, SessionId};

/// Before the first attempt after a connection was lost; doubled with each attempt that fails.
const BACKOFF_MS: u32 = 50;

/// Never longer than this. Source: ZooKeeper 3.9, where it is drawn up to this.
const BACKOFF_MS_MAX: u32 = 1_000;

/// Doublings after which it is that long at the latest.
const DOUBLINGS_MAX: u32 = 5;

/// Never longer without a ping. Source: ZooKeeper 3.9, `MAX_SEND_PING_INTERVAL`.
const PING_MS_MAX: i64 = 10_000;

/// Where a client stands with its server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum LinkState {
    /// Not begun, waiting to try again, or done for good.
    Down,
    /// Asked for, not open. `since_ms` is when.
    Opening { since_ms: i64 },
    /// Open; the session is asked for.
    Asking { conn: ConnId, since_ms: i64 },
    /// The session is connected. When something was last heard, and last sent.
    Up { conn: ConnId, heard_ms: i64, sent_ms: i64 },
}

impl ClientSession {
    pub(super) fn start(&mut self, step: &mut ClientStep<'_>) {
        self.reconnect(step);
    }

    /// Tries the next server.
    pub(super) fn reconnect(&mut self, step: &mut ClientStep<'_>) {
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
    pub(super) fn opened(&mut self, conn: ConnId, step: &mut ClientStep<'_>) {
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
    pub(super) fn lost(&mut self, conn: ConnId, step: &mut ClientStep<'_>) {
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
    pub(super) fn received(&mut self, from: ConnId, message: ToClient, step: &mut ClientStep<'_>) {
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
    pub(super) fn check_liveness(&mut self, step: &mut ClientStep<'_>) {
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
    pub(super) fn hang_up(&mut self, step: &mut ClientStep<'_>) {
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
}

/// How long ago that was.
fn passed_ms(since_ms: i64, step: &ClientStep<'_>) -> i64 {
    step.now_ms.saturating_sub(since_ms).max(0)
}

fn clamp_ms(ms: i64) -> u32 {
    u32::try_from(ms.max(1)).unwrap_or(u32::MAX)
}
