//! A script's clients: how their connections begin and end, what they ask, and what comes to them.

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use super::servers::Servers;
use crate::answer::{Header, frame_line};
use crate::connection::{Came, Connection};
use crate::encode::{self, EVENT, Handshake, PING};
use crate::normal::Names;
use crate::op;
use crate::record::Reader;
use crate::script::{Call, Conn, Connect, Password, Sent, Session, Which, ZxidArg};
use zk_api::ErrorCode;

/// How much of an answer's header is not compared: its number and zxid.
const UNCOMPARED: usize = 12;

/// How long an answer may take before a ping asks whether one will come.
const PROBE: Duration = Duration::from_millis(300);
/// How long anything may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How often connections are kept alive while time passes.
pub(super) const PULSE: Duration = Duration::from_millis(20);
/// How soon a server that was behind is asked again.
const SHORT: Duration = Duration::from_millis(1);

/// What a connection has brought: an event's zxid, and the line.
type Line = (Option<i64>, String);

/// A letter of a script.
#[derive(Debug, Default)]
pub(super) struct Client {
    pub(super) connection: Option<Connection>,
    pub(super) session: Option<Session>,
    /// Requests not answered yet: their numbers and kinds.
    pub(super) asked: VecDeque<(i32, i32)>,
    pub(super) last_xid: i32,
    /// Pings of ours that are not answered yet.
    pub(super) pings: u32,
    /// A handshake is not answered yet; whether it opens a session.
    pub(super) shaking: Option<bool>,
    /// The last zxid it has seen.
    pub(super) seen: i64,
    pub(super) server: Option<u8>,
    pub(super) lines: Vec<Line>,
    /// The events of the last step that brought any, in their order.
    pub(super) events: Vec<String>,
}

/// A session that was opened.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) id: i64,
    pub(super) password: Vec<u8>,
    pub(super) timeout_ms: i32,
    /// It was closed, and that was answered.
    pub(super) is_closed: bool,
}

/// The letters of a script, on the servers that it is run against.
pub(super) struct Clients<'a> {
    pub(super) servers: &'a mut dyn Servers,
    pub(super) names: Names,
    pub(super) all: BTreeMap<Conn, Client>,
    pub(super) sessions: BTreeMap<Session, Known>,
    /// The last zxid that anybody has seen.
    pub(super) latest: i64,
    /// While time passes, it is of no interest who is the first to see a transaction.
    pub(super) passing: bool,
}

