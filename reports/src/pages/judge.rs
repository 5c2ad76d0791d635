//! Judgements.

use super::parts::verdict_word;
use crate::check::Judgement;
use crate::judge::{Expected, JudgeReport, JudgedPromise, JudgedTrial};
use crate::markdown::markdown;
use crate::page::{Block, Cell, Group, Line, Mood, Page, answer};
use crate::report::Report;
use crate::suite::{Suite, of_judge};
use crate::text::{Paint, text};
use crate::verdict::{Answer, Verdict};
use crate::words::{count, of, wall};

const HEADS: [&str; 5] = ["trial", "expected", "model", "chaos", ""];

/// Judgements as text, promise by promise. The last line is the answer.
pub fn judge_by_promises(report: &JudgeReport, paint: Paint) -> String {
    text(&page(report, true), paint)
}

impl Report for JudgeReport {
    fn heading(&self) -> String {
        "judge".into()
    }

    fn page(&self) -> Page {
        page(self, false)
    }

    fn suite(&self) -> Option<Suite> {
        Some(of_judge(self))
    }

    fn table(&self) -> String {
        let row = |trial: &JudgedTrial| {
            let [expected, model, chaos] = words(trial, self.seeds).map(Cell::from);
            vec![Cell::new(Mood::Strong, &trial.name), trial.about.as_str().into(), expected, model, chaos]
        };
        let rows = self.trials.iter().map(row).collect();
        let heads = ["trial", "what it is", "expected", "model", "chaos"];
        markdown(&vec![Block::Table("", vec![Group::new(heads, rows)])])
    }
}

fn page(report: &JudgeReport, promises: bool) -> Page {
    let what = if report.what.is_empty() { "everything".into() } else { report.what.join(", ") };
    let about = format!(
        "{what}, by the model within each trial's own bounds (at most {} states) and by {} each",
        count(report.max_states),
        of(report.seeds, "seed")
    );
    let mut rows = Vec::new();
    for trial in &report.trials {
        rows.push(row(trial, report.seeds));
        rows.extend(trial.promises.iter().filter(|_| promises).map(|it| promise(it, trial, report.seeds)));
    }
    let table = Block::Table("Trials", vec![Group::new(HEADS, rows)]);
    let mut page = vec![Block::Title("judge".into(), about), table, Block::Blank];
    for trial in &report.trials {
        let wrong = trial.wrong.iter().map(|wrong| format!("{}: {wrong}", trial.name));
        page.extend(wrong.map(|words| Line::new(Mood::Bad, words).into()));
    }
    page.extend(report.trials.iter().map(|trial| aside(trial, report.seeds)));
    let took = format!("{} in {}", of(report.trials.len() as u64, "trial"), wall(report.wall_seconds));
    let words = match report.answer {
        Answer::Held => "both engines and the catalogue agree",
        Answer::Broken => "NOT as expected",
        Answer::Undecided => "undecided: a search had no end, or a promise was never put to the test",
    };
    page.extend([Line::from(took).into(), answer(report.answer, words)]);
    page
}

/// A trial promise by promise, for who asks.
fn aside(trial: &JudgedTrial, seeds: u64) -> Block {
    let mut body = vec![Line::from(&trial.source).into()];
    let rows = trial.promises.iter().map(|it| promise(it, trial, seeds)).collect();
    body.push(Block::Table("", vec![Group::new(["promise", "expected", "model", "chaos", "unless"], rows)]));
    body.push(Block::Command(format!("zoocheck check {}", trial.name)));
    let first = trial.promises.iter().find_map(|promise| promise.first_seed);
    body.extend(first.map(|seed| Block::Command(format!("zoocheck replay {} --seed {seed}", trial.name))));
    Block::Aside(trial.name.clone(), body)
}

fn row(trial: &JudgedTrial, seeds: u64) -> Vec<Cell> {
    let word = match trial.answer {
        Answer::Held => "agree",
        Answer::Broken => "DISAGREE",
        Answer::Undecided => "undecided",
    };
    let [expected, model, chaos] = words(trial, seeds).map(Cell::from);
    let name = Cell::from(&trial.name).about(&trial.about);
    vec![name, expected, model, chaos, Cell::new(trial.answer, word)]
}

/// What is expected of a trial, what the model says, and what chaos says.
fn words(trial: &JudgedTrial, seeds: u64) -> [String; 3] {
    [expected(trial), model(trial), chaos(trial, seeds)]
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

fn promise(promise: &JudgedPromise, trial: &JudgedTrial, seeds: u64) -> Vec<Cell> {
    let steps = promise.steps.map_or(String::new(), |steps| format!(" in {}", of(steps.into(), "step")));
    // A search ends with what it is for.
    let ended = trial.model == Judgement::Holds || promise.expected == Expected::Holds;
    let model: String = match promise.model {
        Verdict::Held if !ended => "not broken so far".into(),
        Verdict::Held => "holds".into(),
        Verdict::Broken => format!("broken{steps}"),
        Verdict::BrokenAsExpected => format!("broken as expected{steps}"),
        Verdict::NeverTested | Verdict::Undecided => verdict_word(promise.model).into(),
    };
    let chaos: String = match promise.chaos {
        Verdict::Held => "held".into(),
        Verdict::Broken => format!("broken in {}", rate(promise.broken, seeds)),
        Verdict::BrokenAsExpected => {
            format!("broken as expected in {}", rate(promise.broken_as_expected, seeds))
        }
        Verdict::NeverTested | Verdict::Undecided => verdict_word(promise.chaos).into(),
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
    vec![
        format!("  {}", promise.name).into(),
        expected.into(),
        model.into(),
        chaos.into(),
        assumptions.into(),
    ]
}
