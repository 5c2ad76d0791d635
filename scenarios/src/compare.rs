//! Recipes side by side, for whoever is to choose one.

use crate::BadInput;
use crate::judge::{Effort, JudgeFormat, MAX_STATES, judge_one, worst};
use crate::run::{SeedRange, Target, default_jobs, each_of, sweep};
use crate::trial_list::Trials;
use crate::typed::whole;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use zk_harness::event::{GroundTruth, Observation};
use zk_harness::trial::Trial;
use zk_proto::message::{ToClient, ToServer};
use zk_reports::{
    BrokenUnder, COMPARE_SCHEMA, CompareReport, ComparedRecipe, Cost, PromiseResult, UnderFault, Verdict,
};
use zk_simulator::crossing::Carried;
use zk_simulator::timeline::{Moment, Place, TimelineEvent};
use zk_simulator::{Faults, Run, RunOptions, Scenario, run};

pub(crate) const ABOUT: &str = "\
Compares recipes: what they promise, what they cost, what breaks them

Each is judged by both engines, run without faults by one, five and twenty
clients, and run under each fault alone: sessions that expire, connections that
drop, clients that pause, leaders that crash. A family stands for all its
variants: lock/ is lock and every lock/…

Exit 0 if each is as the catalogue says, 1 if one is not, 3 if a search had no
end or a promise was never put to the test.";

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Recipes and variants, and families such as lock/
    #[arg(required = true)]
    what: Vec<String>,
    /// How many seeds each is run under: of all faults, and of each fault alone
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "100", value_parser = whole(1..=1_000_000u64))]
    seeds: u64,
    /// Give up on a model after so many states
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = MAX_STATES, value_parser = whole(1..=1_000_000_000u64))]
    max_states: u64,
    /// How many recipes at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    jobs: Option<u16>,
    /// Write report.json and index.html into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<std::path::PathBuf>,
    /// How to write the result; markdown has the costs alone
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: JudgeFormat,
}

/// Clients and latencies that a turn's cost is measured with.
const POINTS: [(u16, f64); 4] = [(1, 1.0), (5, 1.0), (20, 1.0), (5, 50.0)];
/// The seed of those runs.
const SEED: u64 = 1;
/// What a run as a whole is like has so many numbers at most. The first value of each is the usual one: an ensemble
/// whose leaders give up after eight transactions, say, tells nothing of a recipe's cost.
const LIKE: u64 = 64;
/// How many turns all clients want together in them.
const TURNS: u16 = 20;
/// How long it works in each: longer than most take to ask.
const WORK_MS: u32 = 100;

