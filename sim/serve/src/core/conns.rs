//! Connections: frames become events of the server, and its messages become frames.

use super::{Core, Nanos, steady_ms};
use crate::link::{Link, State};
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use zk_api::SessionId;
use zk_proto::message::{ConnId, Password, ToClient, ToServer, Xid};
use zk_proto::server::Event;
use zk_wire::{Decoded, FourLetterWord, ServerSide, WireError};

/// A connection.
pub(super) struct Conn {
    link: Arc<Link>,
    wire: ServerSide,
    stage: Stage,
    /// What was asked and is not answered, in order.
    asked: VecDeque<Asked>,
    /// Frames whose time has not come: the session is not there yet, or earlier answers are not read.
    held: VecDeque<Vec<u8>>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its first frame has not come.
    New,
    /// The server has not said yet which session it has. As in ZooKeeper, nothing is looked at until then.
    Connecting,
    /// Its session.
    Connected(SessionId),
}

/// A request that is not answered.
struct Asked {
    /// The bytes of its frame.
    bytes: usize,
    /// The client's number for it, and ours.
    xid: Xid,
    number: Xid,
}

/// What is known of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Session {
    /// The timeout granted last.
    pub(super) timeout_ms: u32,
    /// Our number for its last request. Clients may begin anew on each connection, so that theirs do not name a
    /// request of a session.
    pub(super) last: i32,
}

impl Core {
    /// A connection was accepted.
    pub(crate) fn accepted(&mut self, conn: ConnId, link: Arc<Link>) {
        if !self.is_up() {
            link.turn(State::Aborted);
            return;
        }
        let (wire, asked, held) = (ServerSide::new(), VecDeque::new(), VecDeque::new());
        self.conns.insert(conn, Conn { link, wire, stage: Stage::New, asked, held });
    }

