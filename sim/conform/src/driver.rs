//! Runs a script against one server, or an ensemble, and writes down what came.
//!
//! Each step is over before the next begins: after the actor's answers are in, every connection is asked a ping,
//! and what stands before its answer belongs to the step. So a transcript is determined but for what
//! [`normal`](crate::normal) makes alike. Of an ensemble, a server that is behind is asked again until it has seen
//! what anybody has seen; one that is paused is not asked, nor is a connection that waits for an answer.
//!
//! What a script asks of servers, it asks of [`Servers`]; [`Alone`] is one that cannot be started or stopped:
//!
//! ```
//! use std::net::SocketAddr;
//! use zk_conform::driver::{Alone, Servers};
//! use zk_conform::script::{Control, Which};
//!
//! let address = SocketAddr::from(([127, 0, 0, 1], 2181));
//! let mut servers = Alone(address);
//! assert_eq!(servers.address(Which::Leader), Ok(address));
//! assert!(servers.address(Which::Number(2)).is_err());
//! assert!(servers.control(Which::Number(1), Control::Kill).is_err());
//! ```

mod handshake;
mod servers;
mod steps;

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use crate::answer::{Header, frame_line};
use crate::connection::{Came, Connection};
use crate::encode::{self, EVENT, PING};
use crate::keeper::Keeper;
use crate::normal::{Era, Names};
use crate::record::Reader;
use crate::script::{Action, Call, Conn, Script, Sent, Session, Which, ZxidArg};
use zk_api::ErrorCode;

use handshake::close_session;
pub use servers::{Alone, Servers};

/// How long an answer may take before a ping asks whether one will come.
const PROBE: Duration = Duration::from_millis(300);
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often connections are kept alive while time passes.
const PULSE: Duration = Duration::from_millis(20);
/// How soon a server that was behind is asked again.
const SHORT: Duration = Duration::from_millis(1);

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
    /// Pings of ours that are not answered yet.
    pings: u32,
    /// A handshake is not answered yet; whether it opens a session.
    shaking: Option<bool>,
    /// The last zxid it has seen.
    seen: i64,
    server: Option<u8>,
    lines: Vec<Line>,
    /// The events of the last step that brought any, in their order.
    events: Vec<String>,
}

/// A session that was opened.
#[derive(Clone, Debug)]
struct Known {
    id: i64,
    password: Vec<u8>,
    timeout_ms: i32,
    /// It was closed, and that was answered.
    is_closed: bool,
}

/// Runs one script.
pub(crate) struct Driver<'a> {
    servers: &'a mut dyn Servers,
    /// None for an ensemble, where a session beside the script's would be seen.
    keeper: Option<&'a mut Keeper>,
    names: Names,
    clients: BTreeMap<Conn, Client>,
    sessions: BTreeMap<Session, Known>,
    /// Sessions of former rounds.
    former: Vec<Known>,
    /// The last zxid that anybody has seen.
    latest: i64,
    /// While time passes, it is of no interest who is the first to see a transaction.
    passing: bool,
}

