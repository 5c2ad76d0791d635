//! A check, for people.

use super::{Paint, count, coverage, failed, headings, of, row, table, wall, wrapped};
use crate::check::{Bounds, CheckReport, CheckedPromise, Judgement, Limits, Path};
use crate::verdict::Verdict;
use std::fmt::Write;

/// A check as text. Its last line is the verdict.
pub fn check_text(report: &CheckReport, paint: Paint) -> String {
    let mut out = String::new();
    header(&mut out, report, paint);
    let mut rows = vec![headings(paint, "promise")];
    for result in &report.promises {
        rows.push(row(paint, &result.name, result.verdict, words(result, report), result.tested));
    }
    out.push_str(&table(&rows));
    watched(&mut out, &report.watched, paint);
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
    super::heading(
        out,
        paint,
        &report.recipe,
        &report.about,
        &[format!("bounds: {}", bounds(&report.bounds))],
    );
    let model = "one server, whose clients may see an older state if views lag";
    let _ = writeln!(out, "  model: {}, {model}", report.holds_in);
    let how = &report.how;
    let mut facts = vec![format!("{} engine", how.engine)];
    // What everybody has is not told.
    let unusual = [
        (how.eager, "eager delivery"),
        (how.symmetry, "symmetry"),
        (!how.keys, "without checkpoints"),
        (!how.audit, "checkpoints not audited"),
        (!how.memo, "nothing remembered"),
        (!how.effects, "without writes to the outside resource"),
        (how.true_zxids, "true zxids"),
    ];
    facts.extend(unusual.iter().filter(|(is, _)| *is).map(|(_, name)| name.to_string()));
    let _ = writeln!(out, "  search: {}", wrapped(&facts.join(", "), 4));
    if !how.unproven.is_empty() {
        let names = how.unproven.join(", ");
        let warning = format!("not shown to give the same verdict for {}: {names}", report.recipe);
        let _ = writeln!(out, "  {}", paint.odd(&warning));
    }
    limits(out, &report.limits);
    out.push('\n');
}

/// When it gives up, if ever.
pub(super) fn limits(out: &mut String, limits: &Limits) {
    let limits = [
        limits.time_seconds.map(|s| format!("{s} s")),
        limits.max_states.map(|n| format!("{} states", count(n))),
        limits.max_memory.map(|bytes| format!("{} MB", count(bytes / 1_000_000))),
        limits.max_depth.map(|n| format!("depth {n}")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        let _ = writeln!(out, "  gives up after: {}", limits.join(", or "));
    }
}

/// What there is, and then what there is not.
pub(crate) fn bounds(b: &Bounds) -> String {
    let faults = [
        (b.expiries, "expiry", "expiries"),
        (b.drops, "drop", "drops"),
        (b.crashes, "crash", "crashes"),
        (b.pauses, "pause", "pauses"),
        (b.restarts, "restart", "restarts"),
        (b.admin, "admin change", "admin changes"),
    ];
    let mut most: Vec<String> = Vec::new();
    let mut none: Vec<&str> = Vec::new();
    for (number, one, many) in faults {
        match number {
            0 => none.push(many),
            1 => most.push(format!("1 {one}")),
            _ => most.push(format!("{number} {many}")),
        }
    }
    let mut text = format!("{} × {}", of(b.clients.into(), "client"), of(b.rounds.into(), "round"));
    if !most.is_empty() {
        text.push_str(&format!("; at most {}", most.join(", ")));
    }
    match b.lag {
        0 => none.push("lag"),
        lag => {
            text.push_str(&format!("; views lag by at most {}", of(lag.into(), "transaction")));
            text.push_str(if b.lying_syncs { "; syncs may not help" } else { "; syncs help" });
            text.push_str(if b.false_ends {
                "; live sessions may be called dead"
            } else {
                "; ends are true"
            });
        }
    }
    text.push_str(match b.pauses {
        0 => "; timers take any time, those of a process in their order",
        _ => "; timers take any time",
    });
    if !none.is_empty() {
        text.push_str(&format!("; no {}", none.join(", ")));
    }
    text
}

fn words(result: &CheckedPromise, report: &CheckReport) -> String {
    let steps = |path: &Option<Path>| of(path.as_ref().map_or(0, |path| path.steps.len() as u64), "step");
    match result.verdict {
        Verdict::Held if report.exhaustive => "holds".into(),
        Verdict::Held => "not broken so far".into(),
        Verdict::Broken => format!("BROKEN ({})", steps(&result.broken)),
        Verdict::BrokenAsExpected => {
            format!("broken as expected ({})", steps(&result.expected))
        }
        Verdict::NeverTested => "never put to the test".into(),
    }
}

/// What the search itself watches has no tests to count.
pub(super) fn watched(out: &mut String, watched: &[CheckedPromise], paint: Paint) {
    let names = watched.iter().map(|result| match result.verdict {
        Verdict::Broken => paint.bad(&format!("{} BROKEN", result.name)),
        Verdict::NeverTested => paint.odd(&format!("{} not checked", result.name)),
        Verdict::Held | Verdict::BrokenAsExpected => match &result.partly {
            Some(left_out) => format!("{} ({left_out})", result.name),
            None => result.name.clone(),
        },
    });
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        let _ = writeln!(
            out,
            "\n{} {}",
            paint.strong("always watched:"),
            wrapped(&names.join(", "), 16).trim_end()
        );
    }
}

