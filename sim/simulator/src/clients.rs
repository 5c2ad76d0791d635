//! Clients: what reaches a client's session, what it wants done, and when the tasks of its process run.

use crate::administrator;
use crate::clock::MS;
use crate::event::{Armed, Meddling, SimEvent};
use crate::executor::{Caught, TaskId, quietly};
use crate::hosted::Client;
use crate::lives::{Lives, servers_of};
use crate::mailbox::{Ask, Mailbox};
use crate::process::Process;
use crate::programs::Running;
use crate::server_host::Servers;
use crate::stage::{Phase, Stage};
use crate::trace_event::{Place, What};
use crate::watch::watch;
use std::sync::Arc;
use std::task::Poll;
use zk_api::{Error, ErrorCode, KeeperState, Pending, Response, SessionId, ZPath};
use zk_harness::event::{ActorId, End, GroundTruth};
use zk_harness::probe::POLLS_PER_TURN;
use zk_harness::pulse::Acting;
use zk_invariants::Invariant;
use zk_proto::client::{
    CallId, ClientConfig, ClientEvent, ClientInput, ClientOutput, ClientSession, WatchId,
};
use zk_proto::message::{ConnId, ToClient};
use zk_proto::server::ServerId;

/// All clients.
pub struct Clients {
    pub lives: Lives,
    client_out: Vec<ClientOutput>,
}

impl Clients {
    /// Clients that have not begun.
    pub fn new(lives: Lives) -> Clients {
        Clients { lives, client_out: Vec::new() }
    }

    /// The process that makes the trial's znodes begins.
    pub fn begin_setup(&mut self, stage: &mut Stage<'_>, servers: &mut Servers) {
        let actor = ActorId { process: stage.scenario.clients, life: 0, thread: 0 };
        let zk = self.begin_session(stage, servers, actor);
        let code = administrator::sets_up(zk, self.lives.trial.setup.clone());
        self.lives.tasks.executor.spawn(actor.process, Box::pin(code));
    }

    /// A life begins, with a new session.
    fn begin_life(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, actor: ActorId) {
        self.lives.processes[actor.process].comes_back = false;
        if let Some(programs) = self.lives.trial.programs() {
            return self.running(stage, servers, actor.process).begin(actor, &programs);
        }
        let mailbox = self.begin_session(stage, servers, actor);
        self.lives.begin_actor(stage, actor.process, mailbox);
    }

    /// A life begins, and asks for a session.
    pub fn begin_session(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        actor: ActorId,
    ) -> Arc<Mailbox> {
        let known = servers_of(stage, actor.process);
        let mailbox = self.lives.begin_process(stage, actor);
        self.connect(stage, servers, actor.process, known);
        mailbox
    }

    fn connect(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, process: u16, known: Vec<ServerId>) {
        let timeout_ms = stage.scenario.session_timeout_ms;
        let client = ClientSession::new(ClientConfig { servers: known, timeout_ms });
        self.lives.processes[process].client = Some(Client::Session(Box::new(client)));
        self.client_event(stage, servers, process, ClientEvent::Start);
    }

    /// A client asks for another session, for the code that runs. What is asked of it meanwhile fails.
    pub fn renew(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, actor: ActorId) {
        let process = &mut self.lives.processes[actor.process];
        if process.is(actor) && process.state() == Some(KeeperState::Expired) {
            process.renews = true;
            process.timers = process.timers.map(|count| count + 1);
            process.watches.clear();
            let known = servers_of(stage, actor.process);
            self.connect(stage, servers, actor.process, known);
        }
    }

    /// Runs the tasks that are ready until all wait. Before that, real clocks show the queue's time.
    pub fn turn(&mut self, stage: &mut Stage<'_>, servers: &mut Servers) {
        if self.lives.tasks.has_ready_at(stage.now) {
            self.run_tasks(stage, servers);
        }
    }