impl<'a> Driver<'a> {
    /// Begins at the server's last transaction.
    pub(crate) fn new(
        servers: &'a mut dyn Servers,
        keeper: Option<&'a mut Keeper>,
        era: Era,
    ) -> Result<Driver<'a>, String> {
        let mut driver = Driver {
            servers,
            keeper,
            names: Names::new(era, 0),
            clients: BTreeMap::new(),
            sessions: BTreeMap::new(),
            former: Vec::new(),
            latest: 0,
            passing: false,
        };
        driver.latest = driver.last_zxid()?;
        driver.names = Names::new(era, driver.latest);
        Ok(driver)
    }

    /// The last transaction that any server knows of.
    fn last_zxid(&mut self) -> Result<i64, String> {
        match &mut self.keeper {
            Some(keeper) => keeper.last_zxid(),
            None => Ok(self.servers.last_zxid().map_or(self.latest, |zxid| zxid.max(self.latest))),
        }
    }

    /// Runs a whole script; the transcript of each step.
    pub(crate) fn run(mut self, script: &Script) -> Result<Vec<Vec<String>>, String> {
        let steps = script.steps.iter().map(|step| self.step(&step.action)).collect();
        self.servers.heal()?;
        self.end();
        steps
    }

    /// Takes one step.
    fn step(&mut self, action: &Action) -> Result<Vec<String>, String> {
        let mut told = self.act(action)?;
        let ends = match action {
            Action::Send { requests, .. } => requests.iter().any(|sent| sent.call == Call::Close),
            Action::Expire { .. } => true,
            _ => false,
        };
        let news = match action {
            // How a server's end reaches clients is a matter of chance.
            Action::Server { .. } => None,
            // So is what happens before the end that was waited for, and after it, or before an answer.
            Action::Begin(_) | Action::AwaitServing | Action::AwaitEnd { .. } | Action::AwaitZxid { .. } => {
                self.passing = true;
                self.settle(None);
                self.passing = false;
                None
            }
            _ => self.settle(action.conn()),
        };
        told.extend(self.told(action.conn(), ends));
        told.extend(news);
        Ok(told)
    }

    /// Does what a step says, and waits for what it waits for. What came to clients is not in what it returns.
    fn act(&mut self, action: &Action) -> Result<Vec<String>, String> {
        let mut told = Vec::new();
        match action {
            Action::Connect { conn, connect } => {
                let former = self.on_session(connect.session, *conn);
                self.begin_connect(*conn, connect)?;
                self.finish_connect(*conn);
                for former in former {
                    self.await_end(former);
                }
            }
            Action::Drop { conn } => self.client(*conn).connection = None,
            Action::Send { conn, requests } => {
                self.send(*conn, requests);
                self.collect(*conn);
                if self.client(*conn).connection.is_none() {
                    self.await_closed_ones();
                }
            }
            Action::Bytes { conn, bytes } => {
                if let Some(connection) = &mut self.client(*conn).connection {
                    connection.send(bytes);
                }
            }
            Action::Expire { session } => {
                told.push(self.expire(*session)?);
                self.await_closed_ones();
            }
            Action::Wait { ms } => {
                let over = Instant::now() + Duration::from_millis(*ms);
                self.pass(None, |_| Ok(Instant::now() >= over))?;
            }
            Action::Await { transactions } => told.push(self.await_own(*transactions)?),
            Action::Server { which, control } => self.control(*which, *control)?,
            Action::Begin(action) => self.begin(action)?,
            Action::Finish { conn } => {
                self.finish_connect(*conn);
                self.collect(*conn);
            }
            Action::AwaitServing => self.await_serving()?,
            Action::AwaitZxid { zxid } => self.await_zxid(*zxid)?,
            Action::AwaitEnd { conns } => self.await_ends(conns)?,
            Action::Rounds { times, actions } => told.extend(self.rounds(*times, actions)?),
            Action::Alike { conns, what } => told.push(self.alike(conns, what)),
        }
        Ok(told)
    }

    /// Asks all connections a ping. What has happened by itself since is told, of an ensemble.
    fn settle(&mut self, actor: Option<Conn>) -> Option<String> {
        let before = self.latest;
        if self.keeper.is_none() {
            self.latest = self.last_zxid().unwrap_or(before);
        }
        for conn in self.in_order(actor) {
            self.flush(conn);
        }
        (before < self.latest && self.keeper.is_none())
            .then(|| format!("now {}", self.names.zxid(self.latest)))
    }

    /// What has come to all clients since they were last asked.
    fn told(&mut self, actor: Option<Conn>, ends: bool) -> Vec<String> {
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

    fn zxid(&mut self, conn: Conn, arg: ZxidArg) -> i64 {
        resolve(arg, self.names.base, self.client(conn).seen)
    }

    fn send(&mut self, conn: Conn, requests: &[Sent]) {
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
    fn collect(&mut self, conn: Conn) {
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
    fn flush(&mut self, conn: Conn) {
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
        let client = self.clients.entry(conn).or_default();
        let at = header.and_then(|header| client.asked.iter().position(|(xid, _)| *xid == header.xid));
        let asked = at.and_then(|at| client.asked.remove(at)).map(|(_, op)| op);
        let line = frame_line(&mut self.names, frame, asked);
        let event = header.filter(|header| header.xid == EVENT && asked.is_none()).map(|header| header.zxid);
        client.lines.push((event, line));
        if let Some(header) = header {
            self.saw(conn, header.zxid);
            if asked == Some(crate::op::CLOSE) && header.error == 0 {
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
    fn await_closed_ones(&mut self) {
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
    fn await_end(&mut self, conn: Conn) {
        match self.next(conn, PROBE) {
            Came::Frame(frame) => self.take(conn, &frame),
            Came::End => self.closed(conn),
            Came::Nothing => {}
        }
    }

    /// Ends all sessions, so that nothing of them happens later.
    fn end(&mut self) {
        self.clients.clear();
        let sessions = std::mem::take(&mut self.sessions).into_values();
        for known in sessions.chain(std::mem::take(&mut self.former)).filter(|known| !known.is_closed) {
            if let Ok(address) = self.servers.address(Which::Number(1)) {
                close_session(address, known.id, &known.password);
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
    unknown || header.error == ErrorCode::AuthFailed.to_i32() || asked == Some(crate::op::CLOSE)
}

/// A leader's first zxid is its epoch's beginning, until there is a transaction.
fn is_transaction(zxid: i64) -> bool {
    zxid & 0xffff_ffff != 0
}

fn is_pong(frame: &[u8]) -> bool {
    Header::read(&mut Reader(frame)).is_some_and(|header| header.xid == PING)
}
