//! What programs of others want done, and what they are told.

use crate::choices::Stream;
use crate::event::SimEvent;
use crate::hosted::{Client, Foul, Hosted, SocketPhase};
use crate::lives::{Lives, servers_of};
use crate::mailbox::Ask;
use crate::process::Process;
use crate::server_host::Servers;
use crate::stage::Stage;
use crate::trace_event::{Place, What};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{KeeperState, Pending};
use zk_harness::event::{ActorId, End, Resource};
use zk_harness::probe::ASKS_PER_TURN;
use zk_harness::program::{Input, Life, Now, Output, ProgramStep, Programs, Socket};
use zk_harness::pulse::Acting;
use zk_proto::client::{ClientEvent, ClientTimer};
use zk_proto::message::{ConnId, ToClient};

/// A process whose client is a program, and what it may act upon. Where its client is none, nothing comes of it.
pub struct Running<'s, 'a> {
    pub stage: &'s mut Stage<'a>,
    pub servers: &'s mut Servers,
    pub lives: &'s mut Lives,
    pub process: u16,
}

impl Running<'_, '_> {
    /// A life of a program begins.
    pub fn begin(&mut self, actor: ActorId, programs: &Arc<dyn Programs>) {
        self.lives.begin_process(self.stage, actor);
        let entity = u64::from(actor.process) << 8 | u64::from(actor.life);
        let servers = servers_of(self.stage, actor.process);
        let life = Life {
            me: actor,
            clients: self.stage.scenario.clients,
            rounds: self.it().rounds_left,
            seed: self.stage.choices.below(Stream::Program, entity, u64::MAX),
            servers: servers.into_iter().map(|server| server.0).collect(),
            timeout_ms: self.stage.scenario.session_timeout_ms,
            stands_still: self.stage.swarm.stand_still as u8,
            stands_still_ns: self.stage.swarm.latency_ns[1].max(1),
        };
        let now = self.now();
        let former = self.stage.pulse.acts(Acting::Task(actor.process));
        let begun = programs.begin(&life, now);
        self.stage.pulse.acts(former);
        let (program, step) = begun.unwrap_or_else(|what| self.foul(&what));
        self.it().client = Some(Client::Program(Hosted::new(program)));
        self.stepped(step);
    }

    /// What happened to the client of a program.
    pub fn happens(&mut self, event: ClientEvent) {
        let Some(hosted) = self.hosted() else { return };
        let mut inputs = Vec::new();
        match event {
            ClientEvent::Opened { conn } => {
                let Some(input) = hosted.opened(conn) else { return };
                inputs.push(input);
            }
            ClientEvent::Lost { conn } => {
                let Some((input, phase)) = hosted.lost(conn) else { return };
                inputs.push(input);
                self.disconnects(phase);
            }
            ClientEvent::Received { conn, message } => {
                inputs.extend(self.receives(conn, message));
            }
            ClientEvent::Timer(_) => {}
            ClientEvent::Start | ClientEvent::Submit { .. } | ClientEvent::Abandon { .. } => return,
        }
        self.step(inputs);
    }

    /// Work or a write may be done: the program is told.
    pub fn may_go_on(&mut self) {
        let Some(hosted) = self.hosted() else { return };
        let inputs = hosted.done();
        if !inputs.is_empty() {
            self.step(inputs);
        }
    }

    fn it(&mut self) -> &mut Process {
        &mut self.lives.processes[self.process]
    }

    fn hosted(&mut self) -> Option<&mut Hosted> {
        self.it().client.as_mut()?.hosted()
    }

    fn now(&self) -> Now {
        let clock = &self.lives.processes[self.process].clock;
        Now { steady_ns: clock.steady_ns(self.stage.now), wall_ns: clock.wall_ns(self.stage.now) }
    }

    /// The run ends: what a program does that does not keep to the protocol says nothing of what it is to do.
    fn foul(&self, what: &str) -> ! {
        let (actor, ms) = (self.lives.processes[self.process].actor, self.stage.now / 1_000_000);
        let name = self.lives.trial.about.name;
        let name = if what.starts_with(name) { String::new() } else { format!("{name}: ") };
        let what = format!("{actor}, at {}.{:03} s: {name}{what}", ms / 1000, ms % 1000);
        std::panic::resume_unwind(Box::new(Foul { what }))
    }

    fn step(&mut self, inputs: Vec<Input>) {
        let now = self.now();
        let former = self.stage.pulse.acts(Acting::Task(self.process));
        let Some(hosted) = self.hosted() else { return };
        let stepped = hosted.step(now, &inputs);
        self.stage.pulse.acts(former);
        let step = stepped.unwrap_or_else(|what| self.foul(&what));
        self.stepped(step);
    }