    /// Runs ready tasks until all wait.
    fn run_tasks(&mut self, stage: &mut Stage<'_>, servers: &mut Servers) {
        let mut polls = 0;
        let mut last = None;
        while let Some((task, process)) = self.lives.next_task(stage) {
            if last != Some(process) {
                last = Some(process);
                self.lives.processes[process].mailbox.begin_turn();
            }
            polls += 1;
            if polls > POLLS_PER_TURN {
                self.spun(stage, servers, process);
            } else {
                self.run_task(stage, servers, task, process);
            }
            if stage.over {
                return;
            }
        }
        stage.invariants.report.tested(Invariant::NoSpin);
        self.lives.processes.0.iter_mut().for_each(|process| process.learns_loss = false);
        if let Some(process) = last {
            self.purge_watches(stage, servers, process);
        }
    }

    fn run_task(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, task: TaskId, process: u16) {
        stage.invariants.report.tested(Invariant::NoPanic);
        let former = stage.pulse.acts(Acting::Task(process));
        let polled = self.lives.tasks.executor.poll(task);
        stage.pulse.acts(former);
        self.serve(stage, servers, process);
        match polled {
            Poll::Pending | Poll::Ready(Ok(None)) => {}
            Poll::Ready(Ok(Some(end))) => self.lives.finished(stage, servers, process, end),
            Poll::Ready(Err(Caught::Panic(what))) => {
                let actor = self.lives.processes[process].actor;
                stage.invariants.report.broken(Invariant::NoPanic, format!("{actor} panicked: {what}"));
                stage.tell_broken();
                self.lives.crash_process(stage, servers, process);
            }
            Poll::Ready(Err(Caught::Spin)) => self.spun(stage, servers, process),
        }
    }

    fn spun(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, process: u16) {
        let actor = self.lives.processes[process].actor;
        stage.invariants.report.broken(Invariant::NoSpin, format!("{actor} does not end its turn"));
        stage.tell_broken();
        self.lives.crash_process(stage, servers, process);
    }

    /// Serves what the process's tasks have asked for, in the order in which they did.
    fn serve(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, process: u16) {
        for ask in self.lives.processes[process].mailbox.take() {
            let (request, completer) = match ask {
                Ask::Submit { request, completer } => (request, completer),
                ask => {
                    self.lives.serve_one(stage, process, ask);
                    continue;
                }
            };
            let p = &mut self.lives.processes[process];
            if p.renews {
                let (code, tried, path) = (ErrorCode::SessionExpired, request.name(), request.path());
                completer.complete(Err(Error { code, tried, path }));
                continue;
            }
            let call = p.next_call;
            p.next_call += 1;
            p.calls.insert(call, (request.clone(), p.polling.ask(), completer));
            self.client_event(stage, servers, process, ClientEvent::Submit { call: CallId(call), request });
        }
    }

    /// Purges the watches that nobody waits for any more.
    fn purge_watches(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, process: u16) {
        let p = &self.lives.processes[process];
        if p.watches.values().all(|completer| !completer.is_abandoned()) {
            return;
        }
        let abandoned: Vec<WatchId> =
            p.watches.iter().filter(|(_, c)| c.is_abandoned()).map(|(id, _)| *id).collect();
        for watch in abandoned {
            self.lives.processes[process].watches.remove(&watch);
            self.client_event(stage, servers, process, ClientEvent::Abandon { watch });
        }
    }

    /// Lets something happen to clients.
    pub fn happen(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, event: SimEvent) {
        match event {
            SimEvent::WriteArrives { actor, resource, token, completer } => {
                self.lives.write_arrives(stage, actor, resource, token, completer);
            }
            SimEvent::Begin { actor } => self.begin_life(stage, servers, actor),
            SimEvent::Strike { actor, armed } => self.strike(stage, servers, actor, armed),
            SimEvent::Resume { actor, pause } => self.resume(stage, servers, actor, pause),
            at_process => self.at_process(stage, servers, at_process),
        }
    }

