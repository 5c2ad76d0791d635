//! A connection, as the core knows it, and its session.

use crate::link::ClientLink;
use crate::record::What;
use crate::time::{MS, Nanos};
use crate::words::Millis;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use zk_api::{ErrorCode, Request, Response, SessionId, Zxid};
use zk_proto::message::{ToClient, ToServer, WatchList, Xid};
use zk_wire::ServerSide;

/// A connection.
pub(super) struct Conn {
    /// To which server it goes.
    pub(super) server: u8,
    pub(super) link: Arc<ClientLink>,
    pub(super) peer: SocketAddr,
    pub(super) wire: ServerSide,
    pub(super) phase: ConnPhase,
    /// What was asked and is not answered, in order.
    pub(super) asked: VecDeque<Asked>,
    /// Frames whose time has not come: the session is not there yet, or earlier answers are not read.
    pub(super) held: VecDeque<Vec<u8>>,
    pub(super) fate: Fate,
    pub(super) slow: Slow,
    pub(super) stats: Stats,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnPhase {
    /// Its first frame has not come.
    New,
    /// The server has not said yet which session it has. As in ZooKeeper, nothing is looked at until then.
    Connecting,
    /// Its session.
    Connected(SessionId),
}

/// What a fault has made of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing.
    Well,
    /// Its client has lost it. What is held is served, and then the server loses it too.
    Dying,
    /// Its client has lost it. What is held is under way, and not here yet.
    Flying,
    /// Nothing passes any more.
    Silent,
}

/// By how much messages are late, and until when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slow {
    pub(super) delay: Nanos,
    pub(super) until: Nanos,
    /// When the last frame that came is here, and the last message is sent: none overtakes another.
    pub(super) last_in: Nanos,
    pub(super) last_out: Nanos,
    /// Bytes that are on their way to the client.
    pub(super) bytes_out: usize,
}

/// A request that is not answered.
pub(super) struct Asked {
    /// The bytes of its frame.
    pub(super) bytes: usize,
    /// The client's number for it, and ours.
    pub(super) xid: Xid,
    pub(super) number: Xid,
    pub(super) op: &'static str,
    pub(super) at: Nanos,
}

impl Asked {
    /// Something whose answer has no number of its own.
    pub(super) fn nameless(bytes: usize, op: &'static str, at: Nanos) -> Asked {
        Asked { bytes, xid: Xid(0), number: Xid(0), op, at }
    }

    /// What is recorded of its answer.
    pub(super) fn answered(&self, message: &ToClient) -> Option<What> {
        match message {
            ToClient::Reply { xid: Xid(xid), zxid, result } => {
                Some(What::Answered { xid: *xid, op: self.op, zxid: *zxid, error: error_of(result) })
            }
            ToClient::Connected(response) => {
                Some(What::Connected { session: response.session, timeout_ms: response.timeout_ms })
            }
            // They say nothing of what clients did.
            ToClient::WatchesSet { .. } | ToClient::Pong { .. } | ToClient::Event { .. } => None,
        }
    }
}

/// What a connection has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stats {
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) begun: Nanos,
    pub(super) last_op: &'static str,
    pub(super) last_xid: i32,
    pub(super) last_zxid: Zxid,
    pub(super) last_at: Nanos,
    pub(super) latency: Latency,
}

/// How long answers took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latency {
    pub(super) count: u64,
    pub(super) sum: Nanos,
    pub(super) least: Nanos,
    pub(super) most: Nanos,
    pub(super) last: Nanos,
}

impl Latency {
    pub(super) fn add(&mut self, took: Nanos) {
        self.least = if self.count == 0 { took } else { self.least.min(took) };
        self.most = self.most.max(took);
        self.count += 1;
        self.sum = self.sum.saturating_add(took);
        self.last = took;
    }

    pub(super) fn millis(&self) -> Millis {
        let average = self.sum as f64 / self.count.max(1) as f64 / MS as f64;
        let average = (average * 10_000.0).round() / 10_000.0;
        Millis { least: self.least / MS, average, most: self.most / MS, last: self.last / MS }
    }
}

/// What is known of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Session {
    /// The timeout granted last.
    pub(super) timeout_ms: u32,
    /// Our number for its last request. Clients may begin anew on each connection, so that theirs do not name a
    /// request of a session.
    pub(super) last: i32,
}

/// How many watches a message asks for.
pub(super) fn watches_asked(message: &ToServer) -> usize {
    match message {
        ToServer::Request { request, .. } => usize::from(matches!(
            request,
            Request::Exists { watch: true, .. }
                | Request::GetData { watch: true, .. }
                | Request::GetChildren { watch: true, .. }
                | Request::AddWatch { .. }
        )),
        ToServer::SetWatches { watches, .. } => {
            let WatchList { data, exist, child, persistent, recursive } = watches;
            [data, exist, child, persistent, recursive].map(Vec::len).iter().sum()
        }
        ToServer::Connect(_) | ToServer::Ping => 0,
    }
}

/// How far the server was as it said so.
pub(super) fn zxid_of(message: &ToClient) -> Option<Zxid> {
    match message {
        ToClient::Reply { zxid, .. } | ToClient::WatchesSet { zxid } | ToClient::Pong { zxid } => Some(*zxid),
        ToClient::Connected(_) | ToClient::Event { .. } => None,
    }
}

fn error_of(result: &Result<Response, ErrorCode>) -> Option<ErrorCode> {
    match result {
        Ok(Response::Exists(None)) => Some(ErrorCode::NoNode),
        Ok(_) => None,
        Err(code) => Some(*code),
    }
}
