//! Runs a script against one server, or an ensemble, and writes down what came.
//!
//! Each step is over before the next begins: after the actor's answers are in, every connection is asked a ping,
//! and what stands before its answer belongs to the step; where the next step awaits transactions of the server's
//! own, which may have come by then, no ping is asked, and they belong to that. So a transcript is determined but for
//! what [`normal`](crate::normal) makes alike. Of an ensemble, a server that is behind is asked again until it has seen
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

mod clients;
mod close;
mod servers;

use std::thread;
use std::time::{Duration, Instant};

use crate::keeper::Keeper;
use crate::normal::{Era, Names};
use crate::script::{Action, Alike, Call, Conn, Control, Script, Session, Which, ZxidArg};

use clients::{Clients, Known, PATIENCE, PULSE};
use close::close_session;
pub use servers::{Alone, Servers};

/// How long servers may take to serve, or to give up.
const LONG: Duration = Duration::from_secs(40);

/// Runs a script on servers that hold nothing else, and where nobody has a session beside the script's; the lines of
/// each step. Fails with what is wrong with the servers.
pub fn run(servers: &mut dyn Servers, script: &Script) -> Result<Vec<Vec<String>>, String> {
    Driver::new(servers, None, Era::Current)?.run(script)
}

/// Runs one script.
pub(crate) struct Driver<'a> {
    /// None for an ensemble, where a session beside the script's would be seen.
    keeper: Option<&'a mut Keeper>,
    clients: Clients<'a>,
    /// Sessions of former rounds.
    former: Vec<Known>,
}

