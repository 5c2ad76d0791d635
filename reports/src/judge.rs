//! What came of judging: every trial by both engines, against what the catalogue expects of it.

use crate::{Answer, Bounds, Catalogued, Judgement, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`JudgeReport`]'s JSON.
pub const JUDGE_SCHEMA: &str = "zoocheck-judge/2";

/// Trials × promises: expected, by the model, by chaos.
///
/// Apart from `wall_seconds` it is a function of the build, the seeds and the limit of states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeReport {
    /// [`JUDGE_SCHEMA`].
    pub schema: String,
    /// What was asked for; an empty list stands for everything.
    pub what: Vec<String>,
    /// How many seeds each trial was given, from 0.
    pub seeds: u64,
    /// A search that was not finished after this many states is undecided.
    pub max_states: u64,
    /// Each trial.
    pub trials: Vec<JudgedTrial>,
    /// The answer: held if everything is as the catalogue expects.
    pub answer: Answer,
    /// How long it took.
    pub wall_seconds: f64,
}

/// One trial by both engines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedTrial {
    /// Its name.
    pub name: String,
    /// What it is, in one sentence.
    pub about: String,
    /// Where it is published.
    pub source: String,
    /// For a variant known to be wrong: how. Everything else is expected to hold.
    pub catalogued: Option<Catalogued>,
    /// Which engines must find that.
    pub found_by: Engines,
    /// What the model was bounded by.
    pub bounds: Bounds,
    /// What the model says: of the promise that is expected to break, or of all.
    pub model: Judgement,
    /// Why, if that is undecided: what ran out, or what was never put to the test.
    pub ran_out: Option<String>,
    /// Unique states.
    pub states: u64,
    /// The longest of the shortest paths.
    pub depth: u32,
    /// Where the scenario differs from the default one, as `key=value`.
    pub scenario: Vec<String>,
    /// Each promise, in the trial's order, followed by whatever else was broken.
    pub promises: Vec<JudgedPromise>,
    /// Where engines and catalogue do not agree, each a sentence.
    pub wrong: Vec<String>,
    /// Held if they agree; undecided if only the end of a search or a test is missing.
    pub answer: Answer,
}

/// Which engines are to find something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engines {
    /// The exhaustive model alone.
    Model,
    /// Seeds alone.
    Chaos,
    /// Each of the two.
    Both,
}

/// What the catalogue expects of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// It holds, within its assumptions.
    Holds,
    /// It breaks.
    Breaks,
    /// It may do either: another promise of this variant is known to break, and what follows from that is not said.
    Either,
}

/// One promise by both engines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedPromise {
    /// Its name.
    pub name: String,
    /// What is expected.
    pub expected: Expected,
    /// What the model says.
    pub model: Verdict,
    /// The fewest steps that break it, where it is owed or else where an assumption does not hold.
    pub steps: Option<u32>,
    /// What chaos says.
    pub chaos: Verdict,
    /// In how many seeds it was broken where it was owed.
    pub broken: u64,
    /// In how many seeds it was broken only where an assumption did not hold.
    pub broken_as_expected: u64,
    /// The first seed in which it was broken where it was owed.
    pub first_seed: Option<u64>,
    /// The assumptions that did not hold.
    pub assumptions: Vec<String>,
}
