//! The simulation: one loop that takes one event after the other, and owns everything that they happen to.

use crate::choices::{Choices, Stream};
use crate::clients::Clients;
use crate::deadline::Deadline;
use crate::describe::tell;
use crate::event::SimEvent;
use crate::fault::Schedule;
use crate::herd::Waiting;
use crate::judge::Judge;
use crate::knowledge::Knowledge;
use crate::lives::Lives;
use crate::machine::Machine;
use crate::nemesis::Nemesis;
use crate::next_event::Orders;
use crate::options::RunOptions;
use crate::process::{Process, Processes};
use crate::queue::Queue;
use crate::rest::Ending;
use crate::result::Run;
use crate::scenario::Scenario;
use crate::server_host::Servers;
use crate::stage::{Phase, Stage};
use crate::swarm::Swarm;
use crate::trace::Trace;
use crate::visible::Visible;
use crate::zab_checks::ZabChecks;
use std::sync::Arc;
use zk_api::{Data, Text, Zxid, open_acl};
use zk_cluster::disk::Disk;
use zk_harness::pulse::Pulse;
use zk_harness::trial::Trial;
use zk_invariants::{Invariant, Invariants};
use zk_proto::disk::FileId;
use zk_proto::server::ServerId;
use zk_proto::sessions::SessionTable;
use zk_proto::snapshot;
use zk_proto::tree::{DataTree, Node};
use zk_proto::txn::NodeKind;
use zk_proto::zab::PeerConfig;

/// Everything there is in a run.
pub struct Simulation<'a> {
    pub stage: Stage<'a>,
    pub servers: Servers,
    pub clients: Clients,
    /// Another order of some events, if one is given.
    pub orders: Orders<'a>,
}

impl<'a> Simulation<'a> {
    /// A simulation in which nothing has happened yet. Must be called inside a madsim runtime.
    pub fn new(
        trial: &Arc<Trial>,
        scenario: &'a Scenario,
        seed: u64,
        schedule: &'a Schedule,
        options: &'a RunOptions,
        pulse: &Pulse,
    ) -> Simulation<'a> {
        let mut choices = Choices::new(seed, &options.choices, options.record_choices);
        let peer = peer_config(scenario, options, &mut choices);
        let mut servers: Vec<_> =
            (0..scenario.machines()).map(|id| Machine::host(id, scenario, &peer, &mut choices)).collect();
        let begins_with = counted(trial);
        if !begins_with.is_empty() {
            servers.iter_mut().for_each(|host| host.disk = beginning(&begins_with));
        }
        let processes = (0..=scenario.clients).map(|id| Process::new(id, scenario, &mut choices)).collect();
        let swarm = Swarm::draw(scenario, &mut choices);
        let stage = Stage {
            scenario,
            schedule,
            options,
            run: Run { seed, ..Run::default() },
            now: 0,
            phase: Phase::Setup,
            queue: Queue::new(),
            choices,
            swarm,
            trace: Trace::new(options.trace, options.log),
            visible: Visible::new(options.visible),
            knowledge: Knowledge::default(),
            invariants: Invariants::new(scenario.invariants(peer.last_counter)).begins_with(&begins_with),
            zab: ZabChecks::default(),
            judge: Judge::new(trial, pulse.clone(), options.stop_at),
            waiting: Waiting::default(),
            deadline: Deadline::new(scenario.faults_ns(), scenario.heal_ns()),
            polled_after: None,
            over: false,
            pulse: pulse.clone(),
        };
        Simulation {
            stage,
            servers: Servers::new(servers, scenario.clients + 1),
            clients: Clients::new(Lives::new(trial.clone(), Processes(processes))),
            orders: Orders::new(options.order.as_ref()),
        }
    }

    /// Runs until nothing more is to be learned. If a script is to be taken, `follow` takes it once all servers serve.
    pub fn run(&mut self, mut follow: Option<impl FnOnce(&mut Self)>) {
        for server in 0..self.stage.scenario.machines() {
            self.servers.start_server(&mut self.stage, server);
        }
        self.redraw();
        self.clients.begin_setup(&mut self.stage, &mut self.servers);
        self.turn();
        while !self.stage.over {
            if self.stage.phase == Phase::Faults
                && self.servers.ensemble.cluster.hosts.iter().all(|host| host.is_serving)
                && let Some(follow) = follow.take()
            {
                follow(self);
                continue;
            }
            if self.ending().time_is_up() {
                self.stage.now = self.stage.deadline.at_ns();
                break;
            }
            let Some((at, event)) = self.next_event() else { break };
            // What a script or an order has held up is late.
            self.stage.now = self.stage.now.max(at);
            self.stage.run.steps += 1;
            let budget = self.stage.budget();
            if self.stage.run.steps > budget {
                let what = format!("{budget} events were not enough");
                self.stage.invariants.report.broken(Invariant::StepBudget, what);
                self.stage.tell_broken();
                return;
            }
            self.tell_last(&event);
            self.happen(event);
            self.turn();
            self.redraw();
            self.stage.tell_broken();
            self.stage.over |= self.stage.judge.has_found();
            if self.ending().may_heal_early() {
                self.nemesis().heal();
                self.turn();
            }
            if self.stage.phase == Phase::Healed && self.ending().is_at_rest() {
                break;
            }
        }
        self.stage.invariants.report.tested(Invariant::StepBudget);
        self.stage.invariants.report.tested(Invariant::EveryStepEnds);
        if !self.stage.over {
            self.ending().judge_rest();
        }
    }

    /// The next event: that of an order, if one is given, or the one that time brings.
    fn next_event(&mut self) -> Option<(u64, SimEvent)> {
        let (network, links) = (&self.servers.conns.network, &self.servers.ensemble.cluster.links);
        let tell = |event: &SimEvent| tell(event, network, links);
        self.orders.next(&mut self.stage.queue, self.stage.now, self.stage.swarm.latency_ns[1], tell)
    }

    /// Notes an event that is the last before a redraw.
    fn tell_last(&mut self, event: &SimEvent) {
        if self.stage.options.redraw.is_some_and(|redraw| redraw.after == self.stage.run.steps) {
            self.stage.run.redrawn = Some((
                self.stage.now,
                tell(event, &self.servers.conns.network, &self.servers.ensemble.cluster.links),
            ));
        }
    }

    /// Draws anew from here on, if that is to be.
    fn redraw(&mut self) {
        if let Some(redraw) = self.stage.options.redraw.filter(|redraw| redraw.after == self.stage.run.steps)
        {
            self.stage.choices.redraw(redraw.with);
        }
    }

    /// Lets something happen, unless it happens at a server whose process stands still.
    pub fn happen(&mut self, event: SimEvent) {
        let Some(event) = self.servers.happen(&mut self.stage, event) else { return };
        match event {
            SimEvent::Fault(index) => self.nemesis().fault(index),
            SimEvent::ServerResumes { server, pause } => self.nemesis().server_resumes(server, pause),
            SimEvent::Heal => self.nemesis().heal(),
            at_client => self.clients.happen(&mut self.stage, &mut self.servers, at_client),
        }
    }

    /// Runs the tasks that are ready until all wait.
    pub fn turn(&mut self) {
        self.clients.turn(&mut self.stage, &mut self.servers);
    }

    /// Who does faults.
    pub fn nemesis(&mut self) -> Nemesis<'_, 'a> {
        Nemesis { stage: &mut self.stage, servers: &mut self.servers, clients: &mut self.clients }
    }

    fn ending(&mut self) -> Ending<'_, 'a> {
        Ending { stage: &mut self.stage, servers: &self.servers, lives: &self.clients.lives }
    }
}

