//! What came of one seed, run again.

use crate::{Answer, CatalogueNote, Catalogued, Cause, Moment, PromiseResult, Reached, Verdict, named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`ReplayReport`]'s JSON.
pub const REPLAY_SCHEMA: &str = "zoocheck-replay/1";

/// What came of one seed. A function of the build, the scenario and the seed, to the byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayReport {
    /// [`REPLAY_SCHEMA`].
    pub schema: String,
    /// What was replayed, as it was asked for.
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
    /// The answer.
    pub answer: Answer,
    /// Digest of the whole trace; 16 hex digits in JSON.
    #[serde(with = "crate::json::hex")]
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{16}$"))]
    pub digest: u64,
    /// Virtual time at the end.
    pub virtual_ns: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Events taken from the queue.
    pub steps: u64,
    /// What the recipe promises; `broken` and `expected` count 1 at most.
    pub promises: Vec<PromiseResult>,
    /// The invariants.
    pub invariants: Vec<PromiseResult>,
    /// The interesting cases.
    pub sometimes: Vec<Reached>,
    /// What was broken, in order of time.
    pub violations: Vec<Seen>,
    /// Why the first promise was broken, or the one that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What happened, in words for people; breaks stand where they happened.
    pub timeline: Vec<Moment>,
    /// What happened, as data, one line per event: everything, or what the timeline was made from.
    pub trace: Vec<String>,
}

/// How much of a replay is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// This many lines of what concerns the first break, up to it.
    Last(usize),
    /// The whole timeline.
    All,
    /// The trace instead: every event as data.
    Trace,
}

impl Default for Lines {
    /// What fits on a few screens.
    fn default() -> Lines {
        Lines::Last(60)
    }
}

/// A promise that was seen to break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// The promise or invariant.
    pub promise: String,
    /// When, in virtual time.
    pub virtual_ns: u64,
    /// What happened.
    pub what: String,
    /// The assumption that did not hold, if that is why.
    pub expected: Option<String>,
}

impl ReplayReport {
    /// How this compares with the catalogue.
    pub fn catalogue_note(&self) -> Option<CatalogueNote<'_>> {
        let all = self.promises.iter().chain(&self.invariants);
        CatalogueNote::of(self.catalogued.as_ref(), named(all, Verdict::Broken))
    }
}
