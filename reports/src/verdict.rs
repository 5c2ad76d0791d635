//! Verdicts, of one promise and of the whole; and how promises were broken.

use crate::{Cause, Diagram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What became of one promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It was put to the test and not broken.
    Held,
    /// It was broken where it was owed.
    Broken,
    /// It was broken, and only where an assumption of it did not hold.
    BrokenAsExpected,
    /// Nothing happened that could have broken it, so nothing is known.
    #[default]
    NeverTested,
    /// It was broken, unless that was [meant](UNSAID).
    Undecided,
}

/// The assumption of which its author alone can say whether it holds.
pub const UNSAID: &str = "nobody is meant to wait for ever";

impl Verdict {
    /// The verdict that follows from how often a promise was broken, broken as expected, and tested.
    pub fn of(broken: u64, expected: u64, tested: u64) -> Verdict {
        match (broken, expected, tested) {
            (1.., _, _) => Verdict::Broken,
            (0, 1.., _) => Verdict::BrokenAsExpected,
            (0, 0, 1..) => Verdict::Held,
            (0, 0, 0) => Verdict::NeverTested,
        }
    }

    /// The same, where these assumptions did not hold.
    #[must_use]
    pub fn resting_on<S: AsRef<str>>(self, assumptions: &[S]) -> Verdict {
        match self {
            Verdict::BrokenAsExpected if assumptions.iter().any(|it| it.as_ref() == UNSAID) => {
                Verdict::Undecided
            }
            verdict => verdict,
        }
    }

    /// Whether it leaves the answer open.
    pub fn is_open(self) -> bool {
        matches!(self, Verdict::NeverTested | Verdict::Undecided)
    }
}

/// A promise or invariant with what became of it, however that was found out.
pub trait Judged {
    /// Its name and its verdict; `None` if it is not judged.
    fn became(&self) -> Option<(&str, Verdict)>;
}

impl Judged for (&str, Verdict) {
    fn became(&self) -> Option<(&str, Verdict)> {
        Some(*self)
    }
}

/// The names of those of which this became.
pub fn named<'a, R: Judged + 'a>(
    results: impl IntoIterator<Item = &'a R>,
    verdict: Verdict,
) -> impl Iterator<Item = &'a str> {
    results.into_iter().filter_map(R::became).filter(move |(_, it)| *it == verdict).map(|(name, _)| name)
}

/// What is said behind that all of these held.
pub(crate) fn but_for_expected<'a, R: Judged + 'a>(results: impl IntoIterator<Item = &'a R>) -> &'static str {
    match named(results, Verdict::BrokenAsExpected).next() {
        Some(_) => ", but for what was broken as expected",
        None => "",
    }
}

/// What became of one promise or invariant in a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromiseResult {
    /// Its name.
    pub name: String,
    /// What it promises, in one sentence.
    pub about: String,
    /// What became of it.
    pub verdict: Verdict,
    /// How often it was put to the test.
    pub tested: u64,
    /// In how many seeds it was broken where it was owed.
    pub broken: u64,
    /// In how many seeds it was broken where an assumption did not hold.
    pub expected: u64,
    /// The assumptions that did not hold there.
    pub assumptions: Vec<String>,
    /// The first of the expected breaks.
    pub first_expected: Option<Failure>,
    /// What would put it to the test, if nothing has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested_when: Option<String>,
}

impl Judged for PromiseResult {
    fn became(&self) -> Option<(&str, Verdict)> {
        Some((&self.name, self.verdict))
    }
}

impl PromiseResult {
    /// Adds what other seeds gave.
    pub(crate) fn add(&mut self, other: PromiseResult) {
        self.tested = self.tested.saturating_add(other.tested);
        self.broken = self.broken.saturating_add(other.broken);
        self.expected = self.expected.saturating_add(other.expected);
        self.assumptions.extend(other.assumptions);
        self.assumptions.sort();
        self.assumptions.dedup();
        let both = [self.first_expected.take(), other.first_expected];
        self.first_expected = both.into_iter().flatten().min_by_key(|failure| failure.seed);
        self.verdict = Verdict::of(self.broken, self.expected, self.tested).resting_on(&self.assumptions);
        let tested_when = self.tested_when.take().or(other.tested_when);
        self.tested_when = tested_when.filter(|_| self.verdict == Verdict::NeverTested);
    }
}

