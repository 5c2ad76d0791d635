//! Connections: frames become events of the server, what the server sends becomes frames, and connections end.

use super::conn::{Asked, Conn, ConnPhase, Fate, Session, Slow, Stats, watches_asked, zxid_of};
use super::ensemble::Ensemble;
use super::event::{Armed, Later};
use super::stage::Stage;
use crate::Limits;
use crate::fault::{Loss, Target, is_request, path_read};
use crate::link::{ClientLink, State};
use crate::observer::tell_of_znodes;
use crate::record::What;
use crate::time::{MS, steady_ms};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use zk_api::{ErrorCode, Identity, SessionId, Zxid};
use zk_proto::message::{ConnId, Password, ToClient, ToServer, Xid};
use zk_proto::server::Event;
use zk_proto::sessions::{self, SessionTable};
use zk_proto::txn::{Txn, TxnBody};
use zk_wire::{Decoded, ServerSide, WireError};

/// What stands before each frame, and is not counted.
const LENGTH_BYTES: usize = 4;

/// So many faults may wait for one session's requests.
const MOST_ARMED: usize = 100;

/// All connections, and their sessions.
pub(super) struct Conns {
    pub(super) limits: Limits,
    pub(super) all: BTreeMap<ConnId, Conn>,
    /// Connections that are silent until their clients close them, also when the server has forgotten them.
    silent: Vec<Weak<ClientLink>>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    /// Faults that wait for a session's requests.
    pub(super) armed: BTreeMap<SessionId, Vec<Armed>>,
    /// The last session id that was offered, by whichever server.
    offered: i64,
    /// Numbers for requests of sessions that are over.
    strays: i32,
}

impl Conns {
    /// None yet. `wall_ms` is the time at the start.
    pub(super) fn new(limits: Limits, wall_ms: i64) -> Conns {
        Conns {
            limits,
            all: BTreeMap::new(),
            silent: Vec::new(),
            sessions: BTreeMap::new(),
            armed: BTreeMap::new(),
            // As ZooKeeper makes them: the time in the middle, so that no later run's are the same.
            offered: (wall_ms << 16) & 0x00ff_ffff_ffff_ffff,
            strays: i32::MAX / 2,
        }
    }

    /// What whoever is connected, or was and was not told of the end, shares with its connection.
    pub(super) fn links(&self) -> impl Iterator<Item = Arc<ClientLink>> {
        let silent = self.silent.iter().filter_map(Weak::upgrade);
        self.all.values().map(|conn| conn.link.clone()).chain(silent)
    }

    /// A server that is alone and starts gives each session the timeout that it was opened with.
    pub(super) fn start_alone(&mut self, open: &SessionTable) {
        let session = |(id, session): (SessionId, &sessions::Session)| {
            let before = self.sessions.get(&id).copied().unwrap_or_default();
            (id, Session { timeout_ms: session.timeout_ms, ..before })
        };
        self.sessions = open.iter().map(session).collect();
    }

    /// A transaction is applied for the first time, on a server: sessions begin and end by that.
    pub(super) fn applied(&mut self, stage: &mut Stage, ensemble: &mut Ensemble, id: u8, txn: &Txn) {
        if !matches!(txn.body, TxnBody::Error(_) | TxnBody::MultiError(_)) {
            stage.moved = stage.now;
        }
        match txn.body {
            TxnBody::CreateSession { timeout_ms, .. } => {
                self.sessions.insert(txn.session, Session { timeout_ms, last: 0 });
                stage.observer.iter().for_each(|observer| observer.opened(txn.session, timeout_ms));
            }
            TxnBody::CloseSession { expired, .. } => {
                self.sessions.remove(&txn.session);
                self.armed.remove(&txn.session);
                stage.observer.iter().for_each(|observer| observer.closed(txn.session, expired));
                if expired {
                    ensemble.host(id).own.stats.counts.expired += 1;
                    stage.record.add_server(stage.now, None, What::Expired { session: txn.session });
                }
            }
            _ => {}
        }
        stage.observer.iter().for_each(|observer| tell_of_znodes(&**observer, txn, &txn.body));
    }

