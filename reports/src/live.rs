//! What came of a run on a live ensemble.

use crate::verdict::{Answer, CatalogueNote, Catalogued, Judged, Verdict, but_for_expected, named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`LiveReport`]'s JSON.
pub const LIVE_SCHEMA: &str = "zoocheck-live/1";

/// What came of a run on a live ensemble. It happened once, and cannot be repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveReport {
    /// [`LIVE_SCHEMA`].
    pub schema: String,
    /// What was run, as it was asked for: a recipe, a variant or a scenario file.
    pub what: String,
    /// The recipe or variant, by its name in the catalogue.
    pub recipe: String,
    /// What that is, in one sentence.
    pub about: String,
    /// For a variant known to be wrong: how.
    pub catalogued: Option<Catalogued>,
    /// The servers, as they were given.
    pub connect: String,
    /// Client processes.
    pub clients: u16,
    /// How often each was to do what it does.
    pub rounds: u8,
    /// The session timeout that the ensemble has granted.
    pub session_timeout_ms: u64,
    /// The answer.
    pub answer: Answer,
    /// What ended the run before it was over, and so left it undecided; `None` if nothing did.
    pub ran_out: Option<String>,
    /// How long it took.
    pub wall_seconds: f64,
    /// How much happened.
    pub happened: Happened,
    /// What the recipe promises, in the trial's order.
    pub promises: Vec<LivePromise>,
    /// The invariants, whatever the recipe.
    pub invariants: Vec<LivePromise>,
    /// The znodes that were left when every session had ended. They are removed.
    pub left: Vec<String>,
}

/// How much happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// Sessions that were opened by actors.
    pub sessions: u64,
    /// Of these, those whose clients learnt that they were dead.
    pub sessions_lost: u64,
    /// Connections that actors lost.
    pub disconnections: u64,
    /// What was granted.
    pub grants: u64,
    /// Writes that reached the outside resource.
    pub writes: u64,
    /// Of these, those that it refused.
    pub refused: u64,
}

/// What became of one promise or invariant on a live ensemble.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LivePromise {
    /// Its name.
    pub name: String,
    /// What it promises, in one sentence.
    pub about: String,
    /// What became of it; `None` if it cannot be judged from outside an ensemble, which is not called held.
    pub verdict: Option<Verdict>,
    /// How often it was put to the test.
    pub tested: u64,
    /// How often it was broken where it was owed.
    pub broken: u64,
    /// How often it was broken where an assumption did not hold, or is not known to have held.
    pub expected: u64,
    /// Those assumptions.
    pub assumptions: Vec<String>,
    /// The first break where it was owed.
    pub first: Option<LiveBreak>,
    /// The first break where an assumption did not hold, or is not known to have held.
    pub first_expected: Option<LiveBreak>,
}

impl Judged for LivePromise {
    fn became(&self) -> Option<(&str, Verdict)> {
        Some((&self.name, self.verdict?))
    }
}

impl LivePromise {
    /// This result together with that of the same promise in another run.
    pub fn with(mut self, other: LivePromise) -> LivePromise {
        self.tested += other.tested;
        self.broken += other.broken;
        self.expected += other.expected;
        self.assumptions.extend(other.assumptions);
        self.assumptions.sort();
        self.assumptions.dedup();
        self.verdict = self
            .verdict
            .map(|_| Verdict::of(self.broken, self.expected, self.tested).resting_on(&self.assumptions));
        self.first = self.first.or(other.first);
        self.first_expected = self.first_expected.or(other.first_expected);
        self
    }
}

/// How a promise was broken on a live ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveBreak {
    /// In which seed, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// When, since the run began.
    pub seconds: f64,
    /// What happened.
    pub what: String,
    /// The last lines of the timeline up to it.
    pub timeline: Vec<String>,
}

impl LiveBreak {
    /// When it was, in words.
    pub(crate) fn at(&self) -> String {
        let seed = self.seed.map_or(String::new(), |seed| format!("in seed {seed}, "));
        format!("{seed}at {:.3} s", self.seconds)
    }
}

impl LiveReport {
    /// Promises and invariants together.
    pub fn all(&self) -> impl Iterator<Item = &LivePromise> {
        self.promises.iter().chain(&self.invariants)
    }

    /// The result of one promise or invariant.
    pub fn promise(&self, name: &str) -> Option<&LivePromise> {
        self.all().find(|result| result.name == name)
    }

    /// The answer that follows from the results, and from whether anything else leaves it undecided.
    ///
    /// What is not judged counts for nothing; where nothing is judged, nothing is decided.
    pub fn answer_of(promises: &[LivePromise], invariants: &[LivePromise], is_open: bool) -> Answer {
        let nothing_judged = promises.iter().all(|result| result.verdict.is_none());
        match Answer::of(promises, invariants) {
            Answer::Held if is_open || nothing_judged => Answer::Undecided,
            answer => answer,
        }
    }

    /// The names of what was broken where it was owed.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        named(self.all(), Verdict::Broken)
    }

    /// That all of this held, with what that leaves out.
    pub fn held_words(promises: &[LivePromise], invariants: &[LivePromise]) -> String {
        let but = but_for_expected(promises.iter().chain(invariants));
        match &*not_judged(promises) {
            "" => format!("every promise held{but}"),
            names => format!("every judged promise held{but}; not judged from outside: {names}"),
        }
    }

    /// That nothing which makes these kinds what they are was judged.
    pub fn unjudged_words(kinds: &[String], promises: &[LivePromise]) -> String {
        let (kinds, names) = (kinds.join(", "), not_judged(promises));
        format!("what {kinds} owes of its own is not judged from outside: {names}")
    }

    /// How this compares with the catalogue.
    pub fn catalogue_note(&self) -> Option<CatalogueNote<'_>> {
        CatalogueNote::of(self.catalogued.as_ref(), self.broken())
    }
}

/// The names of what cannot be judged from outside.
fn not_judged(promises: &[LivePromise]) -> String {
    let all = promises.iter().filter(|result| result.verdict.is_none());
    all.map(|result| &*result.name).collect::<Vec<_>>().join(", ")
}
