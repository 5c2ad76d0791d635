//! All invariants of servers and their clients, and what they know in common of connections.

use crate::answers::Answers;
use crate::ensemble::{Ensemble, View};
use crate::expiry::Expiry;
use crate::fifo::SessionFifo;
use crate::handshake::{Handshakes, Rank};
use crate::moves::Moves;
use crate::real_time::RealTime;
use crate::survive::Survive;
use crate::syncs::Syncs;
use crate::watches::{Private, Watches};
use crate::zxids::Zxids;
use crate::{Invariant, Report, Setup, ephemerals};
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::{ErrorCode, Identity, Request, SessionId, Text, Zxid};
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::{
    Answer, Ask, ConnId, ConnectRequest, ConnectResponse, Password, ToClient, ToPeer, ToServer, Xid,
};
use zk_proto::sessions::grant_timeout;
use zk_proto::tree::DataTree;
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::message::{LinkId, Packet};

/// All invariants of servers and their clients.
#[derive(Default)]
pub struct Invariants {
    /// What they have found so far.
    pub report: Report,
    ensemble: Ensemble,
    /// To which servers connections go.
    servers: BTreeMap<ConnId, u8>,
    /// The sessions of connections, once a server said so.
    sessions: BTreeMap<ConnId, SessionId>,
    survive: Survive,
    answers: Answers,
    real_time: RealTime,
    zxids: Zxids,
    fifo: SessionFifo,
    expiry: Expiry,
    handshakes: Handshakes,
    syncs: Syncs,
    moves: Moves,
    /// On which connection something was read that is to be answered at once.
    due_now: Option<ConnId>,
}

impl Invariants {
    /// Nothing has happened yet.
    pub fn new(setup: Setup) -> Invariants {
        let report = Report::of(setup.voters + setup.observers > 1);
        Invariants { report, ensemble: Ensemble::new(setup), ..Invariants::default() }
    }

    /// The same where these znodes are on every disk, parents first, each with how many children it is said to have
    /// had.
    pub fn begins_with(mut self, znodes: &[(Text, i32)]) -> Invariants {
        self.ensemble.begins_with(znodes);
        self
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
            self.heard(conn, session, now_ms);
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
        let view = self.servers.get(&conn).and_then(|server| self.ensemble.views.get(server));
        view.map_or(0, |view| view.watches.count(conn))
    }

    /// A client asks a server to be connected, with a session it has or for a new one, which is to be the one of the
    /// offer. Times are by that server's clock, without its jumps.
    pub fn connecting(
        &mut self,
        conn: ConnId,
        server: u8,
        request: &ConnectRequest,
        offer: (SessionId, Password),
        now_ms: i64,
    ) {
        self.servers.insert(conn, server);
        let rank = match self.ensemble.leads(server) {
            true if self.ensemble.is_leader(server) => Rank::Leads,
            true => Rank::Led,
            false => Rank::Learns,
        };
        self.handshakes.asks(conn, request, offer, rank, &self.expiry);
        let &ConnectRequest { session, ref password, timeout_ms, .. } = request;
        if session == SessionId::NONE {
            return;
        }
        // A server that is behind what a client has seen refuses it, and has not heard of its session.
        let shown = self.ensemble.reference_of(server).zxid.max(self.ensemble.begun(server));
        if rank == Rank::Leads && request.last_zxid <= shown {
            let timeout_ms = grant_timeout(timeout_ms, self.ensemble.setup.tick_ms);
            self.expiry.attaches(session, password, timeout_ms, now_ms);
        }
        self.moves.attaches(conn, server, session);
        // One that has ended moves no more, and is forgotten.
        if self.ensemble.reference.is_open(session) {
            self.answers.attaches(conn, session);
        }
    }

    /// A client that asks to be connected tells what it has seen. For those who hand answers over and cannot know
    /// what was read of them.
    pub fn tells(&mut self, conn: ConnId, zxid: Zxid) {
        self.zxids.tells(conn, zxid);
    }

    /// A server hears of a session.
    fn heard(&mut self, conn: ConnId, session: SessionId, now_ms: i64) {
        match self.servers.get(&conn) {
            Some(server) if self.ensemble.is_leader(*server) => self.expiry.heard(conn, session, now_ms),
            Some(server) => self.expiry.heard_elsewhere(conn, session, *server),
            None => {}
        }
    }

    fn watches(&mut self, conn: ConnId) -> &mut Watches {
        let server = self.servers.get(&conn).copied().unwrap_or_default();
        &mut self.ensemble.views.entry(server).or_default().watches
    }

    /// The rate of a server's clock has changed by so many parts per thousand.
    pub fn skewed(&mut self, tick_ms: u32, changed_permille: u64) {
        self.expiry.skewed(tick_ms, changed_permille);
    }

