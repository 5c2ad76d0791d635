//! Recipes side by side, for choosing one.

use crate::{Answer, JudgedTrial, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`CompareReport`]'s JSON.
pub const COMPARE_SCHEMA: &str = "zoocheck-compare/2";

/// Recipes × what counts in a choice. Apart from `wall_seconds` it is a function of the build and of what was asked
/// for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareReport {
    /// [`COMPARE_SCHEMA`].
    pub schema: String,
    /// How many seeds each recipe was given, from 0: of all faults together, and of each fault alone.
    pub seeds: u64,
    /// A search that was not finished after this many states is undecided.
    pub max_states: u64,
    /// Each recipe.
    pub recipes: Vec<ComparedRecipe>,
    /// Held if every recipe is as the catalogue says, as in a judgement.
    pub answer: Answer,
    /// How long it took.
    pub wall_seconds: f64,
}

/// One recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComparedRecipe {
    /// What it promises, by both engines.
    pub judged: JudgedTrial,
    /// What a turn costs where nothing fails, the fewest clients first.
    pub costs: Vec<Cost>,
    /// What becomes of it under each fault alone.
    pub faults: Vec<UnderFault>,
}

/// What a turn costs in one run without faults, on three servers. A turn lasts from asking for something to having
/// given it back, or to whatever else ends it in the recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Client processes, which all want their turns at once.
    pub clients: u64,
    /// The one-way latency of a message.
    pub latency_ms: f64,
    /// How many turns there were, all together.
    pub turns: u64,
    /// Requests that clients sent, all together.
    pub requests: u64,
    /// Events of watches that clients were sent, all together.
    pub wakes: u64,
    /// The median time from one client's giving back to the next one's grant, where somebody waited, in virtual
    /// microseconds.
    pub hand_over_us: Option<u64>,
    /// Znodes that are left when all have ended, other than those of the setup.
    pub left: u64,
}

/// Several seeds with one kind of fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnderFault {
    /// The fault.
    pub fault: String,
    /// The worst of the promises.
    pub verdict: Verdict,
    /// Those that were broken.
    pub broken: Vec<BrokenUnder>,
}

/// A promise that was broken under a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrokenUnder {
    /// Its name.
    pub promise: String,
    /// In how many seeds, where it was owed.
    pub owed: u64,
    /// In how many seeds where an assumption did not hold.
    pub broken_as_expected: u64,
    /// The assumptions that did not hold.
    pub assumptions: Vec<String>,
}
