//! What came of all orders of a few events of one run.

use crate::verdict::{Answer, CatalogueNote, Catalogued, PromiseResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`ExhaustReport`]'s JSON.
pub const EXHAUST_SCHEMA: &str = "zoocheck-exhaust/1";

/// What came of all orders of a few events of one run. A function of the build, the scenario and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExhaustReport {
    /// [`EXHAUST_SCHEMA`].
    pub schema: String,
    /// What was run, as it was asked for.
    pub what: String,
    /// The recipe or variant, by its name in the catalogue.
    pub recipe: String,
    /// What that is, in one sentence.
    pub about: String,
    /// For a variant known to be wrong: how.
    pub catalogued: Option<Catalogued>,
    /// The scenario's key facts, for people.
    pub facts: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The virtual time from which on orders were varied.
    pub at_ns: u64,
    /// How many events were taken in every order.
    pub steps: u32,
    /// The answer.
    pub answer: Answer,
    /// How many orders were run, each to the end of the run.
    pub orders: u64,
    /// How many different runs these were.
    pub different: u64,
    /// Whether these are all possible orders.
    pub exhaustive: bool,
    /// What the recipe promises; counts are of orders.
    pub promises: Vec<PromiseResult>,
    /// The invariants.
    pub invariants: Vec<PromiseResult>,
    /// The first order that broke each promise or invariant where it was owed.
    pub broken: Vec<BrokenOrder>,
}

/// An order that broke something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrokenOrder {
    /// The promise or invariant.
    pub promise: String,
    /// What happened.
    pub what: String,
    /// When, in virtual time.
    pub virtual_ns: u64,
    /// Which event came next, of those that could: 0 is the one that time would have brought.
    pub order: Vec<u32>,
    /// The events in that order.
    pub steps: Vec<String>,
    /// The command that shows it again.
    pub replay: String,
}

impl ExhaustReport {
    /// How this compares with the catalogue.
    pub fn catalogue_note(&self) -> Option<CatalogueNote<'_>> {
        CatalogueNote::of(self.catalogued.as_ref(), self.broken.iter().map(|broken| broken.promise.as_str()))
    }
}