    /// A process whose client is a program, if it is.
    fn running<'s, 'a>(
        &'s mut self,
        stage: &'s mut Stage<'a>,
        servers: &'s mut Servers,
        process: u16,
    ) -> Running<'s, 'a> {
        Running { stage, servers, lives: &mut self.lives, process }
    }

    /// Something happens at a client process: now, or when its pause is over.
    fn at_process(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, event: SimEvent) {
        let process = match &event {
            SimEvent::AtClient { conn, .. } | SimEvent::ClientSees { conn } | SimEvent::Opening { conn } => {
                match servers.conns.network.conn(*conn) {
                    Some(conn) => conn.actor.process,
                    None => return,
                }
            }
            SimEvent::ClientTimer { actor, .. }
            | SimEvent::Renew { actor }
            | SimEvent::Wake { actor, .. }
            | SimEvent::TaskGoesOn { actor, .. }
            | SimEvent::WriteAnswered { actor, .. } => actor.process,
            _ => unreachable!("only these are a client's"),
        };
        match &mut self.lives.processes[process].held_back {
            Some(held_back) => held_back.push(event),
            None => self.at_running_process(stage, servers, process, event),
        }
    }

    /// The same, of a process that is not paused.
    fn at_running_process(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        process: u16,
        event: SimEvent,
    ) {
        let Lives { tasks, processes, .. } = &mut self.lives;
        if tasks.let_go_on(&mut processes[process], &event) {
            let often = std::mem::take(&mut stage.swarm.stand_still);
            self.turn(stage, servers);
            stage.swarm.stand_still = often;
        }
        match event {
            SimEvent::AtClient { conn, number, message } => {
                self.at_client(stage, servers, conn, number, message)
            }
            SimEvent::ClientSees { conn } => self.client_sees(stage, servers, conn),
            SimEvent::Opening { conn } => self.opening(stage, servers, conn),
            SimEvent::ClientTimer { actor, timer, generation } => {
                let its = &mut self.lives.processes[process];
                if its.is(actor) && *its.timer(timer) == generation {
                    stage.note(Place::Client(actor), &What::ClientTimer(timer));
                    self.client_event(stage, servers, process, ClientEvent::Timer(timer));
                }
            }
            SimEvent::Renew { actor } => self.renew(stage, servers, actor),
            SimEvent::Wake { actor, completer, .. } => {
                if self.lives.processes[process].is(actor) {
                    completer.complete(());
                    self.running(stage, servers, process).may_go_on();
                }
            }
            SimEvent::TaskGoesOn { task, .. } => {
                let Lives { tasks, processes, .. } = &mut self.lives;
                tasks.goes_on(&mut processes[process], task);
            }
            SimEvent::WriteAnswered { actor, accepted, completer } => {
                let its = &mut self.lives.processes[process];
                if its.is(actor) {
                    its.polling.forget();
                    completer.complete(accepted);
                    self.running(stage, servers, process).may_go_on();
                }
            }
            _ => unreachable!("only these are a client's"),
        }
    }

    fn at_client(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        id: ConnId,
        number: u64,
        message: ToClient,
    ) {
        let Some((actor, server, message)) = servers.conns.at_client(stage, id, number, message) else {
            return;
        };
        if servers.ensemble.cluster.server(server).is_none() {
            stage.once("answer arrived after its server's crash");
        }
        stage.run.messages += 1;
        stage.note(Place::Client(actor), &What::ToClient { conn: id, message: &message });
        watch!(stage, invariants.delivered(id, &message));
        let session = self.lives.processes[actor.process].session();
        stage.visible.gets(session, &message);
        self.client_event(stage, servers, actor.process, ClientEvent::Received { conn: id, message });
    }

    fn client_sees(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, id: ConnId) {
        let Some(conn) = servers.conns.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        conn.client_open = false;
        let actor = conn.actor;
        servers.conns.network.forget_closed(id);
        stage.note(Place::Client(actor), &What::Lost { conn: id });
        self.client_event(stage, servers, actor.process, ClientEvent::Lost { conn: id });
    }

