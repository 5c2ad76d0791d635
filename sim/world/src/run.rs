//! One run.

use crate::scenario::Scenario;
use crate::schedule::Schedule;
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_trials::promise::Assumption;
use zk_trials::trial::AnyTrial;

/// What to keep of a run besides its verdict.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Keep the trace as lines of text.
    pub trace: bool,
    /// Send human logs to `tracing`, stamped with virtual time and node. Never part of the digest.
    pub log: bool,
    /// Choices to take instead of the drawn ones: `(stream, entity, ordinal) -> value`.
    pub choices: BTreeMap<(String, u64, u64), u64>,
    /// Keep the choices that were drawn.
    pub record_choices: bool,
}

/// What one run gave. A function of trial, scenario, seed and schedule, to the byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// Digest of the whole trace.
    pub digest: u64,
    /// Virtual time at the end.
    pub virtual_ns: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Queue events taken.
    pub steps: u64,
    /// For each promise, and each invariant that is always watched, by name: how often it was put to the test.
    pub tested: BTreeMap<&'static str, u64>,
    /// What was broken, in order of time; the first of each promise is kept with and without an excuse.
    pub violations: Vec<RunViolation>,
    /// How often each interesting case was reached.
    pub sometimes: BTreeMap<&'static str, u64>,
    /// The trace, if it was asked for.
    pub trace: Vec<String>,
    /// The choices drawn, if they were asked for.
    pub choices: BTreeMap<(String, u64, u64), u64>,
}

/// A promise or invariant that was broken.
#[derive(Clone, Debug, PartialEq)]
pub struct RunViolation {
    /// Its name.
    pub promise: &'static str,
    /// When, in virtual time.
    pub at_ns: u64,
    /// What happened.
    pub what: String,
    /// The assumption that did not hold, where the break is expected.
    pub excuse: Option<Assumption>,
}

/// Runs a trial under a seed, in a thread of its own.
pub fn run(_trial: &Arc<dyn AnyTrial>, _scenario: &Scenario, _seed: u64, _options: &RunOptions) -> Run {
    todo!()
}

/// The same with a given schedule in the place of the drawn one.
pub fn run_schedule(
    _trial: &Arc<dyn AnyTrial>,
    _scenario: &Scenario,
    _seed: u64,
    _schedule: &Schedule,
    _options: &RunOptions,
) -> Run {
    todo!()
}
