//! Unique states per second on one thread: the lock with three clients and one expiry, nothing reduced, beside
//! stateright's search of a two-phase commit, in the same run on the same machine. Then each recipe of the catalogue
//! with two clients and one of each fault, as far as [`MOST_STATES`] go.
//!
//! The two-phase commit is written here for the purpose (the one that stateright bundles is an example of its
//! repository and not part of the crate), so its rate is a yardstick for the machine and no ranking.

use stateright::{Checker, Model, Property};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zk_harness::trial::{Bounds, Trial};
use zk_model::{CheckConfig, Engine, Verdict, check};

/// Each measurement is repeated for so long; the best counts, as other work on the machine only slows.
const REPEAT: Duration = Duration::from_secs(2);

/// A recipe's search ends there, if it does not end before.
const MOST_STATES: u64 = 200_000;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let lock = |engine| {
        move || {
            let trials = zk_catalogue::trials();
            let lock = trials.into_iter().find(|trial| trial.about.name == "lock").expect("the lock");
            let mut config = one_search(Bounds { expiries: 1, ..Bounds::clients(3) });
            config.engine = engine;
            let check = check(lock, &config, &mut |_| ());
            assert_eq!(check.verdict, Verdict::Holds);
            check.states
        }
    };
    report("lock n=3 e=1, our search", best(lock(Engine::Own)));
    report("lock n=3 e=1, stateright's search", best(lock(Engine::Stateright)));
    report("two-phase commit n=7, stateright's search", best(two_phase_commit));
    for trial in zk_catalogue::trials().iter().filter(|trial| trial.about.breaks.is_none()) {
        report(trial.about.name, best(|| explored(trial.clone())));
    }
}

/// A right recipe, with two clients and one of each fault.
fn explored(trial: Arc<Trial>) -> u64 {
    let bounds = Bounds { expiries: 1, drops: 1, crashes: 1, ..Bounds::clients(2) };
    let config = CheckConfig { max_states: Some(MOST_STATES), ..one_search(bounds) };
    let check = check(trial, &config, &mut |_| ());
    assert!(!matches!(check.verdict, Verdict::Violated { .. }), "{:?}", check.verdict);
    check.states
}

/// Without what follows a search and is counted in no states: one more with guids in the other order, and one that
/// looks for what comes round by the order of numbers.
fn one_search(bounds: Bounds) -> CheckConfig {
    CheckConfig { guids_fall: true, livelock: false, ..CheckConfig::new(bounds) }
}

fn report(what: &str, (states, rate): (u64, f64)) {
    let _ = writeln!(std::io::stdout(), "{what}: {states} states, {rate:.0} unique states/s");
}

fn best(work: impl Fn() -> u64) -> (u64, f64) {
    let began = Instant::now();
    let mut best = (0, 0.0);
    while began.elapsed() < REPEAT {
        let started = Instant::now();
        let states = work();
        let rate = states as f64 / started.elapsed().as_secs_f64();
        if rate > best.1 {
            best = (states, rate);
        }
    }
    best
}

fn two_phase_commit() -> u64 {
    let checker = TwoPhaseCommit { managers: 7 }.checker().threads(1).spawn_bfs().join();
    assert!(checker.discoveries().is_empty());
    checker.unique_state_count() as u64
}

/// One coordinator and some resource managers that vote, by messages that are never lost and in no order.
struct TwoPhaseCommit {
    managers: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Manager {
    Working,
    Ready,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Outcome {
    Open,
    Commit,
    Abort,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Votes {
    managers: Vec<Manager>,
    /// Votes on their way, as bits, and votes counted.
    sent: u16,
    counted: u16,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitStep {
    Vote(u8),
    Refuse(u8),
    Count(u8),
    Decide,
    GiveUp,
    Learn(u8),
}

impl Model for TwoPhaseCommit {
    type State = Votes;
    type Action = CommitStep;

    fn init_states(&self) -> Vec<Votes> {
        let managers = vec![Manager::Working; self.managers.into()];
        vec![Votes { managers, sent: 0, counted: 0, outcome: Outcome::Open }]
    }

    fn actions(&self, votes: &Votes, steps: &mut Vec<CommitStep>) {
        if votes.outcome == Outcome::Open {
            steps.push(CommitStep::GiveUp);
            if votes.counted == (1 << self.managers) - 1 {
                steps.push(CommitStep::Decide);
            }
        }
        for (n, manager) in (0..self.managers).zip(&votes.managers) {
            if *manager == Manager::Working {
                steps.extend([CommitStep::Vote(n), CommitStep::Refuse(n)]);
            }
            if votes.outcome == Outcome::Open && votes.sent & !votes.counted & 1 << n != 0 {
                steps.push(CommitStep::Count(n));
            }
            if votes.outcome != Outcome::Open && matches!(manager, Manager::Working | Manager::Ready) {
                steps.push(CommitStep::Learn(n));
            }
        }
    }

    fn next_state(&self, last: &Votes, step: CommitStep) -> Option<Votes> {
        let mut votes = last.clone();
        match step {
            CommitStep::Vote(n) => {
                votes.managers[usize::from(n)] = Manager::Ready;
                votes.sent |= 1 << n;
            }
            CommitStep::Refuse(n) => votes.managers[usize::from(n)] = Manager::Aborted,
            CommitStep::Count(n) => votes.counted |= 1 << n,
            CommitStep::Decide => votes.outcome = Outcome::Commit,
            CommitStep::GiveUp => votes.outcome = Outcome::Abort,
            CommitStep::Learn(n) => {
                let learnt =
                    if votes.outcome == Outcome::Commit { Manager::Committed } else { Manager::Aborted };
                votes.managers[usize::from(n)] = learnt;
            }
        }
        Some(votes)
    }

    fn properties(&self) -> Vec<Property<TwoPhaseCommit>> {
        vec![Property::always("agreement", |_, votes: &Votes| {
            let has = |manager| votes.managers.contains(&manager);
            !(has(Manager::Committed) && has(Manager::Aborted))
        })]
    }
}
