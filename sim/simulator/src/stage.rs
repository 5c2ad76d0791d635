//! What all that act in a run have in common: its time, its queue and its choices, what is known of it, and who is told
//! of it.

use crate::choices::Choices;
use crate::clock::MS;
use crate::deadline::Deadline;
use crate::event::SimEvent;
use crate::fault::Schedule;
use crate::herd::{Waiting, gets_ahead};
use crate::judge::Judge;
use crate::knowledge::Knowledge;
use crate::options::RunOptions;
use crate::queue::Queue;
use crate::result::Run;
use crate::scenario::Scenario;
use crate::swarm::Swarm;
use crate::trace::Trace;
use crate::trace_event::{Place, What};
use crate::visible::Visible;
use crate::watch::watch;
use crate::zab_checks::ZabChecks;
use zk_harness::event::{ActorId, End, Event, GroundTruth, Observation};
use zk_harness::pulse::Pulse;
use zk_invariants::{Invariant, Invariants};
use zk_proto::txn::{Txn, TxnBody};

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

/// What servers and clients share.
pub struct Stage<'a> {
    pub scenario: &'a Scenario,
    pub schedule: &'a Schedule,
    pub options: &'a RunOptions,
    /// What came of it so far, as far as it is counted or kept here.
    pub run: Run,
    pub now: u64,
    pub phase: Phase,
    pub queue: Queue<SimEvent>,
    pub choices: Choices,
    /// How the run as a whole is.
    pub swarm: Swarm,
    pub trace: Trace,
    /// What clients see, if it is kept.
    pub visible: Visible,
    pub knowledge: Knowledge,
    pub invariants: Invariants,
    /// What ever happened among the servers, and what was checked of that.
    pub zab: ZabChecks,
    pub judge: Judge,
    /// Who waits for something, and what wakes whom.
    pub waiting: Waiting,
    pub deadline: Deadline,
    /// How many events it had taken when somebody first polled.
    pub polled_after: Option<u64>,
    pub over: bool,
    pub pulse: Pulse,
}

impl Stage<'_> {
    /// Notes that an interesting case was reached.
    pub fn once(&mut self, case: &'static str) {
        *self.run.sometimes.entry(case).or_insert(0) += 1;
    }

    /// Code that is not a recipe's has panicked.
    pub fn panics(&mut self, what: String) {
        self.invariants.report.broken(Invariant::NoPanic, what);
        self.over = true;
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
        watch!(self, judge.see(self.now, &Event::Observed { actor, what }));
    }

    /// Something is so. What concerns the process that makes the trial's znodes is nobody's business.
    pub fn establish(&mut self, truth: GroundTruth) {
        if self.phase != Phase::Setup && !self.is_administrators(&truth) {
            self.note(Place::Simulation, &What::Is(&truth));
            if self.is_work(&truth) {
                self.deadline.work(self.now);
            }
            match &truth {
                GroundTruth::Fired { woken, .. } => self.waiting.fired(woken.len()),
                // Its other threads go on.
                GroundTruth::Finished { actor, end: End::Done | End::Failed }
                | GroundTruth::ThreadEnded { actor } => self.waiting.gone(*actor),
                GroundTruth::Polls { .. } => drop(self.polled_after.get_or_insert(self.run.steps)),
                GroundTruth::Finished { actor, .. } | GroundTruth::Crashed { actor } => {
                    self.waiting.ended(*actor)
                }
                _ => {}
            }
            watch!(self, judge.see(self.now, &Event::Is(truth)));
        }
    }

    /// How many events the run may take: of who polls, a tenth is enough to see what comes of it.
    pub fn budget(&self) -> u64 {
        let all = self.scenario.events();
        self.polled_after.map_or(all, |steps| all.min(steps + all / 10))
    }

    /// Whether somebody who has something changes a znode, or writes to the resource.
    fn is_work(&self, truth: &GroundTruth) -> bool {
        let by = match truth {
            GroundTruth::NodeCreated { by, .. }
            | GroundTruth::NodeWritten { by, .. }
            | GroundTruth::NodeDeleted { by, .. } => self.knowledge.actor(*by),
            GroundTruth::Wrote { actor, .. } => Some(*actor),
            _ => None,
        };
        by.is_some_and(|actor| self.knowledge.is_holding(actor))
    }

    /// Whether ground truth is of the administrator's session or connection, which is nobody's business.
    fn is_administrators(&self, truth: &GroundTruth) -> bool {
        truth.actor().is_some_and(|actor| actor.process >= self.scenario.clients)
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

    /// The session timeout that servers grant.
    pub fn granted_timeout_ns(&self) -> u64 {
        u64::from(self.scenario.granted_timeout_ms()) * MS
    }

    /// Without faults, no session expires whose client lives and is connected: whatever servers tell each other.
    pub fn expires_calmly(&mut self, txn: &Txn) {
        let is_calm =
            self.schedule.faults.is_empty() && self.scenario.run.is_none() && self.options.order.is_none();
        let is_calm = is_calm && self.options.crash_at.is_none();
        // So fast that pings come in time, and that what learners have heard is told.
        let is_fast = self.swarm.latency_ns[1] * 10 < self.granted_timeout_ns();
        if !is_calm || !is_fast || !matches!(txn.body, TxnBody::CloseSession { expired: true, .. }) {
            return;
        }
        let lives = self.knowledge.is_connected(txn.session);
        self.invariants.report.check(Invariant::NoEarlyExpiry, !lives, || {
            format!("{} expired without any fault, and its client is connected", txn.session)
        });
    }

    /// What happens next is given, as in a model, and not left to chance.
    pub fn follows_a_script(&self) -> bool {
        self.scenario.script().is_some()
    }

    /// Whether actors write to the outside resource.
    pub fn has_effects(&self) -> bool {
        self.scenario.script().is_none_or(|script| script.effects)
    }
}