/// A broken promise in one seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The promise or invariant.
    pub promise: String,
    /// Digest of the run's whole trace; 16 hex digits in JSON.
    #[serde(with = "crate::json::hex")]
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{16}$"))]
    pub digest: u64,
    /// When, in virtual time.
    pub virtual_ns: u64,
    /// What happened.
    pub what: String,
    /// The command that shows it again.
    pub replay: String,
    /// Why it was broken; only for the first failure of each promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The run up to there, to be drawn; at most for the first failure of each promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagram: Option<Diagram>,
}

/// The answer of a whole sweep, replay or check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Every promise was put to the test and held, but for breaks that are expected.
    Held,
    /// A promise was broken where it was owed.
    Broken,
    /// Nothing was broken, but not everything could be judged.
    #[default]
    Undecided,
}

impl Answer {
    /// Broken if anything is broken where it was owed. An invariant that was never put to the test (no server crashed)
    /// is no gap; a promise is, for it is what was asked about.
    pub fn of<R: Judged>(promises: &[R], invariants: &[R]) -> Answer {
        let is = |verdict| named(promises.iter().chain(invariants), verdict).next().is_some();
        match () {
            () if is(Verdict::Broken) => Answer::Broken,
            () if is(Verdict::Undecided) => Answer::Undecided,
            () if named(promises, Verdict::NeverTested).next().is_some() => Answer::Undecided,
            () => Answer::Held,
        }
    }

    /// Broken if something was broken, undecided if something else is open.
    pub fn found(is_broken: bool, is_open: bool) -> Answer {
        match (is_broken, is_open) {
            (true, _) => Answer::Broken,
            (false, true) => Answer::Undecided,
            (false, false) => Answer::Held,
        }
    }

    /// The exit status of the command.
    pub fn exit_status(self) -> u8 {
        match self {
            Answer::Held => 0,
            Answer::Broken => 1,
            Answer::Undecided => 3,
        }
    }
}

/// How a variant is known to be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Catalogued {
    /// The promise that breaks.
    pub promise: String,
    /// The defect's number, such as `S-070`.
    pub defect: String,
    /// The fault it takes.
    pub fault: String,
}

/// How what was found compares with what the catalogue says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueNote<'a> {
    /// The promise that the catalogue names was broken.
    AsCatalogued(&'a Catalogued),
    /// Another promise was broken.
    Other(&'a Catalogued),
    /// Nothing was broken.
    NotSeen(&'a Catalogued),
}

impl<'a> CatalogueNote<'a> {
    /// Compares; `None` if the catalogue says nothing. `broken` are the promises broken where owed.
    pub fn of<'b>(
        catalogued: Option<&'a Catalogued>,
        broken: impl IntoIterator<Item = &'b str>,
    ) -> Option<CatalogueNote<'a>> {
        let (known, broken) = (catalogued?, broken.into_iter().collect::<Vec<_>>());
        Some(match () {
            () if broken.contains(&known.promise.as_str()) => CatalogueNote::AsCatalogued(known),
            () if broken.is_empty() => CatalogueNote::NotSeen(known),
            () => CatalogueNote::Other(known),
        })
    }
}

/// What a variant needs to break.
pub fn needs(fault: &str) -> String {
    match fault {
        "none" => "needs no fault".into(),
        fault => format!("fault: {fault}"),
    }
}

impl fmt::Display for CatalogueNote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (CatalogueNote::AsCatalogued(known)
        | CatalogueNote::Other(known)
        | CatalogueNote::NotSeen(known)) = self;
        let Catalogued { promise, defect, fault } = known;
        let needs = needs(fault);
        match self {
            CatalogueNote::AsCatalogued(_) => write!(f, "as catalogued: {defect} breaks {promise} ({needs})"),
            CatalogueNote::Other(_) => write!(
                f,
                "not as catalogued: {defect} should have broken {promise} ({needs}), but something else broke"
            ),
            CatalogueNote::NotSeen(_) => {
                write!(f, "not seen: {defect} is catalogued to break {promise} ({needs})")
            }
        }
    }
}
