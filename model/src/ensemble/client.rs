//! The client of whole servers: where it is connected, what it asks, and what it was told.
//!
//! What it is sent it has at once, and what it asks for is there at once: it could have been slower, and asked later.

use super::config::Work;
use super::work::{self, PLAIN, request};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{Request, Response, Zxid};
use zk_proto::message::{ConnId, ToClient, WatchList, Xid};
use zk_proto::server::ServerId;
use zk_proto::txn::Txn;
use zk_proto::visible::{Cause, VisibleStep};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    /// Its connection.
    pub(super) at: Option<(ServerId, ConnId)>,
    /// Whether the server has said that the session is its own.
    is_connected: bool,
    /// It knows that its session is over.
    pub(super) is_over: bool,
    /// The newest zxid that it was told of.
    pub(super) last: Zxid,
    /// What it asks as soon as it is connected.
    pending: Vec<i64>,
    /// It registers its watch again as soon as it is connected.
    registers: bool,
    /// What it has asked on this connection and has no answer to, in order.
    waiting: Vec<Xid>,
    /// What it knew of the znode that it watches, when it began to.
    watch: Option<Zxid>,
    /// The zxids of its writes that were answered.
    pub(super) answered: BTreeMap<Xid, Zxid>,
    /// What it was told and must not have been, by the invariants' names.
    pub(super) wrong: BTreeSet<(&'static str, String)>,
    /// It has been connected before.
    has_begun: bool,
    /// Whether what it sees is to be judged.
    keeps: bool,
    /// If so, all that it saw, and the transactions in between.
    pub(super) record: Vec<VisibleStep>,
    /// The last of these transactions.
    committed: Zxid,
}

/// What it sends to its server.
pub(super) enum Outgoing {
    Watches { since: Zxid },
    Asks { number: i64 },
}

/// A client is never told of an older state than before.
pub const NEVER_BACK: &str = "ZxidsNeverGoBack";
/// A client is answered in the order in which it asked.
pub const IN_ORDER: &str = "AnsweredInOrder";
/// A watch that is there fires before the answer that shows the change, once.
pub const WATCH_FIRST: &str = "WatchBeforeAnswer";

impl Client {
    /// One that has seen nothing yet, and keeps what it sees or not.
    pub(super) fn new(keeps: bool) -> Client {
        Client { keeps, ..Client::default() }
    }

    /// Whether it may ask for more. Behind the end of its session it asks nothing.
    pub(super) fn may_ask(&self, work: Work) -> bool {
        let waiting = self.waiting.iter().map(|xid| i64::from(xid.0)).chain(self.pending.iter().copied());
        let mut asked = waiting.map(|number| request(work, number));
        !self.is_over && !asked.any(|request| request == Request::CloseSession)
    }

    /// It goes to another server.
    pub(super) fn connects(&mut self, server: ServerId, conn: ConnId) {
        self.hangs_up();
        self.at = Some((server, conn));
    }

    /// It has no connection any more.
    pub(super) fn hangs_up(&mut self) {
        if self.is_connected {
            self.records(VisibleStep::Loses { session: work::SESSION });
        }
        (self.at, self.is_connected) = (None, false);
        self.waiting.clear();
        self.pending.clear();
    }

    /// It wants to ask something.
    pub(super) fn wants(&mut self, number: i64) {
        self.pending.push(number);
    }

    /// What it sends next.
    pub(super) fn sends_next(&mut self, work: Work) -> Option<Outgoing> {
        if !self.is_connected {
            return None;
        }
        if std::mem::take(&mut self.registers) {
            // What was there from the beginning is no news.
            return Some(Outgoing::Watches { since: self.last.max(work::beginning_ends()) });
        }
        let number = (!self.pending.is_empty()).then(|| self.pending.remove(0))?;
        let (session, xid) = (work::SESSION, Xid(number as i32));
        self.waiting.push(xid);
        self.records(VisibleStep::Sends { session, xid, request: request(work, number) });
        Some(Outgoing::Asks { number })
    }

    /// It is sent something on its connection.
    pub(super) fn hears(&mut self, work: Work, message: &ToClient) {
        let session = work::SESSION;
        match message {
            ToClient::Connected(response) if response.timeout_ms == 0 => {
                self.hangs_up();
                self.records(VisibleStep::Expires { session });
                self.is_over = true;
            }
            ToClient::Connected(_) => {
                self.is_connected = true;
                self.registers = self.watch.is_some();
                let data = self.watch.iter().map(|_| PLAIN.into()).collect();
                let watches = WatchList { data, ..WatchList::default() };
                let again = std::mem::replace(&mut self.has_begun, true);
                self.records(match again {
                    true => VisibleStep::Connects { session, watches },
                    false => VisibleStep::Begins { session },
                });
            }
            ToClient::WatchesSet { .. } => {
                self.records(VisibleStep::Gets { session, message: message.clone() })
            }
            ToClient::Pong { .. } => {}
            ToClient::Event { event, .. } => {
                self.records(VisibleStep::Gets { session, message: message.clone() });
                if self.watch.take().is_none() {
                    self.wrong.insert((WATCH_FIRST, format!("it is told of {} without a watch", event.path)));
                }
            }
            ToClient::Reply { xid, zxid, result } => {
                self.records(VisibleStep::Gets { session, message: message.clone() });
                self.is_answered(*xid, *zxid);
                let asked = request(work, i64::from(xid.0));
                if let Ok(Response::Data { stat, .. } | Response::DataSet(stat)) = result {
                    self.sees(stat.mzxid(), matches!(asked, Request::GetData { watch: true, .. }));
                }
                if asked.is_write() {
                    self.answered.insert(*xid, *zxid);
                }
                if asked == Request::CloseSession && result.is_ok() {
                    self.records(VisibleStep::Ends { session });
                    (self.is_connected, self.is_over) = (false, true);
                }
            }
        }
    }

    fn is_answered(&mut self, xid: Xid, zxid: Zxid) {
        if zxid < self.last {
            let what = format!("it is told of {zxid}, and knows of {}", self.last);
            self.wrong.insert((NEVER_BACK, what));
        }
        self.last = self.last.max(zxid);
        if self.waiting.first() != Some(&xid) {
            self.wrong.insert((IN_ORDER, format!("number {} is answered before its turn", xid.0)));
        }
        self.waiting.retain(|waiting| *waiting != xid);
    }

    /// It is shown the znode that it may watch, as the transaction `mzxid` left it.
    fn sees(&mut self, mzxid: Zxid, watches: bool) {
        if self.watch.is_some_and(|known| known < mzxid) {
            let what = format!("{PLAIN} was changed by {mzxid}, and it has heard of nothing");
            self.wrong.insert((WATCH_FIRST, what));
        }
        if watches {
            self.watch = Some(mzxid);
        }
    }

    /// Transactions stand that did not before.
    pub(super) fn stands<'a>(&mut self, txns: impl Iterator<Item = &'a Txn>) {
        for txn in txns {
            let Txn { zxid, session, xid, .. } = *txn;
            self.committed = zxid;
            self.records(VisibleStep::Commits { zxid, session, xid, cause: Cause::of(txn) });
        }
    }

    /// Up to where its record has what stands, if there is to be one.
    pub(super) fn committed(&self) -> Option<Zxid> {
        self.keeps.then_some(self.committed)
    }

    fn records(&mut self, step: VisibleStep) {
        if self.keeps {
            self.record.push(step);
        }
    }
}
