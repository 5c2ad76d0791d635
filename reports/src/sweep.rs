//! What came of a sweep: many seeds of one scenario.

use crate::{
    Answer, CatalogueNote, Catalogued, Cause, Confidence, Diagram, Failure, PromiseResult, Told, Verdict,
    named,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of [`SweepReport`]'s JSON.
pub const SWEEP_SCHEMA: &str = "zoocheck-sweep/3";

/// What came of a sweep.
///
/// Apart from `wall_seconds` it is a function of the build, the scenario and the seeds: costs are counted in virtual
/// time, messages and steps. A saved report has no `wall_seconds`, so that reports of shards, [merged](crate::merge()),
/// are the report of one sweep over all of their seeds, to the byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepReport {
    /// [`SWEEP_SCHEMA`].
    pub schema: String,
    /// The build that ran it: its version, and a hash of the program.
    pub build: String,
    /// What was swept, as it was asked for: a recipe, a variant or a scenario file.
    pub what: String,
    /// The recipe or variant, by its name in the catalogue.
    pub recipe: String,
    /// What that is, in one sentence.
    pub about: String,
    /// For a variant known to be wrong: how.
    pub catalogued: Option<Catalogued>,
    /// The scenario, key by key.
    pub scenario: serde_json::Value,
    /// The scenario's key facts, for people.
    pub facts: Vec<String>,
    /// Which seeds were run.
    pub seeds: Seeds,
    /// For a sweep until nothing new is reached: how that went.
    pub until_covered: Option<UntilCovered>,
    /// The answer. Of a sweep that is not [complete](SweepReport::is_complete) it is never `held`.
    pub answer: Answer,
    /// Virtual time of all seeds together; a second run of a seed is not counted.
    pub virtual_seconds: f64,
    /// The same in whole nanoseconds, which can be added.
    pub virtual_ns: u64,
    /// Messages delivered in all seeds together.
    pub messages: u64,
    /// Events taken from the queue in all seeds together.
    pub steps: u64,
    /// The digests of all runs, added up with wrapping: if it differs for the same build, scenario and seeds, some run
    /// differs. 16 hex digits in JSON.
    #[serde(default, with = "crate::json::hex")]
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{16}$"))]
    pub digest: u64,
    /// How long it took, where a command has just measured it; never saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<f64>,
    /// How much confidence that gives.
    pub confidence: Confidence,
    /// What the recipe promises, in the trial's order.
    pub promises: Vec<PromiseResult>,
    /// The invariants, whatever the recipe.
    pub invariants: Vec<PromiseResult>,
    /// The interesting cases, and in how many seeds they were reached.
    pub sometimes: Vec<Reached>,
    /// How many a change woke, by how many waited; empty where nobody waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub herd: Vec<HerdPoint>,
    /// For a program: what it told, and who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
    /// Cases of past failures, which were tried before the seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regressions: Vec<Regression>,
    /// Broken promises and invariants, in order of seeds and of time; at most [`SweepReport::KEPT`] of each.
    pub failures: Vec<Failure>,
}

/// Which seeds were run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// The first of the range.
    pub first: u64,
    /// The first after the range.
    pub end: u64,
    /// `2/4` if only every fourth was run, here.
    pub shard: Option<String>,
    /// How many were run.
    pub count: u64,
    /// How many of these were run twice, and everything compared.
    pub twice: u64,
    /// Whether a sweep was stopped before its end, or is still going on.
    pub interrupted: bool,
    /// Whether a step of the last run did not end: its thread goes on, and no seed is run beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub endless: bool,
    /// What was not run though it was asked for. Nothing, if the sweep is complete.
    pub missing: Vec<Missing>,
}

/// Seeds that were not run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// The shard that they are of; missing if the range is not split into shards.
    pub shard: Option<String>,
    /// From this seed on; all before it were run.
    pub from: u64,
}

/// A sweep that goes on until nothing new is reached for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilCovered {
    /// How many seeds must bring nothing new.
    pub quiet: u64,
    /// The seed at which to give up.
    pub at_most: u64,
    /// The last seed that reached something new: a case, a promise put to the test, a break.
    pub last_new: Option<u64>,
    /// Whether that many brought nothing new.
    pub covered: bool,
}

/// An interesting case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reached {
    /// Its name.
    pub name: String,
    /// In how many seeds it was reached; 0 is worth a look.
    pub seeds: u64,
    /// How often.
    pub times: u64,
}

impl Reached {
    /// Adds what other seeds gave.
    fn add(&mut self, other: Reached) {
        self.seeds = self.seeds.saturating_add(other.seeds);
        self.times = self.times.saturating_add(other.times);
    }
}

/// How many clients changes woke while a given number waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HerdPoint {
    /// How many waited for what they had asked for.
    pub contenders: u64,
    /// Changes that woke somebody.
    pub changes: u64,
    /// How many clients they woke, in all.
    pub woken: u64,
    /// The most that one of them woke.
    pub most: u64,
}

