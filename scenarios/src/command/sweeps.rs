//! Sweeps, and the reports that they leave.

use super::run_arguments::{ReportArguments, RunArguments};
use crate::interrupt::Interrupt;
use crate::output::{Format, paint, print};
use crate::progress::Progress;
use crate::run::{self, How, Pace, Saving, SeedRange, Target};
use crate::trial_list::Trials;
use crate::{Answer, BadInput};
use std::io::Write;
use std::ops::ControlFlow;
use zk_reports::{
    FileError, SweepReport, count, merge, prepare_new_dir, read_sweep, report_file, sweep_brief, write_dir,
};

/// Seeds if nothing else is said, and at most so many of a sweep until nothing new is reached.
const SEEDS: u64 = 100;
const SEEDS_UNTIL_COVERED: u64 = 100_000;

/// Runs a sweep and writes its reports.
pub(super) fn run(catalogue: &Trials, arguments: &RunArguments) -> Result<Answer, BadInput> {
    let target = arguments.asks.target(catalogue)?.of_seeds()?;
    #[cfg(feature = "live")]
    if let Some(servers) = &arguments.connect {
        return live(&target, arguments, servers);
    }
    let seeds = seeds(arguments)?;
    // Told with the first share, once.
    let cases = if seeds.is_first() { run::cases(catalogue, &target)? } else { Vec::new() };
    let log = run::logs(arguments.log.as_deref())?;
    // Logs of several runs at once would be a riddle.
    let jobs = arguments.jobs.map_or_else(|| if log { 1 } else { run::default_jobs() }, usize::from);
    let mut how = How { jobs, log, until_covered: arguments.until_covered, before: None };
    let interrupt = Interrupt::watch()?;
    let mut saving = None;
    if let Some(dir) = &arguments.report {
        let asked = run::asked(&target, &seeds, how.until_covered);
        let (opened, before) = Saving::open(dir, arguments.resume, &asked)?;
        (saving, how.before) = (Some(opened), before);
    }
    let regressions = cases.iter().map(run::tried).collect::<Result<Vec<_>, _>>()?;
    let report = match how.before.take_if(|before| before.is_complete()) {
        // Nothing is left to run.
        Some(before) => before,
        None => swept(&target, &seeds, &how, arguments.format, &mut saving, &interrupt)?,
    };
    let mut report = SweepReport { regressions, ..report };
    report.settle();
    run::explained(&target, &mut report);
    if saving.is_some() {
        let redraws = run::Redraws::of(&target, arguments.redraws, jobs);
        run::drawn(&target, redraws, &mut report, &|| interrupt.seen().is_some());
    }
    let failed = saving.as_mut().and_then(|saving| {
        saving.free();
        let written = write_dir(&report, saving.dir()).err();
        saving.failed.take().or(written)
    });
    show(&report, arguments.format, arguments.verbose)?;
    // A share is told with the whole, once.
    if report.seeds.shard.is_none() {
        crate::github::tell(&report)?;
    }
    said(&report, seeds.count(), failed, saving.as_ref(), &interrupt)
}

fn seeds(arguments: &RunArguments) -> Result<SeedRange, BadInput> {
    let most = if arguments.until_covered.is_some() { SEEDS_UNTIL_COVERED } else { SEEDS };
    let seeds = arguments.seeds.clone().map_or_else(|| SeedRange::new(0, most), Ok)?;
    let seeds = match arguments.fresh {
        Some(dated) => dated.seeds(seeds)?,
        None => seeds,
    };
    seeds.shard(arguments.shard)
}

fn swept(
    target: &Target,
    seeds: &SeedRange,
    how: &How,
    format: Format,
    saving: &mut Option<Saving>,
    interrupt: &Interrupt,
) -> Result<SweepReport, BadInput> {
    let total = seeds.count();
    let mut progress = Progress::new(format, Some(total));
    let before = how.before.as_ref().map_or(0, |before| before.seeds.count);
    let pace = Pace::from(before);
    let report = run::sweep_with(target, seeds, how, &mut |so_far| {
        let broken = || format!("{} broken", count(so_far.broken));
        let words = || format!("{}, {}", broken(), pace.words(so_far.done, total));
        progress.at(so_far.done, words, || {
            format!("{} of {} seeds, {}", count(so_far.done), count(total), words())
        });
        let saved = saving.as_mut().map_or(ControlFlow::Continue(()), |saving| saving.now_and_then(so_far));
        if interrupt.seen().is_some() { ControlFlow::Break(()) } else { saved }
    })?;
    drop(progress);
    Ok(report)
}

