//! The lock and its variants run, and break as they say.

use crate::small::{run, run_with};
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_harness::trial::{Bounds, FoundBy, Trial};

const SEEDS: u64 = 2000;

fn trials() -> Vec<Arc<Trial>> {
    zk_catalogue::lock::trials().into_iter().map(Arc::new).collect()
}

/// What the first of many seeds that breaks a promise where it is owed says, for each promise.
fn broken(name: &str, bounds: Bounds) -> BTreeSet<&'static str> {
    let trial = trials().into_iter().find(|t| t.about.name == name).expect("it is in the catalogue");
    let runs = (0..SEEDS).flat_map(|seed| run(&trial, bounds, seed).broken);
    runs.filter(|(_, violation)| violation.violated_assumption.is_none())
        .map(|(promise, _)| promise)
        .collect()
}

#[test]
fn every_variant_breaks_what_it_says_within_its_bounds() {
    // Nothing lags here, no process comes back, and no administrator writes.
    let found_here = |trial: &&Arc<Trial>| {
        let Bounds { lag, restarts, admin, .. } = trial.about.bounds;
        trial.found_by == FoundBy::Both && [lag, restarts, admin] == [0; 3]
    };
    for about in trials().iter().filter(found_here).map(|trial| trial.about) {
        let found = broken(about.name, about.bounds);
        match about.breaks {
            Some(breaks) => assert!(found.contains(breaks.promise), "{}: only {found:?}", about.name),
            None => assert_eq!(found, BTreeSet::new(), "{}", about.name),
        }
    }
}

#[test]
fn a_variant_that_needs_a_fault_holds_without() {
    for about in trials().iter().map(|trial| trial.about) {
        if about.breaks.is_none_or(|breaks| breaks.fault != "none") {
            let bounds = Bounds { expiries: 0, drops: 0, ..about.bounds };
            assert_eq!(broken(about.name, bounds), BTreeSet::new(), "{}", about.name);
        }
    }
}

#[test]
fn the_lock_keeps_every_promise_under_faults_and_each_is_put_to_the_test() {
    let bounds = Bounds { rounds: 2, expiries: 1, drops: 3, crashes: 1, effects: true, ..Bounds::clients(3) };
    assert_eq!(broken("lock", bounds), BTreeSet::new());
    let trial = &trials()[0];
    let tested: BTreeSet<_> = (0..SEEDS).flat_map(|seed| run(trial, bounds, seed).tested).collect();
    let promised: BTreeSet<_> = trial.owed().iter().map(|promise| promise.name()).collect();
    assert_eq!(tested, promised);
}

#[test]
fn what_an_administrator_breaks_is_expected_and_the_fenced_resource_is_safe() {
    let bounds = Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, effects: true, ..Bounds::clients(3) };
    let runs = (0..SEEDS).flat_map(|seed| run_with(&trials()[0], bounds, 2, seed).broken);
    let (expected, defects): (Vec<_>, Vec<_>) =
        runs.partition(|(_, violation)| violation.violated_assumption.is_some());
    assert_eq!(defects, []);
    let expected: BTreeSet<_> = expected.into_iter().map(|(promise, _)| promise).collect();
    assert!(expected.contains("exclusion-among-live-sessions") && expected.contains("no-foreign-delete"));
    assert!(!expected.contains("exclusion-at-fenced-resource"));
}

#[test]
fn an_unfenced_resource_is_reached_by_the_dead_and_a_fenced_one_is_not() {
    let bounds = Bounds { expiries: 1, effects: true, ..Bounds::clients(2) };
    let trial = &trials()[0];
    let found: BTreeSet<_> =
        (0..SEEDS).flat_map(|seed| run(trial, bounds, seed).broken).map(|b| b.0).collect();
    assert_eq!(found, ["exclusion-at-unfenced-resource"].into());
}

#[test]
fn the_herd_of_the_simple_lock_is_measured() {
    let trial = trials().into_iter().find(|t| t.about.name == "lock/simple-looped").unwrap();
    let found = (0..SEEDS).flat_map(|seed| run(&trial, Bounds::clients(3), seed).broken);
    let herd: Vec<_> = found.filter(|(promise, _)| *promise == "one-woken-per-deletion").collect();
    assert!(!herd.is_empty() && herd.iter().all(|(_, violation)| violation.violated_assumption.is_some()));
}
