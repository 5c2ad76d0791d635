//! The lives of client processes: how they begin, what their tasks ask for, and how they end.

use crate::choices::{Stream, share};
use crate::clock::MS;
use crate::event::SimEvent;
use crate::executor::{Caught, TaskId};
use crate::fault::When;
use crate::hosted::Client;
use crate::mailbox::{Ask, Mailbox};
use crate::process::Process;
use crate::simulation::Simulation;
use crate::stage::Phase;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use zk_api::{Completer, CreateMode, Data, Error, ErrorCode, KeeperState, Text, ZPath, ZooKeeper, Zxid};
use zk_invariants::Invariant;
use zk_proto::client::{CallId, ClientConfig, ClientEvent, ClientSession, WatchId};
use zk_proto::server::ServerId;
use zk_trials::event::{ActorId, End, GroundTruth, Observation, Resource};
use zk_trials::probe::{POLLS_PER_TURN, Probe};
use zk_trials::pulse::Acting;
use zk_trials::trial::Role;

impl Simulation<'_> {
    /// The process that makes the trial's znodes begins.
    pub fn begin_setup(&mut self) {
        let actor = ActorId { process: self.stage.scenario.clients, life: 0, thread: 0 };
        let zk = self.begin_session(actor);
        let paths = self.setup.clone();
        let code = async move {
            for path in paths {
                let path = ZPath::parse(&path).expect("a trial's own paths are valid");
                // The server has just started: it may not serve yet.
                while let Err(error) = zk.create(&path, Data::NULL, CreateMode::Persistent).await {
                    if error.code == ErrorCode::NodeExists {
                        break;
                    }
                    zk.sleep(Duration::from_millis(10)).await;
                }
            }
            let _ = zk.close().await;
            Some(End::Done)
        };
        self.executor.spawn(actor.process, Box::pin(code));
    }

    /// The trial's znodes are there: everybody else begins.
    fn begin_actors(&mut self) {
        self.stage.phase = Phase::Faults;
        if self.script.is_to_come() {
            return;
        }
        // All at once, or within a while.
        let spread_ms = [1, 50, 500, 3000][self.stage.choices.below(Stream::Swarm, 3, 4) as usize];
        for process in 0..self.stage.scenario.clients {
            let after = self.stage.choices.below(Stream::Start, process.into(), spread_ms * MS);
            let actor = ActorId { process, life: 0, thread: 0 };
            self.stage.queue.push(self.stage.now + after, SimEvent::Begin { actor });
        }
        for (index, fault) in self.stage.schedule.faults.iter().enumerate() {
            self.stage.queue.push(self.stage.now.max(fault.at_ms * MS), SimEvent::Fault(index));
        }
        self.stage.queue.push(self.stage.now.max(self.stage.scenario.faults_ns()), SimEvent::Heal);
    }

    /// A life begins, with a new session.
    pub fn begin_life(&mut self, actor: ActorId) {
        self.processes[usize::from(actor.process)].comes_back = false;
        if let Some(programs) = self.trial.programs() {
            return self.begin_program(actor, &programs);
        }
        let mailbox = self.begin_session(actor);
        self.begin_actor(actor.process, mailbox);
    }

    /// The code of a life begins.
    pub fn begin_actor(&mut self, process: u16, mailbox: Arc<Mailbox>) {
        let Process { actor, rounds_left: rounds, .. } = self.processes[usize::from(process)];
        let role =
            Role { me: actor, clients: self.stage.scenario.clients, rounds, effects: self.script.effects() };
        let (zk, probe): (Arc<dyn ZooKeeper>, Arc<dyn Probe>) = (mailbox.clone(), mailbox);
        let code = self.trial.clone().actor(zk, probe, role);
        self.executor.spawn(actor.process, Box::pin(async move { Some(code.await) }));
    }

    pub fn begin_session(&mut self, actor: ActorId) -> Arc<Mailbox> {
        let servers = self.servers_of(actor.process);
        let mailbox = self.begin_process(actor);
        self.connect(actor.process, servers);
        mailbox
    }

    /// A life begins, and has no client yet.
    pub fn begin_process(&mut self, actor: ActorId) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::new(actor, self.stage.swarm.guids));
        let process = &mut self.processes[usize::from(actor.process)];
        process.actor = actor;
        process.mailbox = mailbox.clone();
        process.finished = None;
        process.next_call = 0;
        mailbox
    }

    fn connect(&mut self, process: u16, servers: Vec<ServerId>) {
        let timeout_ms = self.stage.scenario.session_timeout_ms;
        let client = ClientSession::new(ClientConfig { servers, timeout_ms });
        self.processes[usize::from(process)].client = Some(Client::Session(Box::new(client)));
        self.client_event(process, ClientEvent::Start);
    }

    /// A client was told that its session has expired: where it is one that opens another by itself, it soon does. A program
    /// has its own client.
    pub fn is_to_renew(&mut self, actor: ActorId) {
        if self.trial.renews_session && self.trial.programs().is_none() && !self.stage.follows_a_script() {
            let after = self.stage.choices.below(Stream::Connect, actor.process.into(), 200 * MS);
            self.stage.queue.push(self.stage.now + after, SimEvent::Renew { actor });
        }
    }

    /// A client asks for another session, for the code that runs. What is asked of it meanwhile fails.
    pub fn renew(&mut self, actor: ActorId) {
        let process = &mut self.processes[usize::from(actor.process)];
        if process.is(actor) && process.state() == Some(KeeperState::Expired) {
            process.renews = true;
            process.timers = process.timers.map(|count| count + 1);
            process.watches.clear();
            let servers = self.servers_of(actor.process);
            self.connect(actor.process, servers);
        }
    }

    /// The servers that a process connects to, in the order in which it tries them.
    pub fn servers_of(&mut self, process: u16) -> Vec<ServerId> {
        if self.stage.scenario.lag() > 0 {
            return self.stage.scenario.own_observers(process).map(ServerId).collect();
        }
        let mut servers: Vec<ServerId> = (0..self.stage.scenario.machines()).map(ServerId).collect();
        for last in (1..servers.len()).rev() {
            let other = self.stage.choices.below(Stream::Servers, process.into(), last as u64 + 1);
            servers.swap(last, other as usize);
        }
        // About so many know only one, and can go nowhere else.
        let (alone, clients) =
            (self.stage.scenario.one_server_clients.into(), self.stage.scenario.clients.into());
        if alone > 0 && process < self.stage.scenario.clients {
            let one =
                self.stage.choices.below(Stream::Servers, 1 << 16 | u64::from(process), clients) < alone;
            servers.truncate(if one { 1 } else { servers.len() });
        }
        servers
    }

    /// Runs ready tasks until all wait.
    pub fn run_tasks(&mut self) {
        let mut polls = 0;
        let mut last = None;
        while let Some((task, process)) = self.next_task() {
            if last != Some(process) {
                last = Some(process);
                self.processes[usize::from(process)].mailbox.begin_turn();
            }
            polls += 1;
            if polls > POLLS_PER_TURN {
                self.spun(process);
            } else {
                self.run_task(task, process);
            }
            if self.stage.over {
                return;
            }
        }
        self.stage.invariants.report.tested(Invariant::NoSpin);
        self.processes.iter_mut().for_each(|process| process.learns_loss = false);
        if let Some(process) = last {
            self.purge_watches(process);
        }
    }

    fn run_task(&mut self, task: TaskId, process: u16) {
        self.stage.invariants.report.tested(Invariant::NoPanic);
        let former = self.stage.pulse.acts(Acting::Task(process));
        let polled = self.executor.poll(task);
        self.stage.pulse.acts(former);
        self.serve(process);
        match polled {
            Poll::Pending | Poll::Ready(Ok(None)) => {}
            Poll::Ready(Ok(Some(end))) => self.finished(process, end),
            Poll::Ready(Err(Caught::Panic(what))) => {
                let actor = self.processes[usize::from(process)].actor;
                self.stage.invariants.report.broken(Invariant::NoPanic, format!("{actor} panicked: {what}"));
                self.stage.tell_broken();
                self.crash_process(process);
            }
            Poll::Ready(Err(Caught::Spin)) => self.spun(process),
        }
    }

    fn spun(&mut self, process: u16) {
        let actor = self.processes[usize::from(process)].actor;
        self.stage.invariants.report.broken(Invariant::NoSpin, format!("{actor} does not end its turn"));
        self.stage.tell_broken();
        self.crash_process(process);
    }

    /// Serves what the process's tasks have asked for, in the order in which they did.
    fn serve(&mut self, process: u16) {
        for ask in self.processes[usize::from(process)].mailbox.take() {
            self.serve_one(process, ask);
        }
    }

    pub fn serve_one(&mut self, process: u16, ask: Ask) {
        let p = &mut self.processes[usize::from(process)];
        let actor = p.actor;
        match ask {
            Ask::Submit { request, completer } if p.renews => {
                let (code, tried, path) = (ErrorCode::SessionExpired, request.name(), request.path());
                completer.complete(Err(Error { code, tried, path }));
            }
            Ask::Submit { request, completer } => {
                let call = p.next_call;
                p.next_call += 1;
                p.calls.insert(call, (request.clone(), p.polling.ask(), completer));
                self.client_event(process, ClientEvent::Submit { call: CallId(call), request });
            }
            Ask::Sleep { duration, completer } => {
                let ns = u64::try_from(duration.min(Duration::from_secs(1 << 30)).as_nanos());
                let after = p.clock.real_ns(ns.expect("thirty years are not too many nanoseconds"));
                self.wake_after(actor, after, true, completer);
            }
            Ask::Point { completer } => {
                let [_, most] = self.stage.swarm.latency_ns;
                let after = self.stage.choices.below(Stream::Point, process.into(), most.max(1));
                self.wake_after(actor, after, false, completer);
            }
            Ask::Work { completer } => {
                let after = self.work(process);
                if self.stage.knowledge.is_holding(actor) {
                    // Before work that is over at once.
                    self.aimed_at(actor, When::NextWork);
                }
                self.wake_after(actor, after, false, completer);
            }
            Ask::Write { completer, .. } if !self.script.effects() => {
                completer.complete(true);
            }
            Ask::Write { thread, resource, token, completer } => {
                self.write(actor.of_thread(thread), resource, token, completer);
            }
            Ask::Observe { thread, what } => {
                p.polling.tells(&what);
                self.observed(actor.of_thread(thread), what);
            }
            Ask::Spawn(task) => {
                let code = async move {
                    task.await;
                    None
                };
                self.executor.spawn(process, Box::pin(code));
            }
        }
    }

    fn wake_after(&mut self, actor: ActorId, after_ns: u64, sleeps: bool, completer: Completer<()>) {
        let at_ns = self.stage.now.saturating_add(after_ns);
        self.stage.queue.push(at_ns, SimEvent::Wake { actor, after_ns, sleeps, completer });
    }

    /// How long a piece of work takes: mostly short, at times longer than a session lives in silence.
    fn work(&mut self, process: u16) -> u64 {
        let [least, most] = self.stage.swarm.work_ns;
        let x = self.stage.choices.below(Stream::Work, process.into(), 1 << 16);
        // Some is over at once, so that a release meets those who are just about to look.
        if self.stage.choices.below(Stream::Work, process.into(), 4) < self.stage.swarm.quick_work {
            return least;
        }
        let spread = if self.stage.phase == Phase::Healed { (most - least) / 4 } else { most - least };
        least + share(spread, x, self.stage.swarm.work_power)
    }

    /// A write to the outside resource sets out. Mostly it arrives soon, at times after the session is dead.
    fn write(&mut self, actor: ActorId, resource: Resource, token: Option<Zxid>, completer: Completer<bool>) {
        let after = self.travel(actor.process);
        if after > self.stage.granted_timeout_ns() {
            self.stage.once("write travelled for longer than a session timeout");
        }
        let event = SimEvent::WriteArrives { actor, resource, token, completer };
        self.stage.queue.push(self.stage.now + after, event);
    }

    fn travel(&mut self, process: u16) -> u64 {
        let long = self.stage.choices.below(Stream::Write, process.into(), 64) < self.stage.swarm.long_writes;
        let x = self.stage.choices.below(Stream::Write, process.into(), 1 << 16);
        if long && self.stage.phase == Phase::Faults {
            return share(2 * self.stage.granted_timeout_ns(), x, 1);
        }
        share(self.stage.swarm.latency_ns[1], x, self.stage.swarm.latency_power)
    }

    /// A write reaches the resource, whether or not its writer still lives.
    pub fn write_arrives(
        &mut self,
        actor: ActorId,
        resource: Resource,
        token: Option<Zxid>,
        completer: Completer<bool>,
    ) {
        let accepted = self.outside.write(resource, token);
        let process = &self.processes[usize::from(actor.process)];
        if !process.is(actor) {
            self.stage.once("write arrived after its writer's death");
        } else if process
            .client
            .as_ref()
            .is_some_and(|client| !self.stage.knowledge.is_open(client.session()))
        {
            self.stage.once("write arrived after its writer's session had ended");
        }
        self.stage.establish(GroundTruth::Wrote { resource, actor, token, accepted });
        let x = self.stage.choices.below(Stream::Write, actor.process.into(), 1 << 16);
        let after = share(self.stage.swarm.latency_ns[1], x, self.stage.swarm.latency_power);
        self.stage.queue.push(self.stage.now + after, SimEvent::WriteAnswered { actor, accepted, completer });
    }

    fn observed(&mut self, actor: ActorId, what: Observation) {
        match &what {
            Observation::Granted { lock: what, .. }
            | Observation::Shares { lock: what, .. }
            | Observation::Enters { lock: what }
            | Observation::Begins { about: what, .. } => {
                // Once for each grant, though most are told twice.
                if !self.stage.knowledge.is_holding(actor) {
                    self.aimed_at(actor.main(), When::NextGrant);
                }
                self.stage.knowledge.holds(actor, what.clone());
            }
            Observation::Leaves { lock: what } | Observation::Ends { about: what, .. } => {
                self.stage.knowledge.left(actor, what);
                // Each thread goes through all the rounds.
                if actor.thread == 0 {
                    let process = &mut self.processes[usize::from(actor.process)];
                    process.rounds_left = process.rounds_left.saturating_sub(1);
                }
            }
            Observation::Released { lock } => self.stage.knowledge.left(actor, lock),
            Observation::Attempts { .. } | Observation::GivesUp { .. } | Observation::Notes { .. } => {}
        }
        self.stage.says(actor, what);
    }

    /// The main task of a life has ended.
    pub fn finished(&mut self, process: u16, end: End) {
        if self.stage.phase == Phase::Setup {
            self.begin_actors();
            self.processes[usize::from(process)].finished = Some(end);
            return;
        }
        let p = &mut self.processes[usize::from(process)];
        p.finished = Some(end);
        let actor = p.actor;
        self.stage.establish(GroundTruth::Finished { actor, end });
        match end {
            End::Done | End::Failed => {}
            End::SessionLost => {
                self.end_life(process);
                let after = self.stage.choices.below(Stream::Point, process.into(), 200 * MS);
                self.come_back(process, after);
            }
        }
    }

    /// The process crashes; its session lives on until it expires.
    pub fn crash_process(&mut self, process: u16) {
        let actor = self.processes[usize::from(process)].actor;
        self.end_life(process);
        self.stage.establish(GroundTruth::Crashed { actor });
    }

    /// Tasks, session and connections of a life are gone.
    fn end_life(&mut self, process: u16) {
        for conn in self.servers.conns.network.of_process(process) {
            self.servers.conns.close_by_client(&mut self.stage, conn);
        }
        let actor = self.processes[usize::from(process)].actor;
        self.stage.knowledge.ended(actor);
        self.processes[usize::from(process)].end_life();
        self.executor.kill(process);
    }

    /// The run is over: all tasks end here, and nobody serves what they still ask for.
    pub fn end(&mut self) {
        for process in 0..=self.stage.scenario.clients {
            self.processes[usize::from(process)].end_life();
            self.executor.kill(process);
        }
    }

    /// The process begins another life after a while, if there is anything left to do.
    pub fn come_back(&mut self, process: u16, after_ns: u64) {
        let p = &self.processes[usize::from(process)];
        let Some(life) = p.actor.life.checked_add(1) else { return };
        // Whoever follows a script begins again when the script says so.
        let actor = ActorId { life, ..p.actor };
        if p.rounds_left > 0 && !self.stage.follows_a_script() {
            self.processes[usize::from(process)].comes_back = true;
            self.stage.queue.push(self.stage.now + after_ns, SimEvent::Begin { actor });
        }
    }

    /// Purges the watches that nobody waits for any more.
    fn purge_watches(&mut self, process: u16) {
        let p = &self.processes[usize::from(process)];
        if p.watches.values().all(|completer| !completer.is_abandoned()) {
            return;
        }
        let abandoned: Vec<WatchId> =
            p.watches.iter().filter(|(_, c)| c.is_abandoned()).map(|(id, _)| *id).collect();
        for watch in abandoned {
            self.processes[usize::from(process)].watches.remove(&watch);
            self.client_event(process, ClientEvent::Abandon { watch });
        }
    }

    /// The trial's own paths, as the rest needs them.
    pub fn is_below_setup(&self, path: &str) -> bool {
        let below = |own: &Text| {
            path.strip_prefix(&**own).is_some_and(|rest| rest.starts_with('/'))
                || (&**own == "/" && path != "/")
        };
        self.setup.iter().any(below) && !self.setup.iter().any(|own| **own == *path)
    }
}
