//! A run on a live ensemble, for people.

use super::{Paint, count, failed, headings, of, table, wall, wrapped};
use crate::live::{LiveBreak, LivePromise, LiveReport};
use crate::verdict::{Answer, CatalogueNote, Verdict};
use std::fmt::Write;

pub(crate) const NOT_JUDGED: &str = "not judged on a live ensemble";

/// A run on a live ensemble as text. The answer is in the last lines.
pub fn live_text(report: &LiveReport, paint: Paint) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", paint.strong(&report.recipe), report.about);
    let _ = writeln!(out, "  on {}, which is live: what happens here happens once", report.connect);
    let _ = writeln!(
        out,
        "  {} × {}, session timeout {} ms\n",
        of(report.clients.into(), "client"),
        of(report.rounds.into(), "round"),
        count(report.session_timeout_ms)
    );
    out.push_str(&rows(paint, "promise", &report.promises));
    for result in report.promises.iter().filter(|result| !result.assumptions.is_empty()) {
        let why = format!("{} as expected: {}", result.name, failed(&result.assumptions));
        let _ = writeln!(out, "  {}", wrapped(&why, 4).trim_start());
    }
    out.push('\n');
    out.push_str(&rows(paint, "always watched", &report.invariants));
    for result in report.all() {
        for (first, words) in [(&result.first, "broken"), (&result.first_expected, "broken as expected")] {
            // What was broken as expected is told where nothing else is to be told of that promise.
            let first = first.as_ref().filter(|_| words == "broken" || result.first.is_none());
            if let Some(first) = first {
                one_break(&mut out, result, first, words, paint);
            }
        }
    }
    closing(&mut out, report, paint);
    out
}

fn rows(paint: Paint, heading: &str, results: &[LivePromise]) -> String {
    let cell = |text: String| (text.clone(), text);
    let mut rows = vec![headings(paint, heading)];
    for result in results {
        let (words, painted, tested) = match result.verdict {
            None => (NOT_JUDGED.to_string(), paint.odd(NOT_JUDGED), "not counted".to_string()),
            Some(verdict) => {
                let words = live_verdict(verdict, result);
                let painted = paint.verdict(verdict, &words);
                (words, painted, count(result.tested))
            }
        };
        rows.push(vec![cell(result.name.clone()), (words, painted), cell(tested)]);
    }
    table(&rows)
}

/// What became of a promise on a live ensemble, in words.
pub(crate) fn live_verdict(verdict: Verdict, result: &LivePromise) -> String {
    let times = |number: u64| of(number, "time");
    match verdict {
        Verdict::Held => "held".into(),
        Verdict::Broken if result.expected > 0 => {
            format!("BROKEN {}, and as expected {}", times(result.broken), times(result.expected))
        }
        Verdict::Broken => format!("BROKEN {}", times(result.broken)),
        Verdict::BrokenAsExpected => format!("broken as expected {}", times(result.expected)),
        Verdict::NeverTested => "never put to the test".into(),
    }
}

fn one_break(out: &mut String, result: &LivePromise, first: &LiveBreak, words: &str, paint: Paint) {
    let heading = format!("{}: {words}", result.name);
    let heading = if words == "broken" { paint.bad(&heading) } else { paint.odd(&heading) };
    let _ = writeln!(out, "\n{heading}");
    if !result.about.is_empty() {
        let _ = writeln!(out, "  {}", wrapped(&result.about, 2));
    }
    let _ = writeln!(out, "  first at {:.3} s", first.seconds);
    for line in &first.timeline {
        let _ = writeln!(out, "  {line}");
    }
    for line in first.what.lines() {
        let _ = writeln!(out, "  => {line}");
    }
}

fn closing(out: &mut String, report: &LiveReport, paint: Paint) {
    let happened = &report.happened;
    let _ = writeln!(
        out,
        "\n{} in {}; {}, {} lost; {} lost; {}, {} refused",
        of(happened.grants, "grant"),
        wall(report.wall_seconds),
        of(happened.sessions, "session"),
        count(happened.sessions_lost),
        of(happened.disconnections, "connection"),
        of(happened.writes, "write"),
        count(happened.refused)
    );
    if !report.left.is_empty() {
        let left = format!("left behind, and removed: {}", report.left.join(", "));
        let _ = writeln!(out, "{}", paint.odd(&wrapped(&left, 2)));
    }
    let _ = writeln!(out, "{}", paint.answer(report.answer, &wrapped(&live_answer(report), 2)));
    if let Some(note) = report.catalogue_note() {
        let line = match note {
            CatalogueNote::AsCatalogued(_) => note.to_string(),
            CatalogueNote::Other(_) | CatalogueNote::NotSeen(_) => paint.odd(&note.to_string()),
        };
        let _ = writeln!(out, "{line}");
    }
}

/// The answer in words.
pub(crate) fn live_answer(report: &LiveReport) -> String {
    let judged = || report.promises.iter().filter(|result| result.verdict.is_some());
    match report.answer {
        Answer::Held => {
            let excused = report.all().any(|result| result.verdict == Some(Verdict::BrokenAsExpected));
            let but = if excused { ", but for what was broken as expected" } else { "" };
            let all = if judged().count() == report.promises.len() {
                "every promise"
            } else {
                "every judged promise"
            };
            format!("{all} held{but}")
        }
        Answer::Broken => format!("BROKEN: {}", report.broken().collect::<Vec<_>>().join(", ")),
        Answer::Undecided => match &report.ran_out {
            Some(why) => format!("undecided: {why}"),
            None if judged().count() == 0 => "undecided: no promise of it can be judged from outside".into(),
            None => {
                let untested = judged().filter(|result| result.verdict == Some(Verdict::NeverTested));
                let names: Vec<&str> = untested.map(|result| result.name.as_str()).collect();
                format!("undecided: never put to the test: {}", names.join(", "))
            }
        },
    }
}
