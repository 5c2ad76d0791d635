//! The nemesis: does the schedule's faults when their time comes, and ends them when faults are over.

use crate::clients::Clients;
use crate::clock::Clock;
use crate::event::{Armed, Meddling};
use crate::fault::{Fault, Node, RequestKind, When};
use crate::machine::ServerHost;
use crate::process::Process;
use crate::server_host::Servers;
use crate::stage::{Phase, Stage};
use crate::trace_event::{Place, What};
use crate::watch::watch;
use zk_api::{SessionId, Zxid};
use zk_proto::message::{ConnectRequest, ToServer};
use zk_proto::server::Event;
use zk_proto::zab::PeerConfig;

/// Who does faults, and to whom.
pub struct Nemesis<'s, 'a> {
    pub stage: &'s mut Stage<'a>,
    pub servers: &'s mut Servers,
    pub clients: &'s mut Clients,
}

impl Nemesis<'_, '_> {
    /// A fault's time has come.
    pub fn fault(&mut self, index: usize) {
        if self.stage.phase != Phase::Faults {
            return;
        }
        let schedule = self.stage.schedule;
        let fault = &schedule.faults[index].fault;
        self.stage.note(Place::Simulation, &What::Fault(fault));
        self.stage.once(fault.into());
        let Nemesis { stage, servers, .. } = self;
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

    /// A fault strikes a client now, or as soon as it does what the fault waits for.
    fn aim(&mut self, client: u16, when: When, armed: Armed) {
        if client >= self.stage.scenario.clients {
            return;
        }
        let process = &mut self.clients.lives.processes[client];
        let actor = process.actor;
        match when {
            When::Now => self.clients.strike(self.stage, self.servers, actor, armed),
            When::NextRequest(_) | When::NextGrant | When::NextWork => process.armed.push((when, armed)),
        }
    }

    /// Somebody asks a server for a client's session, and does not know its password.
    fn stranger(&mut self, client: u16, server: u8) {
        let victim = self.clients.lives.processes.0.get(usize::from(client));
        let session = victim.map(Process::session).unwrap_or_default();
        let is_up = |host: &ServerHost| host.server.is_some();
        if session == SessionId::NONE
            || !self.servers.ensemble.cluster.hosts.get(usize::from(server)).is_some_and(is_up)
        {
            return;
        }
        self.stage.once("a stranger asked for a session");
        let process = self.stage.scenario.clients;
        let actor = self.clients.lives.processes[process].actor;
        let conn = self.servers.conns.network.open(actor, server);
        let timeout_ms = self.stage.scenario.session_timeout_ms;
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms, session, password: [0xff; 16] };
        self.clients.lives.send_to_server(self.stage, self.servers, conn, ToServer::Connect(request));
    }

    /// A clock, if there is such a node.
    fn clock(&mut self, node: Node) -> Option<&mut Clock> {
        let clients = usize::from(self.stage.scenario.clients);
        match node {
            Node::Server(id) => {
                self.servers.ensemble.cluster.hosts.get_mut(usize::from(id)).map(|host| &mut host.own.clock)
            }
            Node::Client(id) => {
                self.clients.lives.processes.0[..clients].get_mut(usize::from(id)).map(|it| &mut it.clock)
            }
        }
    }

    fn jump(&mut self, node: Node, by_ms: i64) {
        let Some(clock) = self.clock(node) else { return };
        clock.jump(by_ms);
        match node {
            Node::Server(server) => self.servers.server_event(self.stage, server, Event::ClockSet { by_ms }),
            Node::Client(_) => self.stage.once("a client's clock jumped"),
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

    fn expire(&mut self, client: u16) {
        if client >= self.stage.scenario.clients {
            return;
        }
        let Some(session) = self.clients.lives.processes[client].client.as_ref().map(|c| c.session()) else {
            return;
        };
        self.servers.expire_session(self.stage, session);
    }

    /// The process of a server goes on.
    pub fn server_resumes(&mut self, server: u8, pause: u32) {
        for event in self.servers.ensemble.server_resumes(server, pause) {
            self.servers.happen(self.stage, event);
            self.clients.turn(self.stage, self.servers);
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
                self.servers.server_up(self.stage, server, incarnation);
            }
        }
        for server in 0..self.stage.scenario.machines() {
            if self.servers.ensemble.host(server).own.stays_out {
                self.servers.give_new_disk(self.stage, server);
            }
        }
        for (from, to) in self.servers.ensemble.cluster.partitions.cuts() {
            while self.servers.ensemble.cluster.partitions.is_cut(from, to) {
                self.servers.ensemble.partition_ends(self.stage, &[[from.0, to.0]]);
            }
        }
        for client in 0..self.stage.scenario.clients {
            let process = &mut self.clients.lives.processes[client];
            process.armed.clear();
            let (actor, pause) = (process.actor, process.pauses);
            self.servers.conns.heal(client);
            self.clients.resume(self.stage, self.servers, actor, pause);
        }
    }
}
