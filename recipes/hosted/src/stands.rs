//! A program's end of things: what it wants done, as acts that an engine or a look ahead sees to.

use crate::memory::{At, BEGINS_NS, Memory};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_api::{Request, SessionId, StatReads, Zxid};
use zk_harness::event::{End, Observation};
use zk_harness::probe::ASKS_PER_TURN;
use zk_harness::program::{Input, Output, ProgramStep, Socket};
use zk_proto::message::{ConnectRequest, ToClient, ToServer, WatchList, Xid};

/// A program that does nothing for so long but keep its session alive does nothing any more.
pub(crate) const IDLE_NS: u64 = 60_000_000_000;
/// As is one whose timers go off so often and show nothing.
const IDLE_TIMERS: u32 = 1_000;

/// The program's end of things: pure in a search, so that what it will do by itself can be tried on a copy.
#[derive(Clone)]
pub(crate) struct Stands {
    pub(crate) memory: Arc<Memory>,
    pub(crate) at: At,
    /// Its clock. It stands still while no timer goes off.
    pub(crate) now_ns: u64,
    pub(crate) timer_ns: Option<u64>,
    /// By then, at the latest, all have woken that sleep for long.
    sleeps_until_ns: u64,
    pub(crate) conns: BTreeMap<Socket, Conn>,
    /// What it has done and nobody has seen to.
    pub(crate) acts: VecDeque<Act>,
    replies: u32,
}

#[derive(Clone, Default)]
pub(crate) struct Conn {
    pub(crate) is_open: bool,
    /// Its session is told.
    pub(crate) is_greeted: bool,
    wire: zk_wire::OfProgram,
}

/// What a program does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Connects(Socket),
    Greets(Socket, ConnectRequest),
    Asks(Socket, Xid, Request),
    WatchesAgain(Socket, WatchList),
    Pings(Socket),
    Closes(Socket),
    Observed(u8, Observation),
    Works(u32),
    Writes(u32, u8),
    Ends(End),
    Leaves,
}

impl Stands {
    /// It has begun, and done nothing yet.
    pub(crate) fn at(memory: Arc<Memory>, at: At) -> Stands {
        Stands {
            memory,
            at,
            now_ns: BEGINS_NS,
            timer_ns: None,
            sleeps_until_ns: 0,
            conns: BTreeMap::new(),
            acts: VecDeque::new(),
            replies: 0,
        }
    }

    pub(crate) fn tell(&mut self, inputs: Vec<Input>) {
        match self.at.tell(&self.memory, self.now_ns, inputs) {
            Ok(step) => self.take(&step),
            Err(what) => self.memory.is_wrong(what),
        }
    }

    pub(crate) fn take(&mut self, step: &ProgramStep) {
        self.timer_ns = step.timer_ns;
        if step.outputs.len() > ASKS_PER_TURN as usize {
            let many = step.outputs.len();
            self.wrong(&format!("it asks for {many} things in one step, and may for {ASKS_PER_TURN}"));
        }
        for output in &step.outputs {
            self.read(output);
        }
    }

    pub(crate) fn wrong(&self, what: &str) -> ! {
        self.memory.is_wrong(format!("{}: {what}", self.memory.name))
    }

    fn read(&mut self, output: &Output) {
        let act = match output {
            Output::Connect { socket, server } => {
                if server.is_none() {
                    self.wrong("it connects to an address that is no server's");
                }
                if self.conns.insert(*socket, Conn::default()).is_some() {
                    self.wrong(&format!("it opens connection {socket}, which is open"));
                }
                Act::Connects(*socket)
            }
            Output::Send { socket, bytes } => return self.sends(*socket, bytes),
            Output::Close(socket) => Act::Closes(*socket),
            Output::Observed { thread, what } => Act::Observed(*thread, what.clone()),
            Output::Prints(_) => return,
            Output::Sleeps { for_ns } => {
                self.sleeps_until_ns = self.sleeps_until_ns.max(self.now_ns.saturating_add(*for_ns));
                return;
            }
            Output::Work { ask } => Act::Works(*ask),
            Output::Write { ask, thread } => Act::Writes(*ask, *thread),
            Output::Ends(end) => Act::Ends(*end),
            Output::Leaves => Act::Leaves,
        };
        self.acts.push_back(act);
    }

