//! A sweep, for people.

use super::{Paint, count, coverage, of, promise_tables, seconds, verdict_words, wall, wrapped};
use crate::sweep::{Failure, SweepReport};
use crate::verdict::{Answer, CatalogueNote, Verdict};
use std::fmt::Write;

/// A sweep as text. Its last line is the command to type next, if something was broken, or the answer.
pub fn sweep_text(report: &SweepReport, paint: Paint) -> String {
    let mut out = String::new();
    header(&mut out, report, paint);
    let seeds = report.seeds.count;
    promise_tables(&mut out, paint, &report.promises, &report.invariants, &|r| verdict_words(r, seeds));
    coverage(&mut out, paint, &report.sometimes, &|case| of(case.seeds, "seed"));
    for name in report.broken() {
        if let Some(failure) = report.failures.iter().find(|failure| failure.promise == name) {
            first_failure(&mut out, report, failure, paint);
        }
    }
    closing(&mut out, report, paint);
    out
}

fn header(out: &mut String, report: &SweepReport, paint: Paint) {
    let _ = writeln!(out, "{}: {}", paint.strong(&report.recipe), report.about);
    for fact in &report.facts {
        let _ = writeln!(out, "  {}", wrapped(fact, 4));
    }
    let seeds = &report.seeds;
    let shard = seeds.shard.as_ref().map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "  seeds {}..{}{shard}: {} run, {} of them twice, to compare\n",
        seeds.first,
        seeds.end,
        count(seeds.count),
        count(seeds.twice)
    );
}

fn first_failure(out: &mut String, report: &SweepReport, failure: &Failure, paint: Paint) {
    let about = report.promise(&failure.promise).map(|result| result.about.as_str()).unwrap_or_default();
    let _ = writeln!(out, "\n{}", paint.bad(&format!("{}: broken", failure.promise)));
    if !about.is_empty() {
        let _ = writeln!(out, "  {}", wrapped(about, 2));
    }
    let _ = writeln!(out, "  first in seed {}, at {}", failure.seed, seconds(failure.virtual_ns));
    for line in failure.what.lines() {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  digest {:016x}", failure.digest);
}

fn closing(out: &mut String, report: &SweepReport, paint: Paint) {
    let rate = if report.wall_seconds > 0.0 { report.virtual_seconds / report.wall_seconds } else { 0.0 };
    let _ = writeln!(
        out,
        "\n{} virtual seconds in {} ({} per second), {} messages",
        count(report.virtual_seconds as u64),
        wall(report.wall_seconds),
        count(rate as u64),
        count(report.messages)
    );
    let _ = writeln!(out, "{}", paint.answer(report.answer, &wrapped(&answer_words(report), 2)));
    if let Some(note) = report.catalogue_note() {
        let line = match note {
            CatalogueNote::AsCatalogued(_) => note.to_string(),
            CatalogueNote::Other(_) | CatalogueNote::NotSeen(_) => paint.odd(&note.to_string()),
        };
        let _ = writeln!(out, "{line}");
    }
    if let Some(failure) = report.failures.first() {
        let _ = writeln!(out, "the same build, scenario and seed give the same run again:");
        let _ = writeln!(out, "{}", paint.strong(&failure.replay));
    }
}

/// The answer of a sweep in words.
pub(crate) fn answer_words(report: &SweepReport) -> String {
    let untested = report.promises.iter().filter(|result| result.verdict == Verdict::NeverTested);
    let untested: Vec<&str> = untested.map(|result| result.name.as_str()).collect();
    match report.answer {
        Answer::Held => {
            let excused = report.all().any(|result| result.verdict == Verdict::BrokenAsExpected);
            let but = if excused { ", but for what was broken as expected" } else { "" };
            format!("every promise held{but}")
        }
        Answer::Broken => format!("BROKEN: {}", report.broken().collect::<Vec<_>>().join(", ")),
        Answer::Undecided => format!("undecided: never put to the test: {}", untested.join(", ")),
    }
}
