//! One seed again.

use super::Target;
use super::tally::{Tally, answer};
use super::timeline::tell;
use crate::BadInput;
use crate::zoo::{assumption, catalogued};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_reports::{REPLAY_SCHEMA, ReplayReport, Seen};
use zk_world::{Run, RunOptions};

/// Runs a seed; keeps the whole trace, or those of its lines that the timeline is told from.
pub(crate) fn replay(target: &Target, seed: u64, whole: bool, log: bool) -> Result<ReplayReport, BadInput> {
    let options = RunOptions { trace: true, log, ..RunOptions::default() };
    let run =
        catch_unwind(AssertUnwindSafe(|| zk_world::run(&target.trial, &target.scenario, seed, &options)))
            .map_err(|_| BadInput::new(format!("seed {seed}: the simulator itself has failed; see above")))?;
    Ok(report(target, run, whole))
}

fn report(target: &Target, run: Run, whole: bool) -> ReplayReport {
    let mut tally = Tally::default();
    tally.add(target, &run);
    let (promises, invariants) = tally.results(target);
    let about = target.trial.about();
    let violations = run.violations.iter().map(|violation| Seen {
        promise: violation.promise.into(),
        virtual_ns: violation.at_ns,
        what: violation.what.clone(),
        expected: violation.excuse.map(|excuse| assumption(excuse).into()),
    });
    ReplayReport {
        schema: REPLAY_SCHEMA.into(),
        what: target.what.clone(),
        recipe: about.name.into(),
        about: about.summary.into(),
        catalogued: catalogued(&about),
        facts: target.facts(),
        seed: run.seed,
        answer: answer(&promises, &invariants),
        digest: run.digest,
        virtual_ns: run.virtual_ns,
        messages: run.messages,
        steps: run.steps,
        promises,
        invariants,
        sometimes: tally.sometimes(),
        violations: violations.collect(),
        timeline: tell(&run),
        trace: if whole { run.trace } else { run.timeline.iter().map(ToString::to_string).collect() },
    }
}
