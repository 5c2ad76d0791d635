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
    /// Nothing was executed behind this.
    pub fn behind(base: Reference) -> History {
        History { base, ..History::default() }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use zk_proto::message::Xid;

    fn executed(counter: u32) -> Executed {
        let (zxid, session) = (Zxid::new(1, counter), SessionId::new(1));
        let body = TxnBody::Error(ErrorCode::NoNode);
        Executed { txn: Arc::new(Txn { zxid, session, xid: Xid(1), time_ms: 0, body }), asked: None }
    }

    #[test]
    fn what_comes_behind_a_transaction_is_found_among_many_and_among_few() {
        for length in [1, RECENT as u32, 100] {
            let mut history = History::default();
            (1..=length).for_each(|n| history.push(executed(2 * n)));
            for counter in 0..=2 * length + 1 {
                let next = history.after(Zxid::new(1, counter)).map(|next| next.txn.zxid.counter());
                assert_eq!(next, Some((counter / 2 + 1) * 2).filter(|next| *next <= 2 * length), "{length}");
            }
        }
    }

    #[test]
    fn what_a_server_does_by_itself_is_not_a_clients() {
        let own = |session, body| {
            let txn = Txn { zxid: Zxid::new(1, 1), session, xid: Xid(1), time_ms: 0, body };
            own(&txn).is_some()
        };
        let (server, client) = (SessionId::NONE, SessionId::new(1));
        let delete = || TxnBody::Delete { path: "/a".into() };
        assert!(own(server, delete()) && !own(client, delete()));
        let close = |expired| TxnBody::CloseSession { ephemerals: Vec::new(), expired };
        assert!(own(client, close(true)) && !own(client, close(false)));
    }
}