    /// To which server a connection goes.
    pub(super) fn server_of(&self, conn: ConnId) -> Option<u8> {
        self.all.get(&conn).map(|conn| conn.server)
    }

    /// The sessions that have a connection, in order of their connections.
    pub(super) fn connected(&self) -> impl Iterator<Item = (SessionId, ConnId)> {
        self.all.iter().filter_map(|(id, conn)| match conn.phase {
            ConnPhase::Connected(session) if session != SessionId::NONE => Some((session, *id)),
            ConnPhase::Connected(_) | ConnPhase::New | ConnPhase::Connecting => None,
        })
    }

    /// The sessions that are meant.
    pub(super) fn targets(&self, target: Target) -> Result<Vec<SessionId>, String> {
        match target {
            // Those without a connection have nothing to lose; whoever wants them to end names them.
            Target::All => {
                // Its last connection is a session's own, as in `conn_of`.
                let of: BTreeMap<SessionId, ConnId> = self.connected().collect();
                let open = of.into_iter().filter(|(session, _)| self.sessions.contains_key(session));
                let by_conn: BTreeMap<ConnId, SessionId> =
                    open.map(|(session, conn)| (conn, session)).collect();
                Ok(by_conn.into_values().collect())
            }
            Target::Session(session) if self.sessions.contains_key(&session) => Ok(vec![session]),
            Target::Session(session) => Err(format!("{session}: no such session; GET /sessions lists them")),
        }
    }

    /// The connection of a session.
    pub(super) fn conn_of(&self, session: SessionId) -> Result<ConnId, String> {
        // Its last one: a server that it has left may not know yet.
        let found = self.connected().filter(|(of, _)| *of == session).last();
        found.map(|(_, id)| id).ok_or_else(|| format!("{session}: the session has no connection now"))
    }

    /// A fault waits for a session's requests.
    pub(super) fn arm(&mut self, session: SessionId, armed: Armed) -> Result<(), String> {
        let waiting = self.armed.entry(session).or_default();
        if waiting.len() >= MOST_ARMED {
            return Err(format!("{session}: {MOST_ARMED} faults wait for its requests already"));
        }
        waiting.push(armed);
        Ok(())
    }

    /// A connection was accepted by a server.
    pub(super) fn accepted(
        &mut self,
        stage: &mut Stage,
        ensemble: &Ensemble,
        server: u8,
        id: ConnId,
        link: Arc<ClientLink>,
        peer: SocketAddr,
    ) {
        if !ensemble.is_up(server) {
            link.turn(State::Aborted);
            return;
        }
        stage.record.add(stage.now, id, What::Opened { peer, server: ensemble.name_of(server) });
        let stats = Stats { begun: stage.now, last_op: "NA", last_at: stage.now, ..Stats::default() };
        let conn = Conn {
            server,
            link,
            peer,
            wire: ServerSide::new(),
            phase: ConnPhase::New,
            asked: VecDeque::new(),
            held: VecDeque::new(),
            fate: Fate::Well,
            slow: Slow::default(),
            stats,
        };
        self.all.insert(id, conn);
    }

    /// Frames have come on a connection. Whether they are here.
    pub(super) fn frames(&mut self, stage: &mut Stage, id: ConnId, frames: Vec<Vec<u8>>) -> bool {
        let Some(conn) = self.all.get_mut(&id).filter(|conn| conn.fate == Fate::Well) else { return false };
        let (server, slow) = (conn.server, &mut conn.slow);
        let late = if stage.now < slow.until { stage.now + slow.delay } else { stage.now };
        slow.last_in = late.max(slow.last_in);
        if slow.last_in > stage.now {
            let due = slow.last_in;
            stage.later(due, Some(server), Later::Frames { conn: id, frames });
            return false;
        }
        self.here(stage, id, frames)
    }

    /// Frames are here, late or not. Whether anybody cares.
    pub(super) fn here(&mut self, stage: &mut Stage, id: ConnId, frames: Vec<Vec<u8>>) -> bool {
        let Some(conn) = self.all.get_mut(&id).filter(|conn| conn.fate == Fate::Well) else { return false };
        conn.held.extend(frames);
        stage.look_again.push_back(id);
        true
    }

