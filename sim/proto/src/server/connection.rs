//! A client's connection, and what waits on it.

use crate::message::{ConnectResponse, ToServer, WatchList, Xid};
use std::collections::VecDeque;
use std::sync::Arc;
use zk_api::{ErrorCode, Identity, Request, SessionId, Zxid};

/// A client's connection. Its session exists ahead, at least, or the leader was asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Connection {
    pub(super) session: SessionId,
    /// The timeout granted on this connection.
    pub(super) timeout_ms: u32,
    /// Whom the client has proven to be.
    pub(super) identities: Arc<[Identity]>,
    /// What is not answered yet, in the order it was asked.
    pub(super) waiting: VecDeque<Waiting>,
    /// Whether whatever else comes on it is lost: the client has asked for its session's end, or has failed
    /// to prove who it is.
    pub(super) deaf: bool,
    /// Whether the leader has not said yet that the session is the client's.
    pub(super) joining: bool,
    /// What came meanwhile.
    pub(super) early: Vec<Early>,
}

/// What came from a client whose session the leader has not spoken of yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Early {
    Message(ToServer),
    Refused { xid: Xid, code: ErrorCode, takes_zxid: bool },
}

/// What a client asked and was not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Waiting {
    /// To be connected; answered when everything up to `after` is applied. `None` until the leader has said
    /// what that is.
    Connect { after: Option<Zxid>, response: ConnectResponse },
    /// Not asked by anybody: what the session asked on its former connection must be applied before what
    /// it asks on this one is answered.
    Former { after: Zxid },
    /// The same where that went to the leader: this write was the last.
    FormerForwarded { xid: Xid },
    /// A write; answered when its own transaction is applied. `None` where it went to the leader: its
    /// transaction names the session and the request.
    Write { xid: Xid, zxid: Option<Zxid>, request: Request },
    /// A request that cannot be read, and takes no zxid.
    Refused { xid: Xid, code: ErrorCode },
    /// One that takes a zxid; answered when its transaction, which changes nothing, is applied.
    RefusedWrite { xid: Xid, zxid: Option<Zxid> },
    /// A sync; answered when everything up to `after` is applied. `None` until the leader has said what that is.
    Sync { xid: Xid, after: Option<Zxid>, request: Request },
    /// Anything else, by whoever the client was when it asked.
    Read { xid: Xid, request: Request, identities: Arc<[Identity]> },
    /// Credentials, which count from the moment they came.
    Auth { xid: Xid, accepted: bool },
    /// Watches to be registered again.
    SetWatches { since: Zxid, watches: WatchList },
    /// To be kept alive.
    Ping,
}

impl Waiting {
    /// Whether it can be answered, once it is first, by a server that has applied everything up to `applied`.
    /// A write is answered as it is applied, and only then.
    pub(super) fn is_due(&self, applied: Zxid) -> bool {
        match self {
            Waiting::Connect { after, .. } | Waiting::Sync { after, .. } => {
                after.is_some_and(|after| after <= applied)
            }
            Waiting::Former { after } => *after <= applied,
            Waiting::FormerForwarded { .. } | Waiting::Write { .. } | Waiting::RefusedWrite { .. } => false,
            Waiting::Refused { .. }
            | Waiting::Read { .. }
            | Waiting::Auth { .. }
            | Waiting::SetWatches { .. }
            | Waiting::Ping => true,
        }
    }
}
