//! A check's page.

use super::{Banner, Break, Case, Page, Row, cases, drawn, rendered, verdict};
use crate::check::{CheckReport, CheckedPromise, Path};
use crate::diagram::Diagram;
use crate::text::{check_answer, check_bounds, count, failed, of, wall};
use crate::verdict::Verdict;
use askama::Template;

/// A check as a page. `diagrams` are ways to break promises, by the promise's name and whether it was owed there.
/// `command` is what was typed.
pub fn check_html(report: &CheckReport, command: &str, diagrams: &[(String, bool, Diagram)]) -> String {
    let (reached, unreached) = cases(&report.sometimes, 1);
    let all = || report.promises.iter().chain(&report.watched);
    rendered(&CheckPage {
        page: Page::new(format!("check {}: zoocheck", report.what)),
        answer: Banner::new(report.verdict.answer(), check_answer(report)),
        note: report.catalogue_note().map(|note| note.to_string()),
        figures: vec![
            (report.what.clone(), "what was checked"),
            (count(report.states), "states"),
            (count(report.transitions), "transitions"),
            (report.depth.to_string(), "steps deep"),
            (wall(report.wall_seconds), "on the wall"),
        ],
        bounds: check_bounds(&report.bounds),
        command: command.into(),
        rows: all().map(|promise| row(promise, report)).collect(),
        failures: all().flat_map(|promise| breaks(promise, diagrams)).collect(),
        reached,
        unreached,
        r: report,
    })
}

#[derive(Template)]
#[template(path = "check.html")]
struct CheckPage<'a> {
    page: Page,
    r: &'a CheckReport,
    answer: Banner,
    note: Option<String>,
    figures: Vec<(String, &'static str)>,
    bounds: String,
    command: String,
    rows: Vec<Row>,
    failures: Vec<Break>,
    reached: Vec<Case>,
    unreached: Vec<String>,
}

fn row(promise: &CheckedPromise, report: &CheckReport) -> Row {
    let (class, words) = match (promise.verdict, promise.tested) {
        // The search ended before all was seen.
        (Verdict::Held, _) if !report.exhaustive => ("undecided", "not broken so far"),
        (Verdict::NeverTested, None) => ("never-tested", "not checked"),
        (known, _) => verdict(known),
    };
    let assumption = promise.expected.as_ref().and_then(|path| path.assumption.clone());
    Row {
        name: promise.name.clone(),
        about: String::new(),
        class,
        verdict: words,
        tested: promise.tested.map_or("not counted".into(), count),
        broken: String::new(),
        meter: [0, 0],
        why: assumption.map(|one| failed(&[one])).unwrap_or_default(),
    }
}

fn breaks(promise: &CheckedPromise, diagrams: &[(String, bool, Diagram)]) -> Vec<Break> {
    let one = |owed: bool, path: &Path| {
        let how = if owed { Verdict::Broken } else { Verdict::BrokenAsExpected };
        let (class, words) = verdict(how);
        let picture = diagrams.iter().find(|(name, is, _)| *name == promise.name && *is == owed);
        let mut what: Vec<String> = path.what.lines().map(String::from).collect();
        what.extend(path.assumption.iter().map(|assumption| failed(std::slice::from_ref(assumption))));
        Break {
            class,
            verdict: words,
            promise: promise.name.clone(),
            place: format!("in {}, and in no fewer", of(path.steps.len() as u64, "step")),
            what,
            commands: Vec::new(),
            drawn: picture.map(|(_, _, diagram)| drawn(diagram, diagrams.len())),
        }
    };
    let owed = promise.broken.iter().map(|path| one(true, path));
    owed.chain(promise.expected.iter().map(|path| one(false, path))).collect()
}