/// Where all is well, in a few lines, unless somebody wants all of them.
fn show(report: &SweepReport, format: Format, verbose: bool) -> Result<(), BadInput> {
    print(&match format {
        Format::Human if !verbose && report.outcome() == Answer::Held => sweep_brief(report, paint()),
        format => format.of(report),
    })
}

/// Says on stderr what kept a sweep from its end, and gives the answer. A report that could not be written is no bad
/// input: the seeds were run, and the answer is undecided for whoever looks for it there.
fn said(
    report: &SweepReport,
    total: u64,
    failed: Option<FileError>,
    saving: Option<&Saving>,
    interrupt: &Interrupt,
) -> Result<Answer, BadInput> {
    let seeds = |n: u64| format!("{} of {} seeds", count(n), count(total));
    let dir = saving.map(|saving| report_file(saving.dir()).display().to_string());
    let mut stderr = std::io::stderr();
    // Nobody to tell: the exit status still says it.
    if let Some(error) = failed {
        let saved = saving.and_then(|saving| read_sweep(saving.dir()).ok());
        let there = match (dir, saved) {
            (Some(dir), Some(saved)) => format!("{dir} has {}", seeds(saved.seeds.count)),
            (_, None) | (None, _) => "there is no report".into(),
        };
        let _ = writeln!(stderr, "zoocheck: {error}; {there}");
        return Ok(Answer::Undecided);
    }
    if let (false, Some(signal)) = (report.is_complete(), interrupt.seen()) {
        let there = match dir {
            Some(dir) => format!("{dir} has them, and --resume goes on"),
            None => "with --report DIR it could go on".into(),
        };
        let _ =
            writeln!(stderr, "zoocheck: {signal}: interrupted after {}; {there}", seeds(report.seeds.count));
    }
    Ok(report.outcome())
}

/// Reads saved reports, merges those of shards, and writes and says again what came of the sweep.
pub(super) fn report(arguments: &ReportArguments) -> Result<Answer, BadInput> {
    let mut parts = Vec::new();
    for path in &arguments.reports {
        let name = report_file(path).display().to_string();
        parts.push((name, read_sweep(path).map_err(BadInput::new)?));
    }
    // One report alone was told when it was made.
    let is_first = parts.iter().any(|(_, part)| part.seeds.shard.is_some());
    let report = merge(parts, arguments.partial).map_err(BadInput::new)?;
    match (&arguments.output, arguments.reports.as_slice()) {
        (Some(out), _) => {
            prepare_new_dir(out)?;
            write_dir(&report, out)?;
        }
        // What is made from a report belongs beside it. The report itself stays as it is.
        (None, [dir])
            if dir.is_dir() && report.seeds.missing.iter().all(|it| it.shard == report.seeds.shard) =>
        {
            write_dir(&report, dir)?;
        }
        (None, _) => {}
    }
    show(&report, arguments.format, arguments.verbose)?;
    if is_first {
        crate::github::tell(&report)?;
    }
    Ok(report.outcome())
}

/// Runs a trial once on a live ensemble, and writes its reports.
#[cfg(feature = "live")]
fn live(target: &Target, arguments: &RunArguments, servers: &str) -> Result<Answer, BadInput> {
    run::logs(arguments.log.as_deref())?;
    arguments.report.as_deref().map(zk_reports::prepare_report_dir).transpose()?;
    let run = run::LiveRun {
        connect: servers.into(),
        clients: target.scenario.clients,
        rounds: target.scenario.rounds,
        time_limit: arguments.time_limit.unwrap_or(std::time::Duration::from_secs(300)),
    };
    let total = u64::from(run.clients) * u64::from(run.rounds);
    let mut progress = Progress::new(arguments.format, Some(total));
    let report = run::live(target, &run, &mut |done| {
        progress.at(done, String::new, || format!("{} of {} rounds", count(done), count(total)));
    })?;
    drop(progress);
    crate::output::show(&report, &arguments.format.of(&report), arguments.report.as_deref())?;
    Ok(report.answer)
}
