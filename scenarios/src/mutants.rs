//! The kill matrix: bugs planted into every server, and what finds them. It proves what is always watched.

use crate::output::Format;
use crate::run::{SeedRange, Target, default_jobs, each_seed};
use crate::typed::whole;
use crate::{BadInput, Zoo};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use zk_proto::mutant::Mutant;
use zk_proto::zab::invariants;
use zk_reports::{Answer, Fate, Kill, MUTANTS_SCHEMA, MutantResult, MutantsReport};
use zk_world::{Run, RunOptions, Scenario};

pub(crate) const ABOUT: &str = "\
Plants known bugs into the simulated servers, one at a time, and tells what found each

Every bug is one small deviation: those that ZooKeeper had, wrong fixes of them, slips of its specifications, and some \
of our own, so that every invariant is broken by something. A find counts from the moment the bug first made a \
difference. The same seeds without any bug must be green. Exit 1 if a bug was not found, or by nothing that was \
expected to find it, or if the canary, which harms nobody, was.";

/// The scenario that finds them.
const SCENARIO: &str = include_str!("../suite/ensemble.toml");

#[derive(Args, Debug)]
pub(crate) struct MutantsArguments {
    /// Which bugs [default: all]
    names: Vec<String>,
    /// How many seeds each is given
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "300", value_parser = whole(1..=1_000_000u64))]
    seeds: u64,
    /// How many seeds at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    jobs: Option<u16>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

impl MutantsArguments {
    /// Which bugs are to be planted.
    pub(crate) fn mutants(&self) -> Result<Vec<Mutant>, BadInput> {
        if self.names.is_empty() {
            return Ok(Mutant::ALL.to_vec());
        }
        let find = |name: &String| {
            Mutant::find(name).ok_or_else(|| {
                let known = Mutant::ALL.map(Mutant::name);
                let hint = crate::bad_input::did_you_mean(name, known);
                BadInput::new(format!("{name}: no mutant of this name{hint}"))
            })
        };
        self.names.iter().map(find).collect()
    }
}

