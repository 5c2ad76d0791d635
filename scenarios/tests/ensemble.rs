//! The real command's checks of an ensemble.

use crate::common::zoocheck;
use zoocheck::reports::EnsembleReport;

#[test]
fn an_ensemble_within_small_bounds_holds() {
    let ran = zoocheck("check ensemble --servers 2 --txns 1 --crashes 1 --elections 1");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let last = ran.stdout.lines().last().expect("a line");
    assert!(last.starts_with("holds (exhaustive, "), "{last}");
    assert!(ran.stdout.contains("bounds: 2 voters; at most 1 transaction, 1 crash"), "{}", ran.stdout);
    assert!(ran.stdout.contains("liveness: ProgressPossible, NoFairCycle"), "{}", ran.stdout);
}

#[test]
fn whole_servers_within_small_bounds_hold() {
    for asks in ["", "--asks multis", "--asks sessions", "--asks watches", "--snapshots"] {
        let ran = zoocheck(&format!(
            "check ensemble --servers 2 --txns 2 --crashes 0 --whole-servers {asks} --format json"
        ));
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        let report = ran.json::<EnsembleReport>();
        let named = asks.strip_prefix("--asks ").unwrap_or("counters");
        let whole = &report["whole"];
        assert_eq!((&whole["asks"], &whole["snapshots"]), (&named.into(), &(asks == "--snapshots").into()));
        let is_own = |result: &serde_json::Value| result["name"] == "EqualTrees" && result["tested"] != 0;
        assert!(report["invariants"].as_array().expect("a list").iter().any(is_own), "{report}");
    }
}

#[test]
fn merging_changes_the_number_of_states_and_not_the_verdict() {
    let states = |arguments: &str| {
        let report = zoocheck(&format!("check ensemble --servers 2 --format json {arguments}"))
            .json::<EnsembleReport>();
        assert_eq!((&report["verdict"], &report["exhaustive"]), (&"holds".into(), &true.into()), "{report}");
        report["states"].as_u64().expect("a number")
    };
    assert!(states("") < states("--unmerged"));
}

#[test]
fn a_search_that_is_cut_short_is_undecided() {
    for limit in ["--max-depth 3", "--max-states 5"] {
        let ran = zoocheck(&format!("check ensemble --format json {limit}"));
        assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
        let report = ran.json::<EnsembleReport>();
        assert_eq!((&report["verdict"], &report["exhaustive"]), (&"undecided".into(), &false.into()));
    }
}

#[test]
fn bounds_that_cannot_be_are_told_in_one_line() {
    for (arguments, told) in [
        ("--servers 0", "expected a whole number from 1 to 5"),
        ("--servers 6", "expected a whole number from 1 to 5"),
        ("--crashes -1", "expected a whole number from 0 to 16"),
        ("--txns many", "expected a whole number from 0 to 16"),
        ("--level middle", "election, synchronisation"),
        ("--level whole --past 1", "level whole begins with empty disks"),
        ("--level competing-leaders --servers 2", "begins with three servers that vote"),
        ("--clients 3", "--clients"),
        ("--asks multis", "--whole-servers"),
        ("--snapshots", "--whole-servers"),
        ("--whole-servers --asks nothing", "counters, multis"),
    ] {
        let ran = zoocheck(&format!("check ensemble {arguments}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(told) && ran.stderr.lines().count() == 1, "{arguments}: {}", ran.stderr);
    }
}

#[test]
fn recipes_are_checked_as_ever() {
    let ran = zoocheck("check");
    assert_eq!(ran.status, 2, "{}", ran.stdout);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!(zoocheck("check lock/simple").status, 1);
}
