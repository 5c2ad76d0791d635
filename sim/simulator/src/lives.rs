//! The lives of client processes: what their code asks for, what they send, what strikes them, and how they end.

use crate::choices::{Stream, share};
use crate::clock::MS;
use crate::event::{Armed, SimEvent};
use crate::executor::TaskId;
use crate::fault::{RequestKind, When};
use crate::mailbox::{Ask, Mailbox};
use crate::process::{Process, Processes};
use crate::server_host::Servers;
use crate::stage::{Phase, Stage};
use crate::tasks::Tasks;
use crate::trace_event::{Place, What};
use crate::watch::watch;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{Completer, KeeperState, Request, SessionId, Text, ZPath, ZooKeeper, Zxid, sequence_of};
use zk_harness::event::{ActorId, End, GroundTruth, Observation, Resource};
use zk_harness::outside::Outside;
use zk_harness::probe::Probe;
use zk_harness::trial::{Role, Trial};
use zk_proto::message::{ConnId, ToServer};
use zk_proto::server::ServerId;

/// All client processes, and what they do beside stepping their sessions.
pub struct Lives {
    pub trial: Arc<Trial>,
    /// The clients, then one more that makes the trial's znodes.
    pub processes: Processes,
    pub tasks: Tasks,
    outside: Outside,
}

impl Lives {
    /// Processes that have not begun. Must be called inside a madsim runtime.
    pub fn new(trial: Arc<Trial>, processes: Processes) -> Lives {
        Lives { trial, processes, tasks: Tasks::new(), outside: Outside::default() }
    }

    /// The task that runs next in this turn, and its process.
    pub fn next_task(&mut self, stage: &mut Stage<'_>) -> Option<(TaskId, u16)> {
        self.tasks.next(stage, &mut self.processes)
    }

    /// The trial's znodes are there: everybody else begins.
    fn begin_actors(&mut self, stage: &mut Stage<'_>) {
        stage.phase = Phase::Faults;
        if stage.follows_a_script() {
            return;
        }
        // All at once, or within a while.
        let spread_ms = [1, 50, 500, 3000][stage.choices.below(Stream::Swarm, 3, 4) as usize];
        for process in 0..stage.scenario.clients {
            let after = stage.choices.below(Stream::Start, process.into(), spread_ms * MS);
            let actor = ActorId { process, life: 0, thread: 0 };
            stage.queue.push(stage.now + after, SimEvent::Begin { actor });
        }
        for (index, fault) in stage.schedule.faults.iter().enumerate() {
            stage.queue.push(stage.now.max(fault.at_ms * MS), SimEvent::Fault(index));
        }
        stage.queue.push(stage.now.max(stage.scenario.faults_ns()), SimEvent::Heal);
    }

    /// A life begins, and has no client yet.
    pub fn begin_process(&mut self, stage: &mut Stage<'_>, actor: ActorId) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::new(actor, stage.swarm.guids));
        let process = &mut self.processes[actor.process];
        process.actor = actor;
        process.mailbox = mailbox.clone();
        process.finished = None;
        process.dozes_since_ns = None;
        process.threads.clear();
        process.next_call = 0;
        mailbox
    }

    /// The code of a life begins.
    pub fn begin_actor(&mut self, stage: &mut Stage<'_>, process: u16, mailbox: Arc<Mailbox>) {
        let Process { actor, rounds_left: rounds, .. } = self.processes[process];
        let role = Role { me: actor, clients: stage.scenario.clients, rounds, effects: stage.has_effects() };
        let (zk, probe): (Arc<dyn ZooKeeper>, Arc<dyn Probe>) = (mailbox.clone(), mailbox);
        let code = self.trial.clone().actor(zk, probe, role);
        self.tasks.executor.spawn(actor.process, Box::pin(async move { Some(code.await) }));
    }