    fn sends(&mut self, socket: Socket, bytes: &[u8]) {
        // One whose other end is gone takes bytes and loses them.
        let Some(conn) = self.conns.get_mut(&socket) else { return };
        if !conn.is_open {
            self.wrong("it sends on a connection that is not open yet");
        }
        let messages = conn.wire.read(bytes).unwrap_or_else(|what| self.wrong(&what));
        self.acts.extend(messages.into_iter().map(|message| match message {
            ToServer::Connect(request) => Act::Greets(socket, request),
            ToServer::Request { xid, request } => Act::Asks(socket, xid, request),
            ToServer::SetWatches { watches, .. } => Act::WatchesAgain(socket, watches),
            ToServer::Ping => Act::Pings(socket),
        }));
    }

    /// A message comes. How its numbers are written is not for the program's code: see
    /// [`LEFT_OUT`](crate::memory::LEFT_OUT).
    pub(crate) fn receives(&mut self, socket: Socket, message: &ToClient) {
        let Some(conn) = self.conns.get_mut(&socket) else { return };
        let write = || conn.wire.write(message);
        let written = StatReads::unnoted(|| SessionId::unnoted(|| Zxid::unnoted(write)));
        let bytes = written.unwrap_or_else(|what| self.wrong(&what));
        self.tell(vec![Input::Data(socket, bytes)]);
    }

    pub(crate) fn open(&mut self, socket: Socket) {
        if let Some(conn) = self.conns.get_mut(&socket) {
            conn.is_open = true;
            self.tell(vec![Input::Connected(socket)]);
        }
    }

    /// Connections that these say are open are.
    pub(crate) fn opens(&mut self, inputs: &[Input]) {
        for input in inputs {
            if let Input::Connected(socket) = input
                && let Some(conn) = self.conns.get_mut(socket)
            {
                conn.is_open = true;
            }
        }
    }

    /// The session of a connection is told.
    pub(crate) fn greeted(&mut self, socket: Socket) {
        if let Some(conn) = self.conns.get_mut(&socket) {
            conn.is_greeted = true;
        }
    }

    /// Whether all its connections are those of a session, and there is one.
    pub(crate) fn is_connected(&self) -> bool {
        !self.conns.is_empty() && self.conns.values().all(|conn| conn.is_greeted)
    }

    /// Answers the pings among what it has done.
    pub(crate) fn answer_pings(&mut self) {
        let is_ping = |act: &Act| matches!(act, Act::Pings(_));
        while let Some(Act::Pings(socket)) =
            self.acts.iter().position(is_ping).and_then(|nth| self.acts.remove(nth))
        {
            self.pong(socket);
        }
    }

    pub(crate) fn pong(&mut self, socket: Socket) {
        let zxid = self.next_zxid();
        self.receives(socket, &ToClient::Pong { zxid });
    }

    pub(crate) fn next_zxid(&mut self) -> Zxid {
        self.replies += 1;
        Zxid::new(1, self.replies)
    }

    /// Whether others can tell of an act. `is_answered`: a connection that is opened now is.
    fn shows(&self, act: &Act, is_answered: bool) -> bool {
        match act {
            Act::Connects(_) => is_answered,
            Act::Closes(socket) => self.conns.get(socket).is_some_and(|conn| conn.is_greeted),
            Act::Pings(_) => false,
            Act::Greets(..)
            | Act::WatchesAgain(..)
            | Act::Asks(..)
            | Act::Observed(..)
            | Act::Works(_)
            | Act::Writes(..)
            | Act::Ends(_)
            | Act::Leaves => true,
        }
    }

    /// Lets its timers go off until it does what others can tell; whether it does.
    pub(crate) fn go_on_alone(&mut self, is_answered: bool) -> bool {
        let until_ns = self.now_ns.max(self.sleeps_until_ns).saturating_add(IDLE_NS);
        self.passes(until_ns, IDLE_TIMERS, is_answered)
    }

    /// The same until some time, with so many timers at most.
    pub(crate) fn passes(&mut self, until_ns: u64, timers: u32, is_answered: bool) -> bool {
        for _ in 0..timers {
            let Some(timer_ns) = self.timer_ns.filter(|timer_ns| *timer_ns <= until_ns) else { return false };
            if self.wakes(timer_ns, is_answered) {
                return true;
            }
        }
        false
    }

    /// It is stepped at some time. What it does that nobody can tell is seen to; whether it does anything else.
    pub(crate) fn wakes(&mut self, at_ns: u64, is_answered: bool) -> bool {
        self.now_ns = self.now_ns.max(at_ns);
        self.tell(Vec::new());
        while let Some(act) = self.acts.front() {
            if self.shows(act, is_answered) {
                return true;
            }
            match self.acts.pop_front() {
                Some(Act::Pings(socket)) => self.pong(socket),
                Some(Act::Closes(socket)) => drop(self.conns.remove(&socket)),
                Some(_) | None => {}
            }
        }
        false
    }
}
