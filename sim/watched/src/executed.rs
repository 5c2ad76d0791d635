//! What was executed, in the order of transactions: what every server must do, one sooner and another later.

use crate::answers::{Proven, What};
use crate::reference::{Asker, Own, Reference};
use std::sync::Arc;
use zk_api::{ErrorCode, Response, SessionId, Zxid};
use zk_proto::txn::{Txn, TxnBody};

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

/// Everything that was executed. Kept whole only for an ensemble, whose servers may start anywhere in it.
#[derive(Debug, Default)]
pub struct History {
    executed: Vec<Executed>,
}

impl History {
    pub fn push(&mut self, executed: Executed) {
        self.executed.push(executed);
    }

    /// What comes behind `zxid`.
    pub fn after(&self, zxid: Zxid) -> Option<&Executed> {
        self.executed.get(self.executed.partition_point(|executed| executed.txn.zxid <= zxid))
    }

    /// The reference as it was at `zxid`. `None` if nothing of that number was executed.
    pub fn reference_at(&self, zxid: Zxid) -> Option<Reference> {
        let mut reference = Reference::new();
        for executed in self.executed.iter().take_while(|executed| executed.txn.zxid <= zxid) {
            executed.execute(&mut reference).ok();
        }
        (reference.zxid == zxid).then_some(reference)
    }
}