    /// A client was told that its session has expired: where it is one that opens another by itself, it soon does. A
    /// program has its own client.
    fn is_to_renew(&self, stage: &mut Stage<'_>, actor: ActorId) {
        if self.trial.renews_session && self.trial.programs().is_none() && !stage.follows_a_script() {
            let after = stage.choices.below(Stream::Connect, actor.process.into(), 200 * MS);
            stage.queue.push(stage.now + after, SimEvent::Renew { actor });
        }
    }

    /// A client's session has changed its state.
    pub fn client_state(&mut self, stage: &mut Stage<'_>, process: u16, state: KeeperState) {
        let p = &mut self.processes[process];
        let Some(client) = &p.client else { return };
        let (actor, session) = (p.actor, client.session());
        p.renews = false;
        p.polling.forget();
        p.learns_loss = state != KeeperState::SyncConnected;
        if p.learns_loss {
            stage.knowledge.disconnected(process);
        }
        p.mailbox.learn(session, state);
        stage.note(Place::Client(actor), &What::State(state));
        stage.visible.changes(session, state, !stage.knowledge.is_known(session));
        match state {
            KeeperState::SyncConnected => {
                for truth in stage.knowledge.learned(session, actor) {
                    stage.establish(truth);
                }
                stage.establish(GroundTruth::Connected { actor });
            }
            KeeperState::Disconnected => stage.establish(GroundTruth::Disconnected { actor }),
            KeeperState::Expired => {
                if stage.knowledge.is_holding(actor) {
                    stage.once("learned of expiry while holding");
                }
                stage.establish(GroundTruth::LearnsExpiry { actor });
                self.is_to_renew(stage, actor);
            }
            KeeperState::AuthFailed | KeeperState::Closed => {}
        }
    }

    /// A process asks for a connection.
    pub fn connects(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        process: u16,
        server: u8,
    ) -> ConnId {
        let actor = self.processes[process].actor;
        let conn = servers.conns.open(stage, actor, server);
        self.processes[process].opening = Some(conn);
        conn
    }

    /// A client sends something, and a fault that has waited for it strikes.
    pub fn send_to_server(
        &mut self,
        stage: &mut Stage<'_>,
        servers: &mut Servers,
        id: ConnId,
        message: ToServer,
    ) {
        let Some(conn) = servers.conns.network.conn(id) else { return };
        if !conn.client_open {
            return;
        }
        let actor = conn.actor;
        let session = self.processes[actor.process].session();
        stage.visible.sends(session, &message);
        let (mut armed, mut owner) = (None, None);
        if let ToServer::Request { xid, request } = &message {
            self.processes[actor.process].dozes_since_ns = None;
            armed = self.disarm(stage, actor.process, request);
            if armed.is_some() {
                owner = stage.knowledge.owner(&request.path());
            }
            watch!(stage, invariants.sent(id, session, *xid, request));
        }
        servers.conns.send_to_server(stage, id, message);
        match armed {
            Some(Armed::Lose(loss)) => {
                stage.once("connection dropped at a request");
                servers.conns.lose(stage, id, loss);
            }
            Some(Armed::ExpireOwner) => {
                if let Some(owner) = owner {
                    stage.once("owner of what was looked at expired");
                    servers.expire_session(stage, owner);
                }
            }
            Some(armed @ (Armed::Pause { .. } | Armed::Crash { .. } | Armed::Meddle(_))) => {
                stage.queue.push(stage.now, SimEvent::Strike { actor, armed });
            }
            None => {}
        }
    }

    /// What was to happen as the process sends this request.
    fn disarm(&mut self, stage: &mut Stage<'_>, process: u16, request: &Request) -> Option<Armed> {
        let p = &mut self.processes[process];
        if p.armed.is_empty() {
            return None;
        }
        let mine = p.client.as_ref().map(|c| c.session());
        let others = stage.knowledge.owner(&request.path()).is_some_and(|owner| Some(owner) != mine);
        let at = p.armed.iter().position(|(when, armed)| {
            fits(*when, request) && (others || !matches!(armed, Armed::ExpireOwner))
        })?;
        Some(p.armed.remove(at).1)
    }

