//! One seed, for people.

use super::{Paint, count, coverage, of, promise_tables, seconds};
use crate::replay::ReplayReport;
use crate::verdict::{Answer, CatalogueNote, Verdict};
use std::fmt::Write;

/// A replay as text: what happened in order of time, then the verdicts, then the digest as the last line.
pub fn replay_text(report: &ReplayReport, paint: Paint) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", paint.strong(&report.recipe), report.about);
    for fact in &report.facts {
        let _ = writeln!(out, "  {fact}");
    }
    let _ = writeln!(out, "  seed {}\n", report.seed);
    for line in &report.trace {
        let _ = writeln!(out, "{line}");
    }
    if !report.trace.is_empty() {
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

fn violations(out: &mut String, report: &ReplayReport, paint: Paint) {
    for seen in &report.violations {
        let (verdict, why) = match &seen.expected {
            Some(assumption) => {
                (Verdict::BrokenAsExpected, format!(" as expected: it did not hold that {assumption}"))
            }
            None => (Verdict::Broken, String::new()),
        };
        let title = paint.verdict(verdict, &format!("{}:", seen.promise));
        let _ = writeln!(out, "\n{title} broken at {}{why}", seconds(seen.virtual_ns));
        for line in seen.what.lines() {
            let _ = writeln!(out, "  {line}");
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
