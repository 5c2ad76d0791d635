//! Many seeds on many cores, with one result whatever the number of cores.

use super::covered::Covered;
use super::failed::failed;
use super::tally::Tally;
use super::threads::in_order;
use super::{SeedRange, Target};
use crate::BadInput;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use zk_reports::SweepReport;
use zk_simulator::{Run, RunOptions};

/// Runs a seed, with its trace or without. All that a sweep needs of the simulator.
type One<'a> = &'a (dyn Fn(u64, bool) -> Run + Sync);

/// A run, and whether it was the same when it was run again: `None` if it was run once.
struct Outcome {
    run: Run,
    again: Option<Result<(), String>>,
}

/// One job a core.
pub(crate) fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// How to sweep.
#[derive(Default)]
pub(crate) struct How {
    /// Seeds at a time.
    pub(crate) jobs: usize,
    /// With logs.
    pub(crate) log: bool,
    /// Until so many seeds reach nothing new.
    pub(crate) until_covered: Option<u64>,
    /// What a former sweep, which was interrupted, has come to: this one goes on behind it.
    pub(crate) before: Option<SweepReport>,
}

/// How far a sweep is.
pub(crate) struct SoFar<'a> {
    /// Seeds that are done, those of a former part with them.
    pub(crate) done: u64,
    /// Seeds that broke something where it was owed, in this part.
    pub(crate) broken: u64,
    report: &'a dyn Fn() -> SweepReport,
}

impl SoFar<'_> {
    /// What it has come to so far, as a report of a sweep that was interrupted here.
    pub(crate) fn report(&self) -> SweepReport {
        (self.report)()
    }
}

/// Runs a target under every seed.
pub(crate) fn sweep(target: &Target, seeds: &SeedRange, jobs: usize) -> Result<SweepReport, BadInput> {
    sweep_with(target, seeds, &How { jobs, ..How::default() }, &mut |_| ControlFlow::Continue(()))
}

/// The same; `each` learns after each seed how far it is, and may end it there.
pub(crate) fn sweep_with(
    target: &Target,
    seeds: &SeedRange,
    how: &How,
    each: &mut dyn FnMut(&SoFar<'_>) -> ControlFlow<()>,
) -> Result<SweepReport, BadInput> {
    let one = |seed: u64, trace: bool| {
        tracing::info!("seed {seed}");
        let options = RunOptions { trace, log: how.log, ..RunOptions::default() };
        zk_simulator::run(&target.trial, &target.scenario, seed, &options)
    };
    sweep_over(target, seeds, how, &one, each)
}

/// The report of a sweep before its first seed.
pub(crate) fn asked(target: &Target, seeds: &SeedRange, until_covered: Option<u64>) -> SweepReport {
    let covered = until_covered.map(|quiet| Covered::new(quiet, seeds.ends().1));
    PartialSweep { target, seeds, before: None, tally: Tally::default() }.report(covered.as_ref(), false)
}

fn sweep_over(
    target: &Target,
    seeds: &SeedRange,
    how: &How,
    one: One<'_>,
    each: &mut dyn FnMut(&SoFar<'_>) -> ControlFlow<()>,
) -> Result<SweepReport, BadInput> {
    let began = Instant::now();
    let (first, end) = seeds.ends();
    let mut partial = PartialSweep { target, seeds, before: how.before.as_ref(), tally: Tally::default() };
    let skip = partial.done();
    let mut covered = how.until_covered.map(|quiet| Covered::new(quiet, end));
    if let Some(before) = partial.before {
        covered = covered.map(|covered| covered.after(before));
    }
    let (mut is_covered, mut is_endless) = (false, false);
    run_seeds(seeds, skip, how.jobs, one, &mut |outcome| {
        partial.tally.add(target, &outcome.run);
        if let Some(again) = outcome.again {
            partial.tally.compared(target, &outcome.run, again.err());
        }
        is_covered = covered.as_mut().is_some_and(|covered| covered.add(first, &outcome.run));
        // Beside a thread that never ends, other seeds are slow, and most come to the same.
        is_endless = !outcome.run.has_ended();
        if is_covered || is_endless {
            return ControlFlow::Break(());
        }
        let report = || partial.report(covered.as_ref(), false);
        each(&SoFar { done: partial.done(), broken: partial.tally.broken_seeds, report: &report })
    })
    .map_err(|Failed { seed, why }| bad!("seed {seed}: {why}; see {}", target.replay_command(seed, None)))?;
    let mut report = partial.report(covered.as_ref(), is_covered);
    report.seeds.endless |= is_endless;
    report.seeds.interrupted &= !is_endless;
    report.wall_seconds = Some(began.elapsed().as_secs_f64());
    Ok(report)
}

/// A sweep as far as it was run: formerly, and this time.
struct PartialSweep<'a> {
    target: &'a Target,
    seeds: &'a SeedRange,
    before: Option<&'a SweepReport>,
    tally: Tally,
}

impl PartialSweep<'_> {
    fn done(&self) -> u64 {
        self.before.map_or(0, |before| before.seeds.count) + self.tally.runs
    }

    /// As far as it got. What is covered needs no more seeds.
    fn report(&self, covered: Option<&Covered>, is_covered: bool) -> SweepReport {
        let next = self.seeds.nth(self.done());
        let (runs, twice) = (self.tally.runs, self.tally.twice);
        let seeds = self.seeds.report(next.filter(|_| !is_covered), runs, twice);
        let mut report = self.tally.clone().report(self.target, seeds.clone());
        if let Some(before) = self.before {
            report.add(before.clone());
            // Of what was missing then, what is missing still.
            report.seeds.interrupted = seeds.interrupted;
            report.seeds.missing = seeds.missing;
        }
        report.until_covered = covered.map(|covered| covered.report(is_covered));
        if let (true, Some(next)) = (is_covered, next) {
            report.seeds.end = next;
        }
        report.settle();
        report
    }
}