    fn opening(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, id: ConnId) {
        let Some(conn) = servers.conns.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        let (actor, server) = (conn.actor, conn.server);
        self.lives.processes[actor.process].opening = None;
        if servers.ensemble.cluster.server(server).is_some() {
            stage.note(Place::Client(actor), &What::Opened { conn: id });
            self.client_event(stage, servers, actor.process, ClientEvent::Opened { conn: id });
            return;
        }
        (conn.client_open, conn.server_open) = (false, false);
        servers.conns.network.forget_closed(id);
        stage.note(Place::Client(actor), &What::Refused { conn: id });
        self.client_event(stage, servers, actor.process, ClientEvent::Lost { conn: id });
    }

    /// Steps a client's session and does what it wants done.
    fn client_event(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        process: u16,
        event: ClientEvent,
    ) {
        let p = &mut self.lives.processes[process];
        let now_ms = p.clock.now_ms(stage.now);
        let client = match &mut p.client {
            Some(Client::Session(client)) => client,
            Some(Client::Program(_)) => return self.running(stage, servers, process).happens(event),
            None => return,
        };
        let mut out = std::mem::take(&mut self.client_out);
        let former = stage.pulse.acts(Acting::Client(process));
        let stepped = quietly(|| client.step(ClientInput { now_ms, event }, &mut out));
        stage.pulse.acts(former);
        if let Err(Caught::Panic(what)) = stepped {
            let actor = self.lives.processes[process].actor;
            return stage.panics(format!("the session of {actor} panicked: {what}"));
        }
        for output in out.drain(..) {
            self.client_output(stage, servers, process, output);
        }
        self.client_out = out;
    }

    fn client_output(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        process: u16,
        output: ClientOutput,
    ) {
        match output {
            ClientOutput::Open { server } => drop(self.lives.connects(stage, servers, process, server.0)),
            ClientOutput::Send { conn, message } => self.lives.send_to_server(stage, servers, conn, message),
            ClientOutput::Close { conn } => {
                if let Some(conn) = conn.or(self.lives.processes[process].opening.take()) {
                    servers.conns.close_by_client(stage, conn);
                }
            }
            ClientOutput::Complete { call, result, watch } => {
                self.complete(stage, servers, process, call, result, watch)
            }
            ClientOutput::Event { watch, event, last } => {
                let Process { watches, polling, .. } = &mut self.lives.processes[process];
                polling.forget();
                if last {
                    if let Some(completer) = watches.remove(&watch) {
                        completer.complete((*event).clone());
                    }
                } else if let Some(completer) = watches.get(&watch) {
                    completer.send((*event).clone());
                }
            }
            ClientOutput::State(state) => self.lives.client_state(stage, process, state),
            ClientOutput::SetTimer { timer, after_ms } => {
                let p = &mut self.lives.processes[process];
                let after = p.clock.real_ns(u64::from(after_ms) * MS);
                let actor = p.actor;
                let generation = p.set_timer(timer);
                stage.queue.push(stage.now + after, SimEvent::ClientTimer { actor, timer, generation });
            }
        }
    }

    fn complete(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        process: u16,
        call: CallId,
        result: Result<Response, Error>,
        watch: Option<WatchId>,
    ) {
        let p = &mut self.lives.processes[process];
        let Some((request, asked_at, completer)) = p.calls.remove(&call.0) else { return };
        if completer.is_abandoned() {
            // Nor will anybody wait for its watch, which is not to be registered again.
            return watch.into_iter().for_each(|watch| {
                self.client_event(stage, servers, process, ClientEvent::Abandon { watch })
            });
        }
        let answer = result.as_ref().map_err(|error| error.code);
        let polls = p.polling.answer(p.actor, asked_at, &request, answer);
        let result = result.map(|response| {
            let watch = watch.map(|id| {
                let (completer, watch) = Pending::slot();
                p.watches.insert(id, completer);
                watch
            });
            (response, watch)
        });
        completer.complete(result);
        polls.into_iter().for_each(|truth| stage.establish(truth));
    }

