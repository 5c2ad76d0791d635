//! Runs a script against one server, or an ensemble, and writes down what came.
//!
//! Each step is over before the next begins: after the actor's answers are in, every connection is asked a ping,
//! and what stands before its answer belongs to the step. So a transcript is determined but for what
//! [`normal`](crate::normal) makes alike.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::answer::{Header, frame_line};
use crate::connection::{Came, Connection};
use crate::encode::{self, EVENT, Handshake, PING};
use crate::keeper::Keeper;
use crate::normal::{Era, Names};
use crate::record::Reader;
use crate::script::{Action, Call, Conn, Connect, Control, Password, Script, Sent, Session, Which, ZxidArg};
use zk_api::ErrorCode;

/// Servers that scripts are run against.
pub trait Servers {
    /// Where a server listens. Fails with why that cannot be told.
    fn address(&mut self, which: Which) -> Result<SocketAddr, String>;
    /// Does something to a server. Fails with why it cannot.
    fn control(&mut self, which: Which, control: Control) -> Result<(), String>;
}

/// One server that nothing can be done to.
#[derive(Clone, Copy, Debug)]
pub struct Alone(pub SocketAddr);

impl Servers for Alone {
    fn address(&mut self, which: Which) -> Result<SocketAddr, String> {
        match which {
            Which::Number(1) | Which::Leader => Ok(self.0),
            other => Err(format!("there is no {other}")),
        }
    }

    fn control(&mut self, which: Which, _: Control) -> Result<(), String> {
        Err(format!("{which} cannot be started or stopped from here"))
    }
}

/// How long an answer may take before a ping asks whether one will come.
const PROBE: Duration = Duration::from_millis(300);
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often connections are kept alive while time passes.
const PULSE: Duration = Duration::from_millis(20);

/// What a connection has brought: an event's zxid, and the line.
type Line = (Option<i64>, String);

/// A letter of a script.
#[derive(Debug, Default)]
struct Client {
    connection: Option<Connection>,
    session: Option<Session>,
    /// Requests not answered yet: their numbers and kinds.
    asked: VecDeque<(i32, i32)>,
    last_xid: i32,
    /// The last zxid it has seen.
    seen: i64,
    server: Option<Which>,
    lines: Vec<Line>,
}

/// A session that was opened.
#[derive(Clone, Debug)]
struct Known {
    id: i64,
    password: Vec<u8>,
    timeout_ms: i32,
}

/// Runs one script.
pub(crate) struct Driver<'a> {
    servers: &'a mut dyn Servers,
    keeper: &'a mut Keeper,
    names: Names,
    clients: BTreeMap<Conn, Client>,
    sessions: BTreeMap<Session, Known>,
    /// The last zxid that anybody has seen.
    latest: i64,
    /// While time passes, it is of no interest who is the first to see a transaction.
    passing: bool,
}

