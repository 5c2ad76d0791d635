//! What comes of a search.

use crate::reads::Reads;
use crate::scene::Scene;
use crate::stop::Stop;
use std::time::{Duration, Instant};
use zk_harness::heard::Told;
use zk_harness::promise::Assumption;
use zk_harness::script::ScriptStep;

/// How far a search has got.
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
    /// What ran out before everything was explored, if anything did: also where something was broken by then.
    pub ran_out: Option<String>,
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
    /// What was told in the steps, where it is known what is heard.
    pub told: Told,
    /// Of the things that are varied only if they are read, those that the actors have read.
    pub reads: Vec<&'static str>,
    /// What was explored in only some of the ways that the simulator has, although the search explored all that it has.
    pub partly: Option<&'static str>,
    /// How long it took.
    pub wall: Duration,
}

/// The answer of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every state within the bounds was explored and no promise was broken (but as expected); or the one that was
    /// asked for was not. Whether it was put to the test is told by [`PromiseReport::tested`].
    Holds,
    /// This promise was broken, in so many steps: the one that the search was for, if it was, or else the one that
    /// took the fewest, unless one was asked for. Others may be too; see `promises`.
    Violated { promise: String, steps: u32 },
    /// The search was cut short; `ran_out` says by what.
    Undecided { ran_out: String },
    /// The code does not do the same when it is given the same again, because of a clock or the order of a hash table.
    /// Nothing can be said of it.
    NotDetermined { what: String },
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
    pub expected: Option<Counterexample>,
    /// Why it was not looked for, so that nothing is known of it; or, if it was put to the test, where it was looked
    /// for.
    pub unchecked: Option<String>,
}

impl PromiseReport {
    /// Nothing is known of it yet.
    pub(crate) fn new(name: &'static str) -> PromiseReport {
        PromiseReport { name, tested: 0, broken: None, expected: None, unchecked: None }
    }
}

/// A way to break a promise, for people to read.
#[derive(Clone, Debug, Default)]
pub struct Counterexample {
    /// What happened.
    pub what: String,
    /// The assumption that did not hold.
    pub violated_assumption: Option<Assumption>,
    /// One line a step, from the start.
    pub steps: Vec<String>,
    /// From which of them on, counted from 1, the promise is broken whatever comes, if that was looked for and found
    /// out.
    pub inevitable_from: Option<usize>,
    /// The same as data, to be drawn; a last step that panics is missing.
    pub scenes: Vec<Scene>,
    /// The same steps, for the simulator to take again.
    pub script: Vec<ScriptStep>,
    /// Whether guids [fall](crate::CheckConfig::guids_fall) in it.
    pub guids_fall: bool,
}

/// What a search has found so far.
#[derive(Debug, Default)]
pub struct Found {
    /// Unique states.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// The longest of the shortest paths.
    pub depth: u32,
    /// Each promise by itself.
    pub promises: Vec<PromiseReport>,
    /// How often each interesting case was reached.
    pub sometimes: Vec<(&'static str, u64)>,
    /// What was told in the steps, where it is known what is heard.
    pub told: Told,
    /// The first promise that was broken where it was owed, and in how many steps.
    pub violated: Option<(usize, u32)>,
    /// What ran out before everything was explored.
    pub ran_out: Option<String>,
    /// Why it could not go on.
    pub stop: Option<Stop>,
    /// See [`RecipeModel::leaves_out`](crate::model::RecipeModel::leaves_out).
    pub leaves_out: Option<String>,
    /// What the actors have read. If it is more than the model varies, nothing else here counts.
    pub reads: Reads,
}

impl Found {
    /// Nothing yet of promises of these names.
    pub fn of(promises: &[&'static str]) -> Found {
        let promises = promises.iter().map(|name| PromiseReport::new(name)).collect();
        Found { promises, ..Found::default() }
    }

    /// What has come of it, since then.
    pub(crate) fn into_check(self, verdict: Verdict, started: Instant) -> Check {
        Check {
            verdict,
            ran_out: self.ran_out,
            states: self.states,
            transitions: self.transitions,
            depth: self.depth,
            promises: self.promises,
            sometimes: self.sometimes,
            told: self.told,
            reads: Vec::new(),
            partly: None,
            wall: started.elapsed(),
        }
    }
}