    /// A frame is looked at.
    pub(super) fn frame(&mut self, stage: &mut Stage, ensemble: &mut Ensemble, id: ConnId, frame: &[u8]) {
        let Some(conn) = self.all.get_mut(&id) else { return };
        conn.stats.received += 1;
        let host = &mut ensemble.cluster.hosts[usize::from(conn.server)];
        host.own.stats.received += 1;
        stage.requests += 1;
        let bytes = frame.len();
        match (conn.wire.decode(frame), conn.phase) {
            (Err(error), _) => self.drop_conn(stage, id, State::Flushing, &error.to_string()),
            (Ok(Decoded::Message(ToServer::Connect(request))), ConnPhase::New) => {
                conn.asked.push_back(Asked::nameless(bytes, "SESS", stage.now));
                conn.phase = ConnPhase::Connecting;
                stage.moved = stage.now;
                host.own.stats.counts.connects += 1;
                let address = conn.peer.ip().to_canonical();
                if ensemble.cluster.hosts.len() > 1 {
                    stage.invariants.tells(id, request.last_zxid);
                }
                stage.invariants.comes_from(id, Identity::new("ip", &address.to_string()));
                self.offered += 1;
                let session = SessionId::new(self.offered);
                let (offer, address) = ((session, password(session)), Some(address));
                let server = conn.server;
                stage.invariants.connecting(id, server, &request, offer, steady_ms(stage.now));
                stage.next(server, Event::Connecting { conn: id, request, offer, address });
            }
            (Ok(Decoded::Message(message)), ConnPhase::Connected(session)) => {
                self.message(stage, id, session, bytes, message);
            }
            (Ok(Decoded::Refused { xid, op, code, takes_zxid }), ConnPhase::Connected(session)) => {
                self.refused(stage, ensemble, id, session, bytes, Refused { xid, op, code, takes_zxid });
            }
            (Ok(Decoded::Sasl { xid }), ConnPhase::Connected(_)) => {
                self.no_sasl(stage, ensemble, id, bytes, xid)
            }
            (Ok(_), ConnPhase::New | ConnPhase::Connecting) => {
                self.drop_conn(stage, id, State::Flushing, "no connect request");
            }
        }
    }

    /// A connected client says something.
    fn message(
        &mut self,
        stage: &mut Stage,
        id: ConnId,
        session: SessionId,
        bytes: usize,
        mut message: ToServer,
    ) {
        let more = watches_asked(&message);
        if more > 0 && stage.invariants.watches_of(id) + more > self.limits.watches {
            let why = "more watches than a connection may have";
            return self.drop_conn(stage, id, State::Flushing, why);
        }
        let asked = match &mut message {
            ToServer::Request { xid, request } => {
                let (theirs, number) = (*xid, self.number(session));
                *xid = number;
                stage.invariants.sent(id, session, number, request);
                let (op, path) = (request.name(), request.path());
                stage.record.add(stage.now, id, What::Asked { session, xid: theirs.0, op, path, bytes });
                Asked { bytes, xid: theirs, number, op, at: stage.now }
            }
            ToServer::SetWatches { .. } => Asked::nameless(bytes, "SETW", stage.now),
            ToServer::Ping | ToServer::Connect(_) => Asked::nameless(bytes, "PING", stage.now),
        };
        stage.invariants.arrived(id, &message, steady_ms(stage.now));
        self.asks(stage, id, asked, Event::Received { conn: id, message });
    }

