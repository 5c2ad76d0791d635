//! Judgements, for people and for a README.

use super::{Paint, count, of, table, wall};
use crate::check::Judgement;
use crate::judge::{Expected, JudgeReport, JudgedPromise, JudgedTrial};
use crate::verdict::{Answer, Verdict};
use std::fmt::Write;

/// Judgements as text, promise by promise if that is wanted. The last line is the answer.
pub fn judge_text(report: &JudgeReport, paint: Paint, promises: bool) -> String {
    let mut out = String::new();
    let what = if report.what.is_empty() { "everything".into() } else { report.what.join(", ") };
    let _ = writeln!(
        out,
        "{}: {what}, by the model within each trial's own bounds (at most {} states) and by {} each\n",
        paint.strong("judge"),
        count(report.max_states),
        of(report.seeds, "seed")
    );
    let head = ["trial", "expected", "model", "chaos", ""];
    let mut rows = vec![head.map(|name| (name.to_owned(), paint.strong(name))).to_vec()];
    for trial in &report.trials {
        rows.push(row(trial, report.seeds, paint));
        if promises {
            rows.extend(trial.promises.iter().map(|promise| promise_row(promise, trial, report.seeds)));
        }
    }
    out.push_str(&table(&rows));
    out.push('\n');
    for trial in &report.trials {
        for wrong in &trial.wrong {
            let _ = writeln!(out, "{}", paint.bad(&format!("{}: {wrong}", trial.name)));
        }
    }
    let _ = writeln!(out, "{} in {}", of(report.trials.len() as u64, "trial"), wall(report.wall_seconds));
    let _ = writeln!(out, "{}", paint.answer(report.answer, judge_answer(report)));
    out
}

/// The answer in words.
pub(crate) fn judge_answer(report: &JudgeReport) -> &'static str {
    match report.answer {
        Answer::Held => "both engines and the catalogue agree",
        Answer::Broken => "NOT as expected",
        Answer::Undecided => "undecided: a search had no end, or a promise was never put to the test",
    }
}

/// What is expected of a trial, what the model says, and what chaos says.
pub(crate) fn judged_trial(trial: &JudgedTrial, seeds: u64) -> [String; 3] {
    [expected(trial), model(trial), chaos(trial, seeds)]
}

/// The same of a promise.
pub(crate) fn judged_promise(promise: &JudgedPromise, trial: &JudgedTrial, seeds: u64) -> [String; 3] {
    let [_, expected, model, chaos, _] = promise_cells(promise, trial, seeds);
    [expected, model, chaos]
}

fn row(trial: &JudgedTrial, seeds: u64, paint: Paint) -> Vec<(String, String)> {
    let plain = |text: String| (text.clone(), text);
    let (word, painted) = match trial.answer {
        Answer::Held => ("agree", paint.good("agree")),
        Answer::Broken => ("DISAGREE", paint.bad("DISAGREE")),
        Answer::Undecided => ("undecided", paint.odd("undecided")),
    };
    vec![
        plain(trial.name.clone()),
        plain(expected(trial)),
        plain(model(trial)),
        plain(chaos(trial, seeds)),
        (word.to_owned(), painted),
    ]
}

fn expected(trial: &JudgedTrial) -> String {
    match &trial.catalogued {
        None => "holds".into(),
        Some(known) => format!("{} breaks {}", known.defect, known.promise),
    }
}

/// The promise that is known to break.
fn named(trial: &JudgedTrial) -> Option<&JudgedPromise> {
    trial.promises.iter().find(|promise| promise.expected == Expected::Breaks)
}

fn model(trial: &JudgedTrial) -> String {
    match (trial.model, named(trial)) {
        (_, Some(JudgedPromise { model: Verdict::Broken, steps: Some(steps), .. })) => {
            format!("broken in {}", of((*steps).into(), "step"))
        }
        (Judgement::Holds, _) => {
            format!("holds ({} states, depth {})", count(trial.states), trial.depth)
        }
        (Judgement::Violated, _) => "something else is broken".into(),
        (Judgement::Undecided, _) => {
            let why = trial.ran_out.as_deref().unwrap_or("cut short");
            format!("undecided ({} states; {why})", count(trial.states))
        }
        (Judgement::NotDetermined, _) => "not determined".into(),
    }
}

fn chaos(trial: &JudgedTrial, seeds: u64) -> String {
    let broken = || trial.promises.iter().filter(|promise| promise.broken > 0);
    match named(trial) {
        Some(promise) if promise.broken > 0 => rate(promise.broken, seeds),
        _ if broken().next().is_some() => {
            let names: Vec<&str> = broken().map(|promise| promise.name.as_str()).collect();
            format!("broken: {}", names.join(", "))
        }
        _ => "held".into(),
    }
}

fn rate(broken: u64, seeds: u64) -> String {
    format!("{} of {} seeds ({:.1} %)", count(broken), count(seeds), 100.0 * broken as f64 / seeds as f64)
}

fn promise_row(promise: &JudgedPromise, trial: &JudgedTrial, seeds: u64) -> Vec<(String, String)> {
    promise_cells(promise, trial, seeds).map(|text| (text.clone(), text)).to_vec()
}

fn promise_cells(promise: &JudgedPromise, trial: &JudgedTrial, seeds: u64) -> [String; 5] {
    let steps = promise.steps.map_or(String::new(), |steps| format!(" in {}", of(steps.into(), "step")));
    // A search ends with what it is for.
    let ended = trial.model == Judgement::Holds || promise.expected == Expected::Holds;
    let model = match promise.model {
        Verdict::Held if !ended => "not broken so far".into(),
        Verdict::Held => "holds".into(),
        Verdict::Broken => format!("broken{steps}"),
        Verdict::BrokenAsExpected => format!("broken as expected{steps}"),
        Verdict::NeverTested => "never put to the test".into(),
    };
    let chaos = match promise.chaos {
        Verdict::Held => "held".into(),
        Verdict::Broken => format!("broken in {}", rate(promise.broken, seeds)),
        Verdict::BrokenAsExpected => format!("broken as expected in {}", rate(promise.excused, seeds)),
        Verdict::NeverTested => "never put to the test".into(),
    };
    let expected = match promise.expected {
        Expected::Holds => "holds",
        Expected::Breaks => "breaks",
        Expected::Either => "",
    };
    let assumptions = match promise.assumptions.is_empty() {
        true => String::new(),
        false => format!("unless {}", promise.assumptions.join("; ")),
    };
    [format!("  {}", promise.name), expected.into(), model, chaos, assumptions]
}

/// The same as a table in Markdown.
pub fn judge_markdown(report: &JudgeReport) -> String {
    let mut out = String::from("| trial | what it is | expected | model | chaos |\n|---|---|---|---|---|\n");
    for trial in &report.trials {
        let about = trial.about.replace('|', "\\|");
        let _ = writeln!(
            out,
            "| `{}` | {about} | {} | {} | {} |",
            trial.name,
            expected(trial),
            model(trial),
            chaos(trial, report.seeds)
        );
    }
    out
}