impl<'a> Clients<'a> {
    pub(super) fn new(servers: &'a mut dyn Servers, names: Names) -> Clients<'a> {
        let (all, sessions) = (BTreeMap::new(), BTreeMap::new());
        Clients { servers, names, all, sessions, latest: 0, passing: false }
    }

    /// What has come to all clients since they were last asked.
    pub(super) fn told(&mut self, actor: Option<Conn>, ends: bool) -> Vec<String> {
        let mut told = Vec::new();
        for conn in self.in_order(actor) {
            let client = self.client(conn);
            let mut lines = std::mem::take(&mut client.lines);
            let events: Vec<String> =
                lines.iter().filter(|line| line.0.is_some()).map(|line| line.1.clone()).collect();
            if !events.is_empty() {
                client.events = events;
            }
            if ends {
                // The events of a session's end come in the order of a hash table.
                for run in lines.chunk_by_mut(|a, b| a.0.is_some() && a.0 == b.0) {
                    run.sort();
                }
            }
            told.extend(lines.into_iter().map(|(_, line)| format!("{conn} {line}")));
        }
        told
    }

    /// All letters: whoever acts, then the others.
    pub(super) fn in_order(&self, actor: Option<Conn>) -> Vec<Conn> {
        let others = self.all.keys().copied().filter(|conn| Some(*conn) != actor);
        actor.into_iter().filter(|conn| self.all.contains_key(conn)).chain(others).collect()
    }

    pub(super) fn client(&mut self, conn: Conn) -> &mut Client {
        self.all.entry(conn).or_default()
    }

    /// The other connections that a session is on.
    pub(super) fn on_session(&self, session: Option<Session>, but: Conn) -> Vec<Conn> {
        let on = |client: &Client| client.connection.is_some() && client.session == session;
        let all = self.all.iter().filter(|(conn, client)| session.is_some() && **conn != but && on(client));
        all.map(|(conn, _)| *conn).collect()
    }

    fn zxid(&mut self, conn: Conn, arg: ZxidArg) -> i64 {
        resolve(arg, self.names.base, self.client(conn).seen)
    }

    pub(super) fn send(&mut self, conn: Conn, requests: &[Sent]) {
        let (base, seen) = (self.names.base, self.client(conn).seen);
        let zxid = |arg| resolve(arg, base, seen);
        let client = self.client(conn);
        let mut bytes = Vec::new();
        let Some(connection) = &mut client.connection else {
            client.lines.push((None, "not connected".into()));
            return;
        };
        for sent in requests {
            let xid = sent.xid.or(encode::own_xid(&sent.call)).unwrap_or_else(|| {
                client.last_xid += 1;
                client.last_xid
            });
            bytes.extend(encode::request(sent, xid, &zxid));
            client.asked.push_back((xid, encode::op_of(&sent.call)));
        }
        connection.send(&bytes);
    }

    /// Takes what comes until everything asked is answered.
    pub(super) fn collect(&mut self, conn: Conn) {
        let mut probed = false;
        while !self.client(conn).asked.is_empty() {
            let patience = if probed { PATIENCE } else { PROBE };
            match self.next(conn, patience) {
                Came::Frame(frame) if self.is_own_pong(conn, &frame) => {
                    // The answer to an earlier probe tells nothing, as the answer that it probed for has come.
                    if probed && self.client(conn).pings == 0 {
                        if let Some(header) = Header::read(&mut Reader(&frame)) {
                            self.told_pong(conn, header);
                        }
                        let unanswered = self.client(conn).asked.drain(..).count();
                        self.client(conn).lines.push((None, format!("{unanswered} not answered")));
                    }
                }
                Came::Frame(frame) => self.take(conn, &frame),
                Came::End => self.closed(conn),
                Came::Nothing if probed => {
                    self.client(conn).asked.clear();
                    self.client(conn).lines.push((None, "silent".into()));
                }
                Came::Nothing => {
                    probed = true;
                    self.ping(conn);
                }
            }
        }
    }

    fn next(&mut self, conn: Conn, patience: Duration) -> Came {
        self.client(conn).connection.as_mut().map_or(Came::End, |connection| connection.next(patience))
    }

    /// Whether it answers a ping that the script knows nothing of; it is counted, then.
    fn is_own_pong(&mut self, conn: Conn, frame: &[u8]) -> bool {
        let client = self.client(conn);
        let asked = client.asked.iter().any(|(asked, _)| *asked == PING);
        let own = client.pings > 0 && !asked && is_pong(frame);
        client.pings -= u32::from(own);
        own
    }

    /// Takes a frame; the answer to a probe tells nothing.
    fn take_any(&mut self, conn: Conn, frame: &[u8]) {
        if !self.is_own_pong(conn, frame) {
            self.take(conn, frame);
        }
    }

    fn ping(&mut self, conn: Conn) {
        let client = self.client(conn);
        if let Some(connection) = &mut client.connection {
            client.pings += 1;
            connection.send(&encode::request(&Call::Ping.into(), PING, &|_| 0));
        }
    }

    fn closed(&mut self, conn: Conn) {
        let client = self.client(conn);
        client.asked.clear();
        if client.connection.take().is_some() {
            client.lines.push((None, "closed".into()));
        }
    }

    /// Asks a ping and takes everything before its answer; and again, as long as the server is behind.
    pub(super) fn flush(&mut self, conn: Conn) {
        let over = Instant::now() + PATIENCE;
        loop {
            let client = self.client(conn);
            let waits = client.shaking.is_some() || !client.asked.is_empty();
            let at = client.server.unwrap_or(1);
            if client.connection.is_none() || waits || self.servers.is_paused(at) {
                return;
            }
            self.ping(conn);
            let Some(pong) = self.take_pongs(conn) else { return };
            if pong.zxid >= self.latest || Instant::now() >= over {
                return self.told_pong(conn, pong);
            }
            thread::sleep(SHORT);
        }
    }

    /// Takes everything up to the answer of our last ping; `None` if the connection ends before.
    fn take_pongs(&mut self, conn: Conn) -> Option<Header> {
        loop {
            match self.next(conn, PATIENCE) {
                Came::Frame(frame) if self.is_own_pong(conn, &frame) => {
                    if self.client(conn).pings == 0 {
                        return Header::read(&mut Reader(&frame));
                    }
                }
                Came::Frame(frame) => self.take(conn, &frame),
                Came::End => {
                    self.closed(conn);
                    return None;
                }
                Came::Nothing => {
                    self.client(conn).lines.push((None, "silent".into()));
                    self.client(conn).connection = None;
                    return None;
                }
            }
        }
    }

    /// The answer to a ping of ours tells where the server is; that is told where it is news.
    fn told_pong(&mut self, conn: Conn, header: Header) {
        if header.zxid != self.latest && is_transaction(header.zxid) && !self.passing {
            let line = format!("pong {}", self.names.zxid(header.zxid));
            self.client(conn).lines.push((None, line));
        }
        self.saw(conn, header.zxid);
    }

    fn saw(&mut self, conn: Conn, zxid: i64) {
        if is_transaction(zxid) {
            self.latest = self.latest.max(zxid);
        }
        let client = self.client(conn);
        client.seen = client.seen.max(zxid);
    }

    /// Writes a frame down.
    fn take(&mut self, conn: Conn, frame: &[u8]) {
        let header = Header::read(&mut Reader(frame));
        let client = self.all.entry(conn).or_default();
        let at = header.and_then(|header| client.asked.iter().position(|(xid, _)| *xid == header.xid));
        let asked = at.and_then(|at| client.asked.remove(at)).map(|(_, op)| op);
        let line = frame_line(&mut self.names, frame, asked);
        let event = header.filter(|header| header.xid == EVENT && asked.is_none()).map(|header| header.zxid);
        client.lines.push((event, line));
        if let Some(header) = header {
            self.saw(conn, header.zxid);
            if asked == Some(op::CLOSE) && header.error == 0 {
                self.is_closed(conn);
            }
            if asked.is_some() && is_last(header, asked) {
                self.await_end(conn);
            }
        }
    }

    /// The session of a connection is closed.
    fn is_closed(&mut self, conn: Conn) {
        let session = self.client(conn).session;
        if let Some(known) = session.and_then(|session| self.sessions.get_mut(&session)) {
            known.is_closed = true;
        }
    }

    /// Waits a little for the ends of connections whose session is closed.
    pub(super) fn await_closed_ones(&mut self) {
        let closed: Vec<Option<Session>> = self
            .sessions
            .iter()
            .filter(|(_, known)| known.is_closed)
            .map(|(session, _)| Some(*session))
            .collect();
        for conn in self.in_order(None) {
            let client = self.client(conn);
            if client.connection.is_some() && closed.contains(&client.session) {
                self.await_end(conn);
            }
        }
    }

    /// Waits a little for an end that is near, as a ping might still be answered before it.
    pub(super) fn await_end(&mut self, conn: Conn) {
        match self.next(conn, PROBE) {
            Came::Frame(frame) => self.take(conn, &frame),
            Came::End => self.closed(conn),
            Came::Nothing => {}
        }
    }

    /// Opens a connection and sends the handshake.
    pub(super) fn begin_connect(&mut self, conn: Conn, connect: &Connect) -> Result<(), String> {
        let number = match connect.server {
            Some(Which::Of(other)) => self.at(other)?,
            Some(which) => self.servers.number(which)?,
            None => self.client(conn).server.unwrap_or(1),
        };
        let client = self.client(conn);
        (client.server, client.connection, client.session) = (Some(number), None, None);
        client.asked.clear();
        (client.last_xid, client.pings, client.shaking) = (0, 0, None);
        let last_zxid = match (connect.last_zxid, connect.session) {
            (Some(zxid), _) => self.zxid(conn, zxid),
            (None, Some(_)) => self.client(conn).seen,
            (None, None) => 0,
        };
        let known = connect.session.map(|session| {
            // A session that never came about.
            let nobody = Known { id: 0x1234, password: vec![7; 16], timeout_ms: 0, is_closed: true };
            self.sessions.get(&session).cloned().unwrap_or(nobody)
        });
        let (id, right) = known.map_or((0, vec![0; 16]), |known| (known.id, known.password));
        let wrong: Vec<u8> = right.iter().map(|byte| !byte).collect();
        let password = match connect.password {
            Password::Right => Some(&right[..]),
            Password::Wrong => Some(&wrong[..]),
            Password::Short => Some(&right[..8]),
            Password::Null => None,
        };
        let frame = encode::handshake(connect, &Handshake { last_zxid, session: id, password });
        let address = self.servers.address(Which::Number(number))?;
        let Ok(mut connection) = Connection::open(address) else {
            self.client(conn).lines.push((None, "refused".into()));
            return Ok(());
        };
        connection.send(&frame);
        let client = self.client(conn);
        (client.connection, client.shaking) = (Some(connection), Some(connect.session.is_none()));
        Ok(())
    }

    /// Waits for the answer to a handshake, if one was sent.
    pub(super) fn finish_connect(&mut self, conn: Conn) {
        let Some(new) = self.client(conn).shaking.take() else { return };
        match self.next(conn, PATIENCE) {
            Came::Frame(frame) => {
                let line = self.connected(conn, &frame, new);
                self.client(conn).lines.push((None, line));
            }
            Came::End => self.closed(conn),
            Came::Nothing => {
                self.client(conn).lines.push((None, "silent".into()));
                self.client(conn).connection = None;
            }
        }
    }

    /// Reads the answer to a handshake.
    fn connected(&mut self, conn: Conn, frame: &[u8], new: bool) -> String {
        let mut r = Reader(frame);
        let mut read = || Some((r.int()?, r.int()?, r.long()?, r.bytes()?.map(<[u8]>::to_vec)));
        let Some((version, timeout_ms, id, password)) = read() else {
            return format!("connected unreadable={}", crate::script::write::hex(frame));
        };
        if new && id != 0 {
            let opened = self.sessions.keys().filter(|session| session.0 == conn.0).count() as u32;
            let session = Session(conn.0, opened + 1);
            let password = password.clone().unwrap_or_default();
            self.sessions.insert(session, Known { id, password, timeout_ms, is_closed: false });
            self.names.call(id, session);
        }
        if let Some(known) = self.sessions.values_mut().find(|known| known.id == id) {
            known.timeout_ms = timeout_ms;
        }
        let known = self.sessions.iter().find(|(_, known)| known.id == id);
        let told = match &password {
            None => "null",
            Some(bytes) if known.is_some_and(|(_, known)| known.password == *bytes) => "right",
            Some(bytes) if bytes[..] == [0; 16] => "zero",
            Some(_) => "other",
        };
        self.all.entry(conn).or_default().session = known.map(|(session, _)| *session);
        let version = if version == 0 { String::new() } else { format!(" version={version}") };
        let read_only = match r.0 {
            [] => String::new(),
            rest => format!(" readonly={}", crate::script::write::hex(rest)),
        };
        let session = self.names.session(id);
        format!("connected timeout={timeout_ms} session={session} password={told}{version}{read_only}")
    }

    /// Where a connection is, or was at last.
    pub(super) fn at(&mut self, conn: Conn) -> Result<u8, String> {
        self.client(conn).server.ok_or_else(|| format!("{conn} was nowhere yet"))
    }

    /// Takes what is there.
    pub(super) fn poll(&mut self, conn: Conn) {
        loop {
            match self.next(conn, SHORT) {
                Came::Frame(frame) => self.take_any(conn, &frame),
                Came::End => return self.closed(conn),
                Came::Nothing => return,
            }
        }
    }

    /// Asks, and gives the answer as it came; nothing if there is none.
    pub(super) fn answer(&mut self, conn: Conn, call: &Call) -> Vec<u8> {
        const XID: i32 = i32::MAX;
        let Some(connection) = &mut self.client(conn).connection else { return Vec::new() };
        connection.send(&encode::request(&call.clone().into(), XID, &|_| 0));
        loop {
            match self.next(conn, PATIENCE) {
                Came::Frame(frame) => match Header::read(&mut Reader(&frame)) {
                    Some(header) if header.xid == XID => return frame[UNCOMPARED..].to_vec(),
                    _ => self.take_any(conn, &frame),
                },
                Came::End | Came::Nothing => return Vec::new(),
            }
        }
    }
}

/// A zxid that a script names. Who has seen nothing, and says more or less than that, has seen the beginning.
fn resolve(arg: ZxidArg, base: i64, seen: i64) -> i64 {
    match arg {
        ZxidArg::Absolute(n) => n,
        ZxidArg::Relative(n) => base + n,
        ZxidArg::Seen(0) => seen,
        ZxidArg::Seen(n) => n + if seen == 0 { base } else { seen },
    }
}

/// Whether a server closes behind such an answer.
fn is_last(header: Header, asked: Option<i32>) -> bool {
    let unknown = header.error == ErrorCode::Unimplemented.to_i32() && header.zxid == -1;
    unknown || header.error == ErrorCode::AuthFailed.to_i32() || asked == Some(op::CLOSE)
}

/// A leader's first zxid is its epoch's beginning, until there is a transaction.
fn is_transaction(zxid: i64) -> bool {
    zxid & 0xffff_ffff != 0
}

fn is_pong(frame: &[u8]) -> bool {
    Header::read(&mut Reader(frame)).is_some_and(|header| header.xid == PING)
}
