//! Cases of past failures: shrunk runs that are kept beside what they are about, and tried before any seed.

use super::failed::caught;
use super::program::is_program;
use super::replay::why;
use super::tally::failure;
use super::{Target, read_scenario};
use crate::BadInput;
use crate::trial_list::Trials;
use crate::trial_list::is_file;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use zk_reports::{Failure, Regression};
use zk_simulator::{RunOptions, Scenario};

/// The directory of cases, beside a scenario file or a program, and for all else where the command is called.
const DIR: &str = "zoocheck-regressions";

/// Where the cases of a target are.
fn dir(target: &Target) -> PathBuf {
    let program = target.what.rsplit_once(':').map(|(file, _)| file).filter(|_| is_program(&target.what));
    let file = program.or(target.file()).or(Some(&*target.what).filter(|what| is_file(what)));
    file.and_then(|file| Path::new(file).parent()).unwrap_or(Path::new("")).join(DIR)
}

/// A new file for a case of a target, in a directory that is made if need be.
pub(crate) fn new_case(target: &Target, seed: u64, promise: Option<&str>) -> Result<PathBuf, BadInput> {
    let dir = dir(target);
    fs::create_dir_all(&dir)
        .map_err(|error| bad!("--keep: {}: cannot make this directory: {error}", dir.display()))?;
    let recipe: String =
        target.scenario.recipe.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let promise = promise.map(|promise| format!("-{promise}")).unwrap_or_default();
    Ok(dir.join(format!("{recipe}{promise}-{seed}.toml")))
}

/// Takes the directory away again if nothing is in it.
pub(crate) fn no_case(file: &Path) {
    // What is in it stays, and so does it.
    let _ = file.parent().map(fs::remove_dir);
}

/// Reads the cases of a target's recipe, in the order of their names. Those of recipes that nobody knows are named on
/// stderr: they are never tried.
pub(crate) fn cases(catalogue: &Trials, target: &Target) -> Result<Vec<Target>, BadInput> {
    let dir = dir(target);
    let shown = dir.display();
    let bad = |error| bad!("{shown}: cannot read the directory of cases: {error}");
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(bad(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let file = dir.join(entry.map_err(bad)?.file_name()).to_string_lossy().into_owned();
        files.extend(Some(file).filter(|file| is_file(file)));
    }
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let scenario = read_scenario(&file)?;
        if scenario.run.is_none() {
            return Err(bad!("{file}: no case, as it has no [run]; `zoocheck shrink … --keep` writes them"));
        }
        let recipe = &scenario.recipe;
        if is_of(&scenario, target) {
            cases.push(target.case(file, scenario));
        } else if !is_program(recipe) && catalogue.find(recipe).is_err() {
            // Nobody to tell is no reason to stop.
            let _ = writeln!(std::io::stderr(), "zoocheck: {file}: not tried: there is no recipe '{recipe}'");
        }
    }
    Ok(cases)
}

/// A program is the same wherever it is called from.
fn is_of(case: &Scenario, target: &Target) -> bool {
    let (recipe, own) = (case.recipe.as_str(), target.trial.about.name);
    let name = |what: &str| Path::new(what).file_name().map(ToOwned::to_owned);
    recipe == own || is_program(recipe) && is_program(own) && name(recipe) == name(own)
}

/// Tries a case again.
pub(crate) fn tried(case: &Target) -> Result<Regression, BadInput> {
    let one = case.scenario.run.as_ref().expect("no other is a case");
    let options = RunOptions { trace: true, ..RunOptions::default() };
    let run = caught(one.seed, || zk_simulator::run(&case.trial, &case.scenario, one.seed, &options))?;
    let found = run.owed().find(|violation| violation.promise == one.breaks).or_else(|| run.owed().next());
    let broken = found.map(|violation| {
        let cause = why(&run, violation.promise);
        Failure { cause, ..failure(case, &run, violation) }
    });
    let replay_error =
        run.replay_error.as_ref().map(|replay_error| format!("the simulator cannot take {replay_error}"));
    Ok(Regression { file: case.what.clone(), breaks: one.breaks.clone(), broken, replay_error })
}
