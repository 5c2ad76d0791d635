//! Connections: frames become events of the server.

use super::Core;
use super::conn::{Asked, Conn, ConnPhase, Fate, Latency, Slow, Stats};
use super::event::Later;
use super::host::Totals;
use crate::link::{ClientLink, State};
use crate::record::What;
use crate::time::{Nanos, steady_ms};
use crate::words;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use zk_api::{ErrorCode, Identity, Request, SessionId, Zxid};
use zk_proto::message::{ConnId, Password, ToClient, ToServer, WatchList, Xid};
use zk_proto::server::Event;
use zk_wire::{Decoded, FourLetterWord, ServerSide};

impl Core {
    /// A connection was accepted by a server.
    pub(crate) fn accepted(
        &mut self,
        now: Nanos,
        server: u8,
        id: ConnId,
        link: Arc<ClientLink>,
        peer: SocketAddr,
    ) {
        if !self.is_up(server) {
            link.turn(State::Aborted);
            return;
        }
        self.record.add(now, id, What::Opened { peer, server: self.name_of(server) });
        let stats = Stats { begun: now, last_op: "NA", last_at: now, ..Stats::default() };
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
        self.conns.insert(id, conn);
    }

    /// Frames have come on a connection.
    pub(crate) fn frames(&mut self, now: Nanos, id: ConnId, frames: Vec<Vec<u8>>) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        if conn.fate != Fate::Well {
            return;
        }
        let (server, slow) = (conn.server, &mut conn.slow);
        let late = if now < slow.until { now + slow.delay } else { now };
        slow.last_in = late.max(slow.last_in);
        if slow.last_in > now {
            let due = slow.last_in;
            self.later(due, Some(server), Later::Frames { conn: id, frames });
        } else {
            self.here(now, id, frames);
        }
    }

    /// Frames are here, late or not.
    pub(super) fn here(&mut self, now: Nanos, id: ConnId, frames: Vec<Vec<u8>>) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        if conn.fate == Fate::Well {
            conn.held.extend(frames);
            self.look_again.push_back(id);
            self.run(now);
        }
    }

    /// An administrator's question, in place of the first frame. It is answered, and the connection ends.
    pub(crate) fn word(&mut self, now: Nanos, id: ConnId, word: FourLetterWord) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.stats.received += 1;
        let (server, link) = (conn.server, conn.link.clone());
        self.host(server).own.stats.received += 1;
        let answer = words::answer(word, &self.status(now, server));
        link.append(answer.as_bytes());
        match word {
            FourLetterWord::Srst => self.host(server).own.stats = Totals::default(),
            FourLetterWord::Crst => {
                for conn in self.conns.values_mut().filter(|conn| conn.server == server) {
                    conn.stats = Stats { received: 0, sent: 0, latency: Latency::default(), ..conn.stats };
                }
            }
            _ => {}
        }
        self.host(server).own.stats.sent += u64::from(!answer.is_empty());
        self.drop_conn(now, id, State::Flushing, "answered");
        self.run(now);
    }

    /// A client reads again.
    pub(crate) fn room(&mut self, now: Nanos, id: ConnId) {
        self.look_again.push_back(id);
        self.run(now);
    }

    /// A client's connection is gone.
    pub(crate) fn gone(&mut self, now: Nanos, id: ConnId) {
        // What a fault has left on its way does not know.
        if let Some(conn) = self.conns.get(&id).filter(|conn| conn.fate != Fate::Flying) {
            self.cluster.hosts[usize::from(conn.server)].own.stats.counts.lost += 1;
            self.drop_conn(now, id, State::Flushing, "the client has gone");
            self.run(now);
        }
    }

    /// What has come is no frame, or one that is too long.
    pub(crate) fn malformed(&mut self, now: Nanos, id: ConnId, why: &str) {
        self.drop_conn(now, id, State::Flushing, why);
        self.run(now);
    }

    /// Looks at the frames of a connection, as far as their time has come.
    pub(super) fn look(&mut self, now: Nanos, id: ConnId) {
        let mark = self.limits.stall_bytes();
        if self.is_held(id) {
            return;
        }
        while let Some(conn) = self.conns.get_mut(&id) {
            if conn.phase == ConnPhase::Connecting || matches!(conn.fate, Fate::Flying | Fate::Silent) {
                return;
            }
            if conn.held.is_empty() {
                if conn.fate == Fate::Dying {
                    self.drop_conn(now, id, State::Aborted, "the answers are lost");
                }
                return;
            }
            if conn.slow.bytes_out >= mark || conn.link.stall(mark) {
                return;
            }
            let Some(frame) = conn.held.pop_front() else { return };
            if let Some(frame) = self.strike_at(now, id, frame) {
                self.frame(now, id, &frame);
            }
            self.run_events(now);
        }
    }

    fn frame(&mut self, now: Nanos, id: ConnId, frame: &[u8]) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.stats.received += 1;
        let host = &mut self.cluster.hosts[usize::from(conn.server)];
        host.own.stats.received += 1;
        self.requests += 1;
        let bytes = frame.len();
        match (conn.wire.decode(frame), conn.phase) {
            (Err(error), _) => self.drop_conn(now, id, State::Flushing, &error.to_string()),
            (Ok(Decoded::Message(ToServer::Connect(request))), ConnPhase::New) => {
                conn.asked.push_back(Asked::nameless(bytes, "SESS", now));
                conn.phase = ConnPhase::Connecting;
                self.moved = now;
                host.own.stats.counts.connects += 1;
                let address = conn.peer.ip().to_canonical();
                if self.cluster.hosts.len() > 1 {
                    self.invariants.tells(id, request.last_zxid);
                }
                self.invariants.comes_from(id, Identity::new("ip", &address.to_string()));
                self.offered += 1;
                let session = SessionId::new(self.offered);
                let (offer, address) = ((session, password(session)), Some(address));
                let server = conn.server;
                self.invariants.connecting(id, server, &request, offer, steady_ms(now));
                self.next(server, Event::Connecting { conn: id, request, offer, address });
            }
            (Ok(Decoded::Message(message)), ConnPhase::Connected(session)) => {
                self.message(now, id, session, bytes, message);
            }
            (Ok(Decoded::Refused { xid, op, code, takes_zxid }), ConnPhase::Connected(session)) => {
                self.refused(now, id, session, bytes, Refused { xid, op, code, takes_zxid });
            }
            (Ok(Decoded::Sasl { xid }), ConnPhase::Connected(_)) => self.no_sasl(now, id, bytes, xid),
            (Ok(_), ConnPhase::New | ConnPhase::Connecting) => {
                self.drop_conn(now, id, State::Flushing, "no connect request");
            }
        }
    }

    /// A connected client says something.
    fn message(&mut self, now: Nanos, id: ConnId, session: SessionId, bytes: usize, mut message: ToServer) {
        if self.asks_too_many_watches(id, &message) {
            let why = "more watches than a connection may have";
            return self.drop_conn(now, id, State::Flushing, why);
        }
        let asked = match &mut message {
            ToServer::Request { xid, request } => {
                self.moved = now;
                let (theirs, number) = (*xid, self.number(session));
                *xid = number;
                self.invariants.sent(id, session, number, request);
                let (op, path) = (request.name(), request.path());
                self.record.add(now, id, What::Asked { session, xid: theirs.0, op, path, bytes });
                Asked { bytes, xid: theirs, number, op, at: now }
            }
            ToServer::SetWatches { .. } => Asked::nameless(bytes, "SETW", now),
            ToServer::Ping | ToServer::Connect(_) => Asked::nameless(bytes, "PING", now),
        };
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.asked.push_back(asked);
        }
        self.invariants.arrived(id, &message, steady_ms(now));
        self.happens_on(id, Event::Received { conn: id, message });
    }

    /// A connected client says something that cannot be read.
    fn refused(&mut self, now: Nanos, id: ConnId, session: SessionId, bytes: usize, refused: Refused) {
        let Refused { xid, op, code, takes_zxid } = refused;
        if code == ErrorCode::Unimplemented {
            return self.unknown(now, id, bytes, xid);
        }
        let number = self.number(session);
        self.invariants.sent_unreadable(id, number, takes_zxid);
        self.invariants.refused(id, number, code, takes_zxid, steady_ms(now));
        let (name, path) = ("unreadable", format!("op {op}").into());
        self.record.add(now, id, What::Asked { session, xid: xid.0, op: name, path, bytes });
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.asked.push_back(Asked { bytes, xid, number, op: name, at: now });
        }
        self.happens_on(id, Event::Refused { conn: id, xid: number, code, takes_zxid });
    }

    /// A request of an unknown kind is answered at once, out of its order, and ends the connection. Its session
    /// lives on. Measured on a real ZooKeeper 3.9.3.
    fn unknown(&mut self, now: Nanos, id: ConnId, bytes: usize, xid: Xid) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.asked.push_front(Asked { bytes, xid, number: xid, op: "unknown", at: now });
        let result = Err(ErrorCode::Unimplemented);
        self.put(now, id, ToClient::Reply { xid, zxid: Zxid::from_i64(-1), result });
        self.drop_conn(now, id, State::Flushing, "a request of an unknown kind");
    }

    /// Something happens on a connection, at its server.
    fn happens_on(&mut self, id: ConnId, event: Event) {
        if let Some(server) = self.server_of(id) {
            self.next(server, event);
        }
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

    fn asks_too_many_watches(&self, id: ConnId, message: &ToServer) -> bool {
        let more = match message {
            ToServer::Request { request, .. } => usize::from(matches!(
                request,
                Request::Exists { watch: true, .. }
                    | Request::GetData { watch: true, .. }
                    | Request::GetChildren { watch: true, .. }
                    | Request::AddWatch { .. }
            )),
            ToServer::SetWatches { watches, .. } => length(watches),
            ToServer::Connect(_) | ToServer::Ping => 0,
        };
        more > 0 && self.invariants.watches_of(id) + more > self.limits.watches
    }
}

/// A request that cannot be read.
struct Refused {
    xid: Xid,
    op: i32,
    code: ErrorCode,
    takes_zxid: bool,
}

fn length(watches: &WatchList) -> usize {
    let WatchList { data, exist, child, persistent, recursive } = watches;
    [data, exist, child, persistent, recursive].map(Vec::len).iter().sum()
}

/// A password that nobody guesses.
fn password(session: SessionId) -> Password {
    let halves = [0, 1].map(|half| RandomState::new().hash_one((session.get(), half)).to_be_bytes());
    let mut password = Password::default();
    password[..8].copy_from_slice(&halves[0]);
    password[8..].copy_from_slice(&halves[1]);
    password
}