impl<'a> Driver<'a> {
    /// Begins at the server's last transaction.
    pub(crate) fn new(
        servers: &'a mut dyn Servers,
        keeper: Option<&'a mut Keeper>,
        era: Era,
    ) -> Result<Driver<'a>, String> {
        let clients = Clients::new(servers, Names::new(era, 0));
        let mut driver = Driver { keeper, clients, former: Vec::new() };
        driver.clients.latest = driver.last_zxid()?;
        driver.clients.names = Names::new(era, driver.clients.latest);
        Ok(driver)
    }

    /// The last transaction that any server knows of.
    fn last_zxid(&mut self) -> Result<i64, String> {
        match &mut self.keeper {
            Some(keeper) => keeper.last_zxid(),
            None => {
                let latest = self.clients.latest;
                Ok(self.clients.servers.last_zxid().map_or(latest, |zxid| zxid.max(latest)))
            }
        }
    }

    /// Runs a whole script; the transcript of each step.
    pub(crate) fn run(mut self, script: &Script) -> Result<Vec<Vec<String>>, String> {
        let steps = &script.steps;
        let is_awaited =
            |at: usize| steps.get(at + 1).is_some_and(|next| matches!(next.action, Action::Await { .. }));
        let told =
            steps.iter().enumerate().map(|(at, step)| self.step(&step.action, is_awaited(at))).collect();
        self.clients.servers.heal()?;
        self.end();
        told
    }

    /// Takes one step. Where what the server does next is awaited, it is over with its answers.
    fn step(&mut self, action: &Action, is_awaited: bool) -> Result<Vec<String>, String> {
        let mut told = self.act(action)?;
        let ends = match action {
            Action::Send { requests, .. } => requests.iter().any(|sent| sent.call == Call::Close),
            Action::Expire { .. } => true,
            _ => false,
        };
        let news = match action {
            _ if is_awaited => None,
            // How a server's end reaches clients is a matter of chance.
            Action::Server { .. } => None,
            // So is what happens before the end that was waited for, and after it, or before an answer.
            Action::Begin(_) | Action::AwaitServing | Action::AwaitEnd { .. } | Action::AwaitZxid { .. } => {
                self.clients.passing = true;
                self.settle(None);
                self.clients.passing = false;
                None
            }
            _ => self.settle(action.conn()),
        };
        told.extend(self.clients.told(action.conn(), ends));
        told.extend(news);
        Ok(told)
    }

    /// Does what a step says, and waits for what it waits for. What came to clients is not in what it returns.
    fn act(&mut self, action: &Action) -> Result<Vec<String>, String> {
        let mut told = Vec::new();
        match action {
            Action::Connect { conn, connect } => {
                let former = self.clients.on_session(connect.session, *conn);
                self.clients.begin_connect(*conn, connect)?;
                self.clients.finish_connect(*conn);
                for former in former {
                    self.clients.await_end(former);
                }
            }
            Action::Drop { conn } => self.clients.client(*conn).connection = None,
            Action::Send { conn, requests } => {
                self.clients.send(*conn, requests);
                self.clients.collect(*conn);
                if self.clients.client(*conn).connection.is_none() {
                    self.clients.await_closed_ones();
                }
            }
            Action::Bytes { conn, bytes } => {
                if let Some(connection) = &mut self.clients.client(*conn).connection {
                    connection.send(bytes);
                }
            }
            Action::Expire { session } => {
                told.push(self.expire(*session)?);
                self.clients.await_closed_ones();
            }
            Action::Wait { ms } => {
                let over = Instant::now() + Duration::from_millis(*ms);
                self.pass(None, |_| Ok(Instant::now() >= over))?;
            }
            Action::Await { transactions } => told.push(self.await_own(*transactions)?),
            Action::Server { which, control } => self.control(*which, *control)?,
            Action::Begin(action) => self.begin(action)?,
            Action::Finish { conn } => {
                self.clients.finish_connect(*conn);
                self.clients.collect(*conn);
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
        let before = self.clients.latest;
        if self.keeper.is_none() {
            self.clients.latest = self.last_zxid().unwrap_or(before);
        }
        for conn in self.clients.in_order(actor) {
            self.clients.flush(conn);
        }
        (before < self.clients.latest && self.keeper.is_none())
            .then(|| format!("now {}", self.clients.names.zxid(self.clients.latest)))
    }

    /// Lets time pass until `over`, keeping all alive but for a session.
    fn pass(
        &mut self,
        but: Option<Session>,
        mut over: impl FnMut(&mut Self) -> Result<bool, String>,
    ) -> Result<(), String> {
        self.clients.passing = true;
        while !over(self)? {
            thread::sleep(PULSE);
            for conn in self.clients.in_order(None) {
                if but.is_none() || self.clients.client(conn).session != but {
                    self.clients.flush(conn);
                }
            }
            if let Some(keeper) = &mut self.keeper {
                keeper.last_zxid()?;
            }
        }
        self.clients.passing = false;
        Ok(())
    }

    fn expire(&mut self, session: Session) -> Result<String, String> {
        let Some(known) = self.clients.sessions.get(&session) else {
            return Ok(format!("{session} is none"));
        };
        let patience = Duration::from_millis(known.timeout_ms.max(0) as u64 * 4) + PATIENCE / 5;
        let over = Instant::now() + patience;
        let before = self.clients.latest;
        self.pass(Some(session), |me| Ok(me.last_zxid()? > before || Instant::now() >= over))?;
        let now = self.last_zxid()?;
        self.clients.latest = self.clients.latest.max(now);
        Ok(if now > before {
            if let Some(known) = self.clients.sessions.get_mut(&session) {
                known.is_closed = true;
            }
            format!("{session} expired {}", self.clients.names.zxid(now))
        } else {
            format!("{session} did not expire")
        })
    }

    fn await_own(&mut self, transactions: u32) -> Result<String, String> {
        let (over, before) = (Instant::now() + PATIENCE, self.clients.latest);
        let wanted = before + i64::from(transactions);
        self.pass(None, |me| Ok(me.last_zxid()? >= wanted || Instant::now() >= over))?;
        let now = self.last_zxid()?;
        self.clients.latest = self.clients.latest.max(now);
        Ok(format!("now {}", self.clients.names.zxid(now)))
    }

    /// Nothing is waited for: servers that start may need others, and clients learn of an end when they learn of it.
    fn control(&mut self, which: Which, control: Control) -> Result<(), String> {
        let number = match which {
            Which::Of(conn) => self.clients.at(conn)?,
            which => self.clients.servers.number(which)?,
        };
        self.clients.servers.control(Which::Number(number), control)
    }

    fn begin(&mut self, action: &Action) -> Result<(), String> {
        match action {
            Action::Connect { conn, connect } => self.clients.begin_connect(*conn, connect),
            Action::Send { conn, requests } => {
                self.clients.send(*conn, requests);
                Ok(())
            }
            other => Err(format!("'{other}' has no answer that could be waited for")),
        }
    }

    fn await_serving(&mut self) -> Result<(), String> {
        let over = Instant::now() + LONG;
        self.pass(None, |me| {
            if Instant::now() >= over {
                return Err(format!("the servers do not serve after {LONG:?}"));
            }
            Ok(me.clients.servers.serve())
        })
    }

    fn await_zxid(&mut self, zxid: ZxidArg) -> Result<(), String> {
        let zxid = match zxid {
            ZxidArg::Absolute(n) => n,
            ZxidArg::Relative(n) | ZxidArg::Seen(n) => self.clients.names.base + n,
        };
        let over = Instant::now() + LONG;
        self.pass(None, |me| {
            if Instant::now() >= over {
                return Err(format!("no transaction {} after {LONG:?}", me.clients.names.zxid(zxid)));
            }
            Ok(me.last_zxid()? >= zxid)
        })
    }

    fn await_ends(&mut self, conns: &[Conn]) -> Result<(), String> {
        let over = Instant::now() + LONG;
        self.pass(None, |me| {
            let mut open = 0;
            for conn in conns {
                me.clients.poll(*conn);
                open += usize::from(me.clients.client(*conn).connection.is_some());
            }
            Ok(open == 0 || Instant::now() >= over)
        })?;
        for conn in conns {
            let client = self.clients.client(*conn);
            if client.connection.is_some() {
                client.lines.push((None, "still open".into()));
            }
        }
        Ok(())
    }

    /// Runs rounds; what one of them told, or all sorts of what they told.
    fn rounds(&mut self, times: u32, actions: &[Action]) -> Result<Vec<String>, String> {
        let base = self.clients.names.base;
        let mut sorts: Vec<(u32, Vec<String>)> = Vec::new();
        for _ in 0..times {
            self.settle(None);
            self.clients.told(None, false);
            // Every round counts zxids and requests from its own beginning.
            self.clients.names.base = self.clients.latest;
            for client in self.clients.all.values_mut() {
                client.last_xid = 0;
            }
            let mut told = Vec::new();
            let known: Vec<Session> = self.clients.sessions.keys().copied().collect();
            for action in actions {
                told.extend(self.act(action)?);
                told.extend(self.clients.told(action.conn(), false));
            }
            // So that the next round names its sessions as this one did.
            let opened: Vec<Session> =
                self.clients.sessions.keys().copied().filter(|session| !known.contains(session)).collect();
            for session in opened {
                self.former.extend(self.clients.sessions.remove(&session));
            }
            match sorts.iter_mut().find(|sort| sort.1 == told) {
                Some(sort) => sort.0 += 1,
                None => sorts.push((1, told)),
            }
        }
        self.clients.names.base = base;
        if let [(_, told)] = &mut sorts[..] {
            return Ok(std::mem::take(told));
        }
        sorts.sort();
        let sort = |(count, told): (u32, Vec<String>)| {
            [format!("{count} of {times} rounds:")].into_iter().chain(told)
        };
        Ok(sorts.into_iter().flat_map(sort).collect())
    }

    /// Whether several connections are told the same.
    fn alike(&mut self, conns: &[Conn], what: &Alike) -> String {
        let told: Vec<Vec<u8>> = conns
            .iter()
            .map(|conn| match what {
                Alike::Events => self.clients.client(*conn).events.join("\n").into_bytes(),
                Alike::Answers(call) => self.clients.answer(*conn, call),
            })
            .collect();
        let all = told.windows(2).all(|pair| pair[0] == pair[1]);
        (if all { "alike" } else { "not alike" }).to_owned()
    }

    /// Ends all sessions, so that nothing of them happens later.
    fn end(&mut self) {
        self.clients.all.clear();
        let sessions = std::mem::take(&mut self.clients.sessions).into_values();
        for known in sessions.chain(std::mem::take(&mut self.former)).filter(|known| !known.is_closed) {
            if let Ok(address) = self.clients.servers.address(Which::Number(1)) {
                close_session(address, known.id, &known.password);
            }
        }
    }
}