    /// An actor does something that a fault may have waited for.
    fn aimed_at(&mut self, stage: &mut Stage<'_>, actor: ActorId, when: When) {
        let armed = &mut self.processes[actor.process].armed;
        if let Some(at) = armed.iter().position(|(aim, _)| *aim == when) {
            let (_, armed) = armed.remove(at);
            // Not within the turn of the process, which is under way.
            stage.queue.push(stage.now, SimEvent::Strike { actor, armed });
        }
    }

    /// Serves what the code of a process asks for, but for requests, which are its session's.
    pub fn serve_one(&mut self, stage: &mut Stage<'_>, process: u16, ask: Ask) {
        let p = &mut self.processes[process];
        let actor = p.actor;
        let since_ns = p.dozes_since_ns.take();
        match ask {
            Ask::Sleep { duration, completer } => {
                p.dozes_since_ns = since_ns.or(Some(stage.now));
                let ns = u64::try_from(duration.min(Duration::from_secs(1 << 30)).as_nanos());
                let after = p.clock.real_ns(ns.expect("thirty years are not too many nanoseconds"));
                wake_after(stage, actor, after, true, completer);
            }
            Ask::Point { completer } => {
                let [_, most] = stage.swarm.latency_ns;
                let after = stage.choices.below(Stream::Point, process.into(), most.max(1));
                wake_after(stage, actor, after, false, completer);
            }
            Ask::Work { completer } => {
                let after = work(stage, process);
                if stage.knowledge.is_holding(actor) {
                    // Before work that is over at once.
                    self.aimed_at(stage, actor, When::NextWork);
                }
                wake_after(stage, actor, after, false, completer);
            }
            Ask::Write { completer, .. } if !stage.has_effects() => {
                completer.complete(true);
            }
            Ask::Write { thread, resource, token, completer } => {
                let (after, actor) = (travel(stage, process), actor.of_thread(thread));
                let event = SimEvent::WriteArrives { actor, resource, token, completer };
                stage.queue.push(stage.now + after, event);
            }
            Ask::Observe { thread, what } => {
                if thread > 0 && self.trial.programs().is_some() {
                    p.threads.insert(thread);
                }
                p.polling.tells(&what);
                self.observed(stage, actor.of_thread(thread), what);
            }
            Ask::Spawn(task) => {
                let code = async move {
                    task.await;
                    None
                };
                self.tasks.executor.spawn(process, Box::pin(code));
            }
            Ask::EndThread(thread) => thread_ends(stage, actor.of_thread(thread)),
            Ask::Submit { .. } => unreachable!("sessions take requests"),
        }
    }

    /// A write reaches the resource, whether or not its writer still lives.
    pub fn write_arrives(
        &mut self,
        stage: &mut Stage<'_>,
        actor: ActorId,
        resource: Resource,
        token: Option<Zxid>,
        completer: Completer<bool>,
    ) {
        let accepted = self.outside.write(resource, token);
        let process = &self.processes[actor.process];
        if !process.is(actor) {
            stage.once("write arrived after its writer's death");
        } else if process.client.as_ref().is_some_and(|client| !stage.knowledge.is_open(client.session())) {
            stage.once("write arrived after its writer's session had ended");
        }
        stage.establish(GroundTruth::Wrote { resource, actor, token, accepted });
        let x = stage.choices.below(Stream::Write, actor.process.into(), 1 << 16);
        let after = share(stage.swarm.latency_ns[1], x, stage.swarm.latency_power);
        stage.queue.push(stage.now + after, SimEvent::WriteAnswered { actor, accepted, completer });
    }

