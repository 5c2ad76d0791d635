//! Many seeds on many cores, with one result whatever the number of cores.

use super::tally::Tally;
use super::{SeedRange, Target};
use crate::BadInput;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;
use zk_reports::SweepReport;
use zk_world::{Run, RunOptions};

/// Runs a seed, with its trace or without. All that a sweep needs of the world.
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

/// Runs a target under every seed.
pub(crate) fn sweep(target: &Target, seeds: &SeedRange, jobs: usize) -> Result<SweepReport, BadInput> {
    sweep_with(target, seeds, jobs, false, &mut |_, _| {})
}

/// The same, with logs if they are wanted; `progress` learns how many seeds are done and how many broke something.
pub(crate) fn sweep_with(
    target: &Target,
    seeds: &SeedRange,
    jobs: usize,
    log: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<SweepReport, BadInput> {
    let one = |seed: u64, trace: bool| {
        tracing::info!("seed {seed}");
        let options = RunOptions { trace, log, ..RunOptions::default() };
        zk_world::run(&target.trial, &target.scenario, seed, &options)
    };
    sweep_over(target, seeds, jobs, &one, progress)
}

fn sweep_over(
    target: &Target,
    seeds: &SeedRange,
    jobs: usize,
    one: One<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<SweepReport, BadInput> {
    let began = Instant::now();
    let mut tally = Tally::default();
    let mut done = 0;
    in_order(seeds, jobs, one, &mut |outcome| {
        tally.add(target, &outcome.run);
        if let Some(again) = outcome.again {
            tally.compared(target, &outcome.run, again.err());
        }
        done += 1;
        progress(done, tally.broken_seeds());
    })
    .map_err(|Failed { seed, message }| {
        let replay = target.replay_command(seed);
        BadInput::new(format!("seed {seed}: the simulator itself has failed: {message}; see {replay}"))
    })?;
    let twice = tally.twice();
    Ok(tally.report(target, seeds.report(twice), began.elapsed().as_secs_f64()))
}

/// Runs the seeds, and gives out the runs in the order of the seeds.
pub(crate) fn each_seed(
    seeds: &SeedRange,
    jobs: usize,
    one: One<'_>,
    each: &mut dyn FnMut(&Run),
) -> Result<(), BadInput> {
    in_order(seeds, jobs, one, &mut |outcome| each(&outcome.run)).map_err(|Failed { seed, message }| {
        BadInput::new(format!("seed {seed}: the simulator itself has failed: {message}"))
    })
}

/// A seed at which the simulator panicked.
struct Failed {
    seed: u64,
    message: String,
}

/// Runs the seeds on so many threads, and gives out what came of them in the order of the seeds.
fn in_order(
    seeds: &SeedRange,
    jobs: usize,
    one: One<'_>,
    each: &mut dyn FnMut(Outcome),
) -> Result<(), Failed> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let jobs = jobs.clamp(1, usize::try_from(seeds.count()).unwrap_or(usize::MAX));
    let (sender, receiver) = mpsc::sync_channel(4 * jobs);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let sender = sender.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(seed) = seeds.nth(index) else { break };
                    let outcome = catch_unwind(AssertUnwindSafe(|| outcome(seeds, seed, one)));
                    let outcome = outcome.map_err(|payload| Failed { seed, message: message(&*payload) });
                    if sender.send((index, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // What came before its turn.
        let mut early = BTreeMap::new();
        let mut turn = 0;
        for (index, outcome) in receiver {
            early.insert(index, outcome);
            while let Some(outcome) = early.remove(&turn) {
                turn += 1;
                match outcome {
                    Ok(outcome) => each(outcome),
                    Err(failed) => {
                        stop.store(true, Ordering::Relaxed);
                        return Err(failed);
                    }
                }
            }
        }
        Ok(())
    })
}

fn outcome(seeds: &SeedRange, seed: u64, one: One<'_>) -> Outcome {
    let run = one(seed, false);
    let again = seeds.is_run_twice(seed).then(|| {
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
        "\nsomething under test takes chance from outside: an address, a static, a thread, the network",
    );
    what
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}

#[cfg(test)]
mod tests;
