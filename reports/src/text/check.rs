//! A check, for people.

use super::{Paint, count, coverage, of, table};
use crate::check::{CheckReport, CheckedPromise, Judgement, Path};
use crate::verdict::Verdict;
use std::fmt::Write;

/// A check as text. Its last line is the verdict.
pub fn check_text(report: &CheckReport, paint: Paint) -> String {
    let mut out = String::new();
    header(&mut out, report, paint);
    let mut rows = vec![["promise", "verdict", "tested"].map(|c| (c.to_string(), paint.strong(c))).to_vec()];
    for result in &report.promises {
        let words = words(result, report);
        let painted = paint.verdict(result.verdict, &words);
        let tested = count(result.tested);
        rows.push(vec![
            (result.name.clone(), result.name.clone()),
            (words, painted),
            (tested.clone(), tested),
        ]);
    }
    out.push_str(&table(&rows));
    coverage(&mut out, paint, &report.sometimes, &|case| format!("{} times", count(case.times)));
    for result in &report.promises {
        for path in result.broken.iter().chain(&result.expected) {
            counterexample(&mut out, result, path, paint);
        }
    }
    // What breaks the search rather than a promise (a runaway recipe, a failed audit) has steps of its own.
    if let Some(name) = &report.promise
        && !report.promises.iter().any(|result| result.name == *name && result.broken.is_some())
    {
        let _ = writeln!(out, "\n{}", paint.bad(&format!("{name}: broken")));
        numbered(&mut out, &report.steps);
    }
    closing(&mut out, report, paint);
    out
}

fn header(out: &mut String, report: &CheckReport, paint: Paint) {
    let _ = writeln!(out, "{}: {}", paint.strong(&report.recipe), report.about);
    let b = &report.bounds;
    let _ = writeln!(
        out,
        "  bounds: {} × {}, at most {} expiries, {} drops, {} crashes, {} pauses; views lag by {}",
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
            let assumption = result.expected.as_ref().and_then(|path| path.assumption.as_deref());
            let assumption = assumption.unwrap_or("an assumption");
            format!("broken as expected ({}; did not hold: {assumption})", steps(&result.expected))
        }
        Verdict::NeverTested => "never put to the test".into(),
    }
}

fn counterexample(out: &mut String, result: &CheckedPromise, path: &Path, paint: Paint) {
    let title = match &path.assumption {
        None => paint.bad(&format!("{}: broken", result.name)),
        Some(why) => paint.odd(&format!("{}: broken as expected, {why} did not hold", result.name)),
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
        "\n{}, {}, {:.1} s",
        of(report.states, "state"),
        of(report.transitions, "transition"),
        report.wall_seconds
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
