//! One seed.

use super::parts::{known, verdict_word, verdicts, what, why};
use crate::cause::{Cause, Mark, Moment};
use crate::page::{Block, Line, Mood, Page, answer, below};
use crate::replay::{Lines, ReplayReport, Seen};
use crate::text::{Paint, text};
use crate::verdict::{Answer, CatalogueNote, Verdict};
use crate::words::{count, named_in, of, seconds};
use std::collections::BTreeSet;

/// A replay as text: why a promise was broken, if one was; what happened in order of time; then the verdicts, and the
/// digest as the last line.
pub fn replay_text(report: &ReplayReport, paint: Paint, lines: Lines) -> String {
    let title =
        || [Block::Title(report.recipe.clone(), report.about.clone()), Block::Facts(report.facts.clone())];
    let mut page = Page::new();
    if let Some(cause) = &report.cause {
        page.extend(headline(report, cause));
    } else {
        page.extend(title());
        page.extend([below(format!("seed {}", report.seed)), Block::Blank]);
    }
    match lines {
        Lines::Last(most) => timeline(&mut page, &excerpt(report, most)),
        Lines::All => page.push(Block::Moments(report.timeline.clone())),
        Lines::Trace => page.push(Block::Told(report.trace.clone())),
    }
    if report.cause.is_some() {
        page.push(Block::Blank);
        page.extend(title());
    }
    page.push(verdicts(&report.promises, &report.invariants, 1, &|it| verdict_word(it.verdict).into()));
    page.push(Block::Cases(report.sometimes.clone(), None));
    page.extend(report.violations.iter().map(violation));
    closing(&mut page, report);
    text(&page, paint)
}

impl std::fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&replay_text(self, Paint::PLAIN, Lines::default()))
    }
}

/// What was broken, and why.
fn headline(report: &ReplayReport, cause: &Cause) -> Page {
    let Some(end) = cause.moments.last() else { return Page::new() };
    let (mood, how) = match end.mark {
        Mark::Expected => (Mood::Odd, verdict_word(Verdict::BrokenAsExpected)),
        Mark::Undecided => (Mood::Odd, verdict_word(Verdict::Undecided)),
        Mark::Event | Mark::Fault | Mark::Broken => (Mood::Bad, "BROKEN"),
    };
    let line = format!("{}, seed {}: {how} {}", report.what, report.seed, end.what);
    let mut page = vec![Line::new(mood, line).wrapped(2).into()];
    page.extend(why(cause));
    page.extend([Block::Blank, Line::new(Mood::Strong, "the run up to there:").into()]);
    page
}

/// Which lines of a timeline are shown.
struct Excerpt<'a> {
    shown: Vec<&'a Moment>,
    left_out: usize,
    later: usize,
}

/// All lines up to the break that it is about, if they are few enough; else no more than that of those that matter, but
/// each fault and all that is part of a cause.
fn excerpt(report: &ReplayReport, most: usize) -> Excerpt<'_> {
    let timeline = report.timeline.as_slice();
    let matters_most = report.cause.as_ref().map_or(&[][..], |cause| &cause.moments);
    let first = |mark| timeline.iter().position(|moment| moment.mark == mark);
    let asked = matters_most.last().and_then(|last| timeline.iter().position(|moment| moment == last));
    let broken = asked.or(first(Mark::Broken)).or(first(Mark::Undecided)).or(first(Mark::Expected));
    let end = broken.map_or(timeline.len(), |at| at + 1);
    let mut kept: BTreeSet<usize> = (0..end).collect();
    if end > most {
        kept.retain(|at| timeline[*at].mark != Mark::Event || matters_most.contains(&timeline[*at]));
        let concerned = broken.map(|at| concerned(timeline, at)).unwrap_or_default();
        let others = (0..end).rev().filter(|at| !kept.contains(at));
        let others = others.filter(|at| matters(&timeline[*at], &concerned));
        let others: Vec<usize> = others.take(most.saturating_sub(kept.len())).collect();
        kept.extend(others);
    }
    Excerpt {
        left_out: end - kept.len(),
        later: timeline.len() - end,
        shown: kept.into_iter().map(|at| &timeline[at]).collect(),
    }
}

/// Whom the break concerns: those it names, and those who made the znodes that it names.
fn concerned(timeline: &[Moment], broken: usize) -> BTreeSet<&str> {
    let what = timeline[broken].what.as_str();
    let mut names: BTreeSet<&str> = named_in(what).into_iter().collect();
    let paths = what.split_whitespace().map(|word| word.trim_matches([',', ';', ':', '.']));
    for path in paths.filter(|word| word.starts_with('/')) {
        let makes = |moment: &&Moment| {
            moment.what.contains("create") && moment.what.split([' ', ':']).any(|word| word == path)
        };
        let made = timeline[..broken].iter().filter(makes);
        names.extend(made.flat_map(|moment| named_in(&moment.who).into_iter().chain(named_in(&moment.what))));
    }
    names
}

/// What concerns them, or everybody: what servers do, and faults that name nobody.
fn matters(moment: &Moment, concerned: &BTreeSet<&str>) -> bool {
    if concerned.is_empty() || moment.who.starts_with('s') {
        return true;
    }
    let names = || named_in(&moment.who).into_iter().chain(named_in(&moment.what));
    match moment.mark {
        Mark::Broken | Mark::Expected | Mark::Undecided => true,
        Mark::Fault if names().all(|name| name.starts_with('s')) => true,
        Mark::Event if names().next().is_none() => true,
        Mark::Fault | Mark::Event => names().any(|name| concerned.contains(name)),
    }
}

fn timeline(page: &mut Page, excerpt: &Excerpt<'_>) {
    let left_out = |number: usize, which: &str, more: &str| {
        let line = format!("… {} left out{more}", of(number as u64, &format!("{which}line")));
        (number > 0).then(|| Block::from(Line::new(Mood::Odd, line)))
    };
    page.extend(left_out(excerpt.left_out, "", "; --lines all shows them, --trace everything"));
    page.push(Block::Moments(excerpt.shown.iter().map(|moment| (*moment).clone()).collect()));
    page.extend(left_out(excerpt.later, "later ", ""));
}

fn violation(seen: &Seen) -> Block {
    let (mood, how) = match &seen.expected {
        Some(it) => (Mood::Odd, verdict_word(Verdict::BrokenAsExpected.resting_on(std::slice::from_ref(it)))),
        None => (Mood::Bad, "broken"),
    };
    let title = Line::new(mood, format!("{}:", seen.promise));
    let assumption_note =
        seen.expected.iter().map(|it| below(super::parts::failed(std::slice::from_ref(it))));
    Block::Card(
        title.then(Mood::Plain, format!(" {how} at {}", seconds(seen.virtual_ns))),
        what(&seen.what).chain(assumption_note).collect(),
    )
}

fn closing(page: &mut Page, report: &ReplayReport) {
    let words = match report.answer {
        Answer::Held => "every promise held in this seed",
        Answer::Broken => "a promise was BROKEN in this seed",
        Answer::Undecided => "nothing was broken in this seed, and not every promise could be judged",
    };
    page.extend([Block::Blank, answer(report.answer, words)]);
    // That one seed does not show it says nothing.
    let note = report.catalogue_note().filter(|note| !matches!(note, CatalogueNote::NotSeen(_)));
    page.extend(known(note));
    let (time, messages, events) = (seconds(report.virtual_ns), count(report.messages), count(report.steps));
    page.push(Line::from(format!("{time} virtual, {messages} messages, {events} events")).into());
    page.push(Line::from(format!("digest {:016x}", report.digest)).into());
}
