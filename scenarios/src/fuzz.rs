//! Generated programs in both engines: the model must be able to show what the simulator showed.
//!
//! | module | what is in it |
//! |---|---|
//! | `program`, `parse` | a client program as data and as text |
//! | `language` | what steps are made of, as it is written and read |
//! | `generate` | the program of a seed, and what it has |
//! | `actor`, `normal` | a program as a trial, which tells every result in words that both engines share |
//! | `simulation` | a program's runs in the simulator, the faults that they had, and what is not compared |
//! | `follow` | the search for a run of the model that tells the same |
//! | `compare` | one program in both |
//! | `blind` | models without something that they vary, in which programs are to differ |
//! | `shrink` | a program in which they differ, made smaller |

mod actor;
mod blind;
mod compare;
mod follow;
mod generate;
mod language;
mod normal;
mod parse;
mod program;
mod shrink;
mod simulation;
#[cfg(test)]
mod tests;

use crate::output::{Format, print};
use crate::progress::Progress;
use crate::run::{default_jobs, in_order};
use crate::typed::whole;
use crate::{Answer, BadInput};
use blind::Blind;
use clap::Args;
use compare::{Difference, Kind, Plan, Tally, compare, first_run};
use follow::Effort;
use generate::{Feature, features, generate};
use language::Words;
use program::Program;
use simulation::Mark;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use zk_reports::{count, prepare_file, write_whole};

pub(crate) const ABOUT: &str = "\
Compares both engines by generated client programs

Each program is run in the simulator under several seeds, with faults and without.
What its processes were told must be something that the model can tell as well, given
at least the faults that the run had: answers, events, states, lists, Stats, without
times, and with zxids, clocks and session ids reduced to their order. Programs with
small models are gone through to the end without faults, and compared as sets.

A difference is made smaller and shown with the seed of its run. Exit 1 if there is
one, 3 if more than one program in ten had a run that was not compared.";

#[derive(Args, Debug)]
pub(crate) struct FuzzArguments {
    /// Compare this program and no generated ones
    #[arg(conflicts_with_all = ["programs", "seed", "without"])]
    file: Option<PathBuf>,
    /// How many programs
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "300", value_parser = whole(1..=10_000_000u64))]
    programs: u64,
    /// The first program's seed
    #[arg(long, value_name = "S", allow_negative_numbers = true, default_value = "1", value_parser = whole(0..=1_000_000_000_000_000u64))]
    seed: u64,
    /// How many runs of the simulator for each
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "8", value_parser = whole(1..=1_000u64))]
    runs: u64,
    /// Go through models of at most so many states to their end; 0 for none
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "50000", value_parser = whole(0..=100_000_000usize))]
    enumerate: usize,
    /// Programs without: tasks, races, times, list-order, pzxid, session-order, identities, start, next-life,
    /// renewal
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = named::<Feature>)]
    without: Vec<Feature>,
    /// Leave out of the models what they vary of this, to prove that programs find it: tasks,
    /// together, times, done, list-order, pzxid, session-order, identities, start, administrator, renewal
    #[arg(long, value_name = "WHAT", value_parser = named::<Blind>)]
    blind: Option<Blind>,
    /// Show and shrink so many differences
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "3", value_parser = whole(1..=1_000usize))]
    show: usize,
    /// Write the first difference's program into this new file
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// How many programs at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    jobs: Option<u16>,
}

fn named<W: Words>(word: &str) -> Result<W, String> {
    W::of(word).ok_or_else(|| format!("expected one of {}", W::listed()))
}

/// So many states may be looked at for one run.
const EFFORT: Effort = 60_000;

/// One program in so many may have runs that are not compared.
const EXCLUDED_ONE_IN: u64 = 10;

/// Compares, and prints what came of it.
pub(crate) fn fuzz(arguments: &FuzzArguments) -> Result<Answer, BadInput> {
    let plan =
        Plan { runs: arguments.runs, effort: EFFORT, enumerate: arguments.enumerate, blind: arguments.blind };
    let like = generate::Plan { without: arguments.without.iter().copied().collect() };
    let (first, programs) = (arguments.seed, arguments.programs);
    let jobs = arguments.jobs.map_or_else(default_jobs, usize::from);
    if let Some(file) = &arguments.keep {
        prepare_file(file)?;
    }
    let (tally, found) = match &arguments.file {
        Some(file) => one(file, &plan)?,
        None => {
            let mut progress = Progress::without_answer(Format::Human, Some(programs))?;
            many(first, programs, &like, &plan, jobs, &mut |done, differ| {
                let note = || format!("{} programs, {} differ", count(done), count(differ));
                progress.at(done, note, note);
            })
        }
    };
    let mut text = summary(&tally);
    let mut kept = None;
    for (program, difference) in found.iter().take(arguments.show) {
        let (program, difference) = shrink::shrink(program, difference.clone(), &plan);
        let file = file_of(&program, &difference);
        let _ = write!(text, "\n{}{}", file, told(&difference));
        kept.get_or_insert(file);
    }
    let answer = match (found.len(), tally.excluded * EXCLUDED_ONE_IN > tally.programs) {
        (0, false) if tally.observations == 0 => {
            text.push_str("undecided: no program told anything that could be compared\n");
            Answer::Undecided
        }
        (0, false) => {
            text.push_str("no difference\n");
            Answer::Held
        }
        (0, true) => {
            let _ = writeln!(text, "undecided: more than one program in {EXCLUDED_ONE_IN} is not compared");
            Answer::Undecided
        }
        (differ, _) => {
            let _ = writeln!(text, "\n{} programs differ", count(differ as u64));
            Answer::Broken
        }
    };
    print(&text)?;
    if let (Some(file), Some(kept)) = (&arguments.keep, &kept) {
        write_whole(file, kept.as_bytes())?;
    }
    Ok(answer)
}