impl HerdPoint {
    /// Adds what other seeds gave.
    pub fn add(&mut self, other: HerdPoint) {
        self.changes = self.changes.saturating_add(other.changes);
        self.woken = self.woken.saturating_add(other.woken);
        self.most = self.most.max(other.most);
    }
}

/// A case of a past failure, tried again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regression {
    /// Its file.
    pub file: String,
    /// The promise that it was kept for.
    pub breaks: String,
    /// How that broke again, or else whatever broke where it was owed.
    pub broken: Option<Failure>,
    /// Why it could not be run to its end, so that nothing is known.
    pub replay_error: Option<String>,
}

impl SweepReport {
    /// How many failures of one promise are kept. The counts are of all.
    pub const KEPT: usize = 100;

    /// How many breaks are drawn.
    pub const DRAWN: usize = 10;

    /// Whether all seeds that were asked for were run, or no more are to be.
    pub fn is_complete(&self) -> bool {
        self.seeds.missing.is_empty() || self.seeds.endless
    }

    /// What the exit status says: the answer, or undecided (3) if the sweep is not complete, so that whoever sees it
    /// may resume. A break found already is final, and `answer` says so.
    pub fn outcome(&self) -> Answer {
        if self.is_complete() { self.answer } else { Answer::Undecided }
    }

    /// Promises and invariants together.
    pub fn all(&self) -> impl Iterator<Item = &PromiseResult> {
        self.promises.iter().chain(&self.invariants)
    }

    /// The result of one promise or invariant.
    pub fn promise(&self, name: &str) -> Option<&PromiseResult> {
        self.all().find(|result| result.name == name)
    }

    /// Whether every promise was tested and held.
    pub fn held(&self) -> bool {
        self.answer == Answer::Held
    }

