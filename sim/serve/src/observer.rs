//! The observer, which judges what clients say they do by what the servers know of their sessions.

use serde::Serialize;
use serde_json::Value;
use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;
use zk_api::{SessionId, Text, Zxid};
use zk_proto::txn::{NodeKind, Txn, TxnBody};

/// The answer to a client: at once, or when what it asked for is done.
pub type Answer = Pin<Box<dyn Future<Output = Value> + Send>>;

/// Hears what clients say they do (`POST /observe`), and judges it. It is told what the servers know of sessions and
/// of ephemeral znodes before any client can see the consequences.
pub trait Observer: Debug + Send + Sync {
    /// A session is open from now on.
    fn opened(&self, session: SessionId, timeout_ms: u32);

    /// Its close has committed: its client closed it, or it has expired.
    fn closed(&self, session: SessionId, expired: bool);

    /// An ephemeral znode has been made.
    fn created(&self, path: &Text, owner: SessionId, zxid: Zxid);

    /// A znode is gone: by a request of this session, or, where it is `NONE`, with its own.
    fn deleted(&self, path: &Text, by: SessionId);

    /// A client says something. Fails with what is wrong with the body, in a line.
    fn observe(&self, body: &[u8]) -> Result<Answer, String>;

    /// The judgement so far, given what the servers are like at this moment.
    fn judge(&self, moment: &Moment) -> Judgement;
}

/// Tells what a transaction does to znodes.
pub(crate) fn tell_of_znodes(observer: &dyn Observer, txn: &Txn, body: &TxnBody) {
    match body {
        TxnBody::Create { path, kind: NodeKind::Ephemeral(owner), .. } => {
            observer.created(path, *owner, txn.zxid)
        }
        TxnBody::Delete { path } => observer.deleted(path, txn.session),
        TxnBody::CloseSession { ephemerals, .. } => {
            ephemerals.iter().for_each(|path| observer.deleted(path, SessionId::NONE))
        }
        TxnBody::Multi { ops } => ops.iter().for_each(|op| tell_of_znodes(observer, txn, op)),
        TxnBody::Create { .. }
        | TxnBody::CreateSession { .. }
        | TxnBody::SetData { .. }
        | TxnBody::SetAcl { .. }
        | TxnBody::Check { .. }
        | TxnBody::Error(_)
        | TxnBody::MultiError(_) => {}
    }
}

/// The servers at a moment.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// For how long no client has connected, and no znode nor session has changed. Whoever only looks, or tries in
    /// vain, moves nothing.
    pub still_for: Duration,
    /// Whether all servers serve.
    pub all_serve: bool,
    /// The open sessions that are connected.
    pub connected: Vec<SessionId>,
    /// All znodes with their owners, `NONE` if not ephemeral, in order of their paths.
    pub znodes: Vec<(Text, SessionId)>,
}

/// What an [`Observer`] has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Whether nothing was broken.
    #[serde(skip)]
    pub held: bool,
    /// Whether everything that is judged was put to the test.
    #[serde(skip)]
    pub is_decided: bool,
    /// The same for people, in a line.
    #[serde(skip)]
    pub line: String,
    /// For machines.
    #[serde(flatten)]
    pub told: Value,
}
