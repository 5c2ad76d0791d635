//! What pages have in common.

use crate::answers::{IS_IT_MEANT, UNTESTED};
use crate::page::{Block, Cell, Group, Line, Mood, Page, below};
use crate::words::thousandths;
use crate::{CatalogueNote, Cause, PromiseResult, Told, UNSAID, Verdict, count, of};

/// The assumption of what is measured of recipes that do not promise it.
pub(super) const PROMISED: &str = "the recipe promises it";

/// Why a break was expected, in words that end a sentence.
pub(super) fn failed(assumptions: &[String]) -> String {
    match assumptions {
        [one] if one == PROMISED => "the recipe does not promise it; it is only measured".into(),
        _ if assumptions.iter().any(|it| it == UNSAID) => IS_IT_MEANT.into(),
        _ => format!("this assumption failed: {}", assumptions.join("; ")),
    }
}

/// The same of a promise, below its table.
pub(super) fn assumption_note(name: &str, assumptions: &[String]) -> Option<Line> {
    let line = || match failed(assumptions) {
        open if open == IS_IT_MEANT => format!("{name}: {open}"),
        expected => format!("{name} as expected: {expected}"),
    };
    (!assumptions.is_empty()).then(|| Line::from(line()).indent(2).wrapped(4))
}

/// Promises and invariants under their heads. `all` are so many seeds, or orders.
pub(super) fn verdicts(
    promises: &[PromiseResult],
    invariants: &[PromiseResult],
    all: u64,
    words: &dyn Fn(&PromiseResult) -> String,
) -> Block {
    let group = |head, results: &[&PromiseResult]| {
        let row = |result: &&PromiseResult| {
            let mut verdict = Cell::new(result.verdict, words(result));
            let share = [result.broken, result.expected].map(|number| thousandths(number, all));
            verdict.meter = (share != [0, 0]).then_some(share);
            vec![Cell::from(&result.name).about(&result.about), verdict, count(result.tested).into()]
        };
        let mut group = Group::new([head, "verdict", "tested"], results.iter().map(row).collect());
        group.notes =
            results.iter().filter_map(|result| assumption_note(&result.name, &result.assumptions)).collect();
        group
    };
    let owed = group("promise", &promises.iter().collect::<Vec<_>>());
    let is_broken =
        |result: &PromiseResult| matches!(result.verdict, Verdict::Broken | Verdict::BrokenAsExpected);
    let (broken, others): (Vec<_>, Vec<_>) = invariants.iter().partition(|result| is_broken(result));
    let mut kept = group("invariants", &others);
    kept.aside = true;
    let broken = (!broken.is_empty()).then(|| group("invariants, broken", &broken));
    Block::Table("Verdicts", std::iter::once(owed).chain(broken).chain([kept]).collect())
}

/// The verdict of a promise over so many seeds or orders, in words.
pub(super) fn verdict_words(result: &PromiseResult, all: u64, one: &str) -> String {
    let rate = |n: u64| if all == 0 { 0.0 } else { 100.0 * n as f64 / all as f64 };
    let (all, broken, expected) = (of(all, one), count(result.broken), count(result.expected));
    match result.verdict {
        Verdict::Broken if result.expected > 0 => {
            format!("BROKEN in {broken} of {all}, and as expected in {expected}")
        }
        Verdict::Broken => format!("BROKEN in {broken} of {all}"),
        Verdict::BrokenAsExpected => {
            format!("broken as expected in {expected} of {all} ({:.1} %)", rate(result.expected))
        }
        Verdict::Undecided => format!("undecided in {expected} of {all}"),
        Verdict::Held | Verdict::NeverTested => verdict_word(result.verdict).into(),
    }
}

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Broken => "BROKEN",
        Verdict::BrokenAsExpected => "broken as expected",
        Verdict::NeverTested => UNTESTED,
        Verdict::Undecided => "undecided",
    }
}

/// The title of what broke.
pub(super) fn broken(promise: &str, verdict: Verdict) -> Line {
    match verdict {
        Verdict::Broken => Line::new(Mood::Bad, format!("{promise}: broken")),
        verdict => Line::new(Mood::Odd, format!("{promise}: {}", verdict_word(verdict))),
    }
}

/// What happened, line by line.
pub(super) fn what(text: &str) -> impl Iterator<Item = Block> {
    text.lines().map(below)
}

/// What a promise says of itself, if it does.
pub(super) fn about(text: &str) -> Option<Block> {
    (!text.is_empty()).then(|| below(text))
}

/// The same behind an arrow.
pub(super) fn end(text: &str) -> impl Iterator<Item = Block> {
    text.lines().map(|line| Line::from(format!("=> {line}")).indent(2).into())
}

/// The sentences, and then the moments that matter.
pub(super) fn why(cause: &Cause) -> impl Iterator<Item = Block> {
    let moments = [Block::Blank, Block::Moments(cause.moments.clone())];
    let no_return = cause.no_return.iter().map(|it| below(it.to_string()));
    cause.why.iter().map(|sentence| below(sentence.as_str())).chain(no_return).chain(moments)
}

/// What would put those to the test that nothing has.
pub(super) fn occasions<'r>(untested: impl Iterator<Item = (&'r str, Option<&'r str>)>) -> Page {
    let lines = untested.filter_map(|(name, when)| Some(format!("what would test {name}: {}", when?)));
    lines.map(|line| Line::new(Mood::Odd, line).wrapped(2).into()).collect()
}

/// So many lines of what nobody hears are enough.
const UNHEARD: usize = 10;

/// What a program told that nobody heard.
pub(super) fn unheard(told: Option<&Told>) -> Page {
    let lines = told.map(Told::lines).unwrap_or_default();
    lines.into_iter().take(UNHEARD).map(|line| Line::new(Mood::Odd, line).wrapped(2).into()).collect()
}

/// How it compares with the catalogue: odd, if it is not as that says.
pub(super) fn known(note: Option<CatalogueNote<'_>>) -> Option<Block> {
    let mood = match note.as_ref()? {
        CatalogueNote::AsCatalogued(_) => Mood::Plain,
        CatalogueNote::Other(_) | CatalogueNote::NotSeen(_) => Mood::Odd,
    };
    Some(Line::new(mood, note?.to_string()).wrapped(2).into())
}