    /// Frames have come on a connection.
    pub(crate) fn frames(&mut self, now: Nanos, id: ConnId, frames: Vec<Vec<u8>>) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.held.extend(frames);
            self.look_again.push_back(id);
            self.run(now);
        }
    }

    /// A client reads again.
    pub(crate) fn room(&mut self, now: Nanos, id: ConnId) {
        self.look_again.push_back(id);
        self.run(now);
    }

    /// A client's connection is gone, or must go.
    pub(crate) fn gone(&mut self, now: Nanos, id: ConnId) {
        self.drop_conn(id, State::Flushing);
        self.run(now);
    }

    /// An administrator's question, in place of the first frame. It is answered, and the connection ends.
    pub(crate) fn word(&mut self, now: Nanos, id: ConnId, word: FourLetterWord) {
        let answer = if word == FourLetterWord::Ruok { "imok" } else { "" };
        if let Some(conn) = self.conns.get(&id) {
            let put = |out: &mut Vec<u8>| {
                out.extend_from_slice(answer.as_bytes());
                Ok::<(), WireError>(())
            };
            // Appending bytes does not fail.
            let _ = conn.link.send(put);
        }
        self.gone(now, id);
    }

    /// Looks at the frames of a connection, as far as their time has come.
    pub(super) fn look(&mut self, now: Nanos, id: ConnId) {
        let mark = self.limits.stall_bytes();
        while let Some(conn) = self.conns.get_mut(&id) {
            if conn.stage == Stage::Connecting || conn.held.is_empty() || conn.link.stall(mark) {
                return;
            }
            let Some(frame) = conn.held.pop_front() else { return };
            self.frame(now, id, &frame);
            self.run_events(now);
        }
    }

    fn frame(&mut self, now: Nanos, id: ConnId, frame: &[u8]) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let bytes = frame.len();
        let decoded = match conn.wire.decode(frame) {
            Ok(decoded) => decoded,
            Err(_) => return self.drop_conn(id, State::Flushing),
        };
        match (decoded, conn.stage) {
            (Decoded::Message(ToServer::Connect(request)), _) => {
                conn.asked.push_back(Asked { bytes, xid: Xid(0), number: Xid(0) });
                conn.stage = Stage::Connecting;
                self.watched.connecting(id, steady_ms(now));
                self.offered += 1;
                let session = SessionId(self.offered);
                let offer = (session, password(session));
                let address = std::net::IpAddr::from([127, 0, 0, 1]);
                self.watched.comes_from(id, zk_api::Identity::new("ip", &address.to_string()));
                self.events.push_back(Event::Connecting { conn: id, request, offer, address: Some(address) });
            }
            (Decoded::Message(message), Stage::Connected(session)) => {
                self.message(now, id, session, bytes, message);
            }
            (Decoded::Refused { xid, op: _, code, takes_zxid }, Stage::Connected(session)) => {
                let number = self.number(session);
                if let Some(conn) = self.conns.get_mut(&id) {
                    conn.asked.push_back(Asked { bytes, xid, number });
                }
                self.watched.sent_unreadable(id, number, takes_zxid);
                self.watched.refused(id, number, code, takes_zxid, steady_ms(now));
                self.events.push_back(Event::Refused { conn: id, xid: number, code, takes_zxid });
            }
            (Decoded::Message(_) | Decoded::Refused { .. }, Stage::New | Stage::Connecting) => {
                unreachable!(
                    "a connection's first frame is read as a connect request, and none before its answer"
                )
            }
        }
    }

    /// A connected client says something.
    fn message(&mut self, now: Nanos, id: ConnId, session: SessionId, bytes: usize, mut message: ToServer) {
        let (mut asked, mut number) = (Xid(0), Xid(0));
        if let ToServer::Request { xid, request } = &mut message {
            asked = *xid;
            number = self.number(session);
            *xid = number;
            self.watched.sent(id, session, number, request);
        }
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.asked.push_back(Asked { bytes, xid: asked, number });
        }
        self.watched.arrived(id, &message, steady_ms(now));
        self.events.push_back(Event::Received { conn: id, message });
    }

    /// The next number of a session's requests.
    fn number(&mut self, session: SessionId) -> Xid {
        let session = self.sessions.entry(session).or_default();
        session.last = session.last.checked_add(1).unwrap_or(1);
        Xid(session.last)
    }

    /// The server sends something.
    pub(super) fn send(&mut self, id: ConnId, mut message: ToClient) {
        self.watched.answering(id, &message);
        if let ToClient::Connected(response) = &message {
            self.watched.connected(id, response.session);
            if let Some(session) = self.sessions.get_mut(&response.session) {
                session.timeout_ms = response.timeout_ms;
            }
            if let Some(conn) = self.conns.get_mut(&id) {
                conn.stage = Stage::Connected(response.session);
            }
            self.look_again.push_back(id);
        }
        self.watched.delivered(id, &message);
        if let ToClient::Reply { xid, .. } = &mut message
            && let Some(first) = self.conns.get(&id).and_then(|conn| conn.asked.front())
            && first.number == *xid
        {
            *xid = first.xid;
        }
        self.put(id, message);
    }

    /// Puts a message where the connection's task finds it.
    fn put(&mut self, id: ConnId, message: ToClient) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        if !matches!(message, ToClient::Event { .. })
            && let Some(asked) = conn.asked.pop_front()
        {
            conn.link.give_back(asked.bytes);
        }
        let wire = &mut conn.wire;
        let put = conn.link.send(|out| wire.encode(&message, out));
        if put.is_err() || conn.link.unsent() > self.limits.unsent_bytes {
            self.drop_conn(id, State::Aborted);
        }
    }

    /// The server has closed a connection: what is on its way still arrives.
    pub(super) fn closed_by_server(&mut self, id: ConnId) {
        self.finish(id, State::Flushing);
    }

    /// Drops a connection that the server has not closed, and tells it next.
    pub(super) fn drop_conn(&mut self, id: ConnId, state: State) {
        if let Some(stage) = self.finish(id, state)
            && stage != Stage::New
        {
            self.events.push_back(Event::Dropped { conn: id });
        }
    }

    /// All connections are gone with the server.
    pub(super) fn abort_all(&mut self) {
        for id in self.conns.keys().copied().collect::<Vec<_>>() {
            self.finish(id, State::Aborted);
        }
    }

    /// Ends a connection here. Gives how far it was, if it was still there.
    fn finish(&mut self, id: ConnId, state: State) -> Option<Stage> {
        let conn = self.conns.remove(&id)?;
        conn.link.turn(state);
        self.watched.closed(id);
        Some(conn.stage)
    }
}

/// A password that nobody guesses.
fn password(session: SessionId) -> Password {
    let halves = [0, 1].map(|half| RandomState::new().hash_one((session.0, half)).to_be_bytes());
    let mut password = Password::default();
    password[..8].copy_from_slice(&halves[0]);
    password[8..].copy_from_slice(&halves[1]);
    password
}