    /// A server has looked for sessions that were silent for too long.
    pub fn ticked(&mut self, server: u8, now_ms: i64) {
        if self.ensemble.is_leader(server) && self.ensemble.leads(server) {
            self.expiry.ticked(self.ensemble.setup.tick_ms, now_ms, &mut self.report);
        }
    }

    /// The nemesis ends a session, or has done so.
    pub fn forces(&mut self, session: Option<SessionId>) {
        self.expiry.forces(session);
    }

    /// Whether a server answers a client's message as it reads it: it needs nothing from anybody, and comes behind
    /// nothing.
    fn is_due_at_once(&self, conn: ConnId, session: SessionId, message: &ToServer) -> bool {
        let needs_others = match message {
            ToServer::Connect(_) => true,
            ToServer::Request { request, .. } => {
                request.is_write() || matches!(request, Request::Sync { .. } | Request::Auth { .. })
            }
            ToServer::SetWatches { .. } | ToServer::Ping => false,
        };
        let Some(server) = self.servers.get(&conn).copied().filter(|_| !needs_others) else { return false };
        let (leads, is_leader) = (self.ensemble.leads(server), self.ensemble.is_leader(server));
        // A session may have to wait for what stands on the disks of others and not on its leader's.
        if leads && self.ensemble.reference_of(server).zxid < self.syncs.committed {
            return false;
        }
        leads == is_leader
            && self.expiry.looks_at(conn, session, is_leader)
            && self.answers.is_idle(conn)
            && !self.moves.waits(conn, server, session)
    }

    /// A client's message arrives at a server.
    pub fn arrived(&mut self, conn: ConnId, message: &ToServer, now_ms: i64) {
        self.due_now = None;
        if let Some(session) = self.sessions.get(&conn).copied() {
            if self.is_due_at_once(conn, session, message) {
                self.due_now = Some(conn);
            }
            self.heard(conn, session, now_ms);
        }
        match message {
            ToServer::Request { xid, request } => {
                self.expiry.arrived(conn, request);
                if let Some(session) = self.sessions.get(&conn) {
                    self.answers.arrived(conn, *session, *xid, request);
                }
            }
            ToServer::SetWatches { since, watches } => self.watches(conn).asked_again(conn, *since, watches),
            ToServer::Connect(_) | ToServer::Ping => {}
        }
    }

    /// A server has read what arrived last, and done what it does then.
    pub fn read(&mut self) {
        if let Some(conn) = self.due_now.take() {
            let what = format!("{conn:?}: what needs nobody and waits for nothing is not answered");
            self.report.broken(Invariant::AnswersInTime, what);
        }
    }

    /// A server tells a client which session it has.
    fn connected(&mut self, conn: ConnId, response: &ConnectResponse) {
        let ConnectResponse { session, timeout_ms, .. } = *response;
        let server = self.servers.get(&conn).copied().unwrap_or_default();
        let grants = |asked_ms| grant_timeout(asked_ms, self.ensemble.setup.tick_ms);
        let is_open = |session| self.ensemble.reference_of(server).is_open(session);
        self.handshakes.connected(conn, response, grants, is_open, &mut self.report);
        self.sessions.insert(conn, session);
        self.expiry.connected(conn, timeout_ms);
    }

    /// A server's end of a connection is closed: nothing is sent on it any more.
    pub fn closed(&mut self, conn: ConnId) {
        self.answers.closed(conn, self.ensemble.is_alone());
        self.watches(conn).closed(conn);
        self.due_now.take_if(|due| *due == conn);
        self.expiry.closed(conn);
        self.handshakes.closed(conn);
        self.syncs.closed(conn);
        self.moves.closed(conn);
    }