impl<'a> Driver<'a> {
    /// Begins at the server's last transaction.
    pub(crate) fn new(
        servers: &'a mut dyn Servers,
        keeper: &'a mut Keeper,
        era: Era,
    ) -> Result<Driver<'a>, String> {
        let base = keeper.last_zxid()?;
        let (clients, sessions) = (BTreeMap::new(), BTreeMap::new());
        Ok(Driver {
            servers,
            keeper,
            names: Names::new(era, base),
            clients,
            sessions,
            latest: base,
            passing: false,
        })
    }

    /// Runs a whole script; the transcript of each step.
    pub(crate) fn run(mut self, script: &Script) -> Result<Vec<Vec<String>>, String> {
        let steps = script.steps.iter().map(|step| self.step(&step.action)).collect();
        self.end();
        steps
    }

    /// Takes one step.
    fn step(&mut self, action: &Action) -> Result<Vec<String>, String> {
        let mut told = Vec::new();
        let mut ends = false;
        match action {
            Action::Connect { conn, connect } => {
                let former = self.on_session(connect.session, *conn);
                self.connect(*conn, connect)?;
                for former in former {
                    self.await_end(former);
                }
            }
            Action::Drop { conn } => self.client(*conn).connection = None,
            Action::Send { conn, requests } => {
                ends = requests.iter().any(|sent| sent.call == Call::Close);
                self.send(*conn, requests);
            }
            Action::Bytes { conn, bytes } => {
                if let Some(connection) = &mut self.client(*conn).connection {
                    connection.send(bytes);
                }
            }
            Action::Expire { session } => {
                ends = true;
                told.push(self.expire(*session)?);
            }
            Action::Wait { ms } => {
                let over = Instant::now() + Duration::from_millis(*ms);
                self.pass(None, |_| Ok(Instant::now() >= over))?;
            }
            Action::Await { transactions } => told.push(self.await_own(*transactions)?),
            Action::Server { which, control } => self.servers.control(*which, *control)?,
        }
        for conn in self.in_order(action.conn()) {
            self.flush(conn);
        }
        for conn in self.in_order(action.conn()) {
            let mut lines = std::mem::take(&mut self.client(conn).lines);
            if ends {
                // The events of a session's end come in the order of a hash table.
                for run in lines.chunk_by_mut(|a, b| a.0.is_some() && a.0 == b.0) {
                    run.sort();
                }
            }
            told.extend(lines.into_iter().map(|(_, line)| format!("{conn} {line}")));
        }
        Ok(told)
    }

    /// All letters: whoever acts, then the others.
    fn in_order(&self, actor: Option<Conn>) -> Vec<Conn> {
        let others = self.clients.keys().copied().filter(|conn| Some(*conn) != actor);
        actor.into_iter().filter(|conn| self.clients.contains_key(conn)).chain(others).collect()
    }

    fn client(&mut self, conn: Conn) -> &mut Client {
        self.clients.entry(conn).or_default()
    }

    /// The other connections that a session is on.
    fn on_session(&self, session: Option<Session>, but: Conn) -> Vec<Conn> {
        let on = |client: &Client| client.connection.is_some() && client.session == session;
        let all =
            self.clients.iter().filter(|(conn, client)| session.is_some() && **conn != but && on(client));
        all.map(|(conn, _)| *conn).collect()
    }

    fn connect(&mut self, conn: Conn, connect: &Connect) -> Result<(), String> {
        let client = self.client(conn);
        let which = connect.server.or(client.server).unwrap_or(Which::Number(1));
        (client.server, client.connection, client.session) = (Some(which), None, None);
        client.asked.clear();
        client.last_xid = 0;
        let last_zxid = match (connect.last_zxid, connect.session) {
            (Some(zxid), _) => self.zxid(conn, zxid),
            (None, Some(_)) => self.client(conn).seen,
            (None, None) => 0,
        };
        let known = connect.session.map(|session| {
            // A session that never came about.
            let nobody = Known { id: 0x1234, password: vec![7; 16], timeout_ms: 0 };
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
        let address = self.servers.address(which)?;
        let mut connection = match Connection::open(address) {
            Ok(connection) => connection,
            Err(_) => {
                self.client(conn).lines.push((None, "refused".into()));
                return Ok(());
            }
        };
        connection.send(&frame);
        match connection.next(PATIENCE) {
            Came::Frame(frame) => {
                let line = self.connected(conn, &frame, connect.session.is_none());
                let client = self.client(conn);
                client.lines.push((None, line));
                client.connection = Some(connection);
            }
            Came::End => self.client(conn).lines.push((None, "closed".into())),
            Came::Nothing => self.client(conn).lines.push((None, "silent".into())),
        }
        Ok(())
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
            self.sessions.insert(session, Known { id, password, timeout_ms });
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
        self.clients.entry(conn).or_default().session = known.map(|(session, _)| *session);
        let version = if version == 0 { String::new() } else { format!(" version={version}") };
        let read_only = match r.0 {
            [] => String::new(),
            rest => format!(" readonly={}", crate::script::write::hex(rest)),
        };
        let session = self.names.session(id);
        format!("connected timeout={timeout_ms} session={session} password={told}{version}{read_only}")
    }

    fn zxid(&mut self, conn: Conn, arg: ZxidArg) -> i64 {
        resolve(arg, self.names.base(), self.client(conn).seen)
    }

    fn send(&mut self, conn: Conn, requests: &[Sent]) {
        let (base, seen) = (self.names.base(), self.client(conn).seen);
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
        self.collect(conn);
    }

    /// Takes what comes until everything asked is answered.
    fn collect(&mut self, conn: Conn) {
        let mut probed = false;
        while !self.client(conn).asked.is_empty() {
            let patience = if probed { PATIENCE } else { PROBE };
            match self.next(conn, patience) {
                Came::Frame(frame) if probed && is_pong(&frame) && !self.has_asked(conn, PING) => {
                    self.pong(conn, &frame);
                    let unanswered = self.client(conn).asked.drain(..).count();
                    self.client(conn).lines.push((None, format!("{unanswered} not answered")));
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

    fn has_asked(&mut self, conn: Conn, xid: i32) -> bool {
        self.client(conn).asked.iter().any(|(asked, _)| *asked == xid)
    }

    fn ping(&mut self, conn: Conn) {
        if let Some(connection) = &mut self.client(conn).connection {
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

    /// Asks a ping and takes everything before its answer.
    fn flush(&mut self, conn: Conn) {
        if self.client(conn).connection.is_none() {
            return;
        }
        self.ping(conn);
        loop {
            match self.next(conn, PATIENCE) {
                Came::Frame(frame) if is_pong(&frame) => return self.pong(conn, &frame),
                Came::Frame(frame) => self.take(conn, &frame),
                Came::End => return self.closed(conn),
                Came::Nothing => {
                    self.client(conn).lines.push((None, "silent".into()));
                    self.client(conn).connection = None;
                    return;
                }
            }
        }
    }

    /// The answer to a ping of ours tells where the server is; that is told where it is news.
    fn pong(&mut self, conn: Conn, frame: &[u8]) {
        let Some(header) = Header::read(&mut Reader(frame)) else { return };
        if header.zxid != self.latest && !self.passing {
            let line = format!("pong {}", self.names.zxid(header.zxid));
            self.client(conn).lines.push((None, line));
        }
        self.saw(conn, header.zxid);
    }

    fn saw(&mut self, conn: Conn, zxid: i64) {
        self.latest = self.latest.max(zxid);
        let client = self.client(conn);
        client.seen = client.seen.max(zxid);
    }

    /// Writes a frame down.
    fn take(&mut self, conn: Conn, frame: &[u8]) {
        let header = Header::read(&mut Reader(frame));
        let client = self.clients.entry(conn).or_default();
        let at = header.and_then(|header| client.asked.iter().position(|(xid, _)| *xid == header.xid));
        let asked = at.and_then(|at| client.asked.remove(at)).map(|(_, op)| op);
        let line = frame_line(&mut self.names, frame, asked);
        let event = header.filter(|header| header.xid == EVENT && asked.is_none()).map(|header| header.zxid);
        client.lines.push((event, line));
        if let Some(header) = header {
            self.saw(conn, header.zxid);
            if asked.is_some() && is_last(header, asked) {
                self.await_end(conn);
            }
        }
    }

    /// Waits a little for an end that is near, as a ping might still be answered before it.
    fn await_end(&mut self, conn: Conn) {
        match self.next(conn, PROBE) {
            Came::Frame(frame) => self.take(conn, &frame),
            Came::End => self.closed(conn),
            Came::Nothing => {}
        }
    }

    /// Lets time pass until `over`, keeping all alive but for a session.
    fn pass(
        &mut self,
        but: Option<Session>,
        mut over: impl FnMut(&mut Self) -> Result<bool, String>,
    ) -> Result<(), String> {
        self.passing = true;
        while !over(self)? {
            thread::sleep(PULSE);
            for conn in self.in_order(None) {
                if but.is_none() || self.client(conn).session != but {
                    self.flush(conn);
                }
            }
            self.keeper.last_zxid()?;
        }
        self.passing = false;
        Ok(())
    }

    fn expire(&mut self, session: Session) -> Result<String, String> {
        let Some(known) = self.sessions.get(&session) else { return Ok(format!("{session} is none")) };
        let patience = Duration::from_millis(known.timeout_ms.max(0) as u64 * 4) + PATIENCE / 5;
        let over = Instant::now() + patience;
        let before = self.latest;
        self.pass(Some(session), |me| Ok(me.keeper.last_zxid()? > before || Instant::now() >= over))?;
        let now = self.keeper.last_zxid()?;
        self.latest = self.latest.max(now);
        Ok(if now > before {
            format!("{session} expired {}", self.names.zxid(now))
        } else {
            format!("{session} did not expire")
        })
    }

    fn await_own(&mut self, transactions: u32) -> Result<String, String> {
        let (over, before) = (Instant::now() + PATIENCE, self.latest);
        let wanted = before + i64::from(transactions);
        self.pass(None, |me| Ok(me.keeper.last_zxid()? >= wanted || Instant::now() >= over))?;
        let now = self.keeper.last_zxid()?;
        self.latest = self.latest.max(now);
        Ok(format!("now {}", self.names.zxid(now)))
    }

    /// Ends all sessions, so that nothing of them happens later.
    fn end(&mut self) {
        self.clients.clear();
        for known in std::mem::take(&mut self.sessions).into_values() {
            if let Ok(address) = self.servers.address(Which::Number(1)) {
                close_session(address, known.id, &known.password);
            }
        }
    }
}

/// Takes a session over and closes it. One that is dead already is left so.
fn close_session(address: SocketAddr, session: i64, password: &[u8]) {
    let Ok(mut connection) = Connection::open(address) else { return };
    let connect = Connect {
        session: None,
        timeout_ms: 1000,
        password: Password::Right,
        last_zxid: None,
        read_only: crate::script::ReadOnly::No,
        server: None,
        cut: 0,
    };
    let with = Handshake { last_zxid: 0, session, password: Some(password) };
    connection.send(&encode::handshake(&connect, &with));
    connection.next(PATIENCE);
    connection.send(&encode::request(&Call::Close.into(), 1, &|_| 0));
    while let Came::Frame(_) = connection.next(PATIENCE) {}
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
    unknown || header.error == ErrorCode::AuthFailed.to_i32() || asked == Some(encode::op::CLOSE)
}

fn is_pong(frame: &[u8]) -> bool {
    Header::read(&mut Reader(frame)).is_some_and(|header| header.xid == PING)
}
