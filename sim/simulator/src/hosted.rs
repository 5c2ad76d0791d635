//! Client processes that are programs of others: bytes become messages, and messages bytes.
//!
//! A program takes the place of a session and of the tasks that use it. Its requests get numbers of ours, which count
//! up over the session as those of a [`ClientSession`] do; what it is to be told of its session is read from the
//! messages.

use std::collections::{BTreeMap, VecDeque};
use zk_api::{KeeperState, Pending, SessionId, Text, Zxid};
use zk_harness::program::{Input, Losses, Now, Program, ProgramStep, Socket};
use zk_proto::client::ClientSession;
use zk_proto::message::{ConnId, ToClient, ToServer, Xid};
use zk_proto::server::Server;
use zk_proto::watch::OneShot;
use zk_wire::OfProgram;

/// What a run ends with, by unwinding, when a program does not keep to the protocol: no run of it says anything.
pub struct Foul {
    /// A line that names the program.
    pub what: String,
}

/// What stands at the client's end of a process's connections.
pub enum Client {
    /// A session of ours, used by tasks.
    Session(Box<ClientSession>),
    /// A program.
    Program(Hosted),
}

/// A program and its connections.
pub struct Hosted {
    program: Box<dyn Program>,
    conns: BTreeMap<ConnId, Conn>,
    /// What it has asked for and was not told.
    asks: BTreeMap<u32, Waits>,
    session: SessionId,
    state: KeeperState,
    pub losses: Losses,
    last_zxid: Zxid,
    /// The number of the session's last request.
    last_xid: i32,
    /// Of its threads that sleep for long.
    sleeps: Vec<Pending<()>>,
}

/// The client's end of a connection.
struct Conn {
    socket: Socket,
    phase: SocketPhase,
    wire: OfProgram,
    /// Of what is not answered, the program's number and ours.
    asked: VecDeque<(Xid, Xid)>,
}

/// What a program waits for: gives whether it was accepted, once it is done.
type Waits = Box<dyn FnMut() -> Option<bool>>;

/// How far a connection is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SocketPhase {
    Opening,
    Open,
    /// The session is asked for, or there.
    Greeted,
}

impl Client {
    /// As [`ClientSession::session`].
    pub fn session(&self) -> SessionId {
        match self {
            Client::Session(session) => session.session(),
            Client::Program(hosted) => hosted.session,
        }
    }

    /// As [`ClientSession::state`].
    pub fn state(&self) -> KeeperState {
        match self {
            Client::Session(session) => session.state(),
            Client::Program(hosted) => hosted.state,
        }
    }

    /// As [`ClientSession::last_zxid`].
    pub fn last_zxid(&self) -> Zxid {
        match self {
            Client::Session(session) => session.last_zxid(),
            Client::Program(hosted) => hosted.last_zxid,
        }
    }

    /// Whether servers owe it answers. A session of ours connects again; a program's client library may be kept from
    /// it.
    pub fn is_owed_answers(&self) -> bool {
        match self {
            Client::Session(session) => !session.state().is_final(),
            Client::Program(hosted) => hosted.conns.values().any(|conn| conn.phase == SocketPhase::Greeted),
        }
    }

    /// The one-shot watches of its user, or of a program by what these servers know: where, and whether of the
    /// children.
    pub fn watches<'s>(&'s self, servers: impl Iterator<Item = &'s Server>) -> Vec<(Text, bool)> {
        let told = |kind: OneShot, path: &Text| (path.clone(), kind == OneShot::Child);
        match self {
            Client::Session(session) => {
                let set = session.watches();
                set.filter_map(|watching| Some(told(watching.kind.one_shot()?, &watching.path))).collect()
            }
            Client::Program(hosted) => {
                let set = servers.flat_map(|server| server.watches().iter());
                let own = set.filter(|(_, _, conn)| hosted.conns.contains_key(conn));
                own.filter_map(|(kind, path, _)| Some(told(kind.one_shot()?, path))).collect()
            }
        }
    }

    /// Whether it is to go on though its session is over: a program's client library opens another.
    pub fn renews(&self) -> bool {
        let Client::Program(hosted) = self else { return false };
        !matches!(hosted.state, KeeperState::Closed | KeeperState::AuthFailed)
    }

    /// The program, where it is one.
    pub fn hosted(&mut self) -> Option<&mut Hosted> {
        match self {
            Client::Session(_) => None,
            Client::Program(hosted) => Some(hosted),
        }
    }
}

impl Hosted {
    /// A program that has no connection yet.
    pub fn new(program: Box<dyn Program>) -> Hosted {
        Hosted {
            program,
            conns: BTreeMap::new(),
            asks: BTreeMap::new(),
            session: SessionId::NONE,
            state: KeeperState::Disconnected,
            losses: Losses::default(),
            last_zxid: Zxid::ZERO,
            last_xid: 0,
            sleeps: Vec::new(),
        }
    }

    /// The program takes a step.
    pub fn step(&mut self, now: Now, inputs: &[Input]) -> Result<ProgramStep, String> {
        self.program.step(now, inputs)
    }

    /// The program has asked for something.
    pub fn waits_for(&mut self, ask: u32, waits: Waits) {
        self.asks.insert(ask, waits);
    }