/// What was found, in the order of the programs.
type Found = Vec<(Arc<Program>, Difference)>;

/// A program of a file, under the seeds that it names.
fn one(file: &std::path::Path, plan: &Plan) -> Result<(Tally, Found), BadInput> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|why| bad!("{name}: {why}"))?;
    let bad = |why: BadInput| bad!("{name}: {why}");
    let program = Arc::new(parse::parse(&text).map_err(bad)?);
    let seed = parse::seed(&text).map_err(bad)?;
    let (tally, difference) = compare(&program, seed.unwrap_or(0), plan);
    Ok((tally, difference.map(|difference| (program, difference)).into_iter().collect()))
}

/// The programs of these seeds.
fn many(
    first: u64,
    programs: u64,
    like: &generate::Plan,
    plan: &Plan,
    jobs: usize,
    progress: &mut dyn FnMut(u64, u64),
) -> (Tally, Found) {
    let one = |nth: u64| {
        let program = Arc::new(generate(first + nth, like));
        let (tally, difference) = compare(&program, first_run(first + nth), plan);
        (tally, difference.map(|difference| (program, difference)))
    };
    let (mut sum, mut found) = (Tally::default(), Vec::new());
    in_order(0..programs, jobs, one, |(tally, difference)| {
        sum.add(&tally);
        found.extend(difference);
        progress(sum.programs, found.len() as u64);
        ControlFlow::Continue(())
    });
    (sum, found)
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn summary(tally: &Tally) -> String {
    let mut text = format!(
        "{} programs, {} runs, {} observations compared\n",
        count(tally.programs),
        count(tally.runs),
        count(tally.observations)
    );
    let _ = writeln!(
        text,
        "{} programs enumerated without faults: {} outcomes, of which the simulator reached {} ({:.1} %)",
        count(tally.enumerated),
        count(tally.outcomes),
        count(tally.reached),
        percent(tally.reached, tally.outcomes)
    );
    let excluded = percent(tally.excluded, tally.programs);
    let _ = writeln!(text, "not compared: runs of {} programs ({excluded:.1} %)", count(tally.excluded));
    for (why, runs) in &tally.exclusions {
        let _ = writeln!(text, "  {}: {} runs", why.word(), count(*runs));
    }
    text
}

/// A program as a file, with the seed of the run that shows the difference.
fn file_of(program: &Program, difference: &Difference) -> String {
    let has: BTreeSet<Feature> = features(program);
    let has: Vec<&str> = has.into_iter().map(Words::word).collect();
    format!("# simulator {}\n# has {}\n{program}", difference.seed, has.join(", "))
}

/// What the engines said.
fn told(difference: &Difference) -> String {
    match &difference.kind {
        Kind::Broken(what) => format!("{what}\n"),
        Kind::NotShown { seen, nearest } => {
            let faults = seen.bounds;
            let mut text = format!(
                "the simulator, with {} drops, {} expiries, {} crashes, lag {}; and the nearest of the \
                 model:\n",
                faults.drops, faults.expiries, faults.crashes, faults.lag
            );
            for (nth, says) in seen.says.iter().enumerate() {
                let told = nearest.get(nth).map_or(0, Vec::len);
                for (at, said) in says.iter().enumerate() {
                    let _ = writeln!(
                        text,
                        "  p{nth} {} {said}",
                        if at < told { "both     " } else { "simulator" }
                    );
                }
            }
            let mut changes = seen.changes.iter();
            let order = seen.order.iter().map(|mark| match mark {
                Mark::Told(process) => format!("p{process}"),
                Mark::Changed => changes.next().map_or(String::new(), |change| format!("{change:?}")),
            });
            let _ = writeln!(text, "  in this order: {}", order.collect::<Vec<String>>().join(", "));
            text
        }
    }
}