    /// A connected client says something that cannot be read.
    fn refused(
        &mut self,
        stage: &mut Stage,
        ensemble: &mut Ensemble,
        id: ConnId,
        session: SessionId,
        bytes: usize,
        refused: Refused,
    ) {
        let Refused { xid, op, code, takes_zxid } = refused;
        if code == ErrorCode::Unimplemented {
            return self.unknown(stage, ensemble, id, bytes, xid);
        }
        let number = self.number(session);
        stage.invariants.sent_unreadable(id, number, takes_zxid);
        stage.invariants.refused(id, number, code, takes_zxid, steady_ms(stage.now));
        let (name, path) = ("unreadable", format!("op {op}").into());
        stage.record.add(stage.now, id, What::Asked { session, xid: xid.0, op: name, path, bytes });
        let asked = Asked { bytes, xid, number, op: name, at: stage.now };
        self.asks(stage, id, asked, Event::Refused { conn: id, xid: number, code, takes_zxid });
    }

    /// A request of an unknown kind is answered at once, out of its order, and ends the connection. Its session
    /// lives on. Measured on a real ZooKeeper 3.9.3.
    fn unknown(&mut self, stage: &mut Stage, ensemble: &mut Ensemble, id: ConnId, bytes: usize, xid: Xid) {
        let Some(conn) = self.all.get_mut(&id) else { return };
        conn.asked.push_front(Asked { bytes, xid, number: xid, op: "unknown", at: stage.now });
        let result = Err(ErrorCode::Unimplemented);
        self.put(stage, ensemble, id, ToClient::Reply { xid, zxid: Zxid::from_i64(-1), result });
        self.drop_conn(stage, id, State::Flushing, "a request of an unknown kind");
    }

    /// What was asked on a connection waits for its answer, and happens at its server.
    fn asks(&mut self, stage: &mut Stage, id: ConnId, asked: Asked, event: Event) {
        let Some(conn) = self.all.get_mut(&id) else { return };
        conn.asked.push_back(asked);
        stage.next(conn.server, event);
    }

    /// The next number of a session's requests. Zero stands for the server's own.
    fn number(&mut self, session: SessionId) -> Xid {
        let Some(session) = self.sessions.get_mut(&session) else {
            // It is over, and a server that lags has not heard of it.
            self.strays = self.strays.checked_add(1).unwrap_or(i32::MAX / 2);
            return Xid(self.strays);
        };
        session.last = match session.last.wrapping_add(1) {
            0 => 1,
            next => next,
        };
        Xid(session.last)
    }

    /// A frame is about to be looked at: what has waited for it strikes. Gives the frame, unless it is lost or late by
    /// that, and the session that is to end first.
    pub(super) fn strike_at(
        &mut self,
        stage: &mut Stage,
        ensemble: &Ensemble,
        id: ConnId,
        frame: Vec<u8>,
    ) -> Option<(Vec<u8>, Option<SessionId>)> {
        let conn = self.all.get_mut(&id)?;
        let (ConnPhase::Connected(session), Fate::Well) = (conn.phase, conn.fate) else {
            return Some((frame, None));
        };
        let Some(waiting) = self.armed.get_mut(&session) else { return Some((frame, None)) };
        let owner = ensemble.cluster.server(conn.server).and_then(|server| {
            let path = path_read(&frame)?;
            server.tree().node(path)?.owner().filter(|owner| *owner != session)
        });
        let Some(at) = waiting.iter().position(|armed| match armed {
            Armed::Lose(kind, _) => is_request(*kind, &frame),
            Armed::ExpireOwner => owner.is_some(),
        }) else {
            return Some((frame, None));
        };
        match (waiting.remove(at), owner) {
            (Armed::Lose(_, what), _) => {
                conn.held.push_front(frame);
                self.strike(stage, id, what);
                // What is to arrive after all is looked at as what is held.
                None
            }
            (Armed::ExpireOwner, owner) => Some((frame, owner)),
        }
    }

    /// A connection drops.
    pub(super) fn strike(&mut self, stage: &mut Stage, id: ConnId, what: Loss) {
        let Some(conn) = self.all.get_mut(&id) else { return };
        match what {
            Loss::RequestsLost => self.drop_conn(stage, id, State::Aborted, "dropped, with its requests"),
            Loss::AnswersLost => {
                conn.link.turn(State::Aborted);
                conn.fate = Fate::Dying;
                stage.look_again.push_back(id);
            }
            Loss::InFlight { for_ms } => {
                conn.link.turn(State::Aborted);
                conn.fate = Fate::Flying;
                let server = conn.server;
                stage.later(stage.now + for_ms * MS, Some(server), Later::Arrive { conn: id });
            }
            Loss::Silence => {
                conn.link.turn(State::Silent);
                self.silent.retain(|link| link.strong_count() > 0);
                self.silent.push(Arc::downgrade(&conn.link));
                conn.held.clear();
                conn.fate = Fate::Silent;
            }
        }
    }

