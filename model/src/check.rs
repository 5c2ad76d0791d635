//! What to check, and what came of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use zk_trials::promise::Assumption;
use zk_trials::trial::{AnyTrial, Bounds, Reductions};

/// What to explore, how, and when to give up.
#[derive(Clone, Debug)]
pub struct CheckConfig {
    /// How many of each there are at most.
    pub bounds: Bounds,
    /// Reductions that are not sound for every recipe; all off is the full search.
    pub reductions: Reductions,
    /// Remember transitions instead of replaying them. Off only to test that it changes nothing.
    pub memo: bool,
    /// Let checkpoints merge states.
    pub keys: bool,
    /// Audit checkpoints: the same key and input must give the same step. A failed audit is a verdict.
    pub audit: bool,
    /// Actors write to the outside resource inside the critical section.
    pub effects: bool,
    /// Which search.
    pub engine: Engine,
    /// Give up after so long.
    pub time_limit: Option<Duration>,
    /// Give up after so many states.
    pub max_states: Option<u64>,
    /// Go no deeper.
    pub max_depth: Option<u32>,
}

/// Which search explores the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Our breadth-first search: shortest counterexamples, honest limits.
    Own,
    /// Stateright's, over the same model.
    Stateright,
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Unique states so far.
    pub states: u64,
    /// Of these, not explored yet.
    pub frontier: u64,
    /// Steps from the start.
    pub depth: u32,
}

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Check {
    /// The answer.
    pub verdict: Verdict,
    /// Unique states found.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// The longest of the shortest paths.
    pub depth: u32,
    /// Each promise by itself.
    pub promises: Vec<PromiseReport>,
    /// How often each interesting case was reached: budget used up, answer lost, … (`sometimes`).
    pub sometimes: Vec<(&'static str, u64)>,
    /// What it took.
    pub wall: Duration,
}

/// The answer of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every state within the bounds was explored and no promise was broken (but as expected).
    Holds,
    /// A promise was broken, or the recipe ran away; see `promises`.
    Violated { promise: String, steps: u32 },
    /// The search was cut short: by what.
    Undecided { ran_out: String },
}

/// What became of one promise.
#[derive(Clone, Debug)]
pub struct PromiseReport {
    /// Its name.
    pub name: &'static str,
    /// In how many transitions it was put to the test.
    pub tested: u64,
    /// The shortest way to break it where it was owed.
    pub broken: Option<Counterexample>,
    /// The shortest way to break it where an assumption did not hold.
    pub excused: Option<Counterexample>,
}

/// A way to break a promise, for people to read.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What happened.
    pub what: String,
    /// The assumption that did not hold.
    pub excuse: Option<Assumption>,
    /// One line a step, from the start.
    pub steps: Vec<String>,
}

/// Explores a trial. `progress` is called now and then.
pub fn check(_trial: Arc<dyn AnyTrial>, _config: &CheckConfig, _progress: &mut dyn FnMut(Progress)) -> Check {
    todo!()
}

/// Serves stateright's Explorer over the model until the process ends.
pub fn explore(_trial: Arc<dyn AnyTrial>, _config: &CheckConfig, _address: SocketAddr) {
    todo!()
}
