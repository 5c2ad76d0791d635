//! The nemesis: does the schedule's faults when their time comes, and ends them when faults are over.

use crate::clock::{Clock, MS};
use crate::event::{Armed, Meddling, SimEvent};
use crate::fault::{Fault, Node, RequestKind, When};
use crate::hosted::Client;
use crate::machine::ServerHost;
use crate::simulation::Simulation;
use crate::stage::Phase;
use crate::trace_event::{Place, What};
use crate::watch::watch;
use zk_api::{SessionId, Zxid};
use zk_proto::message::{ConnectRequest, ToServer};
use zk_proto::server::Event;
use zk_proto::zab::PeerConfig;
use zk_trials::event::{ActorId, GroundTruth};

impl Simulation<'_> {
    /// A fault's time has come.
    pub fn fault(&mut self, index: usize) {
        if self.stage.phase != Phase::Faults {
            return;
        }
        let schedule = self.stage.schedule;
        let fault = &schedule.faults[index].fault;
        self.stage.note(Place::Simulation, &What::Fault(fault));
        self.stage.once(fault.into());
        let (stage, servers) = (&mut self.stage, &mut self.servers);
        match *fault {
            Fault::ServerCrash { server, down_ms, mid_sync } => {
                servers.crash(stage, server, down_ms, mid_sync)
            }
            Fault::SlowSync { server, sync_ms, for_ms } => {
                servers.ensemble.slow_sync(stage, server, sync_ms, for_ms)
            }
            Fault::Drop { client, when, what } => self.aim(client, when, Armed::Lose(what)),
            Fault::SlowLink { client, factor, for_ms } => {
                servers.conns.slow_link(stage, client, factor, for_ms)
            }
            Fault::Expire { client } => self.expire(client),
            Fault::ExpireOwner { reader } => {
                self.aim(reader, When::NextRequest(RequestKind::Read), Armed::ExpireOwner);
            }
            Fault::ClientCrash { client, when, restart_after_ms } => {
                self.aim(client, when, Armed::Crash { restart_after_ms });
            }
            Fault::ClientPause { client, when, for_ms } => self.aim(client, when, Armed::Pause { for_ms }),
            Fault::ClockSkew { node, permille } => self.skew(node, permille),
            Fault::ClockJump { node, by_ms } => self.jump(node, by_ms),
            Fault::LeaderCrash { down_ms, mid_sync } => {
                if let Some(server) = servers.ensemble.leader() {
                    stage.once("leader crashed");
                    let leads = servers.ensemble.cluster.server(server);
                    if leads.is_some_and(|it| it.peer().in_flight().next().is_some()) {
                        stage.once("leader crashed with a proposal in flight");
                    }
                    servers.crash(stage, server, down_ms, mid_sync);
                }
            }
            Fault::Partition { ref cut, for_ms } => {
                let there = |pair: &&[u8; 2]| pair.iter().all(|server| *server < stage.scenario.machines());
                let cut: Vec<[u8; 2]> = cut.iter().filter(there).copied().collect();
                servers.ensemble.partition(stage, &cut, for_ms);
            }
            Fault::ServerPause { server, for_ms } => servers.ensemble.pause_server(stage, server, for_ms),
            Fault::LeaderPause { for_ms } => {
                if let Some(server) = servers.ensemble.leader() {
                    servers.ensemble.pause_server(stage, server, for_ms);
                }
            }
            Fault::ServerLag { server, factor, for_ms } => {
                servers.ensemble.lag(stage, server, factor, for_ms)
            }
            Fault::DiskRot { .. } | Fault::DiskError { .. } | Fault::DiskFull { .. } => {
                servers.disk_fault(stage, fault)
            }
            Fault::AdminDelete { client, when } => {
                self.aim(client, when, Armed::Meddle(Meddling::Delete));
            }
            Fault::AdminWrite { client, when, ref data } => {
                self.aim(client, when, Armed::Meddle(Meddling::Write(data.as_str().into())));
            }
            Fault::Stranger { client, server } => self.stranger(client, server),
            Fault::LinkBreak { between } => {
                for link in servers.ensemble.cluster.between(between) {
                    stage.once("link between servers broke");
                    servers.ensemble.break_link(stage, link);
                }
            }
        }
    }

    /// Somebody asks a server for a client's session, and does not know its password.
    fn stranger(&mut self, client: u16, server: u8) {
        let victim = self.processes.get(usize::from(client)).and_then(|process| process.client.as_ref());
        let session = victim.map(Client::session).unwrap_or_default();
        let is_up = |host: &ServerHost| host.server.is_some();
        if session == SessionId::NONE
            || !self.servers.ensemble.cluster.hosts.get(usize::from(server)).is_some_and(is_up)
        {
            return;
        }
        self.stage.once("a stranger asked for a session");
        let process = self.stage.scenario.clients;
        let actor = self.processes[usize::from(process)].actor;
        let conn = self.servers.conns.network.open(actor, server);
        let timeout_ms = self.stage.scenario.session_timeout_ms;
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms, session, password: [0xff; 16] };
        self.send_to_server(conn, ToServer::Connect(request));
    }

    /// A fault strikes a client now, or as soon as it does what the fault waits for.
    fn aim(&mut self, client: u16, when: When, armed: Armed) {
        if client >= self.stage.scenario.clients {
            return;
        }
        let process = &mut self.processes[usize::from(client)];
        let actor = process.actor;
        match when {
            When::Now => self.strike(actor, armed),
            When::NextRequest(_) | When::NextGrant | When::NextWork => process.armed.push((when, armed)),
        }
    }

    /// An actor does something that a fault may have waited for.
    pub fn aimed_at(&mut self, actor: ActorId, when: When) {
        let armed = &mut self.processes[usize::from(actor.process)].armed;
        if let Some(at) = armed.iter().position(|(aim, _)| *aim == when) {
            let (_, armed) = armed.remove(at);
            // Not within the turn of the process, which is under way.
            self.stage.queue.push(self.stage.now, SimEvent::Strike { actor, armed });
        }
    }

    /// A fault strikes an actor, unless it is gone by now.
    pub fn strike(&mut self, actor: ActorId, armed: Armed) {
        if self.stage.phase != Phase::Faults || !self.processes[usize::from(actor.process)].is(actor) {
            return;
        }
        match armed {
            Armed::Lose(what) => {
                for conn in self.servers.conns.network.of_process(actor.process) {
                    self.servers.conns.lose(&mut self.stage, conn, what);
                }
            }
            // Strikes with a request or not at all.
            Armed::ExpireOwner => {}
            Armed::Pause { for_ms } => self.pause(actor, for_ms),
            Armed::Crash { restart_after_ms } => self.crash_client(actor, restart_after_ms),
            Armed::Meddle(meddling) => self.meddle(actor, meddling),
        }
    }

    /// A clock, if there is such a node.
    fn clock(&mut self, node: Node) -> Option<&mut Clock> {
        let clients = usize::from(self.stage.scenario.clients);
        match node {
            Node::Server(id) => {
                self.servers.ensemble.cluster.hosts.get_mut(usize::from(id)).map(|host| &mut host.own.clock)
            }
            Node::Client(id) => self.processes[..clients].get_mut(usize::from(id)).map(|it| &mut it.clock),
        }
    }

    fn jump(&mut self, node: Node, by_ms: i64) {
        let Some(clock) = self.clock(node) else { return };
        clock.jump(by_ms);
        match node {
            Node::Server(server) => {
                self.servers.server_event(&mut self.stage, server, Event::ClockSet { by_ms })
            }
            Node::Client(_) => self.stage.once("a client's clock jumped"),
        }
    }

    fn expire(&mut self, client: u16) {
        if client >= self.stage.scenario.clients {
            return;
        }
        let Some(session) = self.processes[usize::from(client)].client.as_ref().map(|c| c.session()) else {
            return;
        };
        self.servers.expire_session(&mut self.stage, session);
    }

    fn crash_client(&mut self, actor: ActorId, restart_after_ms: u64) {
        if self.stage.knowledge.is_holding(actor) {
            self.stage.once("crashed while holding");
        }
        self.crash_process(actor.process);
        self.come_back(actor.process, restart_after_ms * MS);
    }

    /// A process stops for a while.
    pub fn pause(&mut self, actor: ActorId, for_ms: u64) {
        let process = &mut self.processes[usize::from(actor.process)];
        if process.held_back.is_some() {
            return;
        }
        process.held_back = Some(Vec::new());
        self.stage.knowledge.pauses(actor.process, true);
        process.pauses += 1;
        let pause = process.pauses;
        if self.stage.knowledge.is_holding(actor) {
            self.stage.once("paused while holding");
        }
        self.stage.establish(GroundTruth::Paused { actor });
        self.stage.queue.push(self.stage.now + for_ms * MS, SimEvent::Resume { actor, pause });
    }

    /// A process goes on: its timers fire first, then it sees what the network has brought. A program of others asks the
    /// operating system, which looks for what has come before it says that the time is up.
    pub fn resume(&mut self, actor: ActorId, pause: u32) {
        let process = &mut self.processes[usize::from(actor.process)];
        if process.actor != actor || process.pauses != pause {
            return;
        }
        let Some(held_back) = process.held_back.take() else { return };
        self.stage.knowledge.pauses(actor.process, false);
        self.stage.establish(GroundTruth::Resumed { actor });
        let is_timer =
            |event: &SimEvent| matches!(event, SimEvent::ClientTimer { .. } | SimEvent::Wake { .. });
        let (timers, network): (Vec<_>, Vec<_>) = held_back.into_iter().partition(is_timer);
        let is_program =
            matches!(self.processes[usize::from(actor.process)].client, Some(Client::Program(_)));
        let [first, then] = if is_program { [network, timers] } else { [timers, network] };
        for event in first.into_iter().chain(then) {
            self.at_process(event);
            self.turn();
        }
    }

    fn skew(&mut self, node: Node, permille: i32) {
        let now = self.stage.now;
        let Some(clock) = self.clock(node) else { return };
        let changed_permille = clock.skew(now, permille);
        if matches!(node, Node::Server(_)) {
            watch!(self.stage, invariants.skewed(self.stage.scenario.tick_ms, changed_permille));
        }
    }

    /// Faults are over: what is paused goes on, what is down starts, what is slow is fast. Clocks stay as wrong
    /// as they are.
    pub fn heal(&mut self) {
        if self.stage.phase != Phase::Faults {
            return;
        }
        self.stage.note(Place::Simulation, &What::Heal);
        self.stage.phase = Phase::Healed;
        self.stage.deadline.heal(self.stage.now);
        watch!(self.stage, invariants.set_last_counter(PeerConfig::LAST_COUNTER));
        for server in 0..self.stage.scenario.machines() {
            let host = &mut self.servers.ensemble.cluster.hosts[usize::from(server)];
            host.own.slow_sync_ns = None;
            host.crash_at_sync_ms = None;
            host.own.fails_next_ms = None;
            host.own.full_until_ns = 0;
            host.own.lag_factor = 1;
            // Where somebody writes on without an end, epochs of a few transactions would follow each other for ever.
            host.config.zab.last_counter = PeerConfig::LAST_COUNTER;
            if let Some(server) = &mut host.server {
                server.set_last_counter(PeerConfig::LAST_COUNTER);
            }
            let pause = host.own.pauses;
            self.server_resumes(server, pause);
            let host = self.servers.ensemble.host(server);
            if host.server.is_none() {
                let incarnation = host.starts;
                self.servers.server_up(&mut self.stage, server, incarnation);
            }
        }
        for server in 0..self.stage.scenario.machines() {
            if self.servers.ensemble.host(server).own.stays_out {
                self.servers.give_new_disk(&mut self.stage, server);
            }
        }
        for (from, to) in self.servers.ensemble.cluster.partitions.cuts() {
            while self.servers.ensemble.cluster.partitions.is_cut(from, to) {
                self.servers.ensemble.partition_ends(&mut self.stage, &[[from.0, to.0]]);
            }
        }
        for client in 0..self.stage.scenario.clients {
            let process = &mut self.processes[usize::from(client)];
            process.armed.clear();
            let (actor, pause) = (process.actor, process.pauses);
            self.servers.conns.heal(client);
            self.resume(actor, pause);
        }
    }
}
