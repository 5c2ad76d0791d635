//! One seed, for people.

use super::{Paint, count, coverage, failed, of, promise_tables, seconds, wrapped};
use crate::replay::{Lines, Mark, Moment, ReplayReport};
use crate::verdict::{Answer, CatalogueNote, Verdict};
use std::fmt::Write;
use std::ops::Range;

/// A replay as text: what happened in order of time, then the verdicts, then the digest as the last line.
pub fn replay_text(report: &ReplayReport, paint: Paint, lines: Lines) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", paint.strong(&report.recipe), report.about);
    for fact in &report.facts {
        let _ = writeln!(out, "  {}", wrapped(fact, 4));
    }
    let _ = writeln!(out, "  seed {}\n", report.seed);
    match lines {
        Lines::Last(most) => timeline(&mut out, &report.timeline, excerpt(&report.timeline, most), paint),
        Lines::All => timeline(&mut out, &report.timeline, 0..report.timeline.len(), paint),
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

/// So many lines up to where something broke first that was owed, or else as expected, or else up to the end.
fn excerpt(timeline: &[Moment], most: usize) -> Range<usize> {
    let first = |mark| timeline.iter().position(|moment| moment.mark == mark);
    let end = first(Mark::Broken).or(first(Mark::Expected)).map_or(timeline.len(), |at| at + 1);
    end.saturating_sub(most)..end
}

fn timeline(out: &mut String, timeline: &[Moment], shown: Range<usize>, paint: Paint) {
    let left_out = |out: &mut String, number: usize, which: &str, more: &str| {
        if number > 0 {
            let line = format!("… {} left out{more}", of(number as u64, &format!("{which} line")));
            let _ = writeln!(out, "{}", paint.odd(&line));
        }
    };
    left_out(out, shown.start, "earlier", "; --lines all shows the whole timeline, --trace everything");
    let width = timeline[shown.clone()].iter().map(|moment| moment.who.chars().count()).max().unwrap_or(0);
    for moment in &timeline[shown.clone()] {
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
    left_out(out, timeline.len() - shown.end, "later", "");
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