/// What is there before anything happens, where the trial sets counters, which no request can: its setup.
fn counted(trial: &Trial) -> Vec<(Text, i32)> {
    let counter =
        |path: &Text| trial.counters.iter().find(|(of, _)| of == path).map_or(0, |(_, counter)| *counter);
    let setup = trial.setup.iter().filter(|_| !trial.counters.is_empty());
    setup.map(|path| (path.clone(), counter(path))).collect()
}

/// A disk with a snapshot of it.
fn beginning(znodes: &[(Text, i32)]) -> Disk {
    let mut tree = DataTree::new();
    for (path, created) in znodes {
        let node = Node::new(Data::NULL, open_acl(), NodeKind::Persistent, Zxid::ZERO, 0);
        tree.restore(path.clone(), Node { created: *created, ..node });
    }
    let bytes = snapshot::encode(&tree, &SessionTable::default());
    Disk::with([(FileId::Snapshot(Zxid::ZERO), bytes)].into())
}

/// How the servers' peers are set up, all alike. In some runs a learner soon needs a snapshot, and in some an epoch
/// is soon worn out.
fn peer_config(scenario: &Scenario, options: &RunOptions, choices: &mut Choices) -> PeerConfig {
    let voters = (0..scenario.servers).map(ServerId);
    let observers = (scenario.servers..scenario.machines()).map(ServerId);
    let usual = PeerConfig::for_server(ServerId(0), voters, observers, scenario.tick_ms);
    let mut peer = PeerConfig { mutant: options.mutant, ..usual };
    if scenario.machines() > 1 {
        peer.diff_max = [peer.diff_max, peer.diff_max, 6, 1][choices.below(Stream::Swarm, 40, 4) as usize];
        peer.last_counter =
            [peer.last_counter, peer.last_counter, 30, 8][choices.below(Stream::Swarm, 41, 4) as usize];
    }
    peer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Record;
    use zk_proto::server::Timer;

    #[test]
    fn in_some_runs_snapshots_are_needed_soon_or_slow_or_epochs_worn_out() {
        let draw = |seed| {
            let mut choices = Choices::new(seed, &Record::new(), false);
            let scenario = Scenario::default();
            let peer = peer_config(&scenario, &RunOptions::default(), &mut choices);
            let mut host = Machine::host(0, &scenario, &peer, &mut choices);
            let is_slow =
                host.own.set_timer(Timer::Snapshot, 10).0 > host.own.set_timer(Timer::Sessions, 10).0;
            [peer.diff_max == 1, peer.last_counter == 8, host.config.snapshot_every == 20, is_slow]
        };
        let all: Vec<_> = (0..64).map(draw).collect();
        assert!((0..4).all(|way| all.iter().any(|drawn| drawn[way])), "{all:?}");
    }
}
