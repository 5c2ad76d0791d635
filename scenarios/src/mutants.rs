//! The kill matrix: bugs planted into every server, and what finds them. It proves what is always watched.

use crate::output::Format;
use crate::run::{SeedRange, Target, default_jobs, each_seed};
use crate::typed::whole;
use crate::{BadInput, Zoo};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use zk_model::Verdict;
use zk_model::ensemble::{
    BROKEN_WITHOUT, EnsembleBounds, EnsembleConfig, Level, NO_FAIR_CYCLE, PLANTED, PROGRESS_POSSIBLE,
    PeerNode, STANDS_ON_QUORUM, Tune, check_ensemble,
};
use zk_proto::mutant::Mutant;
use zk_proto::zab::{PeerConfig, invariants};
use zk_reports::{Answer, Fate, Kill, MUTANTS_SCHEMA, ModelKill, MutantResult, MutantsReport};
use zk_world::{Run, RunOptions, Scenario};

pub(crate) const ABOUT: &str = "\
Plants known bugs into the simulated servers, one at a time, and tells what found each

Every bug is one small deviation: those that ZooKeeper had, wrong fixes of them,
slips of its specifications, and some of our own. Each is given the same seeds of
an ensemble in which everything fails, and the same small models. A find counts
once the bug has made a difference; without any bug, the same must be green.

Exit 1 if a bug was not found, or by nothing that was expected to find it, or if
the canary was, which harms nobody.";

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
    /// Explore models of at most so many states as well, until something breaks; 0 for none
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "100000", value_parser = whole(0..=1_000_000_000u64))]
    max_states: u64,
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
    let mut unmutated = plant(None)?.kills(None);
    let models = if arguments.max_states == 0 { Vec::new() } else { models() };
    if let Some(kill) = explore(&models, arguments.max_states, None) {
        let invariant = format!("{} ({})", kill.invariants.join(", "), kill.bounds);
        unmutated.push(Kill { invariant, seeds: 0, first_seed: 0, expected: false });
    }
    let mut results = Vec::new();
    for (done, mutant) in (1..).zip(&mutants) {
        let model = explore(&models, arguments.max_states, Some(*mutant));
        results.push(result(*mutant, &plant(Some(*mutant))?, model));
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
        models: models.iter().map(|(bounds, _)| (*bounds).to_owned()).collect(),
        max_states: arguments.max_states,
        mutants: results,
        never_broken,
        answer: if wrong.is_empty() { Answer::Held } else { Answer::Broken },
        wrong,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

/// The bounds that are explored, smallest first. None is made for a mutant: what is set up otherwise than usual is so
/// for all.
fn models() -> Vec<(&'static str, EnsembleConfig)> {
    let bounds = |servers, txns, crashes, elections| EnsembleBounds {
        txns,
        crashes,
        elections,
        ..EnsembleBounds::servers(servers)
    };
    let whole = Level::Whole;
    let synchronisation = Level::Synchronisation;
    let usual = |_: &mut PeerConfig| ();
    // A learner that lacks anything gets a snapshot, and an epoch is soon at its end.
    let impatient = |peer: &mut PeerConfig| (peer.diff_max, peer.last_counter) = (0, 1);
    let config = |level, bounds, tune: fn(&mut PeerConfig)| EnsembleConfig {
        tune: Tune(Arc::new(tune)),
        ..EnsembleConfig::new(level, bounds)
    };
    vec![
        ("2 voters, 1 transaction, 1 crash, 1 election", config(whole, bounds(2, 1, 1, 1), usual)),
        (
            "2 voters, snapshots and short epochs, 2 transactions, 1 crash, 1 election",
            config(whole, bounds(2, 2, 1, 1), impatient),
        ),
        (
            "2 voters and an observer, 1 transaction, 1 broken link",
            config(whole, EnsembleBounds { observers: 1, breaks: 1, ..bounds(2, 1, 0, 1) }, usual),
        ),
        (
            "2 voters with a past of 2, 1 crash, 1 election",
            config(synchronisation, EnsembleBounds { past: 2, ..bounds(2, 0, 1, 1) }, usual),
        ),
        ("3 voters, 1 transaction, 1 crash, 1 election", config(whole, bounds(3, 1, 1, 1), usual)),
        (
            "3 voters with a past of 1, 1 crash, 1 election",
            config(synchronisation, EnsembleBounds { past: 1, ..bounds(3, 0, 1, 1) }, usual),
        ),
        (
            "3 voters, snapshots and short epochs, 1 transaction, 1 crash, 1 election",
            config(whole, bounds(3, 1, 1, 1), impatient),
        ),
    ]
}

/// The first of the models in which something is broken after the mutant's mark.
fn explore(
    models: &[(&'static str, EnsembleConfig)],
    max_states: u64,
    mutant: Option<Mutant>,
) -> Option<ModelKill> {
    models.iter().find_map(|(bounds, config)| {
        let Tune(usual) = config.tune.clone();
        let tune = Tune(Arc::new(move |peer: &mut PeerConfig| {
            usual(peer);
            peer.mutant = mutant;
        }));
        let config = EnsembleConfig { tune, max_states: Some(max_states), ..config.clone() };
        let check = check_ensemble::<PeerNode>(&config, &mut |_| ());
        let Verdict::Violated { steps, .. } = check.verdict else { return None };
        let times =
            |case| check.sometimes.iter().find(|(name, _)| *name == case).map_or(0, |(_, times)| *times);
        let is_marked = mutant.is_none() || times(PLANTED) > 0 && times(BROKEN_WITHOUT) == 0;
        let broken = check.promises.iter().filter(|promise| promise.broken.is_some());
        let names: Vec<&str> = broken.map(|promise| in_worlds_words(promise.name)).collect();
        let expected = mutant.is_some_and(|mutant| names.iter().any(|name| mutant.family().contains(name)));
        is_marked.then(|| ModelKill {
            bounds: (*bounds).into(),
            invariants: names.iter().map(|name| (*name).to_owned()).collect(),
            expected,
            steps,
            states: check.states,
        })
    })
}

/// What the models call by other names.
fn in_worlds_words(name: &'static str) -> &'static str {
    match name {
        PROGRESS_POSSIBLE | NO_FAIR_CYCLE => "liveness",
        STANDS_ON_QUORUM => "CommittedIsOnAQuorum",
        other => other,
    }
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

fn result(mutant: Mutant, tally: &Tally, model: Option<ModelKill>) -> MutantResult {
    let kills = tally.kills(Some(mutant));
    let first_seed = kills.iter().filter(|kill| kill.expected).map(|kill| kill.first_seed).min();
    let by_family = first_seed.is_some() || model.as_ref().is_some_and(|kill| kill.expected);
    let fate = match (by_family, kills.is_empty() && model.is_none(), tally.acted) {
        (true, _, _) => Fate::Killed,
        (false, false, _) => Fate::KilledByOthers,
        (false, true, 0) => Fate::NeverActed,
        (false, true, _) => Fate::Survived,
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
        model,
        fate,
    }
}

/// Invariants that nothing has broken.
fn never_broken(results: &[MutantResult]) -> Vec<String> {
    let by_seeds = results.iter().flat_map(|result| &result.kills).map(|kill| kill.invariant.as_str());
    let by_models = results.iter().flat_map(|result| &result.model).flat_map(|kill| &kill.invariants);
    let broken: BTreeSet<&str> = by_seeds.chain(by_models.map(String::as_str)).collect();
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
