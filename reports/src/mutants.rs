//! What came of planting bugs: which were found, by what, and how soon.

use crate::verdict::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`MutantsReport`]'s JSON.
pub const MUTANTS_SCHEMA: &str = "zoocheck-mutants/2";

/// The kill matrix: planted bugs and what found them.
///
/// Apart from `wall_seconds` it is a function of the build and the seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutantsReport {
    /// [`MUTANTS_SCHEMA`].
    pub schema: String,
    /// The scenario that seeds were drawn from.
    pub scenario: String,
    /// What clients do: the first in even seeds, the second in odd ones.
    pub clients: Vec<String>,
    /// How many seeds each was given, from 0.
    pub seeds: u64,
    /// What was broken without any planted bug, with the first seed. It must be empty.
    pub unmutated: Vec<Kill>,
    /// The bounds that are explored, smallest first: the same for every mutant. Empty if none are.
    pub models: Vec<String>,
    /// How many states each search may have at most.
    pub max_states: u64,
    /// Each planted bug.
    pub mutants: Vec<MutantResult>,
    /// Invariants that no bug broke first, and the bug and the seed by which they were broken after others.
    pub beyond: Vec<Beyond>,
    /// Invariants that no planted bug has broken under their own names. Empty where not all were planted.
    pub never_broken: Vec<String>,
    /// What is wrong, if anything is: survivors, kills by no invariant of the family, a canary that died.
    pub wrong: Vec<String>,
    /// The answer: held if everything that was planted was found, and nothing else.
    pub answer: Answer,
    /// How long it took.
    pub wall_seconds: f64,
    /// What was typed, where a command has made it; never saved.
    #[serde(skip)]
    pub command: Option<String>,
}

/// An invariant that was broken after others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beyond {
    /// Its name.
    pub invariant: String,
    /// The bug, in whose family it is.
    pub mutant: String,
    /// The first seed of that bug.
    pub seed: u64,
}

/// A planted bug, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutantResult {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// What goes wrong.
    pub what: String,
    /// The invariants that are expected to find it.
    pub family: Vec<String>,
    /// In how many seeds it made a difference.
    pub acted: u64,
    /// In how many of these something was broken after that.
    pub caught: u64,
    /// The first seed in which an invariant of its family was broken.
    pub first_seed: Option<u64>,
    /// What was broken, the most frequent first.
    pub kills: Vec<Kill>,
    /// The first of the models in which something was broken, and what.
    pub model: Option<ModelKill>,
    /// What became of it.
    pub fate: Fate,
}

/// An invariant that was broken first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    /// Its name.
    pub invariant: String,
    /// In how many seeds.
    pub seeds: u64,
    /// The first of them.
    pub first_seed: u64,
    /// Whether it is of the family.
    pub expected: bool,
}

/// A planted bug in an explored ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelKill {
    /// The bounds.
    pub bounds: String,
    /// What was broken, all at the same depth or none deeper.
    pub invariants: Vec<String>,
    /// Whether one of them is of the family.
    pub expected: bool,
    /// In how many steps.
    pub steps: u32,
    /// Unique states until then.
    pub states: u64,
}

/// What became of a planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// One of its family found it.
    Killed,
    /// Something else found it, and none of its family.
    KilledByOthers,
    /// It made a difference, and nothing was found.
    Survived,
    /// It never made a difference.
    NeverActed,
}