/// The faults that each recipe meets alone.
fn faults() -> [(&'static str, Faults); 4] {
    [
        ("expiry", Faults { expiries: 3, ..Faults::none() }),
        ("connection loss", Faults { drops: 12, ..Faults::none() }),
        ("pause", Faults { client_pauses: 3, ..Faults::none() }),
        ("leader change", Faults { leader_crashes: 3, ..Faults::none() }),
    ]
}

/// What is to be compared, each once, in the order in which it was asked for.
pub(crate) fn trials(catalogue: &Trials, what: &[String]) -> Result<Vec<Arc<Trial>>, BadInput> {
    let mut all: Vec<Arc<Trial>> = Vec::new();
    for what in what {
        let found = match what.strip_suffix('/') {
            Some(family) => crate::judge::trials(catalogue, &[family.to_owned()])?,
            None => vec![catalogue.find(what)?],
        };
        for trial in found {
            if all.iter().all(|other| other.about.name != trial.about.name) {
                all.push(trial);
            }
        }
    }
    match all.iter().find(|trial| trial.programs().is_some()) {
        Some(program) => Err(bad!("{}: a program; only recipes are compared", program.about.name)),
        None => Ok(all),
    }
}

/// Compares them. `progress` learns how many are done.
pub(crate) fn compare(
    catalogue: &Trials,
    arguments: &CompareArguments,
    progress: &mut dyn FnMut(u64),
) -> Result<CompareReport, BadInput> {
    let began = Instant::now();
    let trials = trials(catalogue, &arguments.what)?;
    let (seeds, max_states) = (arguments.seeds, arguments.max_states);
    let jobs = arguments.jobs.map_or_else(default_jobs, usize::from);
    let effort = Effort { scenario: None, seeds, max_states, jobs };
    let results = each_of(&trials, jobs, |trial| one(catalogue, trial, &effort), progress);
    let recipes = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(CompareReport {
        schema: COMPARE_SCHEMA.into(),
        seeds,
        max_states,
        answer: worst(recipes.iter().map(|recipe| recipe.judged.answer)),
        recipes,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

fn one(catalogue: &Trials, trial: &Arc<Trial>, effort: &Effort) -> Result<ComparedRecipe, BadInput> {
    let judged = judge_one(catalogue, trial, effort)?;
    let suited = Target::resolve(catalogue, trial.about.name, None)?.scenario;
    let costs = costs(trial, &suited);
    let under = |(fault, faults)| {
        let scenario = Scenario { servers: 3, faults, ..suited.clone() };
        let swept = sweep(&Target::of_scenario(catalogue, &scenario)?, &SeedRange::new(0, effort.seeds)?, 1)?;
        Ok(under_fault(fault, &swept.promises))
    };
    let faults = faults().into_iter().map(under).collect::<Result<Vec<_>, BadInput>>()?;
    Ok(ComparedRecipe { judged, costs, faults })
}

fn under_fault(fault: &str, promises: &[PromiseResult]) -> UnderFault {
    let is_broken = |result: &&PromiseResult| result.broken + result.expected > 0;
    let of = |result: &PromiseResult| BrokenUnder {
        promise: result.name.clone(),
        owed: result.broken,
        broken_as_expected: result.expected,
        assumptions: result.assumptions.clone(),
    };
    let broken: Vec<BrokenUnder> = promises.iter().filter(is_broken).map(of).collect();
    let verdict = match (broken.iter().any(|promise| promise.owed > 0), broken.is_empty()) {
        (true, _) => Verdict::Broken,
        (false, false) => Verdict::BrokenAsExpected,
        (false, true) => Verdict::Held,
    };
    UnderFault { fault: fault.into(), verdict, broken }
}

/// Its costs at all points.
fn costs(trial: &Arc<Trial>, suited: &Scenario) -> Vec<Cost> {
    POINTS.map(|(clients, latency_ms)| cost(trial, suited, clients, latency_ms)).into()
}

/// Runs it without faults, and counts.
fn cost(trial: &Arc<Trial>, suited: &Scenario, clients: u16, latency_ms: f64) -> Cost {
    let is_single = trial.scenario.contains(&("rounds", "1"));
    let scenario = Scenario {
        clients,
        rounds: if is_single { 1 } else { (TURNS / clients) as u8 },
        servers: 3,
        observers: 0,
        latency_ms: [latency_ms; 2],
        work_ms: [WORK_MS; 2],
        fault_seconds: 0,
        heal_seconds: 120,
        step_budget: 100_000_000,
        ..suited.clone()
    }
    .without_faults();
    let choices = (0..LIKE).map(|entity| (("swarm".into(), entity, 0), 0)).collect();
    let run = run(trial, &scenario, SEED, &RunOptions { trace: true, choices, ..RunOptions::default() });
    let sent = |is: fn(&Carried) -> bool| run.crossings.iter().filter(|it| is(&it.what)).count() as u64;
    Cost {
        clients: clients.into(),
        latency_ms,
        turns: run.timeline.iter().filter(|moment| ends_turn(moment)).count() as u64,
        requests: sent(|what| matches!(what, Carried::ToServer(ToServer::Request { .. }))),
        wakes: sent(|what| matches!(what, Carried::ToClient(ToClient::Event { .. }))),
        hand_over_us: hand_over(&run),
        left: left(&run, trial),
    }
}

fn ends_turn(moment: &Moment) -> bool {
    matches!(
        moment.what,
        TimelineEvent::Observed(
            Observation::Released { .. } | Observation::Ends { .. } | Observation::GivesUp { .. }
        )
    )
}

/// The median of the times from a release until the next grant, where somebody waited.
fn hand_over(run: &Run) -> Option<u64> {
    let mut waiting: Vec<Place> = Vec::new();
    let mut times = Vec::new();
    let mut since: BTreeMap<String, u64> = BTreeMap::new();
    for moment in &run.timeline {
        let TimelineEvent::Observed(said) = &moment.what else { continue };
        match said {
            Observation::Attempts { .. } => waiting.push(moment.place),
            Observation::GivesUp { .. } => waiting.retain(|place| *place != moment.place),
            Observation::Released { lock } if !waiting.is_empty() => {
                since.insert(lock.to_string(), moment.at_ns);
            }
            Observation::Granted { lock, .. } | Observation::Shares { lock, .. } => {
                waiting.retain(|place| *place != moment.place);
                times.extend(since.remove(&lock.to_string()).map(|at| moment.at_ns - at));
            }
            Observation::Released { .. }
            | Observation::Enters { .. }
            | Observation::Leaves { .. }
            | Observation::Notes { .. }
            | Observation::Begins { .. }
            | Observation::Ends { .. } => {}
        }
    }
    times.sort_unstable();
    times.get(times.len() / 2).map(|ns| ns / 1000)
}

/// How many znodes there are in the end that were not there in the beginning.
fn left(run: &Run, trial: &Trial) -> u64 {
    let mut there = BTreeSet::new();
    for moment in &run.timeline {
        match &moment.what {
            TimelineEvent::Is(GroundTruth::NodeCreated { path, .. }) => {
                there.insert(path.clone());
            }
            TimelineEvent::Is(GroundTruth::NodeDeleted { path, .. }) => {
                there.remove(path);
            }
            _ => {}
        }
    }
    there.iter().filter(|path| trial.owns(path)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use zk_reports::costs_markdown;

    /// What the documentation of recipes shows, and of which.
    const SHOWN: [(&str, &[&str]); 11] = [
        ("lock", &["lock", "try-lock", "timed-lock"]),
        ("shared_lock", &["shared-lock"]),
        ("revoke", &["revocable-lock"]),
        ("chubby", &["chubby"]),
        ("election", &["election"]),
        ("barrier", &["barrier"]),
        ("double_barrier", &["double-barrier"]),
        ("queue", &["queue", "priority-queue"]),
        ("two_phase_commit", &["two-phase-commit"]),
        ("membership", &["membership"]),
        ("configuration", &["configuration"]),
    ];

    #[test]
    fn recipes_state_what_they_cost() {
        let catalogue = Trials::built_in();
        let mut stale = Vec::new();
        for (module, names) in SHOWN {
            let cost = |name: &&'static str| {
                let target = Target::resolve(&catalogue, name, None).expect("it is a recipe");
                (*name, costs(&target.trial, &target.scenario))
            };
            let measured: Vec<_> = names.iter().map(cost).collect();
            let found = costs_markdown(measured.iter().map(|(name, costs)| (*name, &**costs)));
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../recipes/costs/{module}.md"));
            let stands = std::fs::read_to_string(&file).unwrap_or_default();
            if std::env::var_os("UPDATE_TESTDATA").is_some() {
                std::fs::write(&file, &found).expect("it can be written");
            } else if found != stands {
                stale.push(file);
            }
        }
        assert!(stale.is_empty(), "UPDATE_TESTDATA=1 measures anew: {stale:?}");
    }

    #[test]
    fn the_worst_of_the_promises_is_told_under_a_fault() {
        let result = |broken, expected| PromiseResult { broken, expected, ..PromiseResult::default() };
        let verdict = |results: &[PromiseResult]| under_fault("pause", results).verdict;
        assert_eq!(verdict(&[result(0, 0)]), Verdict::Held);
        assert_eq!(verdict(&[result(0, 0), result(0, 2)]), Verdict::BrokenAsExpected);
        assert_eq!(verdict(&[result(1, 0), result(0, 2)]), Verdict::Broken);
    }

    #[test]
    fn every_right_recipe_of_the_catalogue_is_among_them() {
        let right = zk_catalogue::trials().into_iter().map(|trial| trial.about);
        let right = right.filter(|about| about.breaks.is_none() && !about.name.contains('/'));
        let shown: BTreeSet<&str> = SHOWN.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(right.map(|about| about.name).collect::<BTreeSet<_>>(), shown);
    }
}