    fn observed(&mut self, stage: &mut Stage<'_>, actor: ActorId, what: Observation) {
        match &what {
            Observation::Granted { lock: what, .. }
            | Observation::Shares { lock: what, .. }
            | Observation::Enters { lock: what }
            | Observation::Begins { about: what, .. } => {
                // Once for each grant, though most are told twice.
                if !stage.knowledge.is_holding(actor) {
                    self.aimed_at(stage, actor.main(), When::NextGrant);
                }
                stage.knowledge.holds(actor, what.clone());
            }
            Observation::Leaves { lock: what } | Observation::Ends { about: what, .. } => {
                stage.knowledge.left(actor, what);
                // Each thread goes through all the rounds.
                if actor.thread == 0 {
                    let process = &mut self.processes[actor.process];
                    process.rounds_left = process.rounds_left.saturating_sub(1);
                }
            }
            Observation::Released { lock } => stage.knowledge.left(actor, lock),
            Observation::Attempts { .. } | Observation::GivesUp { .. } | Observation::Notes { .. } => {}
        }
        stage.says(actor, what);
    }

    /// The main task of a life has ended.
    pub fn finished(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, process: u16, end: End) {
        if stage.phase == Phase::Setup {
            self.begin_actors(stage);
            self.processes[process].finished = Some(end);
            return;
        }
        let come_back = |lives: &mut Lives, stage: &mut Stage<'_>| {
            let after = stage.choices.below(Stream::Point, process.into(), 200 * MS);
            lives.come_back(stage, process, after);
        };
        if end == End::Exited {
            self.crash_process(stage, servers, process);
            return come_back(self, stage);
        }
        let p = &mut self.processes[process];
        p.finished = Some(end);
        let actor = p.actor;
        std::mem::take(&mut p.threads)
            .into_iter()
            .for_each(|thread| thread_ends(stage, actor.of_thread(thread)));
        stage.establish(GroundTruth::Finished { actor, end });
        if end.leaves_nothing_running() {
            self.end_life(stage, servers, process);
            come_back(self, stage);
        }
    }

    /// A process stops for a while.
    pub fn pause(&mut self, stage: &mut Stage<'_>, actor: ActorId, for_ms: u64) {
        let process = &mut self.processes[actor.process];
        if process.held_back.is_some() {
            return;
        }
        process.held_back = Some(Vec::new());
        stage.knowledge.pauses(actor.process, true);
        process.pauses += 1;
        let pause = process.pauses;
        if stage.knowledge.is_holding(actor) {
            stage.once("paused while holding");
        }
        stage.establish(GroundTruth::Paused { actor });
        stage.queue.push(stage.now + for_ms * MS, SimEvent::Resume { actor, pause });
    }

    /// The process crashes; its session lives on until it expires.
    pub fn crash_process(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, process: u16) {
        let actor = self.processes[process].actor;
        self.end_life(stage, servers, process);
        stage.establish(GroundTruth::Crashed { actor });
    }

    /// Tasks, session and connections of a life are gone.
    fn end_life(&mut self, stage: &mut Stage<'_>, servers: &mut Servers, process: u16) {
        for conn in servers.conns.network.of_process(process) {
            servers.conns.close_by_client(stage, conn);
        }
        let actor = self.processes[process].actor;
        stage.knowledge.ended(actor);
        self.processes[process].end_life();
        self.tasks.executor.kill(process);
    }

    /// The run is over: all tasks end here, and nobody serves what they still ask for.
    pub fn end(&mut self) {
        for (id, process) in (0..).zip(&mut self.processes.0) {
            process.end_life();
            self.tasks.executor.kill(id);
        }
    }

    /// The process begins another life after a while, if there is anything left to do.
    pub fn come_back(&mut self, stage: &mut Stage<'_>, process: u16, after_ns: u64) {
        let p = &mut self.processes[process];
        let Some(life) = p.actor.life.checked_add(1) else { return };
        // Whoever follows a script begins again when the script says so.
        let actor = ActorId { life, ..p.actor };
        if p.rounds_left > 0 && !stage.follows_a_script() {
            self.processes[process].comes_back = true;
            stage.queue.push(stage.now + after_ns, SimEvent::Begin { actor });
        }
    }

    /// The newest ephemeral znode of a session that is the trial's.
    pub fn newest_ephemeral(&self, stage: &Stage<'_>, owner: SessionId) -> Option<ZPath> {
        let mut own: Vec<&Text> = stage.knowledge.ephemerals(owner).collect();
        own.retain(|path| self.trial.owns(path));
        // By number: the names begin with guids.
        let newest = own.into_iter().max_by_key(|path| (sequence_of(path), (*path).clone()))?;
        ZPath::parse(newest).ok()
    }
}