    /// One of its threads sleeps, until this is there or its life is over.
    pub fn sleeps(&mut self, slept: Pending<()>) {
        self.sleeps.retain_mut(|slept| slept.try_take().is_none());
        self.sleeps.push(slept);
    }

    /// What it has asked for and is done: it is told, once.
    pub fn done(&mut self) -> Vec<Input> {
        let done = self.asks.iter_mut().filter_map(|(ask, waits)| Some((*ask, waits()?)));
        let done: Vec<(u32, bool)> = done.collect();
        let inputs = done.into_iter().map(|(ask, accepted)| {
            self.asks.remove(&ask);
            Input::Done { ask, accepted }
        });
        inputs.collect()
    }

    /// The program asks for a connection.
    pub fn opens(&mut self, id: ConnId, socket: Socket) {
        let conn =
            Conn { socket, phase: SocketPhase::Opening, wire: OfProgram::default(), asked: VecDeque::new() };
        self.conns.insert(id, conn);
    }

    /// The program has its connection.
    pub fn opened(&mut self, id: ConnId) -> Option<Input> {
        let conn = self.conns.get_mut(&id)?;
        conn.phase = SocketPhase::Open;
        Some(Input::Connected(conn.socket))
    }

    /// A connection is lost: what the program is told, and how far the connection was.
    pub fn lost(&mut self, id: ConnId) -> Option<(Input, SocketPhase)> {
        let lost = self.conns.remove(&id)?;
        let input = match lost.phase {
            SocketPhase::Opening => Input::Refused(lost.socket),
            SocketPhase::Open | SocketPhase::Greeted => Input::End(lost.socket),
        };
        Some((input, lost.phase))
    }

    /// It closes a connection: which, and how far that was.
    pub fn closes(&mut self, socket: Socket) -> Option<(ConnId, SocketPhase)> {
        let id = self.conn_of(socket)?;
        Some((id, self.conns.remove(&id).map_or(SocketPhase::Opening, |conn| conn.phase)))
    }

    /// A connection that was so far is gone or closed: whether its session has lost it.
    pub fn disconnects(&mut self, phase: SocketPhase) -> bool {
        let loses = phase == SocketPhase::Greeted && self.state == KeeperState::SyncConnected;
        if loses {
            self.is_in(KeeperState::Disconnected);
        }
        loses
    }

    /// The bytes of a message, as the program reads them.
    pub fn write(&mut self, id: ConnId, message: ToClient) -> Option<(Socket, Result<Vec<u8>, String>)> {
        let conn = self.conns.get_mut(&id)?;
        Some((conn.socket, conn.write(message)))
    }

    /// The connection of a socket.
    pub fn conn_of(&self, socket: Socket) -> Option<ConnId> {
        self.conns.iter().find(|(_, conn)| conn.socket == socket).map(|(id, _)| *id)
    }

    /// What the bytes say that it sends.
    pub fn read(&mut self, id: ConnId, bytes: &[u8]) -> Result<Vec<ToServer>, String> {
        let is_greeted = |(other, conn): (&ConnId, &Conn)| *other != id && conn.phase == SocketPhase::Greeted;
        let has_another = self.conns.iter().any(is_greeted);
        let Some(conn) = self.conns.get_mut(&id).filter(|conn| conn.phase != SocketPhase::Opening) else {
            return Err("it sends on a connection that is not open yet".into());
        };
        let mut messages = conn.wire.read(bytes)?;
        for message in &mut messages {
            match message {
                ToServer::Connect(_) if has_another => {
                    return Err("it has two sessions at a time, and may have one".into());
                }
                ToServer::Connect(_) => conn.phase = SocketPhase::Greeted,
                ToServer::Request { xid, .. } => {
                    self.last_xid = self.last_xid.checked_add(1).unwrap_or(1);
                    let ours = Xid(self.last_xid);
                    conn.asked.push_back((*xid, ours));
                    *xid = ours;
                }
                ToServer::SetWatches { .. } | ToServer::Ping => {}
            }
        }
        Ok(messages)
    }

    /// What a message tells of the session: its new state, if it has one.
    pub fn hears(&mut self, message: &ToClient) -> Option<KeeperState> {
        let state = match message {
            ToClient::Connected(response) if response.session == SessionId::NONE => KeeperState::Expired,
            ToClient::Connected(response) => {
                if response.session != self.session {
                    (self.session, self.last_xid) = (response.session, 0);
                }
                KeeperState::SyncConnected
            }
            ToClient::Reply { result: Ok(zk_api::Response::Closed), .. } => KeeperState::Closed,
            ToClient::Reply { zxid, .. } => {
                self.last_zxid = self.last_zxid.max(*zxid);
                return None;
            }
            ToClient::WatchesSet { .. } | ToClient::Pong { .. } | ToClient::Event { .. } => return None,
        };
        self.is_in(state);
        Some(state)
    }

    fn is_in(&mut self, state: KeeperState) {
        self.state = state;
        self.losses.is_in(state);
    }
}

impl Conn {
    /// The bytes of a message, with the program's own number for what it answers.
    fn write(&mut self, mut message: ToClient) -> Result<Vec<u8>, String> {
        if let ToClient::Reply { xid, .. } = &mut message
            && let Some((theirs, _)) = self.asked.front().filter(|(_, ours)| ours == xid)
        {
            *xid = *theirs;
            self.asked.pop_front();
        }
        self.wire.write(&message)
    }
}
