//! What programs of others want done, and what they are told.

use crate::choices::Stream;
use crate::event::SimEvent;
use crate::hosted::{Client, Foul, Hosted, SocketPhase};
use crate::mailbox::Ask;
use crate::simulation::Simulation;
use crate::trace_event::{Place, What};
use std::sync::Arc;
use zk_api::{KeeperState, Pending};
use zk_proto::client::{ClientEvent, ClientTimer};
use zk_proto::message::{ConnId, ToClient};
use zk_trials::event::{ActorId, Resource};
use zk_trials::probe::ASKS_PER_TURN;
use zk_trials::program::{Input, Life, Now, Output, ProgramStep, Programs, Socket};
use zk_trials::pulse::Acting;

impl Simulation<'_> {
    /// A life of a program begins.
    pub fn begin_program(&mut self, actor: ActorId, programs: &Arc<dyn Programs>) {
        self.begin_process(actor);
        let process = usize::from(actor.process);
        let entity = u64::from(actor.process) << 8 | u64::from(actor.life);
        let life = Life {
            me: actor,
            clients: self.stage.scenario.clients,
            rounds: self.processes[process].rounds_left,
            seed: self.stage.choices.below(Stream::Program, entity, u64::MAX),
            servers: self.servers_of(actor.process).into_iter().map(|server| server.0).collect(),
            timeout_ms: self.stage.scenario.session_timeout_ms,
            stands_still: self.stage.swarm.stand_still as u8,
            stands_still_ns: self.stage.swarm.latency_ns[1].max(1),
        };
        let now = self.program_now(actor.process);
        let former = self.stage.pulse.acts(Acting::Task(actor.process));
        let begun = programs.begin(&life, now);
        self.stage.pulse.acts(former);
        let (program, step) = begun.unwrap_or_else(|what| self.foul(actor.process, &what));
        self.processes[process].client = Some(Client::Program(Hosted::new(program)));
        self.program_stepped(actor.process, step);
    }

    /// What happened to the client of a program.
    pub fn program_event(&mut self, process: u16, event: ClientEvent) {
        let Some(hosted) = self.hosted(process) else { return };
        let mut inputs = Vec::new();
        match event {
            ClientEvent::Opened { conn } => {
                let Some(input) = hosted.opened(conn) else { return };
                inputs.push(input);
            }
            ClientEvent::Lost { conn } => {
                let Some((input, phase)) = hosted.lost(conn) else { return };
                inputs.push(input);
                self.program_disconnects(process, phase);
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
        let inputs = hosted.done();
        if !inputs.is_empty() {
            self.step_program(process, inputs);
        }
    }

    fn hosted(&mut self, process: u16) -> Option<&mut Hosted> {
        self.processes[usize::from(process)].client.as_mut()?.hosted()
    }

    fn program_now(&self, process: u16) -> Now {
        let clock = &self.processes[usize::from(process)].clock;
        Now { steady_ns: clock.steady_ns(self.stage.now), wall_ns: clock.wall_ns(self.stage.now) }
    }

    /// The run ends: what a program does that does not keep to the protocol says nothing of what it is to do.
    fn foul(&self, process: u16, what: &str) -> ! {
        let (actor, ms) = (self.processes[usize::from(process)].actor, self.stage.now / 1_000_000);
        let name = self.trial.about.name;
        let name = if what.starts_with(name) { String::new() } else { format!("{name}: ") };
        let what = format!("{actor}, at {}.{:03} s: {name}{what}", ms / 1000, ms % 1000);
        std::panic::resume_unwind(Box::new(Foul { what }))
    }

    fn step_program(&mut self, process: u16, inputs: Vec<Input>) {
        let now = self.program_now(process);
        let former = self.stage.pulse.acts(Acting::Task(process));
        let Some(hosted) = self.hosted(process) else { return };
        let stepped = hosted.step(now, &inputs);
        self.stage.pulse.acts(former);
        let step = stepped.unwrap_or_else(|what| self.foul(process, &what));
        self.program_stepped(process, step);
    }

    fn program_stepped(&mut self, process: u16, step: ProgramStep) {
        let actor = self.processes[usize::from(process)].actor;
        self.stage.note(Place::Client(actor), &What::Stepped(&step));
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
            let at = self.stage.now.saturating_add(after);
            self.stage.queue.push(at, SimEvent::ClientTimer { actor, timer, generation });
        }
        self.program_may_go_on(process);
    }

    fn program_output(&mut self, process: u16, output: Output) {
        let Some(hosted) = self.hosted(process) else { return };
        match output {
            Output::Connect { socket, server } => self.program_connects(process, socket, server),
            Output::Send { socket, bytes } => self.program_sends(process, socket, &bytes),
            Output::Close(socket) => {
                let Some((id, phase)) = hosted.closes(socket) else { return };
                self.servers.conns.close_by_client(&mut self.stage, id);
                self.program_disconnects(process, phase);
            }
            Output::Observed { thread, what } => self.serve_one(process, Ask::Observe { thread, what }),
            Output::Prints(line) => {
                let actor = self.processes[usize::from(process)].actor;
                self.stage.note(Place::Client(actor), &What::Prints { line: &line });
            }
            Output::Work { ask } => {
                let (completer, mut done) = Pending::slot();
                hosted.waits_for(ask, Box::new(move || done.try_take().map(|()| true)));
                self.serve_one(process, Ask::Work { completer });
            }
            Output::Write { ask, thread } => {
                let (completer, mut accepted) = Pending::slot();
                hosted.waits_for(ask, Box::new(move || accepted.try_take()));
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
        let machines = self.stage.scenario.machines();
        let Some(hosted) = self.hosted(process) else { return };
        if hosted.conn_of(socket).is_some() {
            self.foul(process, &format!("it opens connection {socket}, which is open"));
        }
        let Some(server) = server.filter(|server| *server < machines) else {
            self.foul(process, "it connects to an address that is no server's");
        };
        let id = self.open(process, server);
        if let Some(hosted) = self.hosted(process) {
            hosted.opens(id, socket);
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
        let (socket, written) = hosted.write(id, message)?;
        let input = Input::Data(socket, written.unwrap_or_else(|what| self.foul(process, &what)));
        if let Some(state) = state {
            self.client_state(process, state);
        }
        Some(input)
    }

    /// A connection is gone or closed.
    fn program_disconnects(&mut self, process: u16, phase: SocketPhase) {
        let Some(hosted) = self.hosted(process) else { return };
        if hosted.disconnects(phase) {
            self.client_state(process, KeeperState::Disconnected);
        }
    }
}