fn fits(when: When, request: &Request) -> bool {
    match when {
        When::NextRequest(RequestKind::Any) => true,
        When::NextRequest(RequestKind::Create) => matches!(
            request,
            Request::Create { .. } | Request::SetData { .. } | Request::SetAcl { .. } | Request::Multi { .. }
        ),
        When::NextRequest(RequestKind::Delete) => matches!(request, Request::Delete { .. }),
        When::NextRequest(RequestKind::Read) => !request.is_write(),
        When::Now | When::NextGrant | When::NextWork => false,
    }
}

/// The servers that a process connects to, in the order in which it tries them.
pub fn servers_of(stage: &mut Stage<'_>, process: u16) -> Vec<ServerId> {
    if stage.scenario.lag() > 0 {
        return stage.scenario.own_observers(process).map(ServerId).collect();
    }
    let mut servers: Vec<ServerId> = (0..stage.scenario.machines()).map(ServerId).collect();
    for last in (1..servers.len()).rev() {
        let other = stage.choices.below(Stream::Servers, process.into(), last as u64 + 1);
        servers.swap(last, other as usize);
    }
    // About so many know only one, and can go nowhere else.
    let (alone, clients) = (stage.scenario.one_server_clients.into(), stage.scenario.clients.into());
    if alone > 0 && process < stage.scenario.clients {
        let one = stage.choices.below(Stream::Servers, 1 << 16 | u64::from(process), clients) < alone;
        servers.truncate(if one { 1 } else { servers.len() });
    }
    servers
}

fn thread_ends(stage: &mut Stage<'_>, thread: ActorId) {
    stage.knowledge.thread_ended(thread);
    stage.establish(GroundTruth::ThreadEnded { actor: thread });
}

fn wake_after(stage: &mut Stage<'_>, actor: ActorId, after_ns: u64, sleeps: bool, completer: Completer<()>) {
    let at_ns = stage.now.saturating_add(after_ns);
    stage.queue.push(at_ns, SimEvent::Wake { actor, after_ns, sleeps, completer });
}

/// How long a piece of work takes: mostly short, at times longer than a session lives in silence.
fn work(stage: &mut Stage<'_>, process: u16) -> u64 {
    let [least, most] = stage.swarm.work_ns;
    let x = stage.choices.below(Stream::Work, process.into(), 1 << 16);
    // Some is over at once, so that a release meets those who are just about to look.
    if stage.choices.below(Stream::Work, process.into(), 4) < stage.swarm.quick_work {
        return least;
    }
    let spread = if stage.phase == Phase::Healed { (most - least) / 4 } else { most - least };
    least + share(spread, x, stage.swarm.work_power)
}

/// How long a write to the outside resource travels. Mostly it arrives soon, at times after the session is dead.
fn travel(stage: &mut Stage<'_>, process: u16) -> u64 {
    let long = stage.choices.below(Stream::Write, process.into(), 64) < stage.swarm.long_writes;
    let x = stage.choices.below(Stream::Write, process.into(), 1 << 16);
    let timeout = stage.granted_timeout_ns();
    let after = match long && stage.phase == Phase::Faults {
        true => share(2 * timeout, x, 1),
        false => share(stage.swarm.latency_ns[1], x, stage.swarm.latency_power),
    };
    if after > timeout {
        stage.once("write travelled for longer than a session timeout");
    }
    after
}