    /// Both ends of a connection are gone: nothing more arrives at either. What nothing can come of any more is
    /// forgotten, so that a server may be checked for as long as it serves.
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
        if !self.ensemble.reference.is_open(session) && self.sessions.values().all(|other| *other != session)
        {
            self.answers.forget(session);
            self.real_time.forget(session);
            self.zxids.forget(session);
            self.fifo.forget(session);
        }
    }

    /// From now on epochs end by this counter.
    pub fn set_last_counter(&mut self, last_counter: u32) {
        self.ensemble.setup.last_counter = last_counter;
    }

    /// A server proposes a transaction.
    pub fn proposed(&mut self, server: u8, txn: &Txn, now_ms: i64) {
        self.answers.proposed(txn);
        self.moves.passed_on(server, txn.session, txn.xid);
        self.syncs.leads(server, txn.zxid);
        // What a leader proposes that does not know of another one comes to nothing.
        if self.ensemble.is_leader(server) {
            let is_last = txn.zxid.counter() >= self.ensemble.setup.last_counter;
            self.expiry.proposed(txn, is_last, now_ms, &mut self.report);
        }
    }

    /// A server sends something to another.
    pub fn peer_sends(&mut self, server: u8, link: LinkId, message: &ToPeer) {
        match message {
            ToPeer::Zab(Packet::Ping) | ToPeer::Ask(Ask::Touch { .. }) if !self.ensemble.leads(server) => {
                self.expiry.tells(server, link);
            }
            ToPeer::Ask(Ask::Write { session, xid, .. }) => self.moves.passed_on(server, *session, *xid),
            ToPeer::Answer(Answer::Attached { conn, valid }) => {
                self.handshakes.says(*conn, *valid, &mut self.report);
            }
            ToPeer::Zab(_) | ToPeer::Ask(_) | ToPeer::Answer(Answer::Synced { .. } | Answer::Asks { .. }) => {
            }
        }
    }

    /// A server reads what another one has sent.
    pub fn peer_reads(&mut self, server: u8, from: u8, link: LinkId, message: &ToPeer, now_ms: i64) {
        match message {
            ToPeer::Zab(Packet::Ping) | ToPeer::Ask(Ask::Touch { .. }) => {
                let by_leader = self.ensemble.is_leader(server).then_some(now_ms);
                self.expiry.told(from, link, by_leader);
            }
            ToPeer::Ask(Ask::Attach { conn, session, password, timeout_ms })
                if self.ensemble.is_leader(server) =>
            {
                self.handshakes.forwarded(*conn, *session, password, &self.expiry);
                self.expiry.attaches(*session, password, *timeout_ms, now_ms);
            }
            ToPeer::Ask(Ask::Sync { conn }) => {
                self.syncs.asked(server, *conn, self.ensemble.setup.asks_quorum)
            }
            ToPeer::Answer(Answer::Attached { conn, valid }) => self.handshakes.heard(*conn, *valid),
            ToPeer::Answer(Answer::Synced { conn }) => self.syncs.given(*conn),
            ToPeer::Zab(_) | ToPeer::Ask(_) | ToPeer::Answer(Answer::Asks { .. }) => {}
        }
    }

    /// A server asks its disk for something. `length` is what its file has before.
    pub fn asked(&mut self, server: u8, op: &DiskOp, length: usize) {
        match op {
            DiskOp::Append { file, bytes } => {
                self.survive.appended(server, *file, length + bytes.len(), bytes);
            }
            DiskOp::Truncate { file, len } => {
                self.survive.truncated(server, *file, usize::try_from(*len).unwrap_or(usize::MAX));
            }
            DiskOp::Sync { .. } | DiskOp::Replace { .. } | DiskOp::Remove { .. } => {}
        }
    }

    /// A server's file is durable up to this length.
    pub fn synced(&mut self, server: u8, file: FileId, length: usize) {
        self.survive.synced(server, file, length);
    }

    /// A transaction is committed: by a quorum, or by having been found in the history of a leader.
    pub fn committed(&mut self, txn: &Txn, recovered: bool) {
        if !recovered {
            self.survive.committed(txn.zxid, self.ensemble.setup.voters, &mut self.report);
        }
        self.expiry.committed(txn);
        self.syncs.committed = txn.zxid.max(self.syncs.committed);
        let is_refused =
            matches!(txn.body, TxnBody::Error(ErrorCode::SessionMoved | ErrorCode::SessionExpired));
        if !is_refused {
            self.real_time.committed(txn.session, txn.xid, txn.zxid, &mut self.report);
            self.fifo.committed(txn.session, txn.xid, &mut self.report);
        }
    }

    /// A transaction is applied to a server's tree.
    pub fn applied(&mut self, server: u8, txn: &Arc<Txn>, tree: &DataTree) {
        self.moves.applied(server, txn.session, txn.xid);
        let is_alone = self.ensemble.is_alone();
        let is_first = txn.zxid > self.ensemble.reference.zxid;
        let touched = Watches::touched(txn);
        let before = self.ensemble.private_among(server, &touched);
        let owned = self.ensemble.owned_by_ended(server, txn);
        if is_first {
            let executed = self.answers.applied(&mut self.ensemble.reference, txn, &mut self.report);
            if !is_alone {
                self.ensemble.history.push(executed);
            }
        } else if is_alone {
            // Again, after a start.
            return;
        }
        if !is_alone && !self.ensemble.follow(server, txn, &mut self.report) {
            return;
        }
        let mut private: Private = before.into_iter().map(|(path, acl)| (path, Some(acl))).collect();
        for (path, acl) in self.ensemble.private_among(server, &touched) {
            private.entry(path).or_insert(Some(acl));
        }
        Watches::comes_and_goes(&txn.body, &mut private);
        let Invariants { ensemble: Ensemble { views, reference, .. }, answers, report, .. } = self;
        let View { reference: own, watches, round, .. } = views.entry(server).or_default();
        watches.applied(txn, &private, |conn, acl| answers.may_read(conn, acl));
        let is_left = |path: &&Text| tree.node(path).is_some_and(|node| node.owner() == Some(txn.session));
        ephemerals::applied(txn, owned.iter().filter(is_left).count(), report);
        if !is_alone {
            round.applied(server, tree, txn, touched, own.as_ref().unwrap_or(reference), report);
        }
        if let TxnBody::CloseSession { .. } = txn.body {
            self.forget_dead(txn.session);
        }
    }

    /// A server sends something.
    pub fn answering(&mut self, conn: ConnId, message: &ToClient) {
        let server = self.servers.get(&conn).copied().unwrap_or_default();
        let (begun, session) =
            (self.ensemble.begun(server), self.sessions.get(&conn).copied().unwrap_or_default());
        if let ToClient::Connected(response) = message {
            return self.connected(conn, response);
        }
        let leads = self.ensemble.leads(server);
        let Invariants { report, ensemble, answers, survive, syncs, moves, due_now, .. } = self;
        let Ensemble { views, reference, .. } = ensemble;
        let View { reference: own, watches, .. } = views.entry(server).or_default();
        let reference = own.as_ref().unwrap_or(reference);
        if !matches!(message, ToClient::Event { .. }) {
            if due_now.take_if(|due| *due == conn).is_some() {
                report.tested(Invariant::AnswersInTime);
            }
            moves.answers(conn, server, session, report);
        }
        if let ToClient::WatchesSet { zxid } | ToClient::Pong { zxid } = message {
            let now = reference.zxid.max(begun);
            if *zxid != now {
                let what = format!("{conn:?}: {message:?}, when {now} was applied");
                report.broken(Invariant::AnswersMatchReference, what);
            }
        }
        match message {
            ToClient::Reply { xid, zxid, result } => {
                watches.answering(conn, *zxid, report);
                if let Some(request) =
                    answers.answering((reference, begun), conn, *xid, *zxid, result, report)
                {
                    if request.is_write() {
                        survive.acknowledged(*zxid);
                    }
                    if matches!(request, Request::Sync { .. }) && !leads {
                        syncs.answers(conn, reference.zxid, report);
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

    /// A server leads no more, or follows no more, or its machine has crashed.
    pub fn stopped(&mut self, server: u8) {
        self.ensemble.stopped(server);
        self.expiry.stopped(server);
        self.moves.stopped(server);
    }

    /// A server starts from its disk, or from another's state, which shows everything up to `zxid`; its tree may
    /// have gone on from there.
    pub fn started(&mut self, server: u8, zxid: Zxid, tree: &DataTree) {
        if self.ensemble.is_alone() {
            return;
        }
        let reference = self.ensemble.history.reference_at(zxid);
        self.report.check(Invariant::ServersAgree, reference.is_some(), || {
            format!("s{server} has a state at {zxid}, which nobody ever applied")
        });
        let view = self.ensemble.views.entry(server).or_default();
        view.reference = reference;
        view.round.started();
        if tree.last_zxid() == zxid {
            self.ensemble.compare_whole(server, tree, Invariant::ServersAgree, &mut self.report);
        }
    }

    /// A server begins to lead an epoch, with a history that ends with `last`. Sessions get their timeouts anew.
    pub fn established(&mut self, server: u8, epoch: u32, last: Zxid, now_ms: i64) {
        self.survive.established(server, epoch, last, self.ensemble.setup.voters, &mut self.report);
        self.syncs.leads(server, last);
        if self.ensemble.established(server, epoch) {
            self.expiry.leads(now_ms);
        }
    }

    /// A server serves from now on, with this tree.
    pub fn serves(&mut self, server: u8, tree: &DataTree) {
        let is_alone = self.ensemble.is_alone();
        if is_alone {
            self.answers.recovered();
        }
        let Invariants { ensemble: Ensemble { views, reference, .. }, report, .. } = self;
        let View { reference: own, round, .. } = views.entry(server).or_default();
        round.serving(server, tree, is_alone, own.as_ref().unwrap_or(reference), report);
    }

    /// The run is over. `is_open` tells of a session whether it is.
    pub fn at_rest(&mut self, server: u8, tree: &DataTree, is_open: impl Fn(SessionId) -> bool) {
        self.ensemble.compare_whole(server, tree, Invariant::AnswersMatchReference, &mut self.report);
        ephemerals::at_rest(tree.ephemeral_owners(), is_open, &mut self.report);
    }

    /// No server will ever start from less than `zxid`: what was executed by then is forgotten.
    pub fn shown_everywhere(&mut self, zxid: Zxid) {
        self.ensemble.history.shown_everywhere(zxid);
    }
}

#[cfg(test)]
mod tests;
