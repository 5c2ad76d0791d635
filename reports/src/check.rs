//! What came of a check: a model explored.

use crate::{Answer, CatalogueNote, Catalogued, Diagram, Judged, Reached, Told, Verdict, named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`CheckReport`]'s JSON.
pub const CHECK_SCHEMA: &str = "zoocheck-check/2";

/// What came of a check.
///
/// Apart from `wall_seconds`, and from where a time limit cut it, it is a function of the build and the bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckReport {
    /// [`CHECK_SCHEMA`].
    pub schema: String,
    /// What was checked, as it was asked for.
    pub what: String,
    /// The recipe or variant, by its name in the catalogue.
    pub recipe: String,
    /// What that is, in one sentence.
    pub about: String,
    /// For a variant known to be wrong: how.
    pub catalogued: Option<Catalogued>,
    /// How many of each there were at most.
    pub bounds: Bounds,
    /// How it was explored.
    pub how: How,
    /// When to give up.
    pub limits: Limits,
    /// The answer.
    pub verdict: Judgement,
    /// The description of an ensemble that this holds in: `Service`, one tree behind which clients' views may lag.
    pub holds_in: String,
    /// What ran out, if anything did, even if something was broken by then; the reason, if it is undecided for another
    /// one; or what the code does, if it is not determined.
    pub ran_out: Option<String>,
    /// Whether every state within the bounds was explored.
    pub exhaustive: bool,
    /// For a program: what its host always decides one way, where there are others.
    #[serde(default)]
    pub left_out: Option<String>,
    /// What was explored in only some of its ways, while everything else was explored.
    #[serde(default)]
    pub partly: Option<String>,
    /// The one promise that was asked about; `null` if all were.
    #[serde(default)]
    pub asked: Option<String>,
    /// Where nothing is broken and everything was explored: the command that asks for more.
    #[serde(default)]
    pub next: Option<String>,
    /// Unique states.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// For a program: through how many different histories of inputs its lives were taken.
    #[serde(default)]
    pub histories: Option<u64>,
    /// The longest of the shortest paths.
    pub depth: u32,
    /// The promise that was broken.
    pub promise: Option<String>,
    /// How, step by step.
    pub steps: Vec<String>,
    /// How long it took.
    pub wall_seconds: f64,
    /// What the recipe promises, in the trial's order.
    pub promises: Vec<CheckedPromise>,
    /// What the search watches for every recipe: that nothing panics, spins, livelocks, or lies to it. Tests of these
    /// are not counted: what is not broken is `held`, or `never-tested` if it was not looked for.
    pub invariants: Vec<CheckedPromise>,
    /// The interesting cases; `seeds` is 1 for those that were reached.
    pub sometimes: Vec<Reached>,
    /// For a program: what it told, and who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
    /// The command that was typed, if one made the report; never saved.
    #[serde(skip)]
    pub command: Option<String>,
    /// Ways to break promises as pictures, for its page; never saved.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
}

/// The answer of a check, in a model checker's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Every state within the bounds was explored, each promise put to the test, and nothing broken but as expected.
    Holds,
    /// A promise was broken, or the recipe ran away.
    Violated,
    /// The search was cut short, or something was never put to the test.
    Undecided,
    /// The code does not do the same when it is given the same again: nothing can be said of it.
    NotDetermined,
}

impl Judgement {
    /// The same as an answer, such as a sweep has.
    pub fn answer(self) -> Answer {
        match self {
            Judgement::Holds => Answer::Held,
            Judgement::Violated => Answer::Broken,
            Judgement::Undecided | Judgement::NotDetermined => Answer::Undecided,
        }
    }
}

/// How many of each there are at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Client processes.
    pub clients: u8,
    /// How often each process does what it does.
    pub rounds: u8,
    /// Sessions that expire though their process lives.
    pub expiries: u8,
    /// Connections that drop.
    pub drops: u8,
    /// Processes that crash.
    pub crashes: u8,
    /// Processes that are paused.
    pub pauses: u8,
    /// Processes that begin another life.
    #[serde(default)]
    pub restarts: u8,
    /// Changes that an administrator makes.
    pub admin: u8,
    /// Transactions by which a client's view may lag.
    pub lag: u8,
    /// Whether a sync may leave a view where it is.
    pub stale_syncs: bool,
    /// Whether a client may be told that its session is dead while it lives.
    pub false_expiries: bool,
}

