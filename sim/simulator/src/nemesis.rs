//! The nemesis: does the schedule's faults when their time comes, and ends them when faults are over.

use crate::clock::{Clock, MS};
use crate::event::{Armed, Meddling, SimEvent};
use crate::fault::{Fault, Node, RequestKind, When};
use crate::hosted::Client;
use crate::machine::ServerHost;
use crate::simulation::{Phase, Simulation};
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
        if self.phase != Phase::Faults {
            return;
        }
        let schedule = self.schedule;
        let fault = &schedule.faults[index].fault;
        self.note(Place::Simulation, &What::Fault(fault));
        self.once(fault.into());
        match *fault {
            Fault::ServerCrash { server, down_ms, mid_sync } => self.crash(server, down_ms, mid_sync),
            Fault::SlowSync { server, sync_ms, for_ms } => self.slow_sync(server, sync_ms, for_ms),
            Fault::Drop { client, when, what } => self.aim(client, when, Armed::Lose(what)),
            Fault::SlowLink { client, factor, for_ms } => self.slow_link(client, factor, for_ms),
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
                if let Some(server) = self.leader() {
                    self.once("leader crashed");
                    if self.cluster.server(server).is_some_and(|it| it.peer().in_flight().next().is_some()) {
                        self.once("leader crashed with a proposal in flight");
                    }
                    self.crash(server, down_ms, mid_sync);
                }
            }
            Fault::Partition { ref cut, for_ms } => {
                let servers = self.scenario.machines();
                let cut: Vec<[u8; 2]> =
                    cut.iter().copied().filter(|pair| pair.iter().all(|server| *server < servers)).collect();
                self.partition(&cut, for_ms);
            }
            Fault::ServerPause { server, for_ms } => self.pause_server(server, for_ms),
            Fault::LeaderPause { for_ms } => {
                if let Some(server) = self.leader() {
                    self.pause_server(server, for_ms);
                }
            }
            Fault::ServerLag { server, factor, for_ms } => self.lag(server, factor, for_ms),
            Fault::DiskRot { .. } | Fault::DiskError { .. } | Fault::DiskFull { .. } => {
                self.disk_fault(fault)
            }
            Fault::AdminDelete { client, when } => {
                self.aim(client, when, Armed::Meddle(Meddling::Delete));
            }
            Fault::AdminWrite { client, when, ref data } => {
                self.aim(client, when, Armed::Meddle(Meddling::Write(data.as_str().into())));
            }
            Fault::Stranger { client, server } => self.stranger(client, server),
            Fault::LinkBreak { between } => {
                for link in self.cluster.between(between) {
                    self.once("link between servers broke");
                    self.break_link(link);
                }
            }
        }
    }

    fn disk_fault(&mut self, fault: &Fault) {
        match *fault {
            Fault::DiskRot { server, file, at_permille, bytes, spares, down_ms } => {
                let rots =
                    server < self.scenario.machines() && self.rot(server, file, at_permille, bytes, spares);
                if rots && down_ms > 0 {
                    self.crash_server(server, down_ms);
                }
            }
            Fault::DiskError { server, down_ms } => {
                if let Some(host) = self.cluster.hosts.get_mut(usize::from(server)) {
                    host.own.fails_next_ms = Some(down_ms);
                }
            }
            Fault::DiskFull { server, for_ms, down_ms } => {
                let until_ns = self.now + for_ms * MS;
                if let Some(host) = self.cluster.hosts.get_mut(usize::from(server)) {
                    (host.own.full_until_ns, host.own.full_down_ms) = (until_ns, down_ms);
                }
            }
            _ => {}
        }
    }

    /// Somebody asks a server for a client's session, and does not know its password.
    fn stranger(&mut self, client: u16, server: u8) {
        let victim = self.processes.get(usize::from(client)).and_then(|process| process.client.as_ref());
        let session = victim.map(Client::session).unwrap_or_default();
        let is_up = |host: &ServerHost| host.server.is_some();
        if session == SessionId::NONE || !self.cluster.hosts.get(usize::from(server)).is_some_and(is_up) {
            return;
        }
        self.once("a stranger asked for a session");
        let process = self.scenario.clients;
        let actor = self.processes[usize::from(process)].actor;
        let conn = self.network.open(actor, server);
        let timeout_ms = self.scenario.session_timeout_ms;
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms, session, password: [0xff; 16] };
        self.send_to_server(conn, ToServer::Connect(request));
    }

    fn crash(&mut self, server: u8, down_ms: u64, mid_sync: bool) {
        match self.cluster.hosts.get_mut(usize::from(server)) {
            Some(host) if mid_sync => host.crash_at_sync_ms = Some(down_ms),
            Some(_) => self.crash_server(server, down_ms),
            None => {}
        }
    }

    /// A fault strikes a client now, or as soon as it does what the fault waits for.
    fn aim(&mut self, client: u16, when: When, armed: Armed) {
        if client >= self.scenario.clients {
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
            self.queue.push(self.now, SimEvent::Strike { actor, armed });
        }
    }

    /// A fault strikes an actor, unless it is gone by now.
    pub fn strike(&mut self, actor: ActorId, armed: Armed) {
        if self.phase != Phase::Faults || !self.processes[usize::from(actor.process)].is(actor) {
            return;
        }
        match armed {
            Armed::Lose(what) => {
                for conn in self.network.of_process(actor.process) {
                    self.lose(conn, what);
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
        let clients = usize::from(self.scenario.clients);
        match node {
            Node::Server(id) => self.cluster.hosts.get_mut(usize::from(id)).map(|host| &mut host.own.clock),
            Node::Client(id) => self.processes[..clients].get_mut(usize::from(id)).map(|it| &mut it.clock),
        }
    }

    fn jump(&mut self, node: Node, by_ms: i64) {
        let Some(clock) = self.clock(node) else { return };
        clock.jump(by_ms);
        match node {
            Node::Server(server) => self.server_event(server, Event::ClockSet { by_ms }),
            Node::Client(_) => self.once("a client's clock jumped"),
        }
    }

    fn slow_sync(&mut self, server: u8, sync_ms: u64, for_ms: u64) {
        let until_ns = self.now + for_ms * MS;
        if let Some(host) = self.cluster.hosts.get_mut(usize::from(server)) {
            host.own.slow_sync_ns = Some(sync_ms * MS);
            host.own.slow_until_ns = until_ns;
            self.queue.push(until_ns, SimEvent::SlowSyncEnds { server, until_ns });
        }
    }

    /// A while of slow syncs ends, unless another one has begun.
    pub fn slow_sync_ends(&mut self, server: u8, until_ns: u64) {
        let host = &mut self.cluster.hosts[usize::from(server)];
        if host.own.slow_until_ns == until_ns {
            host.own.slow_sync_ns = None;
        }
    }

    fn slow_link(&mut self, client: u16, factor: u32, for_ms: u64) {
        if client < self.scenario.clients {
            let until_ns = self.now + for_ms * MS;
            let process = &mut self.processes[usize::from(client)];
            process.slow_factor = factor.max(1);
            process.slow_until_ns = until_ns;
            self.queue.push(until_ns, SimEvent::SlowLinkEnds { client, until_ns });
        }
    }

    /// A while of slow messages ends, unless another one has begun.
    pub fn slow_link_ends(&mut self, client: u16, until_ns: u64) {
        let process = &mut self.processes[usize::from(client)];
        if process.slow_until_ns == until_ns {
            process.slow_factor = 1;
        }
    }

    fn expire(&mut self, client: u16) {
        if client >= self.scenario.clients {
            return;
        }
        let Some(session) = self.processes[usize::from(client)].client.as_ref().map(|c| c.session()) else {
            return;
        };
        self.expire_session(session);
    }

    /// Servers end a session although its client is well.
    pub fn expire_session(&mut self, session: SessionId) {
        watch!(self.invariants, forces(Some(session)));
        for server in 0..self.scenario.machines() {
            if self.host(server).own.held_back.is_none() {
                self.server_event(server, Event::Expire { session });
            }
        }
        watch!(self.invariants, forces(None));
    }

    fn crash_client(&mut self, actor: ActorId, restart_after_ms: u64) {
        if self.knowledge.is_holding(actor) {
            self.once("crashed while holding");
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
        process.pauses += 1;
        let pause = process.pauses;
        if self.knowledge.is_holding(actor) {
            self.once("paused while holding");
        }
        self.establish(GroundTruth::Paused { actor });
        self.queue.push(self.now + for_ms * MS, SimEvent::Resume { actor, pause });
    }

    /// A process goes on: its timers fire first, then it sees what the network has brought. A program of others asks the
    /// operating system, which looks for what has come before it says that the time is up.
    pub fn resume(&mut self, actor: ActorId, pause: u32) {
        let process = &mut self.processes[usize::from(actor.process)];
        if process.actor != actor || process.pauses != pause {
            return;
        }
        let Some(held_back) = process.held_back.take() else { return };
        self.establish(GroundTruth::Resumed { actor });
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
        let now = self.now;
        let Some(clock) = self.clock(node) else { return };
        let changed_permille = clock.skew(now, permille);
        if matches!(node, Node::Server(_)) {
            watch!(self.invariants, skewed(self.scenario.tick_ms, changed_permille));
        }
    }

    /// Faults are over: what is paused goes on, what is down starts, what is slow is fast. Clocks stay as wrong
    /// as they are.
    pub fn heal(&mut self) {
        if self.phase != Phase::Faults {
            return;
        }
        self.note(Place::Simulation, &What::Heal);
        self.phase = Phase::Healed;
        self.deadline.heal(self.now);
        watch!(self.invariants, set_last_counter(PeerConfig::LAST_COUNTER));
        for server in 0..self.scenario.machines() {
            let host = &mut self.cluster.hosts[usize::from(server)];
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
            let host = self.host(server);
            if host.server.is_none() {
                let incarnation = host.starts;
                self.server_up(server, incarnation);
            }
        }
        for server in 0..self.scenario.machines() {
            if self.host(server).own.stays_out {
                self.give_new_disk(server);
            }
        }
        for (from, to) in self.cluster.partitions.cuts() {
            while self.cluster.partitions.is_cut(from, to) {
                self.partition_ends(&[[from.0, to.0]]);
            }
        }
        for client in 0..self.scenario.clients {
            let process = &mut self.processes[usize::from(client)];
            process.armed.clear();
            process.slow_factor = 1;
            let (actor, pause) = (process.actor, process.pauses);
            self.resume(actor, pause);
        }
    }
}
