//! One seed again.

use super::Target;
use super::tally::{Tally, answer};
use crate::BadInput;
use crate::zoo::{assumption, catalogued};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_reports::{REPLAY_SCHEMA, ReplayReport, Seen};
use zk_world::{Run, RunOptions};

/// What a timeline keeps of a trace: what recipes and the ensemble say, what went wrong, and what came of it. The
/// rest is messages and disks.
const TIMELINE: [&str; 8] = ["Says", "Fact", "State", "Fault", "Heal", "Down", "Started", "Broken"];

/// Runs a seed; keeps the whole trace, or its timeline.
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
        trace: run.trace.into_iter().filter(|line| whole || is_timeline(line)).collect(),
    }
}

/// A line is a time, a place, and what happened there: `12.040s s0 Commit zxid=1:7`.
fn is_timeline(line: &str) -> bool {
    line.split(' ').nth(2).is_some_and(|kind| TIMELINE.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_is_without_messages() {
        assert!(is_timeline("12.040s p0 Says Enters"));
        assert!(is_timeline("12.040s -- Heal"));
        assert!(!is_timeline("12.040s s0 Commit zxid=1:7"));
        assert!(!is_timeline(""));
    }
}
