//! What is always watched, whatever the recipe.
//!
//! | file | invariant |
//! |---|---|
//! | `survive` | acknowledged and synced writes survive every restart |
//! | `answers` | every answer is that of the naive reference tree |
//! | `atomic` | of a multi all is done, or nothing |
//! | `real_time` | a write that begins after another was acknowledged comes after it |
//! | `zxids` | what a session sees never goes back in time |
//! | `fifo` | a session's requests are done and answered in their order |
//! | `watches` | an event is sent before any answer that shows the change |
//! | `early` | no session expires before it was silent for its timeout |
//! | `ephemerals` | the ephemerals of dead sessions are gone |
//! | `report` | their names, and how often each was put to the test |
//! | `reference` | a naive tree that executes requests, which the others compare with |
//! | `executed` | what was executed, which each server of an ensemble must do in this order |
//!
//! Each sees the same events as every other engine part would, and shares no code with the server. That no task
//! panics or spins and that the steps suffice is watched where tasks and steps are run.

mod answers;
mod atomic;
mod early;
mod ephemerals;
mod executed;
mod fifo;
mod real_time;
mod reference;
mod report;
mod survive;
mod watches;
mod zxids;

use crate::reference::Reference;
use answers::Answers;
use early::EarlyExpiry;
use executed::History;
use fifo::SessionFifo;
use real_time::RealTime;
pub use report::{Invariant, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use survive::Survive;
use watches::Watches;
use zk_api::{ErrorCode, Identity, Request, SessionId, Text, Zxid};
use zk_proto::disk::FileId;
use zk_proto::message::{ConnId, ToClient, ToServer, Xid};
use zk_proto::tree::DataTree;
use zk_proto::txn::{Txn, TxnBody};
use zxids::Zxids;

/// What a server shows to its clients.
#[derive(Debug, Default)]
struct View {
    /// At what the server has applied. `None` for a server that is alone: then it is the newest.
    reference: Option<Reference>,
    /// The epoch it leads.
    epoch: u32,
    watches: Watches,
    /// How often it has applied something.
    applied: u64,
}

/// The trees are compared each time a server has applied so many transactions.
const COMPARE_EVERY: u64 = 16;

/// Everything that is always watched.
pub struct Watched {
    pub report: Report,
    /// How many servers vote: the first.
    voters: u8,
    /// There is one server.
    is_alone: bool,
    /// At the last transaction that any server has applied.
    reference: Reference,
    history: History,
    views: BTreeMap<u8, View>,
    /// The newest epoch, and the server that leads it.
    epoch: u32,
    leader: Option<u8>,
    /// To which servers connections go.
    servers: BTreeMap<ConnId, u8>,
    /// The sessions of connections, once a server said so.
    sessions: BTreeMap<ConnId, SessionId>,
    survive: Survive,
    answers: Answers,
    real_time: RealTime,
    zxids: Zxids,
    fifo: SessionFifo,
    early: EarlyExpiry,
}

impl Default for Watched {
    fn default() -> Watched {
        Watched::new(1, 0)
    }
}

impl Watched {
    /// Nothing has happened yet, to an ensemble of so many voters, which come first, and observers.
    pub fn new(voters: u8, observers: u8) -> Watched {
        let is_alone = voters + observers == 1;
        Watched {
            report: Report::of(is_alone),
            voters,
            is_alone,
            history: History::default(),
            views: BTreeMap::new(),
            epoch: 0,
            leader: None,
            servers: BTreeMap::new(),
            reference: Reference::new(),
            sessions: BTreeMap::new(),
            survive: Survive::default(),
            answers: Answers::default(),
            real_time: RealTime::default(),
            zxids: Zxids::default(),
            fifo: SessionFifo::default(),
            early: EarlyExpiry::default(),
        }
    }

    /// A client sends a request.
    pub fn sent(&mut self, conn: ConnId, session: SessionId, xid: Xid, request: &Request) {
        self.fifo.sent(conn, xid, request.is_write());
        if request.is_write() {
            self.real_time.sent(session, xid);
        }
    }

    /// A client sends something that cannot be read.
    pub fn sent_unreadable(&mut self, conn: ConnId, xid: Xid, takes_zxid: bool) {
        self.fifo.sent(conn, xid, takes_zxid);
    }

    /// It arrives at a server, which is to answer it with this error.
    pub fn refused(&mut self, conn: ConnId, xid: Xid, code: ErrorCode, takes_zxid: bool, now_ms: i64) {
        if let Some(session) = self.sessions.get(&conn).copied() {
            if self.is_at_leader(conn) {
                self.early.heard(conn, session, now_ms);
            }
            self.answers.refused(conn, session, xid, code, takes_zxid);
        }
    }

    /// Who proves this `digest` identity is the super user.
    pub fn super_user(&mut self, digest: Option<Text>) {
        self.answers.super_digest = digest;
    }

    /// Servers know whom a client is by where it comes from.
    pub fn comes_from(&mut self, conn: ConnId, who: Identity) {
        self.answers.proves(conn, who);
    }

    /// How many watches a connection has.
    pub fn watches_of(&self, conn: ConnId) -> usize {
        let view = self.servers.get(&conn).and_then(|server| self.views.get(server));
        view.map_or(0, |view| view.watches.count(conn))
    }

    /// A client asks a server to be connected, with a session it has or for a new one. Times are by that server's
    /// clock, without its jumps.
    pub fn connecting(&mut self, conn: ConnId, server: u8, session: SessionId, now_ms: i64) {
        self.servers.insert(conn, server);
        if self.leader == Some(server) {
            self.early.connecting(conn, now_ms);
        }
        if session != SessionId::NONE {
            self.answers.attaches(conn, session);
        }
    }

    /// A client that asks to be connected tells what it has seen. For those who hand answers over and cannot know
    /// what was read of them.
    pub fn tells(&mut self, conn: ConnId, zxid: Zxid) {
        self.zxids.tells(conn, zxid);
    }

    /// A learner tells a server of sessions that it has heard of.
    pub fn touched(&mut self, server: u8, sessions: impl IntoIterator<Item = SessionId>, now_ms: i64) {
        if self.leader == Some(server) {
            sessions.into_iter().for_each(|session| self.early.told(session, now_ms));
        }
    }

    fn is_at_leader(&self, conn: ConnId) -> bool {
        self.leader.is_some() && self.servers.get(&conn).copied() == self.leader
    }

    fn is_alone(&self) -> bool {
        self.is_alone
    }

    fn watches(&mut self, conn: ConnId) -> &mut Watches {
        let server = self.servers.get(&conn).copied().unwrap_or_default();
        &mut self.views.entry(server).or_default().watches
    }

    /// The rate of a server's clock has changed by so many parts per thousand.
    pub fn skewed(&mut self, tick_ms: u32, changed_permille: u64) {
        self.early.skewed(tick_ms, changed_permille);
    }

    /// The nemesis ends a session, or has done so.
    pub fn forces(&mut self, session: Option<SessionId>) {
        self.early.forces(session);
    }

    /// A client's message arrives at a server.
    pub fn arrived(&mut self, conn: ConnId, message: &ToServer, now_ms: i64) {
        if let Some(session) = self.sessions.get(&conn).copied()
            && self.is_at_leader(conn)
        {
            self.early.arrived(conn, session, message, now_ms);
        }
        match message {
            ToServer::Request { xid, request } => {
                if let Some(session) = self.sessions.get(&conn) {
                    self.answers.arrived(conn, *session, *xid, request);
                }
            }
            ToServer::SetWatches { since, watches } => self.watches(conn).asked_again(conn, *since, watches),
            ToServer::Connect(_) | ToServer::Ping => {}
        }
    }

    /// A server tells a client which session it has.
    pub fn connected(&mut self, conn: ConnId, session: SessionId) {
        self.sessions.insert(conn, session);
        self.answers.attaches(conn, session);
        self.early.connected(conn, session);
    }

    /// A server's end of a connection is closed: nothing is sent on it any more.
    pub fn closed(&mut self, conn: ConnId) {
        self.answers.closed(conn, self.is_alone());
        self.watches(conn).closed(conn);
        self.early.closed(conn);
    }

    /// Both ends of a connection are gone: nothing more arrives at either. What nothing can come of any more is
    /// forgotten, so that a server may be watched for as long as it serves.
    pub fn finished(&mut self, conn: ConnId) {
        self.fifo.finished(conn);
        self.zxids.finished(conn);
        self.servers.remove(&conn);
        if let Some(session) = self.sessions.remove(&conn) {
            self.forget_dead(session);
        }
    }

    /// Forgets a session that is over, when it has no connection any more.
    fn forget_dead(&mut self, session: SessionId) {
        if !self.reference.is_open(session) && self.sessions.values().all(|other| *other != session) {
            self.answers.forget(session);
            self.real_time.forget(session);
            self.zxids.forget(session);
            self.fifo.forget(session);
            self.early.forget(session);
        }
    }

    /// A server proposes a transaction.
    pub fn proposed(&mut self, server: u8, txn: &Txn, timeout_ms: u32, now_ms: i64) {
        self.answers.proposed(txn);
        // What a leader proposes that does not know of another one comes to nothing.
        if self.leader == Some(server) {
            self.early.proposed(txn, timeout_ms, now_ms, &mut self.report);
        }
    }

    /// A server appends bytes to a file, which is so long then.
    pub fn appended(&mut self, server: u8, file: FileId, end: usize, bytes: &[u8]) {
        self.survive.appended(server, file, end, bytes);
    }

    /// A server's file is durable up to this length.
    pub fn synced(&mut self, server: u8, file: FileId, length: usize) {
        self.survive.synced(server, file, length);
    }

    /// A server's file is cut to this length.
    pub fn truncated(&mut self, server: u8, file: FileId, length: usize) {
        self.survive.truncated(server, file, length);
    }

    /// A transaction is committed: by a quorum, or by having been found in the history of a leader.
    pub fn committed(&mut self, txn: &Txn, recovered: bool) {
        if !recovered {
            self.survive.committed(txn.zxid, self.voters, &mut self.report);
        }
        let is_refused =
            matches!(txn.body, TxnBody::Error(ErrorCode::SessionMoved | ErrorCode::SessionExpired));
        if !is_refused {
            self.real_time.committed(txn.session, txn.xid, txn.zxid, &mut self.report);
            self.fifo.committed(txn.session, txn.xid, &mut self.report);
        }
    }

    /// A transaction is applied to a server's tree.
    pub fn applied(&mut self, server: u8, txn: &Arc<Txn>, tree: &DataTree) {
        let is_first = txn.zxid > self.reference.zxid;
        let touched = Watches::touched(txn);
        let before = self.private_among(server, &touched);
        if is_first {
            let executed = self.answers.applied(&mut self.reference, txn, &mut self.report);
            if !self.is_alone() {
                self.history.push(executed);
            }
        } else if self.is_alone() {
            // Again, after a start.
            return;
        }
        if !self.is_alone() && !self.follow(server, txn) {
            return;
        }
        let mut private = before;
        private.extend(self.private_among(server, &touched));
        Watches::created_private(&txn.body, &mut private);
        let view = self.views.entry(server).or_default();
        view.watches.applied(txn, &private);
        view.applied += 1;
        // More may have been applied in the same step.
        let is_now = tree.last_zxid() == txn.zxid;
        let compares = !self.is_alone && is_now && view.applied.is_multiple_of(COMPARE_EVERY);
        ephemerals::applied(txn, |session| tree.ephemerals(session).count(), &mut self.report);
        if compares {
            self.compare(server, tree, Invariant::ServersAgree);
        }
        if let TxnBody::CloseSession { .. } = txn.body {
            self.forget_dead(txn.session);
        }
    }

    /// A server of an ensemble applies what was executed next behind what it had applied, and nothing else.
    fn follow(&mut self, server: u8, txn: &Arc<Txn>) -> bool {
        let view = self.views.entry(server).or_default();
        let reference = view.reference.get_or_insert_with(Reference::new);
        let next = self.history.after(reference.zxid);
        let agrees = next.is_some_and(|next| next.txn == *txn);
        self.report.check(Invariant::ServersAgree, agrees, || {
            let next = next.map(|next| &next.txn);
            format!("s{server} applied {txn:?} behind {}, others {next:?}", reference.zxid)
        });
        if let Some(next) = next.filter(|_| agrees) {
            next.execute(reference).ok();
        }
        agrees
    }

    /// Those that a server knows and that not everybody may read.
    fn private_among(&self, server: u8, paths: &BTreeSet<Text>) -> BTreeSet<Text> {
        let reference = self.reference_of(server);
        paths.iter().filter(|path| reference.is_private(path)).cloned().collect()
    }

    /// The reference at what a server has applied.
    fn reference_of(&self, server: u8) -> &Reference {
        let view = self.views.get(&server);
        view.and_then(|view| view.reference.as_ref()).unwrap_or(&self.reference)
    }

    /// A server sends something.
    pub fn answering(&mut self, conn: ConnId, message: &ToClient) {
        let server = self.servers.get(&conn).copied().unwrap_or_default();
        let Watched { report, views, reference, answers, survive, early, is_alone, .. } = self;
        let View { reference: own, epoch, watches, .. } = views.entry(server).or_default();
        let reference = own.as_ref().unwrap_or(reference);
        match message {
            ToClient::Reply { xid, zxid, result } => {
                watches.answering(conn, *zxid, report);
                let begun = if *is_alone { Zxid::ZERO } else { Zxid::new(*epoch, 0) };
                if let Some(request) =
                    answers.answering((reference, begun), conn, *xid, *zxid, result, report)
                {
                    if request.is_write() {
                        survive.acknowledged(*zxid);
                    }
                    if matches!((&request, result), (Request::Auth { .. }, Ok(_))) {
                        early.accepted(conn);
                    }
                    watches.answered(conn, &request, result, report);
                }
            }
            ToClient::Event { zxid, event } => watches.event(conn, *zxid, event, report),
            ToClient::WatchesSet { zxid } => {
                watches.answering(conn, *zxid, report);
                watches.set_again(conn, reference, report);
            }
            ToClient::Pong { zxid } => watches.answering(conn, *zxid, report),
            ToClient::Connected(_) => {}
        }
    }

    /// A client gets something.
    pub fn delivered(&mut self, conn: ConnId, message: &ToClient) {
        let report = &mut self.report;
        let session = self.sessions.get(&conn).copied().unwrap_or_default();
        let zxid = match message {
            ToClient::Reply { xid, zxid, .. } => {
                if self.fifo.delivered(conn, *xid, report) {
                    self.real_time.acknowledged(*zxid);
                }
                *zxid
            }
            ToClient::WatchesSet { zxid } | ToClient::Pong { zxid } => *zxid,
            ToClient::Event { zxid, .. } => zxid.unwrap_or(Zxid::ZERO),
            ToClient::Connected(_) => Zxid::ZERO,
        };
        if zxid != Zxid::ZERO {
            let counts = matches!(message, ToClient::Reply { .. } | ToClient::WatchesSet { .. });
            self.zxids.delivered(conn, session, zxid, counts, report);
        }
    }

    /// A server's machine has crashed.
    pub fn crashed(&mut self, server: u8) {
        self.stopped(server);
    }

    /// A server leads no more, or follows no more.
    pub fn stopped(&mut self, server: u8) {
        self.views.entry(server).or_default().epoch = 0;
    }

    /// A server starts from its disk, or from another's state, which shows everything up to `zxid`; its tree may
    /// have gone on from there.
    pub fn started(&mut self, server: u8, zxid: Zxid, tree: &DataTree) {
        if self.is_alone() {
            return;
        }
        let reference = self.history.reference_at(zxid);
        self.report.check(Invariant::ServersAgree, reference.is_some(), || {
            format!("s{server} has a state at {zxid}, which nobody ever applied")
        });
        self.views.entry(server).or_default().reference = reference;
        if tree.last_zxid() == zxid {
            self.compare(server, tree, Invariant::ServersAgree);
        }
    }

    /// A server begins to lead an epoch, with a history that ends with `last`. Sessions get their timeouts anew.
    pub fn established(&mut self, server: u8, epoch: u32, last: Zxid, now_ms: i64) {
        self.views.entry(server).or_default().epoch = epoch;
        self.survive.established(server, epoch, last, self.voters, &mut self.report);
        // There may be a leader of a later epoch by now.
        if epoch >= self.epoch {
            (self.epoch, self.leader) = (epoch, Some(server));
            self.early.leads(now_ms);
        }
    }

    /// A server serves from now on, with this tree.
    pub fn serves(&mut self, server: u8, tree: &DataTree) {
        if self.is_alone() {
            self.answers.recovered();
            self.real_time.recovered();
        }
        self.compare(server, tree, Invariant::AcknowledgedWritesSurvive);
    }

    /// The run is over. `is_open` tells of a session whether it is.
    pub fn at_rest(&mut self, server: u8, tree: &DataTree, is_open: impl Fn(SessionId) -> bool) {
        self.compare(server, tree, Invariant::AnswersMatchReference);
        ephemerals::at_rest(tree.ephemeral_owners(), is_open, &mut self.report);
    }

    fn compare(&mut self, server: u8, tree: &DataTree, invariant: Invariant) {
        let difference = self.reference_of(server).difference(tree);
        self.report.check(invariant, difference.is_none(), || {
            format!("s{server}: {}", difference.clone().unwrap_or_default())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::open_acl;
    use zk_proto::txn::NodeKind;

    const C: ConnId = ConnId(1);
    const S: SessionId = SessionId::new(1);

    fn txn(counter: u32, xid: i32) -> Txn {
        let (path, kind) = ("/a".into(), NodeKind::Persistent);
        let body = TxnBody::Create { path, data: "x".into(), acl: open_acl(), kind, parent_created: 1 };
        Txn { zxid: Zxid::new(1, counter), session: S, xid: Xid(xid), time_ms: 0, body }
    }

    /// Which invariants this breaks.
    fn breaks(happens: impl Fn(&mut Watched)) -> Vec<Invariant> {
        let mut watched = Watched::new(1, 0);
        watched.connected(C, S);
        happens(&mut watched);
        watched.report.broken.into_iter().map(|(invariant, _)| invariant).collect()
    }

    #[test]
    fn a_tree_that_no_request_made_is_caught_after_a_recovery_and_at_rest() {
        let mut tree = DataTree::new();
        tree.apply(&txn(1, 1));
        assert_eq!(breaks(|w| w.serves(0, &tree)), [Invariant::AcknowledgedWritesSurvive]);
        assert_eq!(breaks(|w| w.at_rest(0, &tree, |_| true)), [Invariant::AnswersMatchReference]);
        assert_eq!(breaks(|w| w.at_rest(0, &DataTree::new(), |_| true)), []);
    }

    #[test]
    fn whatever_a_session_is_shown_must_not_be_older_than_before() {
        let zxids = [Zxid::new(1, 5), Zxid::new(1, 4)];
        let pongs = breaks(|w| zxids.iter().for_each(|zxid| w.delivered(C, &ToClient::Pong { zxid: *zxid })));
        assert_eq!(pongs, [Invariant::ZxidsNeverGoBack]);
        let again = breaks(|w| {
            zxids.iter().for_each(|zxid| w.delivered(C, &ToClient::WatchesSet { zxid: *zxid }));
        });
        assert_eq!(again, [Invariant::ZxidsNeverGoBack]);
    }

    #[test]
    fn writes_of_a_session_that_commit_in_another_order_are_caught() {
        let commits = |xids: [i32; 2]| {
            breaks(|w| (1..).zip(xids).for_each(|(counter, xid)| w.committed(&txn(counter, xid), true)))
        };
        assert_eq!(commits([1, 2]), []);
        assert_eq!(commits([2, 1]), [Invariant::SessionFifo]);
    }

    #[test]
    fn of_sessions_and_connections_that_are_gone_nothing_is_kept() {
        let mut watched = Watched::new(1, 0);
        let (mut zxids, mut tree) = (1.., DataTree::new());
        let mut next = |session, xid, body| {
            let zxid = Zxid::new(1, zxids.next().expect("numbers enough"));
            Arc::new(Txn { zxid, session, xid: Xid(xid), time_ms: 0, body })
        };
        for n in 1..=3 {
            let (conn, session) = (ConnId(n as u64), SessionId::new(n));
            let open = next(session, 0, TxnBody::CreateSession { timeout_ms: 1000, password: [0; 16] });
            watched.connecting(conn, 0, SessionId::NONE, 0);
            tree.apply(&open);
            watched.applied(0, &open, &tree);
            watched.connected(conn, session);
            let request = Request::Delete { path: "/none".into(), version: -1 };
            for xid in 1..=2 {
                watched.sent(conn, session, Xid(xid), &request);
                watched.arrived(conn, &ToServer::Request { xid: Xid(xid), request: request.clone() }, 0);
            }
            let failed = next(session, 1, TxnBody::Error(ErrorCode::NoNode));
            watched.proposed(0, &failed, 1000, 0);
            watched.committed(&failed, true);
            watched.applied(0, &failed, &tree);
            watched.delivered(conn, &ToClient::Pong { zxid: failed.zxid });
            watched.closed(conn);
            watched.finished(conn);
            let expired = TxnBody::CloseSession { ephemerals: Vec::new(), expired: true };
            let close = next(session, 0, expired);
            tree.apply(&close);
            watched.applied(0, &close, &tree);
        }
        assert!(watched.report.broken.is_empty(), "{:?}", watched.report);
        let left = format!("{:?}", (&watched.sessions, &watched.answers, &watched.real_time, &watched.zxids));
        let left = left + &format!("{:?}", (&watched.fifo, &watched.views, &watched.servers, &watched.early));
        assert!(!left.contains("0x") && !left.contains("c1") && !left.contains("Xid"), "{left}");
    }

    #[test]
    fn a_commit_that_no_sync_came_before_is_caught() {
        assert_eq!(breaks(|w| w.committed(&txn(1, 1), false)), [Invariant::AcknowledgedWritesSurvive]);
    }
}
