//! The real command's kill matrix.
#![cfg(feature = "run")]

mod common;

use common::zoocheck;

const MUTANTS: &str = "zoocheck-mutants-2.json";

#[test]
fn planted_bugs_are_found_by_seeds_and_by_models_and_the_canary_by_neither() {
    let names = "acknowledges-history-piecemeal invites-again canary";
    let ran = zoocheck(&format!("mutants {names} --seeds 20 --max-states 20000 --format json"));
    let report = ran.json(MUTANTS);
    assert_eq!(ran.status, 0, "{report}");
    let fates: Vec<&str> =
        report["mutants"].as_array().expect("a list").iter().filter_map(|m| m["fate"].as_str()).collect();
    assert_eq!(fates, ["killed", "killed", "survived"]);
    let model = &report["mutants"][0]["model"];
    assert!(model["expected"] == true && model["steps"].as_u64() > Some(3), "{model}");
    assert_eq!(report["unmutated"].as_array().map(Vec::len), Some(0));
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
