//! The page of judgements.

use super::{Banner, Page, Top, rendered};
use crate::judge::{JudgeReport, JudgedPromise, JudgedTrial};
use crate::text::{count, judge_answer, judged_promise, judged_trial, wall};
use crate::verdict::Answer;
use askama::Template;

/// Judgements as a page.
pub fn judge_html(report: &JudgeReport) -> String {
    rendered(&JudgePage {
        page: Page::new("judge: zoocheck".into()),
        top: Top {
            title: "Recipes and variants, judged by both engines".into(),
            about: String::new(),
            answer: Banner::new(report.answer, judge_answer(report).into()),
            notes: Vec::new(),
            figures: vec![
                (count(report.trials.len() as u64), "trials"),
                (count(report.seeds), "seeds each"),
                (count(report.max_states), "states at most"),
                (wall(report.wall_seconds), "on the wall"),
            ],
        },
        trials: report.trials.iter().map(|judged| trial(judged, report.seeds)).collect(),
    })
}

#[derive(Template)]
#[template(path = "judge.html")]
struct JudgePage {
    page: Page,
    top: Top,
    trials: Vec<Trial>,
}

struct Trial {
    name: String,
    about: String,
    source: String,
    expected: String,
    model: String,
    chaos: String,
    class: &'static str,
    answer: &'static str,
    wrong: Vec<String>,
    promises: Vec<Promise>,
    commands: Vec<String>,
}

struct Promise {
    name: String,
    expected: String,
    model: String,
    chaos: String,
}

fn trial(judged: &JudgedTrial, seeds: u64) -> Trial {
    let [expected, model, chaos] = judged_trial(judged, seeds);
    let (class, answer) = match judged.answer {
        Answer::Held => ("held", "agree"),
        Answer::Broken => ("broken", "DISAGREE"),
        Answer::Undecided => ("undecided", "undecided"),
    };
    let first = judged.promises.iter().find_map(|promise| promise.first_seed);
    let mut commands = vec![format!("zoocheck check {}", judged.name)];
    commands.extend(first.map(|seed| format!("zoocheck replay {} --seed {seed}", judged.name)));
    Trial {
        name: judged.name.clone(),
        about: judged.about.clone(),
        source: judged.source.clone(),
        expected,
        model,
        chaos,
        class,
        answer,
        wrong: judged.wrong.clone(),
        promises: judged.promises.iter().map(|one| promise(one, judged, seeds)).collect(),
        commands,
    }
}

fn promise(promise: &JudgedPromise, trial: &JudgedTrial, seeds: u64) -> Promise {
    let [expected, model, chaos] = judged_promise(promise, trial, seeds);
    Promise { name: promise.name.clone(), expected, model, chaos }
}
