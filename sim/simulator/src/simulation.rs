//! The simulation: one loop that takes one event after the other, and owns everything that they happen to.

use crate::choices::{Choices, Stream, share};
use crate::clock::MS;
use crate::deadline::Deadline;
use crate::describe::tell;
use crate::event::SimEvent;
use crate::executor::Executor;
use crate::fault::Schedule;
use crate::herd::{Waiting, gets_ahead};
use crate::judge::Judge;
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::mailbox::GuidOrder;
use crate::network::{Direction, Network};
use crate::next_event::Orders;
use crate::options::RunOptions;
use crate::process::Process;
use crate::queue::Queue;
use crate::result::Run;
use crate::scenario::Scenario;
use crate::script_state::ScriptState;
use crate::trace::Trace;
use crate::trace_event::{Place, What};
use crate::visible::Visible;
use crate::watch::watch;
use crate::zab_checks::ZabChecks;
use madsim::time::TimeHandle;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{SessionId, Text};
use zk_cluster::cluster::Cluster;
use zk_invariants::{Invariant, Invariants};
use zk_proto::client::ClientOutput;
use zk_proto::server::{Output, ServerId};
use zk_proto::zab::PeerConfig;
use zk_trials::event::{ActorId, Event, GroundTruth, Observation};
use zk_trials::outside::Outside;
use zk_trials::pulse::Pulse;
use zk_trials::trial::Trial;

/// What a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The trial's znodes are made; nobody else acts.
    Setup,
    /// Actors act, and faults happen.
    Faults,
    /// Faults are over; everybody is to come to an end.
    Healed,
}

