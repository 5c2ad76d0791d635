//! What the server sends becomes frames; connections end.

use super::Core;
use super::conn::{Asked, ConnPhase, Fate};
use super::event::Later;
use crate::link::State;
use crate::record::What;
use crate::time::Nanos;
use zk_api::{ErrorCode, Response, Zxid};
use zk_proto::message::{ConnId, ToClient, Xid};
use zk_proto::server::Event;
use zk_wire::{ServerSide, WireError};

/// What stands before each frame, and is not counted.
const LENGTH_BYTES: usize = 4;

impl Core {
    /// The server sends something.
    pub(super) fn send(&mut self, now: Nanos, id: ConnId, message: ToClient) {
        self.invariants.answering(id, &message);
        if let ToClient::Connected(response) = &message {
            if let Some(session) = self.sessions.get_mut(&response.session) {
                session.timeout_ms = response.timeout_ms;
            }
            if let Some(conn) = self.conns.get_mut(&id) {
                conn.phase = ConnPhase::Connected(response.session);
            }
            self.look_again.push_back(id);
        }
        if self.conns.get(&id).is_some_and(|conn| conn.fate == Fate::Well) {
            self.invariants.delivered(id, &message);
        }
        self.put(now, id, message);
    }

    /// Puts a message where the connection's task finds it, with the client's own number.
    pub(super) fn put(&mut self, now: Nanos, id: ConnId, mut message: ToClient) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        if !matches!(message, ToClient::Event { .. })
            && let Some(asked) = conn.asked.pop_front()
        {
            conn.link.give_back(asked.bytes);
            if let ToClient::Reply { xid, .. } = &mut message
                && asked.number == *xid
            {
                *xid = asked.xid;
            }
            let took = now.saturating_sub(asked.at);
            self.cluster.hosts[usize::from(conn.server)].own.stats.latency.add(took);
            conn.stats.latency.add(took);
            conn.stats.last_op = asked.op;
            conn.stats.last_xid = asked.xid.0;
            conn.stats.last_at = now;
            if let Some(zxid) = zxid_of(&message) {
                conn.stats.last_zxid = zxid;
            }
            self.record_answer(now, id, &asked, &message);
        } else if let ToClient::Event { event, .. } = &message {
            self.record.add(now, id, What::Told { kind: event.kind, path: event.path.clone() });
        }
        let (mut bytes, server) = (0, self.server_of(id));
        self.transmit(now, id, |wire, out| {
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
            self.host(server).own.stats.counts.answered(bytes);
        }
    }

    /// A token of SASL is answered at once: there is no SASL here, and the client may do without.
    pub(super) fn no_sasl(&mut self, now: Nanos, id: ConnId, bytes: usize, xid: Xid) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.link.give_back(bytes);
        self.transmit(now, id, |wire, out| wire.encode_no_sasl(xid, out));
    }

    /// Hands over a frame that is to be sent.
    fn transmit(
        &mut self,
        now: Nanos,
        id: ConnId,
        encode: impl FnOnce(&mut ServerSide, &mut Vec<u8>) -> Result<(), WireError>,
    ) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.stats.sent += 1;
        let server = conn.server;
        self.cluster.hosts[usize::from(server)].own.stats.sent += 1;
        // One answer may have any length; what counts is what it finds unread.
        let unread = conn.link.unsent() + conn.slow.bytes_out;
        let (slow, wire) = (&mut conn.slow, &mut conn.wire);
        let late = if now < slow.until { now + slow.delay } else { now };
        slow.last_out = late.max(slow.last_out);
        let put = if slow.last_out > now {
            let mut bytes = Vec::new();
            let put = encode(wire, &mut bytes);
            slow.bytes_out += bytes.len();
            let (due, link) = (slow.last_out, conn.link.clone());
            self.later(due, Some(server), Later::Out { conn: id, link, bytes });
            put
        } else {
            conn.link.send(|out| encode(wire, out))
        };
        if put.is_err() || unread > self.limits.unsent_bytes {
            self.drop_conn(now, id, State::Aborted, "what it is sent is not read");
        }
    }

    /// Late bytes are on their way no more.
    pub(super) fn out(&mut self, now: Nanos, id: ConnId, link: &crate::link::ClientLink, bytes: &[u8]) {
        link.append(bytes);
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.slow.bytes_out = conn.slow.bytes_out.saturating_sub(bytes.len());
            self.look_again.push_back(id);
            self.run(now);
        }
    }

    fn record_answer(&mut self, now: Nanos, id: ConnId, asked: &Asked, message: &ToClient) {
        let what = match message {
            ToClient::Reply { xid: Xid(xid), zxid, result } => {
                What::Answered { xid: *xid, op: asked.op, zxid: *zxid, error: error_of(result) }
            }
            ToClient::Connected(response) => {
                What::Connected { session: response.session, timeout_ms: response.timeout_ms }
            }
            // They say nothing of what clients did.
            ToClient::WatchesSet { .. } | ToClient::Pong { .. } | ToClient::Event { .. } => return,
        };
        self.record.add(now, id, what);
    }

    /// The server has closed a connection: what is on its way still arrives.
    pub(super) fn closed_by_server(&mut self, now: Nanos, id: ConnId) {
        self.finish(now, id, State::Flushing, "closed by the server");
    }

    /// Drops a connection that the server has not closed, and tells it next.
    pub(super) fn drop_conn(&mut self, now: Nanos, id: ConnId, state: State, why: &str) {
        let server = self.server_of(id);
        if let Some(phase) = self.finish(now, id, state, why)
            && phase != ConnPhase::New
            && let Some(server) = server
        {
            self.next(server, Event::Dropped { conn: id });
        }
    }

    /// All connections to a server are gone with it.
    pub(super) fn abort_all(&mut self, now: Nanos, server: u8) {
        let conns = self.conns.iter().filter(|(_, conn)| conn.server == server).map(|(id, _)| *id);
        for id in conns.collect::<Vec<_>>() {
            self.finish(now, id, State::Aborted, "the server is down");
        }
    }

    /// Ends a connection here. Gives how far it was, if it was still there.
    fn finish(&mut self, now: Nanos, id: ConnId, state: State, why: &str) -> Option<ConnPhase> {
        let conn = self.conns.remove(&id)?;
        if conn.fate == Fate::Silent {
            // Nobody is told.
        } else if conn.slow.last_out > now && state == State::Flushing {
            self.later(conn.slow.last_out, Some(conn.server), Later::End { link: conn.link });
        } else {
            conn.link.turn(state);
        }
        self.record.add(now, id, What::Ended { why: why.into() });
        self.invariants.closed(id);
        self.invariants.finished(id);
        Some(conn.phase)
    }
}

fn error_of(result: &Result<Response, ErrorCode>) -> Option<ErrorCode> {
    match result {
        Ok(Response::Exists(None)) => Some(ErrorCode::NoNode),
        Ok(_) => None,
        Err(code) => Some(*code),
    }
}

fn zxid_of(message: &ToClient) -> Option<Zxid> {
    match message {
        ToClient::Reply { zxid, .. } | ToClient::WatchesSet { zxid } | ToClient::Pong { zxid } => Some(*zxid),
        ToClient::Connected(_) | ToClient::Event { .. } => None,
    }
}
