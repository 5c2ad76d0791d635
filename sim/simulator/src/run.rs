//! One run.
//!
//! ```
//! use zk_simulator::{RunOptions, Scenario, run};
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let calm = Scenario { clients: 2, ..Scenario::default() }.without_faults();
//! let run = run(&lock, &calm, 7, &RunOptions::default());
//! assert!(run.violations.is_empty(), "the lock keeps its promises");
//! assert!(run.tested["exclusion-among-live-sessions"] > 0, "and that was put to the test");
//! assert!(run.trace.is_empty(), "nobody has asked for it");
//! ```

use crate::follow;
use crate::scenario::Scenario;
use crate::schedule::Schedule;
use crate::simulation::Simulation;
use madsim::Config;
use madsim::runtime::Runtime;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use zk_harness::pulse::{self, Acting, Pulse};
use zk_harness::trial::Trial;
use zk_invariants::Invariant;
use zk_proto::zab::invariants;

pub use crate::options::{Redraw, RunOptions};
pub use crate::result::{Run, RunViolation};

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
    let script = simulation.stage.scenario.script();
    simulation.run(script.map(|script| |run: &mut Simulation<'_>| follow::take(run, script)));
    simulation.clients.lives.end();
    let mut stage = simulation.stage;
    let (herd, granted) = stage.waiting.finish();
    let (digest, trace, timeline, crossings) = stage.trace.finish();
    let (mut tested, violations, told) = stage.judge.finish(stage.now);
    tested.extend(stage.invariants.report.by_name());
    if stage.scenario.machines() > 1 {
        tested.extend(invariants::ALL.map(|(name, _)| (name, stage.zab.checks())));
    }
    stage.run.sometimes.extend(std::mem::take(&mut stage.invariants.report.cases));
    Run {
        digest,
        virtual_ns: stage.now,
        ordered: simulation.orders.finish(),
        tested,
        told,
        violations,
        trace,
        timeline,
        crossings,
        herd,
        granted,
        visible: stage.visible.finish(),
        choices: stage.choices.into_record(),
        ..stage.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_ends_its_step_is_found_and_named() {
        let lock = zk_catalogue::trials().remove(0);
        let scenario = Scenario::default();
        let pulse = Pulse::endless(Acting::Server(1));
        let (schedule, options) = (Schedule::draw(&scenario, 1), RunOptions::default());
        let run = run_with_pulse(&lock, &scenario, 1, &schedule, &options, pulse);
        let [only] = &run.violations[..] else { panic!("{:?}", run.violations) };
        assert_eq!((only.promise, &*only.what), ("every-step-ends", "s1 does not end its step"));
    }
}
