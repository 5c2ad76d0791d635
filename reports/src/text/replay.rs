//! One seed, for people.

use super::{Paint, count, coverage, failed, heading, named_in, of, promise_tables, seconds, wrapped};
use crate::cause::{Cause, Mark, Moment};
use crate::replay::{Lines, ReplayReport};
use crate::verdict::{Answer, CatalogueNote, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A replay as text: why a promise was broken, if one was; what happened in order of time; then the verdicts, and the
/// digest as the last line.
pub fn replay_text(report: &ReplayReport, paint: Paint, lines: Lines) -> String {
    let mut out = String::new();
    if let Some(cause) = &report.cause {
        headline(&mut out, report, cause, paint);
    } else {
        heading(&mut out, paint, &report.recipe, &report.about, &report.facts);
        let _ = writeln!(out, "  seed {}\n", report.seed);
    }
    match lines {
        Lines::Last(most) => timeline(&mut out, &excerpt(report, most), paint),
        Lines::All => moments(&mut out, &report.timeline.iter().collect::<Vec<_>>(), paint),
        Lines::Trace => report.trace.iter().for_each(|line| {
            let _ = writeln!(out, "{line}");
        }),
    }
    out.push('\n');
    if report.cause.is_some() {
        heading(&mut out, paint, &report.recipe, &report.about, &report.facts);
        out.push('\n');
    }
    promise_tables(&mut out, paint, &report.promises, &report.invariants, &|result| {
        match result.verdict {
            Verdict::Held => "held",
            Verdict::Broken => "BROKEN",
            Verdict::BrokenAsExpected => "broken as expected",
            Verdict::NeverTested => "never put to the test",
        }
        .into()
    });
    coverage(&mut out, paint, &report.sometimes, &|case| of(case.times, "time"));
    violations(&mut out, report, paint);
    closing(&mut out, report, paint);
    out
}

/// What was broken, and why.
fn headline(out: &mut String, report: &ReplayReport, cause: &Cause, paint: Paint) {
    let Some(end) = cause.moments.last() else { return };
    let how = if end.mark == Mark::Expected { "broken as expected" } else { "BROKEN" };
    let line = format!("{}, seed {}: {how} {}", report.what, report.seed, end.what);
    let line = wrapped(&line, 2);
    let line = if end.mark == Mark::Expected { paint.odd(&line) } else { paint.bad(&line) };
    let _ = writeln!(out, "{line}");
    why(out, cause, paint);
    let _ = writeln!(out, "\n{}", paint.strong("the run up to there:"));
}

/// The sentences, and then the moments that matter.
pub(super) fn why(out: &mut String, cause: &Cause, paint: Paint) {
    for sentence in &cause.why {
        let _ = writeln!(out, "  {}", wrapped(sentence, 4).trim_start());
    }
    out.push('\n');
    moments(out, &cause.moments.iter().collect::<Vec<_>>(), paint);
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
    let broken = asked.or(first(Mark::Broken)).or(first(Mark::Expected));
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
        Mark::Broken | Mark::Expected => true,
        Mark::Fault if names().all(|name| name.starts_with('s')) => true,
        Mark::Event if names().next().is_none() => true,
        Mark::Fault | Mark::Event => names().any(|name| concerned.contains(name)),
    }
}

fn timeline(out: &mut String, excerpt: &Excerpt<'_>, paint: Paint) {
    let left_out = |out: &mut String, number: usize, which: &str, more: &str| {
        if number > 0 {
            let line = format!("… {} left out{more}", of(number as u64, &format!("{which}line")));
            let _ = writeln!(out, "{}", paint.odd(&line));
        }
    };
    left_out(out, excerpt.left_out, "", "; --lines all shows them, --trace everything");
    moments(out, &excerpt.shown, paint);
    left_out(out, excerpt.later, "later ", "");
}

fn moments(out: &mut String, moments: &[&Moment], paint: Paint) {
    let width = moments.iter().map(|moment| moment.who.chars().count()).max().unwrap_or(0);
    for moment in moments {
        let (time, who) = (clock(moment.virtual_ns), &moment.who);
        let (sign, word) = match moment.mark {
            Mark::Event => (' ', ""),
            Mark::Fault => ('!', "FAULT "),
            Mark::Expected => ('>', "BROKEN AS EXPECTED "),
            Mark::Broken => ('>', "BROKEN "),
        };
        let what = wrapped(&format!("{word}{}", moment.what), width + 15);
        let line = format!("{sign} {time:>9}  {who:<width$}  {what}");
        let line = match moment.mark {
            Mark::Event => line,
            Mark::Fault | Mark::Expected => paint.odd(&line),
            Mark::Broken => paint.bad(&line),
        };
        let _ = writeln!(out, "{line}");
    }
}

/// `12.040s`: narrower than with a blank, for a column.
fn clock(ns: u64) -> String {
    seconds(ns).replace(' ', "")
}

fn violations(out: &mut String, report: &ReplayReport, paint: Paint) {
    for seen in &report.violations {
        let (verdict, how) = match &seen.expected {
            Some(_) => (Verdict::BrokenAsExpected, "broken as expected"),
            None => (Verdict::Broken, "broken"),
        };
        let title = paint.verdict(verdict, &format!("{}:", seen.promise));
        let _ = writeln!(out, "\n{title} {how} at {}", seconds(seen.virtual_ns));
        for line in seen.what.lines() {
            let _ = writeln!(out, "  {}", wrapped(line, 4).trim_start());
        }
        if let Some(assumption) = &seen.expected {
            let line = failed(std::slice::from_ref(assumption));
            let _ = writeln!(out, "  {}", wrapped(&line, 4).trim_start());
        }
    }
}

fn closing(out: &mut String, report: &ReplayReport, paint: Paint) {
    let words = match report.answer {
        Answer::Held => "every promise held in this seed",
        Answer::Broken => "a promise was BROKEN in this seed",
        Answer::Undecided => "nothing was broken in this seed, and not every promise was put to the test",
    };
    let _ = writeln!(out, "\n{}", paint.answer(report.answer, words));
    if let Some(note @ (CatalogueNote::AsCatalogued(_) | CatalogueNote::Other(_))) = report.catalogue_note() {
        let _ = writeln!(out, "{}", wrapped(&note.to_string(), 2));
    }
    let _ = writeln!(
        out,
        "{} virtual, {} messages, {} events",
        seconds(report.virtual_ns),
        count(report.messages),
        count(report.steps)
    );
    let _ = writeln!(out, "digest {:016x}", report.digest);
}
