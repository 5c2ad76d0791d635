//! The simulation: one loop that takes one event after the other, and owns everything that they happen to.

use crate::choices::{Choices, Stream};
use crate::deadline::Deadline;
use crate::describe::tell;
use crate::event::SimEvent;
use crate::executor::Executor;
use crate::fault::Schedule;
use crate::herd::Waiting;
use crate::judge::Judge;
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::next_event::Orders;
use crate::options::RunOptions;
use crate::process::Process;
use crate::queue::Queue;
use crate::result::Run;
use crate::scenario::Scenario;
use crate::script_state::ScriptState;
use crate::server_host::Servers;
use crate::stage::{Phase, Stage};
use crate::swarm::Swarm;
use crate::trace::Trace;
use crate::visible::Visible;
use crate::zab_checks::ZabChecks;
use madsim::time::TimeHandle;
use std::sync::Arc;
use std::time::Duration;
use zk_api::Text;
use zk_invariants::{Invariant, Invariants};
use zk_proto::client::ClientOutput;
use zk_proto::server::ServerId;
use zk_proto::zab::PeerConfig;
use zk_trials::outside::Outside;
use zk_trials::pulse::Pulse;
use zk_trials::trial::Trial;

/// Everything there is in a run.
pub struct Simulation<'a> {
    pub stage: Stage<'a>,
    pub servers: Servers,
    pub trial: Arc<Trial>,
    /// The trial's own znodes, made before anybody acts.
    pub setup: Vec<Text>,
    /// Another order of some events, if one is given.
    pub orders: Orders<'a>,
    /// The script that is to be taken, if one is given.
    pub script: ScriptState<'a>,
    /// The clients, then one more that makes the trial's znodes.
    pub processes: Vec<Process>,
    pub executor: Executor,
    pub outside: Outside,
    pub client_out: Vec<ClientOutput>,
    time: RealTime,
}

/// madsim's clock, which is what code under test sees of real time; it follows the queue's.
struct RealTime {
    handle: TimeHandle,
    shown_ns: u64,
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
        let servers: Vec<_> =
            (0..scenario.machines()).map(|id| Machine::host(id, scenario, &peer, &mut choices)).collect();
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
            invariants: Invariants::new(scenario.invariants(peer.last_counter)),
            zab: ZabChecks::default(),
            judge: Judge::new(trial.held_to(), pulse.clone(), options.stop_at),
            waiting: Waiting::default(),
            deadline: Deadline::new(scenario.faults_ns(), scenario.heal_ns()),
            over: false,
            pulse: pulse.clone(),
        };
        Simulation {
            stage,
            servers: Servers::new(servers, scenario.clients + 1),
            setup: trial.setup.clone(),
            trial: trial.clone(),
            orders: Orders::new(options.order.as_ref()),
            script: ScriptState::new(scenario.script()),
            processes,
            executor: Executor::default(),
            outside: Outside::default(),
            client_out: Vec::new(),
            time: RealTime { handle: TimeHandle::current(), shown_ns: 0 },
        }
    }

    /// Runs until nothing more is to be learned.
    pub fn run(&mut self) {
        for server in 0..self.stage.scenario.machines() {
            self.servers.start_server(&mut self.stage, server);
        }
        self.redraw();
        self.begin_setup();
        self.turn();
        while !self.stage.over {
            if self.stage.phase == Phase::Faults
                && self.servers.ensemble.cluster.hosts.iter().all(|host| host.is_serving)
                && let Some(script) = self.script.take()
            {
                self.take_script(script);
                continue;
            }
            if self.time_is_up() {
                self.stage.now = self.stage.deadline.at_ns();
                break;
            }
            let Some((at, event)) = self.next_event() else { break };
            // What a script or an order has held up is late.
            self.stage.now = self.stage.now.max(at);
            self.stage.run.steps += 1;
            let budget = self.stage.scenario.events();
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
            if self.may_heal_early() {
                self.heal();
                self.turn();
            }
            if self.stage.phase == Phase::Healed && self.is_at_rest() {
                break;
            }
        }
        self.stage.invariants.report.tested(Invariant::StepBudget);
        self.stage.invariants.report.tested(Invariant::EveryStepEnds);
        if !self.stage.over {
            self.judge_rest();
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
            SimEvent::WriteArrives { actor, resource, token, completer } => {
                self.write_arrives(actor, resource, token, completer);
            }
            SimEvent::Begin { actor } => self.begin_life(actor),
            SimEvent::Fault(index) => self.fault(index),
            SimEvent::Strike { actor, armed } => self.strike(actor, armed),
            SimEvent::ServerResumes { server, pause } => self.server_resumes(server, pause),
            SimEvent::Resume { actor, pause } => self.resume(actor, pause),
            SimEvent::Heal => self.heal(),
            at_client => self.at_process(at_client),
        }
    }

    /// The process of a server goes on.
    pub fn server_resumes(&mut self, server: u8, pause: u32) {
        for event in self.servers.ensemble.server_resumes(server, pause) {
            self.happen(event);
            self.turn();
        }
    }

    /// Runs the tasks that are ready until all wait. Before that, real clocks show the queue's time.
    pub fn turn(&mut self) {
        if self.executor.has_ready() {
            let behind = self.stage.now - self.time.shown_ns;
            self.time.handle.advance(Duration::from_nanos(behind));
            self.time.shown_ns = self.stage.now;
            self.run_tasks();
        }
    }
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
