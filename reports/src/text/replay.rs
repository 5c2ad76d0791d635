//! One seed, for people.

use super::{Paint, count, coverage, failed, heading, named_in, of, promise_tables, seconds};
use crate::replay::{Lines, Mark, Moment, ReplayReport};
use crate::verdict::{Answer, CatalogueNote, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A replay as text: what happened in order of time, then the verdicts, then the digest as the last line.
pub fn replay_text(report: &ReplayReport, paint: Paint, lines: Lines) -> String {
    let mut out = String::new();
    heading(&mut out, paint, &report.recipe, &report.about, &report.facts);
    let _ = writeln!(out, "  seed {}\n", report.seed);
    match lines {
        Lines::Last(most) => timeline(&mut out, &excerpt(&report.timeline, most), paint),
        Lines::All => {
            let shown = report.timeline.iter().collect();
            timeline(&mut out, &Excerpt { shown, earlier: 0, others: 0, later: 0 }, paint);
        }
        Lines::Trace => report.trace.iter().for_each(|line| {
            let _ = writeln!(out, "{line}");
        }),
    }
    out.push('\n');
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

/// Which lines of a timeline are shown.
struct Excerpt<'a> {
    shown: Vec<&'a Moment>,
    earlier: usize,
    /// Of them, between those that are shown, what concerns others than those who broke something.
    others: usize,
    later: usize,
}

/// So many lines of what matters, up to where something broke first that was owed, or else as expected, or else up to
/// the end.
fn excerpt(timeline: &[Moment], most: usize) -> Excerpt<'_> {
    let first = |mark| timeline.iter().position(|moment| moment.mark == mark);
    let broken = first(Mark::Broken).or(first(Mark::Expected));
    let end = broken.map_or(timeline.len(), |at| at + 1);
    let concerned = broken.map(|at| concerned(timeline, at)).unwrap_or_default();
    let mattering = timeline[..end].iter().enumerate().filter(|(_, moment)| matters(moment, &concerned));
    let mattering: Vec<(usize, &Moment)> = mattering.collect();
    let shown = &mattering[mattering.len().saturating_sub(most)..];
    let earlier = shown.first().map_or(0, |(at, _)| *at);
    Excerpt {
        shown: shown.iter().map(|(_, moment)| *moment).collect(),
        earlier,
        others: end - earlier - shown.len(),
        later: timeline.len() - end,
    }
}

/// Whom the break concerns: those it names, and those who made the znodes that it names.
fn concerned(timeline: &[Moment], broken: usize) -> BTreeSet<&str> {
    let what = timeline[broken].what.as_str();
    let mut names: BTreeSet<&str> = named_in(what).into_iter().collect();
    let paths = what.split_whitespace().map(|word| word.trim_matches([',', ';', ':', '.']));
    for path in paths.filter(|word| word.starts_with('/')) {
        let creates = format!("creates {path}");
        let made = timeline[..broken].iter().filter(|moment| moment.what.ends_with(&creates));
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
    let more = "; --lines all shows the whole timeline, --trace everything";
    left_out(out, excerpt.earlier, "earlier ", more);
    let more = if excerpt.earlier > 0 { "" } else { more };
    left_out(out, excerpt.others, "", &format!(" that concern others{more}"));
    let width = excerpt.shown.iter().map(|moment| moment.who.chars().count()).max().unwrap_or(0);
    for moment in &excerpt.shown {
        let (time, who) = (clock(moment.virtual_ns), &moment.who);
        let line = match moment.mark {
            Mark::Event => format!("  {time:>9}  {who:<width$}  {}", moment.what),
            Mark::Fault => paint.odd(&format!("! {time:>9}  {who:<width$}  FAULT {}", moment.what)),
            Mark::Expected => {
                paint.odd(&format!("> {time:>9}  {who:<width$}  BROKEN AS EXPECTED {}", moment.what))
            }
            Mark::Broken => paint.bad(&format!("> {time:>9}  {who:<width$}  BROKEN {}", moment.what)),
        };
        let _ = writeln!(out, "{line}");
    }
    left_out(out, excerpt.later, "later ", "");
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
            let _ = writeln!(out, "  {line}");
        }
        if let Some(assumption) = &seen.expected {
            let _ = writeln!(out, "  {}", failed(std::slice::from_ref(assumption)));
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
        let _ = writeln!(out, "{note}");
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