/// Runs the seeds, and gives out the runs in the order of the seeds.
pub(crate) fn each_seed(
    seeds: &SeedRange,
    jobs: usize,
    one: One<'_>,
    each: &mut dyn FnMut(&Run),
) -> Result<(), BadInput> {
    let mut each = |outcome: Outcome| {
        each(&outcome.run);
        ControlFlow::Continue(())
    };
    run_seeds(seeds, 0, jobs, one, &mut each).map_err(|Failed { seed, why }| bad!("seed {seed}: {why}"))
}

/// A seed that came to no verdict.
struct Failed {
    seed: u64,
    why: String,
}

/// Runs the seeds but for the first `skip`, and gives out what came of them in their order, until `each` has enough.
fn run_seeds(
    seeds: &SeedRange,
    skip: u64,
    jobs: usize,
    one: One<'_>,
    each: &mut dyn FnMut(Outcome) -> ControlFlow<()>,
) -> Result<(), Failed> {
    let run = |index: u64| {
        let seed = seeds.nth(index).expect("it is one of them");
        let outcome = catch_unwind(AssertUnwindSafe(|| outcome(seeds, seed, one)));
        outcome.map_err(|payload| Failed { seed, why: failed(&*payload) })
    };
    let mut came = Ok(());
    in_order(skip..seeds.count(), jobs, run, |outcome| match outcome {
        Ok(outcome) => each(outcome),
        Err(failed) => {
            came = Err(failed);
            ControlFlow::Break(())
        }
    });
    came
}

fn outcome(seeds: &SeedRange, seed: u64, one: One<'_>) -> Outcome {
    let run = one(seed, false);
    let again = (run.has_ended() && seeds.is_run_twice(seed)).then(|| {
        let second = one(seed, false);
        if second == run { Ok(()) } else { Err(difference(&run, &second, seed, one)) }
    });
    Outcome { run, again }
}

/// How two runs of one seed differ: by their digests, and by the first line of two more that are traced.
fn difference(first: &Run, second: &Run, seed: u64, one: One<'_>) -> String {
    let mut what = if first.digest == second.digest {
        format!("two runs with digest {:016x} came to different verdicts", first.digest)
    } else {
        format!("digest {:016x}, then {:016x}", first.digest, second.digest)
    };
    let (third, fourth) = (one(seed, true), one(seed, true));
    let mut lines = third.trace.iter().zip(&fourth.trace);
    if let Some((one, other)) = lines.find(|(one, other)| one != other) {
        what.push_str(&format!("\nwith traces, two more runs first differed here:\n  {one}\n  {other}"));
    }
    what.push_str(
        "\nsomething under test takes chance from outside: an address, a static, a file, a thread, the network",
    );
    what
}

#[cfg(test)]
mod tests;