pub(super) fn counterexample(out: &mut String, result: &CheckedPromise, path: &Path, paint: Paint) {
    let title = match &path.assumption {
        None => paint.bad(&format!("{}: broken", result.name)),
        Some(_) => paint.odd(&format!("{}: broken as expected", result.name)),
    };
    let _ = writeln!(out, "\n{title}");
    if let Some(why) = &path.assumption {
        let _ = writeln!(out, "  {}", failed(std::slice::from_ref(why)));
    }
    for sentence in &path.why {
        let _ = writeln!(out, "  {}", wrapped(sentence, 4).trim_start());
    }
    numbered(out, &path.steps, &path.matters);
    for line in path.what.lines() {
        let _ = writeln!(out, "  => {line}");
    }
}

/// Steps that say why are marked, unless all do.
fn numbered(out: &mut String, steps: &[String], matters: &[u32]) {
    let width = steps.len().to_string().len();
    for (step, nth) in steps.iter().zip(1..) {
        let mark = if matters.contains(&nth) && matters.len() < steps.len() { '>' } else { ' ' };
        let _ = writeln!(out, "{mark} {nth:>width$}. {}", wrapped(step, width + 4));
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
    let untested: Vec<&str> = untested(report).collect();
    // What was asked, and explored to the end, is answered below.
    if !untested.is_empty() && (!report.exhaustive || report.asked.is_some()) {
        let scope = if report.exhaustive { "nothing within these bounds" } else { "nothing so far" };
        let line = format!("{scope} put to the test: {}", untested.join(", "));
        let _ = writeln!(out, "{}", paint.odd(&wrapped(&line, 0)));
    }
    if let Some(note) = report.catalogue_note() {
        let _ = writeln!(out, "{}", wrapped(&note.to_string(), 2));
    }
    if report.verdict == Judgement::Undecided && !report.exhaustive {
        let _ = writeln!(out, "--max-states, --max-depth and --time-limit say how far a search may go");
    }
    let _ = writeln!(out, "{}", paint.answer(report.verdict.answer(), &last_line(report)));
}

/// The verdict, over what it is, and what to ask next.
fn last_line(report: &CheckReport) -> String {
    let mut line = check_answer(report);
    if report.verdict != Judgement::Violated && report.exhaustive {
        let _ = write!(line, "; with {}", bounds(&report.bounds));
    }
    if let Some(next) = &report.next {
        let _ = write!(line, "; next: {next}");
    }
    line
}

/// The promises that nothing has put to the test.
fn untested(report: &CheckReport) -> impl Iterator<Item = &str> {
    let untested = report.promises.iter().filter(|result| result.verdict == Verdict::NeverTested);
    untested.map(|result| result.name.as_str())
}

/// The verdict of a check in words: of the promise that was asked about, or of all.
pub(crate) fn check_answer(report: &CheckReport) -> String {
    let whole = || format!("(exhaustive, {}, depth {})", of(report.states, "state"), report.depth);
    let answer = match report.verdict {
        Judgement::Holds => format!("holds {}{}", whole(), unless(report)),
        Judgement::Violated => {
            let promise = report.promise.as_deref().unwrap_or("a promise");
            return format!("violated ({}): {promise}", of(report.steps.len() as u64, "step"));
        }
        Judgement::Undecided if report.exhaustive => {
            let names: Vec<&str> = untested(report).collect();
            let names =
                if report.asked.is_some() { String::new() } else { format!(": {}", names.join(", ")) };
            format!("undecided {}: never put to the test{names}", whole())
        }
        Judgement::Undecided => format!("undecided ({})", report.ran_out.as_deref().unwrap_or("cut short")),
        Judgement::NotDetermined => {
            return format!("not determined: {}", report.ran_out.as_deref().unwrap_or("the code"));
        }
    };
    let Some(asked) = &report.asked else { return answer };
    let all = report.promises.iter().chain(&report.watched);
    let broken: Vec<&str> =
        all.filter(|result| result.verdict == Verdict::Broken).map(|result| result.name.as_str()).collect();
    match broken.is_empty() {
        true => format!("{asked}: {answer}"),
        false => format!("{asked}: {answer}; broken: {}", broken.join(", ")),
    }
}

/// That something was broken as expected.
fn unless(report: &CheckReport) -> &'static str {
    let is_asked = |name: &String| report.asked.as_ref().is_none_or(|asked| asked == name);
    let mut all = report.promises.iter().filter(|result| is_asked(&result.name));
    match all.any(|result| result.verdict == Verdict::BrokenAsExpected) {
        true => ", but for what was broken as expected",
        false => "",
    }
}
