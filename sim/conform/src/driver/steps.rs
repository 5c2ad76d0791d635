//! Steps that wait, and steps for several servers or connections.

use std::thread;
use std::time::{Duration, Instant};

use super::{Driver, PATIENCE, PULSE, SHORT};
use crate::answer::Header;
use crate::connection::Came;
use crate::encode;
use crate::record::Reader;
use crate::script::{Action, Alike, Call, Conn, Control, Session, Which, ZxidArg};

/// How long servers may take to serve, or to give up.
const LONG: Duration = Duration::from_secs(40);

/// How much of an answer's header is not compared: its number and zxid.
const UNCOMPARED: usize = 12;

impl Driver<'_> {
    /// Lets time pass until `over`, keeping all alive but for a session.
    pub(super) fn pass(
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
            if let Some(keeper) = &mut self.keeper {
                keeper.last_zxid()?;
            }
        }
        self.passing = false;
        Ok(())
    }

    pub(super) fn expire(&mut self, session: Session) -> Result<String, String> {
        let Some(known) = self.sessions.get(&session) else { return Ok(format!("{session} is none")) };
        let patience = Duration::from_millis(known.timeout_ms.max(0) as u64 * 4) + PATIENCE / 5;
        let over = Instant::now() + patience;
        let before = self.latest;
        self.pass(Some(session), |me| Ok(me.last_zxid()? > before || Instant::now() >= over))?;
        let now = self.last_zxid()?;
        self.latest = self.latest.max(now);
        Ok(if now > before {
            if let Some(known) = self.sessions.get_mut(&session) {
                known.is_closed = true;
            }
            format!("{session} expired {}", self.names.zxid(now))
        } else {
            format!("{session} did not expire")
        })
    }

    pub(super) fn await_own(&mut self, transactions: u32) -> Result<String, String> {
        let (over, before) = (Instant::now() + PATIENCE, self.latest);
        let wanted = before + i64::from(transactions);
        self.pass(None, |me| Ok(me.last_zxid()? >= wanted || Instant::now() >= over))?;
        let now = self.last_zxid()?;
        self.latest = self.latest.max(now);
        Ok(format!("now {}", self.names.zxid(now)))
    }

    /// Nothing is waited for: servers that start may need others, and clients learn of an end when they learn of it.
    pub(super) fn control(&mut self, which: Which, control: Control) -> Result<(), String> {
        let number = match which {
            Which::Of(conn) => self.at(conn)?,
            which => self.servers.number(which)?,
        };
        self.servers.control(Which::Number(number), control)
    }

    /// Where a connection is, or was at last.
    pub(super) fn at(&mut self, conn: Conn) -> Result<u8, String> {
        self.client(conn).server.ok_or_else(|| format!("{conn} was nowhere yet"))
    }

    pub(super) fn begin(&mut self, action: &Action) -> Result<(), String> {
        match action {
            Action::Connect { conn, connect } => self.begin_connect(*conn, connect),
            Action::Send { conn, requests } => {
                self.send(*conn, requests);
                Ok(())
            }
            other => Err(format!("'{other}' has no answer that could be waited for")),
        }
    }

    pub(super) fn await_serving(&mut self) -> Result<(), String> {
        let over = Instant::now() + LONG;
        self.pass(None, |me| {
            if Instant::now() >= over {
                return Err(format!("the servers do not serve after {LONG:?}"));
            }
            Ok(me.servers.serve())
        })
    }

    pub(super) fn await_zxid(&mut self, zxid: ZxidArg) -> Result<(), String> {
        let zxid = match zxid {
            ZxidArg::Absolute(n) => n,
            ZxidArg::Relative(n) | ZxidArg::Seen(n) => self.names.base + n,
        };
        let over = Instant::now() + LONG;
        self.pass(None, |me| {
            if Instant::now() >= over {
                return Err(format!("no transaction {} after {LONG:?}", me.names.zxid(zxid)));
            }
            Ok(me.last_zxid()? >= zxid)
        })
    }

    pub(super) fn await_ends(&mut self, conns: &[Conn]) -> Result<(), String> {
        let over = Instant::now() + LONG;
        self.pass(None, |me| {
            let mut open = 0;
            for conn in conns {
                me.poll(*conn);
                open += usize::from(me.client(*conn).connection.is_some());
            }
            Ok(open == 0 || Instant::now() >= over)
        })?;
        for conn in conns {
            let client = self.client(*conn);
            if client.connection.is_some() {
                client.lines.push((None, "still open".into()));
            }
        }
        Ok(())
    }

    /// Takes what is there.
    fn poll(&mut self, conn: Conn) {
        loop {
            match self.next(conn, SHORT) {
                Came::Frame(frame) => self.take_any(conn, &frame),
                Came::End => return self.closed(conn),
                Came::Nothing => return,
            }
        }
    }

    /// Runs rounds; what one of them told, or all sorts of what they told.
    pub(super) fn rounds(&mut self, times: u32, actions: &[Action]) -> Result<Vec<String>, String> {
        let base = self.names.base;
        let mut sorts: Vec<(u32, Vec<String>)> = Vec::new();
        for _ in 0..times {
            self.settle(None);
            self.told(None, false);
            // Every round counts zxids and requests from its own beginning.
            self.names.base = self.latest;
            for client in self.clients.values_mut() {
                client.last_xid = 0;
            }
            let mut told = Vec::new();
            let known: Vec<Session> = self.sessions.keys().copied().collect();
            for action in actions {
                told.extend(self.act(action)?);
                told.extend(self.told(action.conn(), false));
            }
            // So that the next round names its sessions as this one did.
            let opened: Vec<Session> =
                self.sessions.keys().copied().filter(|session| !known.contains(session)).collect();
            for session in opened {
                self.former.extend(self.sessions.remove(&session));
            }
            match sorts.iter_mut().find(|sort| sort.1 == told) {
                Some(sort) => sort.0 += 1,
                None => sorts.push((1, told)),
            }
        }
        self.names.base = base;
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
    pub(super) fn alike(&mut self, conns: &[Conn], what: &Alike) -> String {
        let told: Vec<Vec<u8>> = conns
            .iter()
            .map(|conn| match what {
                Alike::Events => self.client(*conn).events.join("\n").into_bytes(),
                Alike::Answers(call) => self.answer(*conn, call),
            })
            .collect();
        let all = told.windows(2).all(|pair| pair[0] == pair[1]);
        (if all { "alike" } else { "not alike" }).to_owned()
    }

    /// Asks, and gives the answer as it came; nothing if there is none.
    fn answer(&mut self, conn: Conn, call: &Call) -> Vec<u8> {
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
