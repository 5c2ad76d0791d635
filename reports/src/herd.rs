//! How many clients a release wakes, by how many contend.

use crate::verdict::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`HerdReport`]'s JSON.
pub const HERD_SCHEMA: &str = "zoocheck-herd/1";

/// Trials × contenders. Apart from `wall_seconds` it is a function of the build and of what was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerdReport {
    /// [`HERD_SCHEMA`].
    pub schema: String,
    /// The seed of all runs.
    pub seed: u64,
    /// Each trial.
    pub trials: Vec<HerdTrial>,
    /// Undecided if a recipe that is not known to be wrong has not been granted to everybody.
    pub answer: Answer,
    /// How long it took.
    pub wall_seconds: f64,
}

/// One trial: a run for each number of contenders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerdTrial {
    /// Its name.
    pub name: String,
    /// Whether it is known to be wrong.
    pub wrong: bool,
    /// The runs, the fewest contenders first.
    pub runs: Vec<HerdRun>,
}

/// A run without faults, in which all come before the first lets go, and each holds once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerdRun {
    /// How many there were.
    pub contenders: u64,
    /// How many were granted what they asked for. If there are fewer than `contenders`, the others waited in vain.
    pub granted: u64,
    /// How many clients were woken by changes while somebody waited, in all.
    pub woken: u64,
    /// The most that one change woke.
    pub most: u64,
}

impl HerdRun {
    /// Clients woken, for each time that somebody held.
    pub fn per_release(&self) -> Option<f64> {
        (self.granted > 0).then(|| self.woken as f64 / self.granted as f64)
    }
}
