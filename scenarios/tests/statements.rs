//! `STATEMENTS.md`: what it names is there, and what it says to be broken is.
#![cfg(feature = "run")]

use zoocheck::trials::trial::FoundBy;
use zoocheck::{Catalogue, CheckConfig, Verdict};

/// A row of the table: the promises, the recipes that are held to them, and the trials that break one of them.
struct Row {
    statement: &'static str,
    promises: Vec<&'static str>,
    recipes: Vec<&'static str>,
    broken_by: Vec<&'static str>,
}

/// What stands between backticks.
fn names(cell: &'static str) -> Vec<&'static str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn rows() -> Vec<Row> {
    let text = include_str!("../../recipes/catalogue/STATEMENTS.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    let row = |line: &'static str| match *line.split('|').collect::<Vec<_>>() {
        [statement, promises, recipes, broken_by, ""] => {
            let (promises, recipes, broken_by) = (names(promises), names(recipes), names(broken_by));
            Row { statement, promises, recipes, broken_by }
        }
        _ => panic!("not four cells: {line}"),
    };
    rows.map(row).collect()
}

fn is_held_to(catalogue: &Catalogue, trial: &str, promise: &str) -> bool {
    let trial = catalogue.trials().iter().find(|other| other.about.name == trial);
    let trial = trial.unwrap_or_else(|| panic!("{promise}: there is no such recipe"));
    trial.held_to().iter().any(|other| other.name() == promise)
}

#[test]
fn each_statement_has_promises_that_its_recipes_are_held_to() {
    let catalogue = Catalogue::default();
    assert!(rows().len() > 15);
    for Row { statement, promises, recipes, .. } in rows() {
        assert!(!promises.is_empty() && !recipes.is_empty(), "{statement}");
        for recipe in &recipes {
            let about = catalogue.trials().iter().find(|trial| trial.about.name == *recipe).map(|t| t.about);
            assert!(about.is_some_and(|about| about.breaks.is_none()), "{statement}: {recipe} is right");
            for promise in &promises {
                assert!(is_held_to(&catalogue, recipe, promise), "{statement}: {recipe} promises {promise}");
            }
        }
    }
}

#[test]
fn what_is_said_to_break_a_promise_breaks_it_in_both_engines() {
    let catalogue = Catalogue::default();
    for Row { statement, promises, broken_by, .. } in rows() {
        for name in broken_by {
            let trial = catalogue.trials().iter().find(|trial| trial.about.name == name).expect(name);
            let promise = promises.iter().find(|promise| {
                let named = trial.about.breaks.is_some_and(|breaks| breaks.promise == **promise);
                named || is_held_to(&catalogue, name, promise) && promises.len() == 1
            });
            let promise =
                *promise.unwrap_or_else(|| panic!("{statement}: {name} breaks none of {promises:?}"));
            if trial.found_by != FoundBy::Chaos {
                let config = catalogue.check_config(name).expect("it is there");
                let is_named = trial.about.breaks.is_some_and(|breaks| breaks.promise == promise);
                let bounds = match is_named {
                    true => config.bounds,
                    // Where two do not show it, three do.
                    false => zoocheck::trials::trial::Bounds {
                        clients: config.bounds.clients.max(3),
                        ..config.bounds
                    },
                };
                let config = CheckConfig { bounds, promise: Some(promise.into()), ..config };
                let check = catalogue.check(name, &config).expect("a check");
                assert_eq!(check.promise.as_deref(), Some(promise), "{statement}: {name}\n{check}");
            }
            if trial.found_by != FoundBy::Model {
                let scenario = catalogue.scenario(name).expect("it is there");
                // Most are found by the first seeds.
                let is_broken = [0..5, 5..60].into_iter().any(|seeds| {
                    let sweep = catalogue.sweep(&scenario, seeds).expect("a sweep");
                    sweep.promise(promise).is_some_and(|found| found.verdict == Verdict::Broken)
                });
                assert!(is_broken, "{statement}: {name}");
            }
        }
    }
}