    fn stepped(&mut self, step: ProgramStep) {
        let actor = self.it().actor;
        self.stage.note(Place::Client(actor), &What::Stepped(&step));
        if step.outputs.len() > ASKS_PER_TURN as usize {
            let many = step.outputs.len();
            self.foul(&format!("it asks for {many} things in one step, and may for {ASKS_PER_TURN}"));
        }
        for output in step.outputs {
            self.does(output);
        }
        let now = self.now();
        let p = self.it();
        if p.actor != actor || p.client.is_none() {
            return;
        }
        // A timer that was set before is void in any case.
        let generation = p.set_timer(ClientTimer::Liveness);
        if let Some(timer_ns) = step.timer_ns {
            let after = p.clock.real_ns(timer_ns.saturating_sub(now.steady_ns));
            let timer = ClientTimer::Liveness;
            let at = self.stage.now.saturating_add(after);
            self.stage.queue.push(at, SimEvent::ClientTimer { actor, timer, generation });
        }
        self.may_go_on();
    }

    fn does(&mut self, output: Output) {
        let Some(hosted) = self.hosted() else { return };
        match output {
            Output::Connect { socket, server } => self.connects(socket, server),
            Output::Send { socket, bytes } => self.sends(socket, &bytes),
            Output::Close(socket) => {
                let Some((id, phase)) = hosted.closes(socket) else { return };
                self.servers.conns.close_by_client(self.stage, id);
                self.disconnects(phase);
            }
            Output::Observed { thread, what } => {
                hosted.losses.hear(&what);
                self.lives.serve_one(self.stage, self.process, Ask::Observe { thread, what })
            }
            Output::Prints(line) => {
                let actor = self.it().actor;
                self.stage.note(Place::Client(actor), &What::Prints { line: &line });
            }
            Output::Work { ask } => {
                let (completer, mut done) = Pending::slot();
                hosted.waits_for(ask, Box::new(move || done.try_take().map(|()| true)));
                self.lives.serve_one(self.stage, self.process, Ask::Work { completer });
            }
            Output::Write { ask, thread } => {
                let (completer, mut accepted) = Pending::slot();
                hosted.waits_for(ask, Box::new(move || accepted.try_take()));
                let (resource, token) = (Resource::Unfenced, None);
                self.lives.serve_one(
                    self.stage,
                    self.process,
                    Ask::Write { thread, resource, token, completer },
                );
            }
            Output::Sleeps { for_ns } => {
                let (completer, slept) = Pending::slot();
                hosted.sleeps(slept);
                let duration = Duration::from_nanos(for_ns);
                self.lives.serve_one(self.stage, self.process, Ask::Sleep { duration, completer });
            }
            Output::Ends(_) | Output::Leaves if self.it().finished.is_some() => {
                self.foul("it says for the second time that it has come to its end")
            }
            Output::Ends(end) => {
                let end = self.hosted().map_or(end, |hosted| hosted.losses.end(end));
                self.lives.finished(self.stage, self.servers, self.process, end)
            }
            Output::Leaves => {
                self.lives.finished(self.stage, self.servers, self.process, End::Done);
                self.lives.crash_process(self.stage, self.servers, self.process);
            }
        }
    }

    fn connects(&mut self, socket: Socket, server: Option<u8>) {
        let machines = self.stage.scenario.machines();
        let Some(hosted) = self.hosted() else { return };
        if hosted.conn_of(socket).is_some() {
            self.foul(&format!("it opens connection {socket}, which is open"));
        }
        let Some(server) = server.filter(|server| *server < machines) else {
            self.foul("it connects to an address that is no server's");
        };
        let id = self.lives.connects(self.stage, self.servers, self.process, server);
        if let Some(hosted) = self.hosted() {
            hosted.opens(id, socket);
        }
    }

    fn sends(&mut self, socket: Socket, bytes: &[u8]) {
        // One whose other end is gone already takes bytes and loses them.
        let Some(id) = self.hosted().and_then(|hosted| hosted.conn_of(socket)) else { return };
        match self.hosted().map(|hosted| hosted.read(id, bytes)) {
            None => {}
            Some(Err(what)) => self.foul(&what),
            Some(Ok(messages)) => messages
                .into_iter()
                .for_each(|message| self.lives.send_to_server(self.stage, self.servers, id, message)),
        }
    }

    /// A message has come: what it tells of the session, and its bytes.
    fn receives(&mut self, id: ConnId, message: ToClient) -> Option<Input> {
        let hosted = self.hosted()?;
        let state = hosted.hears(&message);
        let (socket, written) = hosted.write(id, message)?;
        let input = Input::Data(socket, written.unwrap_or_else(|what| self.foul(&what)));
        if let Some(state) = state {
            self.lives.client_state(self.stage, self.process, state);
        }
        Some(input)
    }

    /// A connection is gone or closed.
    fn disconnects(&mut self, phase: SocketPhase) {
        let Some(hosted) = self.hosted() else { return };
        if hosted.disconnects(phase) {
            self.lives.client_state(self.stage, self.process, KeeperState::Disconnected);
        }
    }
}