    /// A fault strikes an actor, unless it is gone by now.
    pub fn strike(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, actor: ActorId, armed: Armed) {
        if stage.phase != Phase::Faults || !self.lives.processes[actor.process].is(actor) {
            return;
        }
        match armed {
            Armed::Lose(what) => {
                for conn in servers.conns.network.of_process(actor.process) {
                    servers.conns.lose(stage, conn, what);
                }
            }
            // Strikes with a request or not at all.
            Armed::ExpireOwner => {}
            Armed::Pause { for_ms } => self.lives.pause(stage, actor, for_ms),
            Armed::Crash { restart_after_ms } => {
                if stage.knowledge.is_holding(actor) {
                    stage.once("crashed while holding");
                }
                self.lives.crash_process(stage, servers, actor.process);
                self.lives.come_back(stage, actor.process, restart_after_ms * MS);
            }
            Armed::Meddle(meddling) => self.meddle(stage, servers, actor, meddling),
        }
    }

    /// A process goes on: its timers fire first, then it sees what the network has brought. A program of others asks
    /// the operating system, which looks for what has come before it says that the time is up.
    pub fn resume(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, actor: ActorId, pause: u32) {
        let process = &mut self.lives.processes[actor.process];
        if process.actor != actor || process.pauses != pause {
            return;
        }
        let Some(held_back) = process.held_back.take() else { return };
        stage.knowledge.pauses(actor.process, false);
        stage.establish(GroundTruth::Resumed { actor });
        let is_timer =
            |event: &SimEvent| matches!(event, SimEvent::ClientTimer { .. } | SimEvent::Wake { .. });
        let (timers, network): (Vec<_>, Vec<_>) = held_back.into_iter().partition(is_timer);
        let is_program = matches!(self.lives.processes[actor.process].client, Some(Client::Program(_)));
        let [first, then] = if is_program { [network, timers] } else { [timers, network] };
        for event in first.into_iter().chain(then) {
            self.at_process(stage, servers, event);
            self.turn(stage, servers);
        }
    }

    /// An administrator meddles with an ephemeral znode of an actor, the newest that it has.
    fn meddle(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, actor: ActorId, meddling: Meddling) {
        let owner = self.lives.processes[actor.process].client.as_ref().map(|c| c.session());
        // Who has no session yet owns nothing; what is nobody's is not an ephemeral znode.
        let owner = owner.filter(|owner| *owner != SessionId::NONE);
        let Some(node) = owner.and_then(|owner| self.lives.newest_ephemeral(stage, owner)) else { return };
        stage.once(match &meddling {
            Meddling::Delete if stage.knowledge.is_holding(actor) => {
                "an administrator deleted a holder's znode"
            }
            Meddling::Delete => "an administrator deleted a znode",
            Meddling::Write(_) => "an administrator wrote to a znode",
        });
        self.administers(stage, servers, node, meddling);
    }

    /// An administrator meddles with a znode.
    pub fn administers(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        node: ZPath,
        meddling: Meddling,
    ) {
        let zk = self.administrators_session(stage, servers);
        let code = administrator::meddles(zk, node, meddling);
        self.lives.tasks.executor.spawn(stage.scenario.clients, Box::pin(code));
    }

    /// His session: the one he has, or a new one. The process is the one that has made the trial's znodes.
    fn administrators_session(&mut self, stage: &mut Stage<'_>, servers: &mut Servers) -> Arc<Mailbox> {
        let process = &self.lives.processes[stage.scenario.clients];
        if process.state().is_some_and(|state| !state.is_final()) {
            return process.mailbox.clone();
        }
        let life = process.actor.life.saturating_add(1);
        let mailbox =
            self.begin_session(stage, servers, ActorId { process: stage.scenario.clients, life, thread: 0 });
        // Nobody waits for him.
        self.lives.processes[stage.scenario.clients].finished = Some(End::Done);
        mailbox
    }
}