/// Plants them all. `progress` learns how many are done.
pub(crate) fn mutants(
    zoo: &Zoo,
    arguments: &MutantsArguments,
    progress: &mut dyn FnMut(u64),
) -> Result<MutantsReport, BadInput> {
    let began = Instant::now();
    let mutants = arguments.mutants()?;
    let scenario: Scenario = toml::from_str(SCENARIO).expect("the suite's files are scenarios");
    let target = Target::of_scenario(zoo, &scenario)?;
    let seeds = SeedRange::new(0, arguments.seeds)?;
    let jobs = arguments.jobs.map_or_else(default_jobs, usize::from);
    let plant = |mutant: Option<Mutant>| {
        let mut tally = Tally::default();
        let one = |seed: u64, _: bool| {
            let options = RunOptions { mutant, check_always: true, ..RunOptions::default() };
            zk_world::run(&target.trial, &target.scenario, seed, &options)
        };
        each_seed(&seeds, jobs, &one, &mut |run| tally.add(run, mutant))?;
        Ok::<Tally, BadInput>(tally)
    };
    let unmutated = plant(None)?.kills(None);
    let mut results = Vec::new();
    for (done, mutant) in (1..).zip(&mutants) {
        results.push(result(*mutant, &plant(Some(*mutant))?));
        progress(done);
    }
    let whole = mutants.len() == Mutant::ALL.len();
    let never_broken = if whole { never_broken(&results) } else { Vec::new() };
    let wrong = wrong(&unmutated, &results, &never_broken);
    Ok(MutantsReport {
        schema: MUTANTS_SCHEMA.into(),
        scenario: "scenarios/suite/ensemble.toml".into(),
        seeds: arguments.seeds,
        unmutated,
        mutants: results,
        never_broken,
        answer: if wrong.is_empty() { Answer::Held } else { Answer::Broken },
        wrong,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

/// What the seeds gave.
#[derive(Default)]
struct Tally {
    acted: u64,
    caught: u64,
    /// By what was broken first, alone or with others: in how many seeds, and the first of them.
    broken: BTreeMap<&'static str, (u64, u64)>,
}

impl Tally {
    fn add(&mut self, run: &Run, mutant: Option<Mutant>) {
        let counts = mutant.is_none() || run.deviations > 0;
        self.acted += u64::from(run.deviations > 0);
        let mut owed = run.violations.iter().filter(|violation| violation.excuse.is_none() && counts);
        let first_ns = owed.clone().next().map(|violation| violation.at_ns);
        self.caught += u64::from(first_ns.is_some());
        for violation in owed.by_ref().take_while(|violation| Some(violation.at_ns) == first_ns) {
            let entry = self.broken.entry(named(violation.promise)).or_insert((0, run.seed));
            entry.0 += 1;
        }
    }

    fn kills(&self, mutant: Option<Mutant>) -> Vec<Kill> {
        let expected = |name: &str| mutant.is_some_and(|mutant| mutant.family().contains(&name));
        let mut kills: Vec<Kill> = self
            .broken
            .iter()
            .map(|(invariant, (seeds, first_seed))| Kill {
                invariant: (*invariant).into(),
                seeds: *seeds,
                first_seed: *first_seed,
                expected: expected(invariant),
            })
            .collect();
        kills.sort_by_key(|kill| std::cmp::Reverse(kill.seeds));
        kills
    }
}

/// An ensemble that does not serve when faults are over is not live.
fn named(invariant: &'static str) -> &'static str {
    match invariant {
        "every-server-serves" => "liveness",
        other => other,
    }
}

fn result(mutant: Mutant, tally: &Tally) -> MutantResult {
    let kills = tally.kills(Some(mutant));
    let first_seed = kills.iter().filter(|kill| kill.expected).map(|kill| kill.first_seed).min();
    let fate = match (first_seed, kills.is_empty(), tally.acted) {
        (Some(_), _, _) => Fate::Killed,
        (None, false, _) => Fate::KilledByOthers,
        (None, true, 0) => Fate::NeverActed,
        (None, true, _) => Fate::Survived,
    };
    MutantResult {
        name: mutant.name().into(),
        source: mutant.source().into(),
        what: mutant.what().into(),
        family: mutant.family().iter().map(|name| (*name).into()).collect(),
        acted: tally.acted,
        caught: tally.caught,
        first_seed,
        kills,
        fate,
    }
}

/// Invariants that nothing has broken.
fn never_broken(results: &[MutantResult]) -> Vec<String> {
    let broken: BTreeSet<&str> =
        results.iter().flat_map(|result| &result.kills).map(|kill| kill.invariant.as_str()).collect();
    let names = invariants::ALL.iter().map(|(name, _)| *name);
    names.filter(|name| !broken.contains(name)).map(str::to_owned).collect()
}

fn wrong(unmutated: &[Kill], results: &[MutantResult], never_broken: &[String]) -> Vec<String> {
    let mut wrong: Vec<String> = unmutated
        .iter()
        .map(|kill| format!("without any mutant, {} was broken in seed {}", kill.invariant, kill.first_seed))
        .collect();
    for result in results {
        let is_canary = result.name == Mutant::Canary.name();
        match (result.fate, is_canary) {
            (Fate::Killed, false) | (Fate::Survived, true) => {}
            (Fate::Killed | Fate::KilledByOthers, true) => {
                wrong.push("the canary harms nobody, and was found all the same".into());
            }
            (Fate::NeverActed, _) => wrong.push(format!("{} never made a difference", result.name)),
            (Fate::Survived, false) => wrong.push(format!("{} was not found", result.name)),
            (Fate::KilledByOthers, false) => {
                wrong.push(format!("{} was found by none of its family", result.name));
            }
        }
    }
    if !never_broken.is_empty() {
        wrong.push(format!("no mutant breaks {}", never_broken.join(", ")));
    }
    wrong
}