    /// The names of what was broken where it was owed.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        named(self.all(), Verdict::Broken)
    }

    /// The failure to look at first: of the promise that breaks as the catalogue says, or else of the first one that
    /// broke, or else of the first that leaves the answer open.
    pub fn foremost(&self) -> Option<&Failure> {
        let mut firsts = self.firsts().filter(|(.., how)| *how != Verdict::BrokenAsExpected);
        firsts.next().map(|(_, failure, _)| failure).or(self.failures.first())
    }

    /// The first break of each promise and invariant, in their order: those where it was owed, first of all that of the
    /// promise that the catalogue names, then those that were to be expected.
    pub fn firsts(&self) -> impl Iterator<Item = (&PromiseResult, &Failure, Verdict)> {
        let owed = self.all().filter_map(|result| {
            let first = self.failures.iter().find(|failure| failure.promise == result.name)?;
            Some((result, first, Verdict::Broken))
        });
        let mut owed: Vec<_> = owed.collect();
        let known = self.catalogued.as_ref().map(|known| &*known.promise);
        owed.sort_by_key(|(result, ..)| Some(&*result.name) != known);
        let expected = self.all().filter_map(|result| {
            let how = Verdict::BrokenAsExpected.resting_on(&result.assumptions);
            Some((result, result.first_expected.as_ref()?, how))
        });
        owed.into_iter().chain(expected)
    }

    /// Gives the first breaks their diagrams, [`SweepReport::DRAWN`] at most, and removes all other diagrams. `draw` is
    /// called for those that have none.
    pub fn draw(&mut self, mut draw: impl FnMut(&Failure, bool) -> Option<Diagram>) {
        let mut left = SweepReport::DRAWN;
        let mut seen = BTreeSet::new();
        let names: BTreeSet<String> = self.all().map(|result| result.name.clone()).collect();
        let results = self.promises.iter_mut().chain(&mut self.invariants);
        let expected = results.filter_map(|result| result.first_expected.as_mut()).map(|first| (first, true));
        for (failure, expected) in self.failures.iter_mut().map(|one| (one, false)).chain(expected) {
            let is_first =
                names.contains(&failure.promise) && seen.insert((failure.promise.clone(), expected));
            if !is_first || left == 0 {
                failure.diagram = None;
                continue;
            }
            if failure.diagram.is_none() {
                failure.diagram = draw(failure, expected);
            }
            left -= usize::from(failure.diagram.is_some());
        }
    }

    /// Gives the first breaks of promises their causes. `cause` is called for those that have none.
    pub fn explain(&mut self, mut cause: impl FnMut(&Failure) -> Option<Cause>) {
        let mut seen = BTreeSet::new();
        let results = self.promises.iter_mut().chain(&mut self.invariants);
        let open = results.filter(|result| result.verdict == Verdict::Undecided);
        let open = open.filter_map(|result| result.first_expected.as_mut());
        for failure in self.failures.iter_mut().chain(open) {
            if seen.insert(failure.promise.clone()) && failure.cause.is_none() {
                failure.cause = cause(failure);
            }
        }
    }

    /// How this compares with the catalogue.
    pub fn catalogue_note(&self) -> Option<CatalogueNote<'_>> {
        CatalogueNote::of(self.catalogued.as_ref(), self.broken())
    }

    /// Which shard it is, and of how many; `None` if it is no shard.
    pub fn shard(&self) -> Option<(u64, u64)> {
        shard_of(self.seeds.shard.as_deref()?)
    }

    /// Adds another part of the same sweep, which must have no seed in common with this one. The caller then sets
    /// `shard` and `missing` of the seeds, and calls `settle`.
    pub fn add(&mut self, part: SweepReport) {
        // A cost that needs 584 years of virtual time stays there, in whatever order it is added up.
        self.virtual_ns = self.virtual_ns.saturating_add(part.virtual_ns);
        self.messages = self.messages.saturating_add(part.messages);
        self.steps = self.steps.saturating_add(part.steps);
        self.digest = self.digest.wrapping_add(part.digest);
        self.seeds.count = self.seeds.count.saturating_add(part.seeds.count);
        self.seeds.twice = self.seeds.twice.saturating_add(part.seeds.twice);
        self.seeds.interrupted |= part.seeds.interrupted;
        self.seeds.endless |= part.seeds.endless;
        self.seeds.missing.extend(part.seeds.missing);
        for (mine, other) in self.promises.iter_mut().zip(part.promises) {
            mine.add(other);
        }
        merge_by(&mut self.invariants, part.invariants, |result| &result.name, PromiseResult::add);
        merge_by(&mut self.sometimes, part.sometimes, |case| &case.name, Reached::add);
        merge_by(&mut self.herd, part.herd, |point| &point.contenders, HerdPoint::add);
        if let (Some(told), Some(more)) = (&mut self.told, part.told) {
            told.add(more);
        }
        self.failures.extend(part.failures);
        // Those of one seed stay in the order in which they happened.
        self.failures.sort_by_key(|failure| failure.seed);
        let mut kept: BTreeMap<String, usize> = BTreeMap::new();
        self.failures.retain(|failure| {
            let times = kept.entry(failure.promise.clone()).or_default();
            *times += 1;
            *times <= SweepReport::KEPT
        });
        // One of the shares tried them.
        self.regressions.extend(part.regressions);
        self.wall_seconds = None;
    }

    /// In how many seeds nothing was judged at rest, as somebody slept on.
    pub(crate) fn slept_on(&self) -> u64 {
        self.sometimes.iter().find(|case| case.name == SLEPT_ON).map_or(0, |case| case.seeds)
    }

    /// Whether that is so in most seeds: what was seen in the others stands for too little.
    pub(crate) fn most_slept_on(&self) -> bool {
        2 * self.slept_on() > self.seeds.count
    }

    /// Recomputes what follows from the rest: the answer, the virtual seconds, the confidence.
    pub fn settle(&mut self) {
        self.virtual_seconds = self.virtual_ns as f64 / 1e9;
        self.confidence = Confidence::of(self.all(), self.seeds.count);
        self.answer = Answer::of(&self.promises, &self.invariants);
        let covered = self.until_covered.as_ref().is_none_or(|until| until.covered);
        let replay_error = self.regressions.iter().any(|case| case.replay_error.is_some());
        if self.answer == Answer::Held
            && (!self.is_complete()
                || !covered
                || replay_error
                || self.most_slept_on()
                || self.told.as_ref().is_some_and(|told| told.unjudged().is_some()))
        {
            self.answer = Answer::Undecided;
        }
        if self.regressions.iter().any(|case| case.broken.is_some()) {
            self.answer = Answer::Broken;
        }
        // Of the first break of each promise alone it is told why.
        let mut seen = BTreeSet::new();
        for failure in &mut self.failures {
            if !seen.insert(failure.promise.clone()) {
                failure.cause = None;
            }
        }
    }
}

/// The case that a run was over while somebody slept, so that nothing was judged at rest.
pub const SLEPT_ON: &str = "somebody slept on when the run was over: it needs more heal-seconds";

/// `2/4` as numbers.
pub(crate) fn shard_of(shard: &str) -> Option<(u64, u64)> {
    let (index, of) = shard.split_once('/')?;
    Some((index.parse().ok()?, of.parse().ok()?)).filter(|(index, of)| (1..=*of).contains(index))
}

/// Adds what has the same key, and keeps all in the order of their keys.
fn merge_by<T, K: Ord>(mine: &mut Vec<T>, others: Vec<T>, key: impl Fn(&T) -> &K, add: impl Fn(&mut T, T)) {
    for other in others {
        match mine.binary_search_by(|one| key(one).cmp(key(&other))) {
            Ok(at) => add(&mut mine[at], other),
            Err(at) => mine.insert(at, other),
        }
    }
}