    /// Requests that were under way arrive, on a connection that their client has lost. Whether it is still there.
    pub(super) fn arrive(&mut self, stage: &mut Stage, id: ConnId) -> bool {
        let Some(conn) = self.all.get_mut(&id) else { return false };
        conn.fate = Fate::Dying;
        stage.record.add(stage.now, id, What::Arrived);
        stage.look_again.push_back(id);
        true
    }

    /// The server sends something.
    pub(super) fn send(&mut self, stage: &mut Stage, ensemble: &mut Ensemble, id: ConnId, message: ToClient) {
        stage.invariants.answering(id, &message);
        if let ToClient::Connected(response) = &message {
            if let Some(session) = self.sessions.get_mut(&response.session) {
                session.timeout_ms = response.timeout_ms;
            }
            if let Some(conn) = self.all.get_mut(&id) {
                conn.phase = ConnPhase::Connected(response.session);
            }
            stage.look_again.push_back(id);
        }
        if self.all.get(&id).is_some_and(|conn| conn.fate == Fate::Well) {
            stage.invariants.delivered(id, &message);
        }
        self.put(stage, ensemble, id, message);
    }

    /// Puts a message where the connection's task finds it, with the client's own number.
    pub(super) fn put(
        &mut self,
        stage: &mut Stage,
        ensemble: &mut Ensemble,
        id: ConnId,
        mut message: ToClient,
    ) {
        let Some(conn) = self.all.get_mut(&id) else { return };
        if !matches!(message, ToClient::Event { .. })
            && let Some(asked) = conn.asked.pop_front()
        {
            conn.link.give_back(asked.bytes);
            if let ToClient::Reply { xid, .. } = &mut message
                && asked.number == *xid
            {
                *xid = asked.xid;
            }
            let took = stage.now.saturating_sub(asked.at);
            ensemble.cluster.hosts[usize::from(conn.server)].own.stats.latency.add(took);
            conn.stats.latency.add(took);
            conn.stats.last_op = asked.op;
            conn.stats.last_xid = asked.xid.0;
            conn.stats.last_at = stage.now;
            if let Some(zxid) = zxid_of(&message) {
                conn.stats.last_zxid = zxid;
            }
            let what = asked.answered(&message);
            what.into_iter().for_each(|what| stage.record.add(stage.now, id, what));
        } else if let ToClient::Event { event, .. } = &message {
            stage.record.add(stage.now, id, What::Told { kind: event.kind, path: event.path.clone() });
        }
        let (mut bytes, server) = (0, self.server_of(id));
        self.transmit(stage, ensemble, id, |wire, out| {
            let before = out.len();
            let put = wire.encode(&message, out);
            bytes = out.len() - before;
            put
        });
        let is_answer =
            matches!(message, ToClient::Reply { .. } | ToClient::WatchesSet { .. } | ToClient::Pong { .. });
        if let (true, Some(bytes), Some(server)) =
            (is_answer, bytes.checked_sub(LENGTH_BYTES), self.server_of(id).or(server))
        {
            ensemble.host(server).own.stats.counts.answered(bytes);
        }
    }

    /// A token of SASL is answered at once: there is no SASL here, and the client may do without.
    pub(super) fn no_sasl(
        &mut self,
        stage: &mut Stage,
        ensemble: &mut Ensemble,
        id: ConnId,
        bytes: usize,
        xid: Xid,
    ) {
        let Some(conn) = self.all.get_mut(&id) else { return };
        conn.link.give_back(bytes);
        self.transmit(stage, ensemble, id, |wire, out| wire.encode_no_sasl(xid, out));
    }

