//! What was executed, in the order of transactions: what every server must do, one sooner and another later.

use crate::reference::{Asker, Own, Reference};
use std::collections::VecDeque;
use std::sync::Arc;
use zk_api::{ErrorCode, Identity, Request, Response, SessionId, Zxid};
use zk_proto::txn::{Txn, TxnBody};

/// Whom a client is taken for.
pub type Proven = Arc<[Identity]>;

/// What a server got.
#[derive(Clone, Debug)]
pub enum What {
    Request(Request),
    /// What cannot be read, and is answered with this.
    Refused(ErrorCode),
}

/// A transaction, and where it comes from.
#[derive(Clone, Debug)]
pub struct Executed {
    pub txn: Arc<Txn>,
    /// The request, and what its asker had proven. `None` where it is not a request's, or is refused for where it
    /// came from.
    pub asked: Option<(What, Proven)>,
}

impl Executed {
    /// Executes it on a reference that is at the transaction before. Gives the answer if it is a request's.
    pub fn execute(&self, reference: &mut Reference) -> Result<Option<Result<Response, ErrorCode>>, String> {
        let (zxid, time_ms, session) = (self.txn.zxid, self.txn.time_ms, self.txn.session);
        if let Some((what, proven)) = &self.asked {
            return Ok(Some(match what {
                What::Request(request) => reference.write(zxid, time_ms, Asker { session, proven }, request),
                What::Refused(code) => reference.refuse(zxid, *code),
            }));
        }
        match (&self.txn.body, own(&self.txn)) {
            (_, Some(own)) => reference.own(zxid, time_ms, own).map(|()| None),
            (TxnBody::Error(code), None) => {
                reference.refuse(zxid, *code).ok();
                Ok(None)
            }
            (body, None) => Err(format!("{zxid} is nobody's request: {body:?}")),
        }
    }
}

/// What a transaction is that no client has asked for as such.
pub fn own(txn: &Txn) -> Option<Own<'_>> {
    match &txn.body {
        TxnBody::CreateSession { .. } => Some(Own::Open(txn.session)),
        TxnBody::CloseSession { expired: true, .. } => Some(Own::Expire(txn.session)),
        TxnBody::Delete { path } if txn.session == SessionId::NONE => Some(Own::Remove(path)),
        _ => None,
    }
}

/// What was executed by an ensemble, from where its servers may start on.
#[derive(Debug, Default)]
pub struct History {
    /// The reference before all that is kept.
    base: Reference,
    executed: VecDeque<Executed>,
    /// No server will ever start from less than this.
    shown: Zxid,
}

/// So many transactions are forgotten when one is executed, at most: more than one, so that what is kept does not grow,
/// and few, so that nobody waits for it.
const FORGOTTEN_AT_ONCE: usize = 2;

/// So many of the last are looked at one by one.
const RECENT: usize = 32;

impl History {
    pub fn push(&mut self, executed: Executed) {
        self.executed.push_back(executed);
        for _ in 0..FORGOTTEN_AT_ONCE {
            if self.executed.front().is_none_or(|first| first.txn.zxid > self.shown) {
                return;
            }
            let first = self.executed.pop_front().expect("one was there");
            first.execute(&mut self.base).ok();
        }
    }

    /// How many transactions are kept.
    #[cfg(test)]
    pub fn length(&self) -> usize {
        self.executed.len()
    }

    /// No server will ever start from less than this.
    pub fn shown_everywhere(&mut self, zxid: Zxid) {
        self.shown = self.shown.max(zxid);
    }

    /// What comes behind `zxid`.
    pub fn after(&self, zxid: Zxid) -> Option<&Executed> {
        // Where most look, and what is at hand.
        let recent = self.executed.len().saturating_sub(RECENT);
        if self.executed.get(recent).is_some_and(|executed| executed.txn.zxid <= zxid) {
            return self.executed.range(recent..).find(|executed| executed.txn.zxid > zxid);
        }
        self.executed.get(self.executed.partition_point(|executed| executed.txn.zxid <= zxid))
    }

    /// The reference as it was at `zxid`. `None` if nothing of that number was executed, or it is forgotten.
    pub fn reference_at(&self, zxid: Zxid) -> Option<Reference> {
        let mut reference = self.base.clone();
        for executed in self.executed.iter().take_while(|executed| executed.txn.zxid <= zxid) {
            executed.execute(&mut reference).ok();
        }
        (reference.zxid == zxid).then_some(reference)
    }
}
