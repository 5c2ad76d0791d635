//! The check of an ensemble, for people.

use super::check::{counterexample, limits, watched};
use super::{Paint, count, coverage, headings, of, row, table, wall, wrapped};
use crate::check::{CheckedPromise, Judgement};
use crate::ensemble::{EnsembleBounds, EnsembleReport, WholeServers};
use crate::verdict::Verdict;
use std::fmt::Write;

/// The check of an ensemble as text. Its last line is the verdict.
pub fn ensemble_text(report: &EnsembleReport, paint: Paint) -> String {
    let mut out = String::new();
    let title = paint.strong("ensemble");
    let _ = writeln!(out, "{title}: real servers over links that break, {}", level(&report.level));
    let _ = writeln!(out, "  servers: {}", servers(report.whole.as_ref()));
    let _ = writeln!(out, "  bounds: {}", wrapped(&bounds(&report.bounds), 4));
    if !report.merged.is_empty() {
        let _ = writeln!(out, "  merged: {}", wrapped(&report.merged.join(", "), 4));
    }
    limits(&mut out, &report.limits);
    out.push('\n');
    let mut rows = vec![headings(paint, "invariant")];
    for result in &report.invariants {
        rows.push(row(paint, &result.name, result.verdict, words(result, report.exhaustive), result.tested));
    }
    out.push_str(&table(&rows));
    watched(&mut out, &report.watched, paint);
    coverage(&mut out, paint, &report.sometimes, &|case| of(case.times, "time"));
    // That which the verdict names comes first.
    let all = || report.invariants.iter().chain(&report.watched);
    let is_first = |result: &&CheckedPromise| Some(&result.name) == report.promise.as_ref();
    for result in all().filter(is_first).chain(all().filter(|result| !is_first(result))) {
        if let Some(path) = &result.broken {
            counterexample(&mut out, result, path, paint);
        }
    }
    closing(&mut out, report, paint);
    out
}

pub(crate) fn level(name: &str) -> String {
    match name {
        "election" => "from the start, and no further than an election".to_owned(),
        "synchronisation" => "from a decided election on".to_owned(),
        "rivals" => "from two of three voters on that stand for one epoch".to_owned(),
        "broadcast" => "from an established leader on".to_owned(),
        "whole" => "from the start".to_owned(),
        other => other.to_owned(),
    }
}

/// What they are.
pub(crate) fn servers(whole: Option<&WholeServers>) -> String {
    match whole {
        None => "peers without trees, sessions or clients".to_owned(),
        Some(WholeServers { asks, snapshots }) => {
            let own = if *snapshots { ", with snapshots of their own" } else { "" };
            format!("whole{own}, and a client that asks for {asks}")
        }
    }
}

/// What there is, and then what there is not.
pub(crate) fn bounds(b: &EnsembleBounds) -> String {
    let counted = [
        (b.txns, "transaction", "transactions"),
        (b.crashes, "crash", "crashes"),
        (b.breaks, "broken link", "broken links"),
        (b.partitions, "partition", "partitions"),
        (b.elections, "further election", "further elections"),
        (b.timeouts, "early timer", "early timers"),
    ];
    let mut most: Vec<String> = Vec::new();
    let mut none: Vec<&str> = Vec::new();
    for (number, one, many) in counted {
        match number {
            0 => none.push(many),
            1 => most.push(format!("1 {one}")),
            _ => most.push(format!("{number} {many}")),
        }
    }
    let mut text = of(b.servers.into(), "voter");
    if b.observers > 0 {
        text.push_str(&format!(" and {}", of(b.observers.into(), "observer")));
    }
    if b.past > 0 {
        text.push_str(&format!("; {} of a past epoch", of(b.past.into(), "transaction")));
    }
    if !most.is_empty() {
        text.push_str(&format!("; at most {}", most.join(", ")));
    }
    if !none.is_empty() {
        text.push_str(&format!("; no {}", none.join(", ")));
    }
    text
}

fn words(result: &CheckedPromise, exhaustive: bool) -> String {
    match (result.verdict, &result.broken) {
        (Verdict::Held, _) if exhaustive => "holds".into(),
        (Verdict::Held, _) => "not broken so far".into(),
        (Verdict::NeverTested, _) => "never put to the test".into(),
        (Verdict::Broken | Verdict::BrokenAsExpected, path) => {
            let steps = path.as_ref().map_or(0, |path| path.steps.len());
            format!("BROKEN ({})", of(steps as u64, "step"))
        }
    }
}

fn closing(out: &mut String, report: &EnsembleReport, paint: Paint) {
    let _ = writeln!(
        out,
        "\n{}, {}, {} ({} states a second)",
        of(report.states, "state"),
        of(report.transitions, "transition"),
        wall(report.wall_seconds),
        count((report.states as f64 / report.wall_seconds.max(1e-6)) as u64),
    );
    let untested: Vec<&str> = report.untested().collect();
    if !untested.is_empty() {
        let scope = if report.exhaustive { "nothing within these bounds" } else { "nothing so far" };
        let line = format!("{scope} put to the test: {}", untested.join(", "));
        let _ = writeln!(out, "{}", paint.odd(&wrapped(&line, 0)));
    }
    if report.verdict == Judgement::Undecided {
        let _ = writeln!(out, "--max-states, --max-depth and --time-limit say how far a search may go");
    }
    let _ = writeln!(out, "{}", paint.answer(report.verdict.answer(), &ensemble_answer(report)));
}

/// The verdict in words.
pub(crate) fn ensemble_answer(report: &EnsembleReport) -> String {
    match report.verdict {
        Judgement::Holds => {
            format!("holds (exhaustive, {}, depth {})", of(report.states, "state"), report.depth)
        }
        Judgement::Violated => format!(
            "violated ({}): {}",
            of(report.steps.len() as u64, "step"),
            report.promise.as_deref().unwrap_or("an invariant")
        ),
        Judgement::Undecided => format!("undecided ({})", report.ran_out.as_deref().unwrap_or("cut short")),
        Judgement::NotDetermined => {
            format!("not determined: {}", report.ran_out.as_deref().unwrap_or("the code"))
        }
    }
}