    /// Hands over a frame that is to be sent.
    fn transmit(
        &mut self,
        stage: &mut Stage,
        ensemble: &mut Ensemble,
        id: ConnId,
        encode: impl FnOnce(&mut ServerSide, &mut Vec<u8>) -> Result<(), WireError>,
    ) {
        let Some(conn) = self.all.get_mut(&id) else { return };
        conn.stats.sent += 1;
        let server = conn.server;
        ensemble.cluster.hosts[usize::from(server)].own.stats.sent += 1;
        // One answer may have any length; what counts is what it finds unread.
        let unread = conn.link.unsent() + conn.slow.bytes_out;
        let (slow, wire) = (&mut conn.slow, &mut conn.wire);
        let late = if stage.now < slow.until { stage.now + slow.delay } else { stage.now };
        slow.last_out = late.max(slow.last_out);
        let put = if slow.last_out > stage.now {
            let mut bytes = Vec::new();
            let put = encode(wire, &mut bytes);
            slow.bytes_out += bytes.len();
            let (due, link) = (slow.last_out, conn.link.clone());
            stage.later(due, Some(server), Later::Out { conn: id, link, bytes });
            put
        } else {
            conn.link.send(|out| encode(wire, out))
        };
        if put.is_err() || unread > self.limits.unsent_bytes {
            self.drop_conn(stage, id, State::Aborted, "what it is sent is not read");
        }
    }

    /// Late bytes are on their way no more. Whether their connection is there.
    pub(super) fn out(&mut self, stage: &mut Stage, id: ConnId, link: &ClientLink, bytes: &[u8]) -> bool {
        link.append(bytes);
        let Some(conn) = self.all.get_mut(&id) else { return false };
        conn.slow.bytes_out = conn.slow.bytes_out.saturating_sub(bytes.len());
        stage.look_again.push_back(id);
        true
    }

    /// The server has closed a connection: what is on its way still arrives.
    pub(super) fn closed_by_server(&mut self, stage: &mut Stage, id: ConnId) {
        self.finish(stage, id, State::Flushing, "closed by the server");
    }

    /// Drops a connection that the server has not closed, and tells it next.
    pub(super) fn drop_conn(&mut self, stage: &mut Stage, id: ConnId, state: State, why: &str) {
        let server = self.server_of(id);
        if let Some(phase) = self.finish(stage, id, state, why)
            && phase != ConnPhase::New
            && let Some(server) = server
        {
            stage.next(server, Event::Dropped { conn: id });
        }
    }

    /// All connections to a server are gone with it.
    pub(super) fn abort_all(&mut self, stage: &mut Stage, server: u8) {
        let conns = self.all.iter().filter(|(_, conn)| conn.server == server).map(|(id, _)| *id);
        for id in conns.collect::<Vec<_>>() {
            self.finish(stage, id, State::Aborted, "the server is down");
        }
    }

    /// Ends a connection here. Gives how far it was, if it was still there.
    fn finish(&mut self, stage: &mut Stage, id: ConnId, state: State, why: &str) -> Option<ConnPhase> {
        let conn = self.all.remove(&id)?;
        if conn.fate == Fate::Silent {
            // Nobody is told.
        } else if conn.slow.last_out > stage.now && state == State::Flushing {
            stage.later(conn.slow.last_out, Some(conn.server), Later::End { link: conn.link });
        } else {
            conn.link.turn(state);
        }
        stage.record.add(stage.now, id, What::Ended { why: why.into() });
        stage.invariants.closed(id);
        stage.invariants.finished(id);
        Some(conn.phase)
    }
}

/// A request that cannot be read.
struct Refused {
    xid: Xid,
    op: i32,
    code: ErrorCode,
    takes_zxid: bool,
}

/// A password that nobody guesses.
fn password(session: SessionId) -> Password {
    let halves = [0, 1].map(|half| RandomState::new().hash_one((session.get(), half)).to_be_bytes());
    let mut password = Password::default();
    password[..8].copy_from_slice(&halves[0]);
    password[8..].copy_from_slice(&halves[1]);
    password
}