/// How a model is explored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct How {
    /// `own` or `stateright`.
    pub engine: String,
    /// Answers come in the step that serves the request.
    pub eager: bool,
    /// States that differ only in which process is which are one.
    pub symmetry: bool,
    /// Reductions in use which no test has shown to be sound for this recipe.
    pub unproven: Vec<String>,
    /// Checkpoints merge states.
    pub keys: bool,
    /// Checkpoints are audited.
    pub audit: bool,
    /// Transitions are remembered.
    pub memo: bool,
    /// Actors write to the outside resource.
    pub effects: bool,
    /// Every transaction has a number, and not only those whose number can matter.
    pub true_zxids: bool,
}

impl How {
    /// Of a search that finds nothing but livelocks, among what is unproven.
    pub const BY_ORDER: &str = "numbers compared by their order alone";

    /// Whether it is such a search.
    pub(crate) fn finds_only_livelocks(&self) -> bool {
        self.unproven.iter().any(|name| name == How::BY_ORDER)
    }
}

/// When to give up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// After this many seconds.
    pub time_seconds: Option<f64>,
    /// After this many unique states.
    pub max_states: Option<u64>,
    /// Once the process held this many bytes in memory.
    pub max_memory: Option<u64>,
    /// At this many steps from the start.
    pub max_depth: Option<u32>,
}

/// What became of one promise in a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckedPromise {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub verdict: Verdict,
    /// In how many transitions it was put to the test; `None` where nobody counts.
    pub tested: Option<u64>,
    /// What was left out, where it was not looked for everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partly: Option<String>,
    /// The shortest way to break it where it was owed.
    pub broken: Option<Path>,
    /// The shortest way to break it where an assumption did not hold.
    pub expected: Option<Path>,
    /// What would put it to the test, if nothing has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested_when: Option<String>,
}

impl Judged for CheckedPromise {
    fn became(&self) -> Option<(&str, Verdict)> {
        Some((&self.name, self.verdict))
    }
}

/// A way to break a promise as a picture: by the promise's name, and whether that was owed there.
pub type Picture = (String, bool, Diagram);

/// A way to break a promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// What happened.
    pub what: String,
    /// The assumption that did not hold.
    pub assumption: Option<String>,
    /// Why, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// The steps that matter for that, by their numbers from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matters: Vec<u32>,
    /// The step, counted from 1, from which on nothing avoids the break; 0 if that is so from the start. Missing if
    /// this was not found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inevitable_from: Option<u32>,
    /// One line a step, from the start.
    pub steps: Vec<String>,
}

impl Path {
    /// From when on nothing avoids it, in a sentence.
    pub(crate) fn inevitable(&self) -> Option<String> {
        let step = self.inevitable_from?;
        Some(match step as usize {
            0 => "Inevitable from the start: every continuation within the bounds breaks it.".into(),
            last if last >= self.steps.len() => "Only the last step makes it inevitable.".into(),
            step => {
                format!("Inevitable from step {step} on: every continuation within the bounds breaks it.")
            }
        })
    }
}

impl CheckReport {
    /// Promises and invariants together.
    pub fn all(&self) -> impl Iterator<Item = &CheckedPromise> {
        self.promises.iter().chain(&self.invariants)
    }

    /// Whether every state was explored, each promise put to the test, and nothing broken but as expected.
    pub fn held(&self) -> bool {
        self.verdict == Judgement::Holds
    }

    /// How this compares with the catalogue.
    pub fn catalogue_note(&self) -> Option<CatalogueNote<'_>> {
        CatalogueNote::of(self.catalogued.as_ref(), named(self.all(), Verdict::Broken))
    }
}