/// Everything there is in a run.
pub struct Simulation<'a> {
    pub scenario: &'a Scenario,
    pub schedule: &'a Schedule,
    pub options: &'a RunOptions,
    /// What came of it so far, as far as it is counted or kept here.
    pub run: Run,
    pub trial: Arc<Trial>,
    /// The trial's own znodes, made before anybody acts.
    pub setup: Vec<Text>,
    pub now: u64,
    pub phase: Phase,
    pub queue: Queue<SimEvent>,
    /// Another order of some events, if one is given.
    pub orders: Orders<'a>,
    pub choices: Choices,
    pub trace: Trace,
    /// What clients see, if it is kept.
    pub visible: Visible,
    pub network: Network,
    /// The script that is to be taken, if one is given.
    pub script: ScriptState<'a>,
    /// What ever happened among the servers, and what was checked of that.
    pub zab: ZabChecks,
    pub cluster: Cluster<Machine, Direction, SimEvent>,
    /// The clients, then one more that makes the trial's znodes.
    pub processes: Vec<Process>,
    pub executor: Executor,
    pub outside: Outside,
    pub knowledge: Knowledge,
    pub invariants: Invariants,
    pub judge: Judge,
    /// Who waits for something, and what wakes whom.
    pub waiting: Waiting,
    pub deadline: Deadline,
    pub over: bool,
    /// Since when each session has asked something and got no answer, on whatever connection.
    pub owed: BTreeMap<SessionId, u64>,
    pub pulse: Pulse,
    /// How the run as a whole is.
    pub swarm: Swarm,
    pub server_out: Vec<Output>,
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
        Simulation {
            scenario,
            schedule,
            options,
            run: Run { seed, ..Run::default() },
            setup: trial.setup.clone(),
            trial: trial.clone(),
            now: 0,
            phase: Phase::Setup,
            queue: Queue::new(),
            orders: Orders::new(options.order.as_ref()),
            choices,
            trace: Trace::new(options.trace, options.log),
            visible: Visible::new(options.visible),
            network: Network::default(),
            script: ScriptState::new(scenario.script()),
            zab: ZabChecks::default(),
            cluster: Cluster::new(servers),
            processes,
            executor: Executor::default(),
            outside: Outside::default(),
            knowledge: Knowledge::default(),
            invariants: Invariants::new(scenario.invariants(peer.last_counter)),
            judge: Judge::new(trial.held_to(), pulse.clone(), options.stop_at),
            waiting: Waiting::default(),
            deadline: Deadline::new(scenario.faults_ns(), scenario.heal_ns()),
            over: false,
            owed: BTreeMap::new(),
            pulse: pulse.clone(),
            swarm,
            server_out: Vec::new(),
            client_out: Vec::new(),
            time: RealTime { handle: TimeHandle::current(), shown_ns: 0 },
        }
    }

    /// Runs until nothing more is to be learned.
    pub fn run(&mut self) {
        for server in 0..self.scenario.machines() {
            self.start_server(server);
        }
        self.redraw();
        self.begin_setup();
        self.turn();
        while !self.over {
            if self.phase == Phase::Faults
                && self.cluster.hosts.iter().all(|host| host.is_serving)
                && let Some(script) = self.script.take()
            {
                self.take_script(script);
                continue;
            }
            if self.time_is_up() {
                self.now = self.deadline.at_ns();
                break;
            }
            let Some((at, event)) = self.next_event() else { break };
            // What a script or an order has held up is late.
            self.now = self.now.max(at);
            self.run.steps += 1;
            let budget = self.scenario.events();
            if self.run.steps > budget {
                let what = format!("{budget} events were not enough");
                self.invariants.report.broken(Invariant::StepBudget, what);
                self.tell_broken();
                return;
            }
            self.tell_last(&event);
            self.happen(event);
            self.turn();
            self.redraw();
            self.tell_broken();
            self.over |= self.judge.has_found();
            if self.may_heal_early() {
                self.heal();
                self.turn();
            }
            if self.phase == Phase::Healed && self.is_at_rest() {
                break;
            }
        }
        self.invariants.report.tested(Invariant::StepBudget);
        self.invariants.report.tested(Invariant::EveryStepEnds);
        if !self.over {
            self.judge_rest();
        }
    }

    /// The next event: that of an order, if one is given, or the one that time brings.
    fn next_event(&mut self) -> Option<(u64, SimEvent)> {
        let (network, links) = (&self.network, &self.cluster.links);
        let tell = |event: &SimEvent| tell(event, network, links);
        self.orders.next(&mut self.queue, self.now, self.swarm.latency_ns[1], tell)
    }

    /// Notes an event that is the last before a redraw.
    fn tell_last(&mut self, event: &SimEvent) {
        if self.options.redraw.is_some_and(|redraw| redraw.after == self.run.steps) {
            self.run.redrawn = Some((self.now, tell(event, &self.network, &self.cluster.links)));
        }
    }

    /// Draws anew from here on, if that is to be.
    fn redraw(&mut self) {
        if let Some(redraw) = self.options.redraw.filter(|redraw| redraw.after == self.run.steps) {
            self.choices.redraw(redraw.with);
        }
    }

    /// Lets something happen, unless it happens at a server whose process stands still.
    pub fn happen(&mut self, event: SimEvent) {
        let Some(event) = self.hold_back(event) else { return };
        match event {
            SimEvent::AtServer { conn, number, message } => self.at_server(conn, number, message),
            SimEvent::ServerSees { conn } => self.server_sees(conn),
            SimEvent::ServerTimer { server, incarnation, timer, generation } => {
                self.server_timer(server, incarnation, timer, generation);
            }
            SimEvent::DiskDone { server, incarnation, file, ticket } => {
                self.disk_done(server, incarnation, file, ticket);
            }
            SimEvent::WriteArrives { actor, resource, token, completer } => {
                self.write_arrives(actor, resource, token, completer);
            }
            SimEvent::Begin { actor } => self.begin_life(actor),
            SimEvent::Fault(index) => self.fault(index),
            SimEvent::Strike { actor, armed } => self.strike(actor, armed),
            SimEvent::CrashServer { server, incarnation, down_ms } => {
                self.crash_mid_sync(server, incarnation, down_ms);
            }
            SimEvent::ServerUp { server, incarnation } => self.server_up(server, incarnation),
            SimEvent::Notified { from, to, notification } => self.notified(from, to, notification),
            SimEvent::Linked { from, to, incarnation } => self.linked(from, to, incarnation),
            SimEvent::AtPeer { link, end, number, message } => self.at_peer(link, end, number, message),
            SimEvent::LinkGone { link, end } => self.link_gone(link, end),
            SimEvent::PeerReads { link, end, message } => self.peer_reads(link, end, message),
            SimEvent::PeerReadsEnd { link, end } => self.peer_reads_end(link, end),
            SimEvent::ServerResumes { server, pause } => self.server_resumes(server, pause),
            SimEvent::PartitionEnds { cut } => self.partition_ends(&cut),
            SimEvent::LagEnds { server, until_ns } => self.lag_ends(server, until_ns),
            SimEvent::Resume { actor, pause } => self.resume(actor, pause),
            SimEvent::SlowSyncEnds { server, until_ns } => self.slow_sync_ends(server, until_ns),
            SimEvent::SlowLinkEnds { client, until_ns } => self.slow_link_ends(client, until_ns),
            SimEvent::Heal => self.heal(),
            at_client @ (SimEvent::AtClient { .. }
            | SimEvent::ClientSees { .. }
            | SimEvent::Opening { .. }
            | SimEvent::ClientTimer { .. }
            | SimEvent::Renew { .. }
            | SimEvent::Wake { .. }
            | SimEvent::TaskGoesOn { .. }
            | SimEvent::WriteAnswered { .. }) => self.at_process(at_client),
        }
    }

    /// Runs the tasks that are ready until all wait. Before that, real clocks show the queue's time.
    pub fn turn(&mut self) {
        if self.executor.has_ready() {
            let behind = self.now - self.time.shown_ns;
            self.time.handle.advance(Duration::from_nanos(behind));
            self.time.shown_ns = self.now;
            self.run_tasks();
        }
    }

    /// Notes that an interesting case was reached.
    pub fn once(&mut self, case: &'static str) {
        *self.run.sometimes.entry(case).or_insert(0) += 1;
    }

    /// Traces something.
    pub fn note(&mut self, place: Place, what: &What<'_>) {
        self.trace.add(self.now, place, what);
    }

    /// An actor says something.
    pub fn says(&mut self, actor: ActorId, what: Observation) {
        self.note(Place::Client(actor), &What::Observed(&what));
        self.waiting.says(actor, &what);
        if gets_ahead(&what) {
            self.deadline.get_ahead(self.now);
        }
        watch!(self.judge, see(self.now, &Event::Observed { actor, what }));
    }

    /// Something is so. What concerns the process that makes the trial's znodes is nobody's business.
    pub fn establish(&mut self, truth: GroundTruth) {
        if self.phase != Phase::Setup && !self.is_administrators(&truth) {
            self.note(Place::Simulation, &What::Is(&truth));
            match &truth {
                GroundTruth::Fired { woken, .. } => self.waiting.fired(woken.len()),
                GroundTruth::Finished { actor, .. } | GroundTruth::Crashed { actor } => {
                    self.waiting.ended(*actor)
                }
                _ => {}
            }
            watch!(self.judge, see(self.now, &Event::Is(truth)));
        }
    }

    /// How long a message from or to a client travels.
    pub fn latency(&mut self, process: u16, server: u8, to_server: bool) -> u64 {
        let [least, most] = self.swarm.latency_ns;
        let link = u64::from(server) << 9 | u64::from(process) << 1 | u64::from(to_server);
        let x = self.choices.below(Stream::Latency, link, 1 << 16);
        let spread = match self.phase {
            Phase::Setup => 0,
            Phase::Faults => most - least,
            // Fast enough for any session to live.
            Phase::Healed => ((most - least) / 4).min(self.granted_timeout_ns() / 40),
        };
        let ns = least + share(spread, x, self.swarm.latency_power);
        ns * u64::from(self.processes[usize::from(process)].slow_factor)
    }

    /// Takes over what the invariants have found since the last event. A broken one ends the run: what follows
    /// would only be its consequences.
    pub fn tell_broken(&mut self) {
        if self.invariants.report.broken.is_empty() {
            return;
        }
        for (invariant, what) in std::mem::take(&mut self.invariants.report.broken) {
            self.note(Place::Simulation, &What::Broken { name: invariant.name() });
            let is_owed = self.judge.broken(self.now, invariant.name(), what);
            self.over |= is_owed && invariant.ends_the_run() && !self.options.beyond;
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

/// How a run as a whole is. Half of the runs are as the scenario says at most, the others milder.
pub struct Swarm {
    /// The shortest and the longest way of a message, and how latencies are spread.
    pub latency_ns: [u64; 2],
    pub latency_power: u32,
    /// The shortest and the longest work, and how work is spread.
    pub work_ns: [u64; 2],
    pub work_power: u32,
    /// How many writes of 64 travel long.
    pub long_writes: u64,
    /// How many pieces of work of four are over at once.
    pub quick_work: u64,
    /// How many of 64 ready tasks stand still for a while, as threads do.
    pub stand_still: u64,
    /// In which order guids are.
    pub guids: GuidOrder,
}

impl Swarm {
    fn draw(scenario: &Scenario, choices: &mut Choices) -> Swarm {
        let ns = |ms: f64| (ms * MS as f64) as u64;
        let [least, most] = scenario.latency_ms;
        let mut percent = |entity| [100, 100, 30, 10][choices.below(Stream::Swarm, entity, 4) as usize];
        let latency_ns = [ns(least), ns(least) + (ns(most) - ns(least)) * percent(0) / 100];
        let [least, most] = scenario.work_ms.map(|ms| u64::from(ms) * MS);
        let work_ns = [least, least + (most - least) * percent(1) / 100];
        Swarm {
            latency_ns,
            // From most messages being fast to nearly all, with one now and then that nearly all others overtake.
            latency_power: [2, 2, 3, 5][choices.below(Stream::Swarm, 4, 4) as usize],
            work_ns,
            // Mostly short.
            work_power: 3 + choices.below(Stream::Swarm, 2, 4) as u32,
            long_writes: [0, 2, 8, 16][choices.below(Stream::Swarm, 5, 4) as usize],
            quick_work: [0, 0, 1, 2][choices.below(Stream::Swarm, 6, 4) as usize],
            stand_still: [0, 0, 0, 8][choices.below(Stream::Swarm, 7, 4) as usize],
            guids: match scenario.script() {
                Some(script) if script.guids_fall => GuidOrder::Falling,
                Some(_) => GuidOrder::Rising,
                None => GuidOrder::Mixed(choices.below(Stream::Swarm, 8, 1 << 32)),
            },
        }
    }
}
