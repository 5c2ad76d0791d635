//! The page of the kill matrix.

use super::{Banner, Note, Page, Top, rendered};
use crate::mutants::{Fate, Kill, ModelKill, MutantResult, MutantsReport};
use crate::text::{count, fate_words, mutants_answer, wall};
use askama::Template;
use std::collections::BTreeMap;

/// The kill matrix as a page. `command` is what was typed.
pub fn mutants_html(report: &MutantsReport, command: &str) -> String {
    let clients = report.clients.join(" and ");
    rendered(&MutantsPage {
        page: Page::new("mutants: zoocheck".into()),
        top: Top {
            title: "Bugs planted into every server".into(),
            about: format!("Under {}; clients do {clients}, in turns.", report.scenario),
            answer: Banner::new(report.answer, mutants_answer(report).into()),
            notes: notes(report),
            figures: vec![
                (count(report.mutants.len() as u64), "mutants"),
                (count(report.seeds), "seeds each"),
                (count(report.models.len() as u64), "models"),
                (count(report.max_states), "states at most"),
                (wall(report.wall_seconds), "on the wall"),
            ],
        },
        command: command.into(),
        mutants: report.mutants.iter().map(mutant).collect(),
        invariants: invariants(report),
        beyond: report
            .beyond
            .iter()
            .map(|one| format!("{} ({}, seed {})", one.invariant, one.mutant, one.seed))
            .collect(),
        never_broken: report.never_broken.clone(),
        models: report.models.clone(),
    })
}

#[derive(Template)]
#[template(path = "mutants.html")]
struct MutantsPage {
    page: Page,
    top: Top,
    command: String,
    mutants: Vec<Mutant>,
    invariants: Vec<Killer>,
    beyond: Vec<String>,
    never_broken: Vec<String>,
    models: Vec<String>,
}

struct Mutant {
    name: String,
    what: String,
    source: String,
    class: &'static str,
    fate: &'static str,
    acted: String,
    caught: String,
    first: String,
    by: Vec<(&'static str, String)>,
    model: String,
}

/// An invariant, and what it found first.
struct Killer {
    name: String,
    finds: Vec<String>,
}

fn notes(report: &MutantsReport) -> Vec<Note> {
    let without = match report.unmutated.as_slice() {
        [] => Note::plain("Without any of them nothing was broken.".into()),
        broken => Note::limit(format!(
            "Without any of them: {}.",
            broken.iter().map(kill).collect::<Vec<_>>().join(", ")
        )),
    };
    std::iter::once(without).chain(report.wrong.iter().cloned().map(Note::limit)).collect()
}

fn kill(kill: &Kill) -> String {
    format!("{} ({})", kill.invariant, count(kill.seeds))
}

fn mutant(mutant: &MutantResult) -> Mutant {
    let class = match mutant.fate {
        Fate::Killed => "held",
        Fate::KilledByOthers | Fate::Survived | Fate::NeverActed => "undecided",
    };
    let by = |one: &Kill| (if one.expected { "" } else { "none" }, kill(one));
    Mutant {
        name: mutant.name.clone(),
        what: mutant.what.clone(),
        source: mutant.source.clone(),
        class,
        fate: fate_words(mutant.fate),
        acted: count(mutant.acted),
        caught: count(mutant.caught),
        first: mutant.first_seed.map_or("-".into(), |seed| seed.to_string()),
        by: mutant.kills.iter().map(by).collect(),
        model: mutant.model.as_ref().map(in_model).unwrap_or_default(),
    }
}

fn in_model(kill: &ModelKill) -> String {
    format!(
        "{} in {} steps, after {} states ({})",
        kill.invariants.join(", "),
        kill.steps,
        count(kill.states),
        kill.bounds
    )
}

/// The matrix the other way round.
fn invariants(report: &MutantsReport) -> Vec<Killer> {
    let mut finds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for mutant in &report.mutants {
        for kill in &mutant.kills {
            let words = format!("{} ({})", mutant.name, count(kill.seeds));
            finds.entry(&kill.invariant).or_default().push(words);
        }
    }
    finds.into_iter().map(|(name, finds)| Killer { name: name.into(), finds }).collect()
}
