//! The real command's kill matrix.
#![cfg(feature = "run")]

use crate::common::zoocheck;
use zoocheck::reports::MutantsReport;

#[test]
fn planted_bugs_are_found_by_seeds_and_by_models_and_the_canary_by_neither() {
    let names = "acknowledges-history-piecemeal invites-again watch-lost multi-in-part canary";
    let ran = zoocheck(&format!("mutants {names} --seeds 20 --max-states 20000 --format json"));
    let report = ran.json::<MutantsReport>();
    assert_eq!(ran.status, 0, "{report}");
    let fates: Vec<&str> =
        report["mutants"].as_array().expect("a list").iter().filter_map(|m| m["fate"].as_str()).collect();
    assert_eq!(fates, ["killed", "killed", "killed", "killed", "survived"]);
    let model = &report["mutants"][0]["model"];
    assert!(model["expected"] == true && model["steps"].as_u64() > Some(3), "{model}");
    // Bare peers have no watches and no multis.
    for nth in [2, 3] {
        let model = &report["mutants"][nth]["model"];
        assert!(model["expected"] == true && model["bounds"].as_str().is_some_and(|it| it.contains("whole")));
    }
    assert_eq!(report["unmutated"].as_array().map(Vec::len), Some(0));
}

#[test]
fn bugs_that_need_a_competing_leader_are_found_where_two_stand_for_an_epoch() {
    let names = "epoch-before-promises promise-counts-twice leads-behind does-not-give-way";
    let ran = zoocheck(&format!("mutants {names} --seeds 1 --max-states 5000 --format json"));
    let report = ran.json::<MutantsReport>();
    assert_eq!(ran.status, 0, "{report}");
    for mutant in report["mutants"].as_array().expect("a list") {
        let bounds = mutant["model"]["bounds"].as_str().expect("a model found it");
        assert!(bounds.contains("two stand for an epoch"), "{mutant}");
    }
}

#[test]
fn a_bug_that_is_not_found_is_exit_1_and_said() {
    // Two seeds are too few for it.
    let ran = zoocheck("mutants leads-behind --seeds 2 --max-states 0");
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("leads-behind never made a difference"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().last(), Some("NOT as it should be"));
}

#[test]
fn a_mutant_that_does_not_exist_is_told_in_one_line() {
    let ran = zoocheck("mutants canari");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("canari: no mutant of this name; did you mean 'canary'?"), "{}", ran.stderr);
}
