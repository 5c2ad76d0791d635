//! One run.
//!
//! ```
//! use zk_simulator::{RunOptions, Scenario, run};
//!
//! let lock = zk_trials::trials().remove(0);
//! let calm = Scenario { clients: 2, ..Scenario::default() }.without_faults();
//! let run = run(&lock, &calm, 7, &RunOptions::default());
//! assert!(run.violations.is_empty(), "the lock keeps its promises");
//! assert!(run.tested["exclusion-among-live-sessions"] > 0, "and that was put to the test");
//! assert!(run.trace.is_empty(), "nobody has asked for it");
//! ```

use crate::crossing::Crossing;
use crate::disk_faults::DiskCrash;
use crate::herd::Herd;
use crate::order::{Order, Ordered};
use crate::scenario::Scenario;
use crate::schedule::Schedule;
use crate::simulation::Simulation;
use crate::timeline::Moment;
use madsim::Config;
use madsim::runtime::Runtime;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use zk_invariants::Invariant;
use zk_proto::mutant::Mutant;
use zk_proto::visible::VisibleStep;
use zk_proto::zab::invariants;
use zk_trials::promise::Assumption;
use zk_trials::pulse::{self, Acting, Pulse};
use zk_trials::trial::Trial;

/// Another chance: up to some event a run is what its seed makes it, and behind that all that is drawn is drawn anew.
/// The faults of the schedule stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redraw {
    /// The last event that is as it was, counted from 1; 0 for none.
    pub after: u64,
    /// Which chance.
    pub with: u64,
}

/// What to keep of a run besides its verdict.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Keep the trace as lines of text, the timeline, and the messages with both their times.
    pub trace: bool,
    /// Send human logs to `tracing`, stamped with virtual time and node. Never part of the digest.
    pub log: bool,
    /// Choices to take instead of the drawn ones: `(stream, entity, ordinal) -> value`.
    pub choices: BTreeMap<(String, u64, u64), u64>,
    /// Keep the choices that were drawn.
    pub record_choices: bool,
    /// Keep what clients saw, and in which order things took effect.
    pub visible: bool,
    /// A bug to be planted into every server.
    pub mutant: Option<Mutant>,
    /// Go on when an invariant is broken, to see what else is.
    pub beyond: bool,
    /// Check the invariants among servers whenever a peer of theirs does something, and not now and then.
    pub check_always: bool,
    /// Check and judge nothing, to see what that costs. What happens is the same.
    pub unchecked: bool,
    /// Crash a server at an operation of its disk.
    pub crash_at: Option<DiskCrash>,
    /// Take some events in another order.
    pub order: Option<Order>,
    /// Leave something else to chance from some event on.
    pub redraw: Option<Redraw>,
    /// Stop where this promise is broken, with a violated assumption or without. Nothing after that is known.
    pub stop_at: Option<(&'static str, bool)>,
}

/// What one run gave. A function of trial, scenario, seed and schedule, to the byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// Digest of the whole trace.
    pub digest: u64,
    /// Virtual time at the end.
    pub virtual_ns: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Queue events taken.
    pub steps: u64,
    /// Why the script that was given could not be taken to its end.
    pub replay_error: Option<String>,
    /// When the last event before a redraw came, in virtual time, and what it was.
    pub redrawn: Option<(u64, String)>,
    /// The steps of the order that was given.
    pub ordered: Vec<Ordered>,
    /// Operations that disks did.
    pub disk_ops: u64,
    /// How often a planted bug made a difference.
    pub deviations: u64,
    /// For each promise, and each invariant, by name: how often it was put to the test.
    pub tested: BTreeMap<&'static str, u64>,
    /// What was broken, in order of time; the first of each promise is kept with and without a violated assumption.
    pub violations: Vec<RunViolation>,
    /// How often each interesting case was reached.
    pub sometimes: BTreeMap<&'static str, u64>,
    /// The trace, if it was asked for.
    pub trace: Vec<String>,
    /// Those of its events that tell the story, if it was asked for.
    pub timeline: Vec<Moment>,
    /// The messages, in the order in which they were sent, if the trace was asked for.
    pub crossings: Vec<Crossing>,
    /// How many a change woke, by how many waited for something.
    pub herd: BTreeMap<u16, Herd>,
    /// How often somebody was granted what he had asked for.
    pub granted: u64,
    /// What clients saw, and in which order things took effect, if it was asked for.
    pub visible: Vec<VisibleStep>,
    /// The choices drawn, if they were asked for.
    pub choices: BTreeMap<(String, u64, u64), u64>,
}

