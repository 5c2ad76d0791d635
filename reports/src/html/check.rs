//! The page of a check: of a recipe's model, or of an ensemble.

use super::{Banner, Break, Case, Note, Page, Row, Top, cases, drawn, rendered, verdict};
use crate::check::{CheckReport, CheckedPromise, Path};
use crate::diagram::Diagram;
use crate::ensemble::EnsembleReport;
use crate::text::{
    check_answer, check_bounds, count, ensemble_answer, ensemble_bounds, ensemble_level, ensemble_servers,
    failed, of, wall,
};
use crate::verdict::{CatalogueNote, Verdict};
use askama::Template;

/// Ways to break promises as pictures, by the promise's name and whether it was owed there.
type Pictures<'a> = &'a [(String, bool, Diagram)];

/// A check as a page. `diagrams` are ways to break promises, by the promise's name and whether it was owed there.
/// `command` is what was typed.
pub fn check_html(report: &CheckReport, command: &str, diagrams: &[(String, bool, Diagram)]) -> String {
    let all: Vec<&CheckedPromise> = report.promises.iter().chain(&report.watched).collect();
    let known = report.catalogue_note().map(|known: CatalogueNote<'_>| Note::plain(known.to_string()));
    let next = report.next.as_ref().map(|next| Note::plain(format!("Next: {next}")));
    let (reached, unreached) = cases(&report.sometimes, 1);
    rendered(&CheckPage {
        page: Page::new(format!("check {}: zoocheck", report.what)),
        top: Top {
            title: report.recipe.clone(),
            about: report.about.clone(),
            answer: Banner::new(report.verdict.answer(), check_answer(report)),
            notes: known.into_iter().chain(next).collect(),
            figures: figures(
                &report.what,
                [report.states, report.transitions],
                report.depth,
                report.wall_seconds,
            ),
        },
        bounds: vec![format!("Every run of a small model: {}.", check_bounds(&report.bounds))],
        command: command.into(),
        what: "promise",
        rows: all.iter().map(|promise| row(promise, report.exhaustive)).collect(),
        failures: all.iter().flat_map(|promise| breaks(promise, diagrams)).collect(),
        reached,
        unreached,
    })
}

/// The check of an ensemble as a page; the rest is as for [`check_html`].
pub fn ensemble_html(report: &EnsembleReport, command: &str, diagrams: &[(String, bool, Diagram)]) -> String {
    let all: Vec<&CheckedPromise> = report.invariants.iter().chain(&report.watched).collect();
    let (reached, unreached) = cases(&report.sometimes, 1);
    let servers = format!("Servers: {}.", ensemble_servers(report.whole.as_ref()));
    let merged = (!report.merged.is_empty()).then(|| format!("Merged: {}.", report.merged.join(", ")));
    let bounds = format!("Every order of events within bounds: {}.", ensemble_bounds(&report.bounds));
    rendered(&CheckPage {
        page: Page::new("check ensemble: zoocheck".into()),
        top: Top {
            title: "ensemble".into(),
            about: format!("Real servers over links that break, {}.", ensemble_level(&report.level)),
            answer: Banner::new(report.verdict.answer(), ensemble_answer(report)),
            notes: Vec::new(),
            figures: figures(
                &report.level,
                [report.states, report.transitions],
                report.depth,
                report.wall_seconds,
            ),
        },
        bounds: [bounds, servers].into_iter().chain(merged).collect(),
        command: command.into(),
        what: "invariant",
        rows: all.iter().map(|promise| row(promise, report.exhaustive)).collect(),
        failures: all.iter().flat_map(|promise| breaks(promise, diagrams)).collect(),
        reached,
        unreached,
    })
}

#[derive(Template)]
#[template(path = "check.html")]
struct CheckPage {
    page: Page,
    top: Top,
    bounds: Vec<String>,
    command: String,
    /// What the rows are.
    what: &'static str,
    rows: Vec<Row>,
    failures: Vec<Break>,
    reached: Vec<Case>,
    unreached: Vec<String>,
}

fn figures(
    what: &str,
    [states, transitions]: [u64; 2],
    depth: u32,
    wall_seconds: f64,
) -> Vec<(String, &'static str)> {
    vec![
        (what.into(), "what was checked"),
        (count(states), "states"),
        (count(transitions), "transitions"),
        (depth.to_string(), "steps deep"),
        (wall(wall_seconds), "on the wall"),
    ]
}

fn row(promise: &CheckedPromise, exhaustive: bool) -> Row {
    let (class, words) = match (promise.verdict, promise.tested) {
        // The search ended before all was seen.
        (Verdict::Held, _) if !exhaustive => ("undecided", "not broken so far"),
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
        why: assumption.map(|one| failed(&[one])).or(promise.partly.clone()).unwrap_or_default(),
    }
}

fn breaks(promise: &CheckedPromise, diagrams: Pictures<'_>) -> Vec<Break> {
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
            steps: if picture.is_none() { path.steps.clone() } else { Vec::new() },
            drawn: picture.map(|(_, _, diagram)| drawn(diagram, diagrams.len())),
        }
    };
    let owed = promise.broken.iter().map(|path| one(true, path));
    owed.chain(promise.expected.iter().map(|path| one(false, path))).collect()
}
