//! What happens to a client, and what it wants done.

use crate::ids::{ConnId, ServerId};
use crate::message::{ToClient, ToServer};
use std::sync::Arc;
use zk_api::{Error, KeeperState, Request, Response, WatchedEvent};

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

/// One step: when it is taken, and what it gives.
pub(super) struct ClientStep<'a> {
    pub(super) now_ms: i64,
    pub(super) out: &'a mut Vec<ClientOutput>,
}

impl ClientStep<'_> {
    pub(super) fn send(&mut self, conn: ConnId, message: ToServer) {
        self.out.push(ClientOutput::Send { conn, message });
    }

    pub(super) fn set_timer(&mut self, timer: ClientTimer, after_ms: u32) {
        self.out.push(ClientOutput::SetTimer { timer, after_ms });
    }
}
