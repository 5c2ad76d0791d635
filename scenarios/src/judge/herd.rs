//! How many clients a release wakes, by how many contend.

use super::arguments::{Contenders, JudgeArguments};
use crate::BadInput;
use crate::run::{Target, default_jobs, each_of};
use crate::trial_list::Trials;
use std::time::Instant;
use zk_reports::{Answer, HERD_SCHEMA, HerdReport, HerdRun, HerdTrial};
use zk_simulator::{RunOptions, Scenario, run};

/// The recipes that are to wake one client at most, each beside a published one that wakes all.
const TRIALS: [&str; 4] = ["lock", "lock/simple", "election", "election/smallest-watched"];
const SEED: u64 = 1;
/// Who holds works for so long: longer than all take to ask.
const WORK_MS: u32 = 500;

/// Runs each trial with so many contenders. `progress` learns how many runs are done, and of how many.
pub(crate) fn herd(
    catalogue: &Trials,
    arguments: &JudgeArguments,
    Contenders(contenders): &Contenders,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<HerdReport, BadInput> {
    let began = Instant::now();
    let trials = match &arguments.what[..] {
        [] => TRIALS.iter().filter_map(|name| catalogue.find(name).ok()).collect(),
        what => what.iter().map(|what| catalogue.find(what)).collect::<Result<Vec<_>, _>>()?,
    };
    if trials.is_empty() {
        return Err(bad!("--herd: say of which recipes; there is none that it is known of"));
    }
    let mut targets = Vec::new();
    for trial in &trials {
        let suited = Target::resolve(catalogue, trial.about.name, None)?;
        // The longest runs come first, so that none of them is left alone in the end.
        for clients in contenders.iter().rev() {
            let scenario = alone(suited.scenario.clone(), *clients);
            targets.push(Target::of_scenario(catalogue, &scenario)?);
        }
    }
    targets.sort_by_key(|target| std::cmp::Reverse(target.scenario.clients));
    let jobs = arguments.jobs.map_or_else(default_jobs, usize::from);
    let total = targets.len() as u64;
    let runs = each_of(&targets, jobs, run_of, &mut |done| progress(done, total));
    let of = |name: &str| {
        let ours = targets.iter().zip(&runs).filter(|(target, _)| target.trial.about.name == name);
        ours.map(|(_, run)| *run).rev().collect()
    };
    let trials: Vec<HerdTrial> = trials
        .iter()
        .map(|trial| trial.about)
        .map(|about| HerdTrial {
            name: about.name.into(),
            wrong: about.breaks.is_some(),
            runs: of(about.name),
        })
        .collect();
    let short = |trial: &HerdTrial| !trial.wrong && trial.runs.iter().any(|run| run.granted < run.contenders);
    let answer = if trials.iter().any(short) { Answer::Undecided } else { Answer::Held };
    let wall_seconds = began.elapsed().as_secs_f64();
    Ok(HerdReport { schema: HERD_SCHEMA.into(), seed: SEED, trials, answer, wall_seconds })
}

/// No faults, and time for each to hold once.
fn alone(suited: Scenario, clients: u16) -> Scenario {
    Scenario {
        clients,
        rounds: 1,
        servers: 1,
        observers: 0,
        latency_ms: [1.0, 1.0],
        work_ms: [WORK_MS, WORK_MS],
        fault_seconds: 0,
        // Twice as long as they hold, all together, and more.
        heal_seconds: 60 + u32::from(clients) * WORK_MS / 500,
        // A herd of a thousand sends some five million messages.
        step_budget: 100_000_000,
        ..suited
    }
    .without_faults()
}

fn run_of(target: &Target) -> HerdRun {
    let run = run(&target.trial, &target.scenario, SEED, &RunOptions::default());
    HerdRun {
        contenders: target.scenario.clients.into(),
        granted: run.granted,
        woken: run.herd.values().map(|herd| herd.woken).sum(),
        most: run.herd.values().map(|herd| herd.most).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments::CONTENDERS;
    use super::*;

    #[test]
    fn contenders_are_numbers_of_clients() {
        assert_eq!("10,1,10".parse(), Ok(Contenders(vec![1, 10])));
        CONTENDERS.parse::<Contenders>().expect("what is asked for with no numbers");
        for bad in ["", "0", "1001", "1,,2", "1,2,", "-1", "1 2", "x", "99999999999"] {
            let error = bad.parse::<Contenders>().expect_err(bad);
            assert_eq!(error, "expected numbers from 1 to 1000, such as 1,10,100");
        }
    }
}
