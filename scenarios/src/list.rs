//! What there is.

use crate::output::{Format, paint, print};
use crate::trial_list::{Trials, assumption};
use crate::{Answer, BadInput};
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use zk_harness::trial::Trial;
use zk_reports::{Paint, needs, to_json, wrapped};

#[derive(Serialize)]
struct Listing {
    schema: &'static str,
    trials: Vec<Listed>,
    programs: Vec<ListedProgram>,
    scenarios: Vec<ListedScenario>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    breaks: Option<zk_reports::Catalogued>,
    promises: Vec<ListedPromise>,
}

/// A program that is built in.
#[derive(Serialize)]
struct ListedProgram {
    name: &'static str,
    summary: &'static str,
    owes: Vec<&'static str>,
}

#[derive(Serialize)]
struct ListedPromise {
    name: &'static str,
    about: &'static str,
    tested_when: &'static str,
    assumes: Vec<&'static str>,
}

#[derive(Serialize)]
struct ListedScenario {
    file: String,
    about: String,
}

/// Names everything, or tells all about one trial.
pub(crate) fn list(
    catalogue: &Trials,
    only: Option<&Arc<Trial>>,
    format: Format,
) -> Result<Answer, BadInput> {
    let (trials, programs, scenarios) = match only {
        Some(trial) => (vec![listed(trial)], Vec::new(), Vec::new()),
        None => (catalogue.trials().iter().map(listed).collect(), programs(), scenarios()),
    };
    let listing = Listing { schema: "zoocheck-list/1", trials, programs, scenarios };
    print(&match (format, only) {
        (Format::Json, _) => to_json(&listing),
        (Format::Human, None) => all(&listing, paint()),
        (Format::Human, Some(_)) => one(&listing.trials[0], paint()),
    })?;
    Ok(Answer::Held)
}

fn listed(trial: &Arc<Trial>) -> Listed {
    let about = trial.about;
    let promises = trial.held_to().into_iter().map(|promise| ListedPromise {
        name: promise.name(),
        about: promise.terms().about,
        tested_when: promise.terms().tested_when,
        assumes: promise.terms().assumes.iter().map(|it| assumption(*it)).collect(),
    });
    Listed {
        name: about.name,
        summary: about.summary,
        source: about.source,
        breaks: crate::trial_list::catalogued(&about),
        promises: promises.collect(),
    }
}

fn programs() -> Vec<ListedProgram> {
    #[cfg(feature = "run")]
    let all = zk_hosted::EXAMPLES.iter().map(|it| (it.name, it.summary(), it.option("--promises")));
    #[cfg(not(feature = "run"))]
    let all = std::iter::empty();
    all.map(|(name, summary, owes)| ListedProgram { name, summary, owes }).collect()
}

/// The scenario files of the working directory: here, or where the repository keeps them.
fn scenarios() -> Vec<ListedScenario> {
    let mut files: Vec<String> = [".", "suite", "scenarios/suite"]
        .iter()
        .filter_map(|dir| std::fs::read_dir(dir).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().to_str()?.trim_start_matches("./").to_string()))
        .filter(|file| crate::trial_list::is_file(file))
        .collect();
    files.sort();
    // A file that is no scenario (Cargo.toml is one) is not listed.
    #[cfg(feature = "run")]
    let about = |file: &str| crate::run::read_scenario(file).ok().map(|scenario| scenario.about);
    #[cfg(not(feature = "run"))]
    let about = |_: &str| None;
    files.into_iter().filter_map(|file| Some(ListedScenario { about: about(&file)?, file })).collect()
}

fn all(listing: &Listing, paint: Paint) -> String {
    let mut out = format!("{}\n", paint.strong("recipes and variants"));
    let trials = listing.trials.iter().flat_map(|trial| {
        let expected = match &trial.breaks {
            Some(it) => format!("wrong: breaks {} ({}, {})", it.promise, it.defect, needs(&it.fault)),
            None => "right, as far as is known".into(),
        };
        [(trial.name, trial.summary.to_owned()), ("", expected)]
    });
    columns(&mut out, trials);
    let _ = writeln!(out, "\n{}", paint.strong("programs (Python with kazoo)"));
    let owes = |it: &ListedProgram| format!("{} Owes {}.", it.summary, it.owes.join(", "));
    columns(&mut out, listing.programs.iter().map(|program| (program.name, owes(program))));
    let _ = writeln!(out, "\n{}", paint.strong("promises"));
    let mut promises: Vec<&ListedPromise> = Vec::new();
    for promise in listing.trials.iter().flat_map(|trial| &trial.promises) {
        // What one recipe promises, another may only be measured by.
        if promises.iter().all(|known| known.name != promise.name) {
            promises.push(promise);
        }
    }
    columns(&mut out, promises.into_iter().map(|promise| (promise.name, promise.about.to_owned())));
    let _ = writeln!(out, "\n{}", paint.strong("scenarios"));
    if listing.scenarios.is_empty() {
        out.push_str("none in this directory, nor in scenarios/suite/\n");
    }
    columns(&mut out, listing.scenarios.iter().map(|it| (it.file.as_str(), it.about.clone())));
    out
}

/// Names under one another, and beside each what is said of it.
fn columns<'a>(out: &mut String, rows: impl Iterator<Item = (&'a str, String)>) {
    let rows: Vec<(&str, String)> = rows.collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
    for (name, text) in rows {
        let _ = writeln!(out, "{name:width$}{}", wrapped(&text, width));
    }
}

fn one(trial: &Listed, paint: Paint) -> String {
    let mut out = format!("{}: {}\n", paint.strong(trial.name), trial.summary);
    let _ = writeln!(out, "  source: {}", wrapped(trial.source, 10));
    if let Some(it) = &trial.breaks {
        let _ = writeln!(out, "  wrong: breaks {} ({}, {})", it.promise, it.defect, needs(&it.fault));
    }
    for promise in &trial.promises {
        let _ = writeln!(out, "\n{}\n  {}", paint.strong(promise.name), promise.about);
        let tested = format!("put to the test: {}", promise.tested_when);
        let _ = writeln!(out, "  {}", wrapped(&tested, 4));
        for assumed in &promise.assumes {
            let _ = writeln!(out, "  assumes: {assumed}");
        }
    }
    out
}
