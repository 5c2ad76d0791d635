//! A check, for people.

use super::{Paint, count, coverage, headings, of, row, table, wall};
use crate::check::{CheckReport, CheckedPromise, Judgement, Path};
use crate::verdict::Verdict;
use std::fmt::Write;

/// A check as text. Its last line is the verdict.
pub fn check_text(report: &CheckReport, paint: Paint) -> String {
    let mut out = String::new();
    header(&mut out, report, paint);
    let mut rows = vec![headings(paint, "promise")];
    for result in &report.promises {
        let assumption = result.expected.as_ref().and_then(|path| path.assumption.clone());
        let words = words(result, report);
        rows.push(row(paint, &result.name, result.verdict, words, result.tested, assumption.as_slice()));
    }
    out.push_str(&table(&rows));
    watched(&mut out, report, paint);
    coverage(&mut out, paint, &report.sometimes, &|case| of(case.times, "time"));
    // That which the verdict names comes first.
    let all = || report.promises.iter().chain(&report.watched);
    let is_first = |result: &&CheckedPromise| Some(&result.name) == report.promise.as_ref();
    for result in all().filter(is_first).chain(all().filter(|result| !is_first(result))) {
        for path in result.broken.iter().chain(&result.expected) {
            counterexample(&mut out, result, path, paint);
        }
    }
    closing(&mut out, report, paint);
    out
}

fn header(out: &mut String, report: &CheckReport, paint: Paint) {
    let _ = writeln!(out, "{}: {}", paint.strong(&report.recipe), report.about);
    let b = &report.bounds;
    let _ = writeln!(
        out,
        "  bounds: {} × {}; at most: expiries {}, drops {}, crashes {}, pauses {}; views lag by {}",
        of(b.clients.into(), "client"),
        of(b.rounds.into(), "round"),
        b.expiries,
        b.drops,
        b.crashes,
        b.pauses,
        of(b.lag.into(), "transaction"),
    );
    let how = &report.how;
    let mut facts = vec![format!("{} engine", how.engine)];
    let flags = [
        (how.eager, "eager delivery"),
        (how.symmetry, "symmetry"),
        (how.keys, "checkpoint keys"),
        (how.audit, "audited"),
        (how.memo, "memo"),
        (how.effects, "effects"),
        (how.true_zxids, "true zxids"),
    ];
    facts.extend(flags.iter().filter(|(on, _)| *on).map(|(_, name)| name.to_string()));
    let _ = writeln!(out, "  search: {}", facts.join(", "));
    if !how.unproven.is_empty() {
        let names = how.unproven.join(", ");
        let warning = format!("not shown to give the same verdict for {}: {names}", report.recipe);
        let _ = writeln!(out, "  {}", paint.odd(&warning));
    }
    let limits = &report.limits;
    let limits = [
        limits.time_seconds.map(|s| format!("{s} s")),
        limits.max_states.map(|n| format!("{} states", count(n))),
        limits.max_depth.map(|n| format!("depth {n}")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        let _ = writeln!(out, "  limits: {}", limits.join(", "));
    }
    out.push('\n');
}

fn words(result: &CheckedPromise, report: &CheckReport) -> String {
    let steps = |path: &Option<Path>| of(path.as_ref().map_or(0, |path| path.steps.len() as u64), "step");
    match result.verdict {
        Verdict::Held if report.exhaustive => format!("holds in {}", report.holds_in),
        Verdict::Held => "not broken so far".into(),
        Verdict::Broken => format!("BROKEN ({})", steps(&result.broken)),
        Verdict::BrokenAsExpected => {
            format!("broken as expected ({})", steps(&result.expected))
        }
        Verdict::NeverTested => "never put to the test".into(),
    }
}

/// What the search itself watches has no tests to count.
fn watched(out: &mut String, report: &CheckReport, paint: Paint) {
    let names = report.watched.iter().map(|result| match result.verdict {
        Verdict::Broken => paint.bad(&format!("{} BROKEN", result.name)),
        Verdict::NeverTested => paint.odd(&format!("{} not checked", result.name)),
        Verdict::Held | Verdict::BrokenAsExpected => result.name.clone(),
    });
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        let _ = writeln!(out, "\n{} {}", paint.strong("always watched:"), names.join(", "));
    }
}

fn counterexample(out: &mut String, result: &CheckedPromise, path: &Path, paint: Paint) {
    let title = match &path.assumption {
        None => paint.bad(&format!("{}: broken", result.name)),
        Some(why) => {
            paint.odd(&format!("{}: broken as expected, as it did not hold that {why}", result.name))
        }
    };
    let _ = writeln!(out, "\n{title}");
    numbered(out, &path.steps);
    for line in path.what.lines() {
        let _ = writeln!(out, "  => {line}");
    }
}

fn numbered(out: &mut String, steps: &[String]) {
    let width = steps.len().to_string().len();
    for (at, step) in steps.iter().enumerate() {
        let _ = writeln!(out, "  {:>width$}. {step}", at + 1);
    }
}

fn closing(out: &mut String, report: &CheckReport, paint: Paint) {
    let _ = writeln!(
        out,
        "\n{}, {}, {}",
        of(report.states, "state"),
        of(report.transitions, "transition"),
        wall(report.wall_seconds)
    );
    let untested = report.promises.iter().filter(|result| result.verdict == Verdict::NeverTested);
    let untested: Vec<&str> = untested.map(|result| result.name.as_str()).collect();
    if !untested.is_empty() {
        let line = format!("nothing within these bounds put to the test: {}", untested.join(", "));
        let _ = writeln!(out, "{}", paint.odd(&line));
    }
    if let Some(note) = report.catalogue_note() {
        let _ = writeln!(out, "{note}");
    }
    let verdict = match report.verdict {
        Judgement::Holds => format!(
            "holds in {} (exhaustive, {}, depth {})",
            report.holds_in,
            of(report.states, "state"),
            report.depth
        ),
        Judgement::Violated => format!(
            "violated ({}): {}",
            of(report.steps.len() as u64, "step"),
            report.promise.as_deref().unwrap_or("a promise")
        ),
        Judgement::Undecided => format!("undecided ({})", report.ran_out.as_deref().unwrap_or("cut short")),
    };
    let _ = writeln!(out, "{}", paint.answer(report.verdict.answer(), &verdict));
}