impl Run {
    /// What was broken although no assumption of it was violated, in order of time.
    pub fn owed(&self) -> impl Iterator<Item = &RunViolation> + Clone {
        self.violations.iter().filter(|violation| violation.violated_assumption.is_none())
    }
}

/// A promise or invariant that was broken.
#[derive(Clone, Debug, PartialEq)]
pub struct RunViolation {
    /// Its name.
    pub promise: &'static str,
    /// When, in virtual time.
    pub at_ns: u64,
    /// What happened.
    pub what: String,
    /// The assumption that did not hold, where the break is expected.
    pub violated_assumption: Option<Assumption>,
}

/// Runs a trial under a seed, in a thread of its own: with the faults and choices of the scenario's one run, if it has
/// one, or those that the seed draws. Panics if the scenario is not [valid](Scenario::validate).
pub fn run(trial: &Arc<Trial>, scenario: &Scenario, seed: u64, options: &RunOptions) -> Run {
    let Some(one) = &scenario.run else {
        return run_schedule(trial, scenario, seed, &Schedule::draw(scenario, seed), options);
    };
    let mut options = options.clone();
    options.choices.extend(one.choices.choices.clone());
    run_schedule(trial, scenario, seed, &one.schedule, &options)
}

/// The same with a given schedule in the place of the drawn one.
pub fn run_schedule(
    trial: &Arc<Trial>,
    scenario: &Scenario,
    seed: u64,
    schedule: &Schedule,
    options: &RunOptions,
) -> Run {
    if let Err(error) = scenario.validate() {
        panic!("a scenario to run is valid, but {error}");
    }
    run_with_pulse(trial, scenario, seed, schedule, options, Pulse::default())
}

fn run_with_pulse(
    trial: &Arc<Trial>,
    scenario: &Scenario,
    seed: u64,
    schedule: &Schedule,
    options: &RunOptions,
    pulse: Pulse,
) -> Run {
    let given = (trial.clone(), scenario.clone(), schedule.clone(), options.clone(), pulse.clone());
    let run = move || {
        let (trial, scenario, schedule, options, pulse) = given;
        let runtime = Runtime::with_seed_and_config(seed, Config::default());
        // It never awaits: the loop inside is all there is.
        // What unwinds is caught inside, as madsim would tell of it in its own words.
        let here = || outcome(Simulation::new(&trial, &scenario, seed, &schedule, &options, &pulse));
        runtime.block_on(async { catch_unwind(AssertUnwindSafe(here)) })
    };
    // A thread that has run before has hash seeds and the like of its own.
    match pulse::watch(&pulse, run, || {}) {
        Ok(run) => run.unwrap_or_else(|panic| resume_unwind(panic)),
        Err(acting) => endless(seed, acting),
    }
}

/// Of a run in which a step does not end, nothing is known but that.
fn endless(seed: u64, acting: Acting) -> Run {
    let promise = Invariant::EveryStepEnds.name();
    let violation = RunViolation { promise, at_ns: 0, what: acting.to_string(), violated_assumption: None };
    Run { seed, tested: [(promise, 1)].into(), violations: vec![violation], ..Run::default() }
}

/// What comes of a simulation that has not begun.
fn outcome(mut simulation: Simulation<'_>) -> Run {
    simulation.run();
    simulation.end();
    let (herd, granted) = std::mem::take(&mut simulation.waiting).finish();
    let (digest, trace, timeline, crossings) = simulation.trace.finish();
    let (mut tested, violations) = simulation.judge.finish();
    tested.extend(simulation.invariants.report.by_name());
    if simulation.scenario.machines() > 1 {
        tested.extend(invariants::ALL.map(|(name, _)| (name, simulation.zab_checks)));
    }
    simulation.run.sometimes.extend(std::mem::take(&mut simulation.invariants.report.cases));
    Run {
        digest,
        virtual_ns: simulation.now,
        tested,
        violations,
        trace,
        timeline,
        crossings,
        herd,
        granted,
        visible: simulation.visible.unwrap_or_default(),
        choices: simulation.choices.into_record(),
        ..simulation.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_ends_its_step_is_found_and_named() {
        let lock = zk_trials::trials().remove(0);
        let scenario = Scenario::default();
        let pulse = Pulse::endless(Acting::Server(1));
        let (schedule, options) = (Schedule::draw(&scenario, 1), RunOptions::default());
        let run = run_with_pulse(&lock, &scenario, 1, &schedule, &options, pulse);
        let [only] = &run.violations[..] else { panic!("{:?}", run.violations) };
        assert_eq!((only.promise, &*only.what), ("every-step-ends", "s1 does not end its step"));
    }
}
