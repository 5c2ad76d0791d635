//! Client processes that are programs of others: bytes become messages, and messages bytes.
//!
//! A program takes the place of a session and of the tasks that use it. Its requests get numbers of ours, which count up over
//! the session as those of a [`ClientSession`] do; what it is to be told of its session is read from the messages.

use crate::choices::Stream;
use crate::mailbox::Ask;
use crate::simulation::{SimEvent, Simulation};
use crate::trace_event::{Place, What};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_api::{KeeperState, Pending, SessionId, Zxid};
use zk_proto::client::{ClientEvent, ClientSession, ClientTimer};
use zk_proto::message::{ConnId, ToClient, ToServer, Xid};
use zk_trials::event::{ActorId, Resource};
use zk_trials::probe::ASKS_PER_TURN;
use zk_trials::program::{Input, Life, Now, Output, Program, ProgramStep, Programs, Socket};
use zk_trials::pulse::Acting;
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
    last_zxid: Zxid,
    /// The number of the session's last request.
    last_xid: i32,
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum SocketPhase {
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

    /// Whether servers owe it answers. A session of ours connects again; a program's client library may be kept from it.
    pub fn is_owed_answers(&self) -> bool {
        match self {
            Client::Session(session) => !session.state().is_final(),
            Client::Program(hosted) => hosted.conns.values().any(|conn| conn.phase == SocketPhase::Greeted),
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

impl Simulation<'_> {
    /// A life of a program begins.
    pub fn begin_program(&mut self, actor: ActorId, programs: &Arc<dyn Programs>) {
        self.begin_process(actor);
        let process = usize::from(actor.process);
        let entity = u64::from(actor.process) << 8 | u64::from(actor.life);
        let life = Life {
            me: actor,
            clients: self.scenario.clients,
            rounds: self.processes[process].rounds_left,
            seed: self.choices.below(Stream::Program, entity, u64::MAX),
            servers: self.servers_of(actor.process).into_iter().map(|server| server.0).collect(),
            timeout_ms: self.scenario.session_timeout_ms,
            stands_still: self.swarm.stand_still as u8,
            stands_still_ns: self.swarm.latency_ns[1].max(1),
        };
        let now = self.program_now(actor.process);
        let former = self.pulse.acts(Acting::Task(actor.process));
        let begun = programs.begin(&life, now);
        self.pulse.acts(former);
        let (program, step) = begun.unwrap_or_else(|what| self.foul(actor.process, &what));
        let hosted = Hosted {
            program,
            conns: BTreeMap::new(),
            asks: BTreeMap::new(),
            session: SessionId::NONE,
            state: KeeperState::Disconnected,
            last_zxid: Zxid::ZERO,
            last_xid: 0,
        };
        self.processes[process].client = Some(Client::Program(hosted));
        self.program_stepped(actor.process, step);
    }

    /// What happened to the client of a program.
    pub fn program_event(&mut self, process: u16, event: ClientEvent) {
        let Some(hosted) = self.hosted(process) else { return };
        let mut inputs = Vec::new();
        match event {
            ClientEvent::Opened { conn } => {
                let Some(conn) = hosted.conns.get_mut(&conn) else { return };
                conn.phase = SocketPhase::Open;
                inputs.push(Input::Connected(conn.socket));
            }
            ClientEvent::Lost { conn } => {
                let Some(lost) = hosted.conns.remove(&conn) else { return };
                inputs.push(match lost.phase {
                    SocketPhase::Opening => Input::Refused(lost.socket),
                    SocketPhase::Open | SocketPhase::Greeted => Input::End(lost.socket),
                });
                self.program_disconnects(process, lost.phase);
            }
            ClientEvent::Received { conn, message } => {
                inputs.extend(self.program_receives(process, conn, message));
            }
            ClientEvent::Timer(_) => {}
            ClientEvent::Start | ClientEvent::Submit { .. } | ClientEvent::Abandon { .. } => return,
        }
        self.step_program(process, inputs);
    }

    /// Work or a write may be done: the program is told.
    pub fn program_may_go_on(&mut self, process: u16) {
        let Some(hosted) = self.hosted(process) else { return };
        let done = hosted.asks.iter_mut().filter_map(|(ask, waits)| Some((*ask, waits()?)));
        let done: Vec<(u32, bool)> = done.collect();
        let inputs = done.into_iter().map(|(ask, accepted)| {
            hosted.asks.remove(&ask);
            Input::Done { ask, accepted }
        });
        let inputs: Vec<Input> = inputs.collect();
        if !inputs.is_empty() {
            self.step_program(process, inputs);
        }
    }

    fn hosted(&mut self, process: u16) -> Option<&mut Hosted> {
        self.processes[usize::from(process)].client.as_mut()?.hosted()
    }

    fn program_now(&self, process: u16) -> Now {
        let clock = &self.processes[usize::from(process)].clock;
        Now { steady_ns: clock.steady_ns(self.now), wall_ns: clock.wall_ns(self.now) }
    }

    /// The run ends: what a program does that does not keep to the protocol says nothing of what it is to do.
    fn foul(&self, process: u16, what: &str) -> ! {
        let (actor, ms) = (self.processes[usize::from(process)].actor, self.now / 1_000_000);
        let name = self.trial.about.name;
        let name = if what.starts_with(name) { String::new() } else { format!("{name}: ") };
        let what = format!("{actor}, at {}.{:03} s: {name}{what}", ms / 1000, ms % 1000);
        std::panic::resume_unwind(Box::new(Foul { what }))
    }

    fn step_program(&mut self, process: u16, inputs: Vec<Input>) {
        let now = self.program_now(process);
        let former = self.pulse.acts(Acting::Task(process));
        let Some(hosted) = self.hosted(process) else { return };
        let stepped = hosted.program.step(now, &inputs);
        self.pulse.acts(former);
        let step = stepped.unwrap_or_else(|what| self.foul(process, &what));
        self.program_stepped(process, step);
    }

    fn program_stepped(&mut self, process: u16, step: ProgramStep) {
        let actor = self.processes[usize::from(process)].actor;
        self.note(Place::Client(actor), &What::Stepped(&step));
        if step.outputs.len() > ASKS_PER_TURN as usize {
            let many = step.outputs.len();
            self.foul(
                process,
                &format!("it asks for {many} things in one step, and may for {ASKS_PER_TURN}"),
            );
        }
        for output in step.outputs {
            self.program_output(process, output);
        }
        let now = self.program_now(process);
        let p = &mut self.processes[usize::from(process)];
        if p.actor != actor || p.client.is_none() {
            return;
        }
        // A timer that was set before is void in any case.
        let generation = p.timer(ClientTimer::Liveness);
        *generation += 1;
        let generation = *generation;
        if let Some(timer_ns) = step.timer_ns {
            let after = p.clock.real_ns(timer_ns.saturating_sub(now.steady_ns));
            let timer = ClientTimer::Liveness;
            let at = self.now.saturating_add(after);
            self.queue.push(at, SimEvent::ClientTimer { actor, timer, generation });
        }
        self.program_may_go_on(process);
    }

    fn program_output(&mut self, process: u16, output: Output) {
        let Some(hosted) = self.hosted(process) else { return };
        match output {
            Output::Connect { socket, server } => self.program_connects(process, socket, server),
            Output::Send { socket, bytes } => self.program_sends(process, socket, &bytes),
            Output::Close(socket) => {
                let Some(id) = hosted.conn_of(socket) else { return };
                let phase = hosted.conns.remove(&id).map_or(SocketPhase::Opening, |conn| conn.phase);
                self.close_by_client(id);
                self.program_disconnects(process, phase);
            }
            Output::Observed { thread, what } => self.serve_one(process, Ask::Observe { thread, what }),
            Output::Prints(line) => {
                let actor = self.processes[usize::from(process)].actor;
                self.note(Place::Client(actor), &What::Prints { line: &line });
            }
            Output::Work { ask } => {
                let (completer, mut done) = Pending::slot();
                hosted.asks.insert(ask, Box::new(move || done.try_take().map(|()| true)));
                self.serve_one(process, Ask::Work { completer });
            }
            Output::Write { ask, thread } => {
                let (completer, mut accepted) = Pending::slot();
                hosted.asks.insert(ask, Box::new(move || accepted.try_take()));
                let (resource, token) = (Resource::Unfenced, None);
                self.serve_one(process, Ask::Write { thread, resource, token, completer });
            }
            Output::Ends(_) if self.processes[usize::from(process)].finished.is_some() => {
                self.foul(process, "it says for the second time that it has come to its end")
            }
            Output::Ends(end) => self.finished(process, end),
        }
    }

    fn program_connects(&mut self, process: u16, socket: Socket, server: Option<u8>) {
        let machines = self.scenario.machines();
        let Some(hosted) = self.hosted(process) else { return };
        if hosted.conn_of(socket).is_some() {
            self.foul(process, &format!("it opens connection {socket}, which is open"));
        }
        let Some(server) = server.filter(|server| *server < machines) else {
            self.foul(process, "it connects to an address that is no server's");
        };
        let id = self.open(process, server);
        let conn =
            Conn { socket, phase: SocketPhase::Opening, wire: OfProgram::default(), asked: VecDeque::new() };
        if let Some(hosted) = self.hosted(process) {
            hosted.conns.insert(id, conn);
        }
    }

    fn program_sends(&mut self, process: u16, socket: Socket, bytes: &[u8]) {
        // One whose other end is gone already takes bytes and loses them.
        let Some(id) = self.hosted(process).and_then(|hosted| hosted.conn_of(socket)) else { return };
        match self.hosted(process).map(|hosted| hosted.read(id, bytes)) {
            None => {}
            Some(Err(what)) => self.foul(process, &what),
            Some(Ok(messages)) => messages.into_iter().for_each(|message| self.send_to_server(id, message)),
        }
    }

    /// A message has come: what it tells of the session, and its bytes.
    fn program_receives(&mut self, process: u16, id: ConnId, message: ToClient) -> Option<Input> {
        let hosted = self.hosted(process)?;
        let state = hosted.hears(&message);
        let conn = hosted.conns.get_mut(&id)?;
        let (socket, written) = (conn.socket, conn.write(message));
        let input = Input::Data(socket, written.unwrap_or_else(|what| self.foul(process, &what)));
        if let Some(state) = state {
            self.client_state(process, state);
        }
        Some(input)
    }

    /// A connection is gone or closed.
    fn program_disconnects(&mut self, process: u16, phase: SocketPhase) {
        let Some(hosted) = self.hosted(process) else { return };
        if phase == SocketPhase::Greeted && hosted.state == KeeperState::SyncConnected {
            hosted.state = KeeperState::Disconnected;
            self.client_state(process, KeeperState::Disconnected);
        }
    }
}

impl Hosted {
    fn conn_of(&self, socket: Socket) -> Option<ConnId> {
        self.conns.iter().find(|(_, conn)| conn.socket == socket).map(|(id, _)| *id)
    }

    /// What the bytes say that it sends.
    fn read(&mut self, id: ConnId, bytes: &[u8]) -> Result<Vec<ToServer>, String> {
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
    fn hears(&mut self, message: &ToClient) -> Option<KeeperState> {
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
        self.state = state;
        Some(state)
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
