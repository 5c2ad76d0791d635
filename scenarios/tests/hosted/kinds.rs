//! Kinds of recipes that only programs in Rust could owe, in Python.

use super::{ALONE, host, json, python, searched, zoocheck};

/// What each owes, and which promise it breaks.
const PROGRAMS: [(&str, &str, Option<&str>); 11] = [
    ("commits", "commitment=/tx", None),
    ("decides_alone", "commitment=/tx", Some("agreement")),
    ("counts_votes", "commitment=/tx", Some("commit-validity")),
    ("aborts_at_will", "commitment=/tx", Some("abort-validity")),
    ("belongs", "membership=/members", None),
    ("never_leaves", "membership=/members", Some("leavers-unlisted")),
    ("outlives", "membership=/members", Some("live-members-listed")),
    ("reads", "configuration=/config", None),
    ("reads_torn", "configuration=/config", Some("no-torn-reads")),
    ("takes_permits", "semaphore:2=/permits", None),
    ("takes_one_more", "semaphore:2=/permits", Some("at-most-n-hold")),
];

#[test]
fn commitments_groups_configurations_and_semaphores_are_judged() {
    if python().is_none() {
        return;
    }
    for (function, owed, breaks) in PROGRAMS {
        let words = format!("run kinds.py:{function} --promises {owed} --seeds 16 --format json");
        let report = json(&zoocheck(&host().join("tests"), "0", &words));
        let promises = report["promises"].as_array().expect("a list");
        let broken: Vec<_> =
            promises.iter().filter(|it| it["verdict"] == "broken").map(|it| &it["name"]).collect();
        match breaks {
            Some(breaks) => assert!(broken.iter().any(|name| *name == breaks), "{function}: {broken:?}"),
            None => assert_eq!((&report["answer"], broken.len()), (&"held".into(), 0), "{report:#}"),
        }
    }
    let faults = "--clients 2 --rounds 1 --crashes 0 --drops 0 --expiries 0 --lag 0";
    let alone = format!("kinds.py:decides_alone --promises commitment=/tx {faults}");
    assert_eq!(searched(&host().join("tests"), "0", &alone)["promise"], "agreement");
}

/// A search leaves out what its client does when it has ended, and said that it had missed that.
#[test]
fn who_follows_by_watches_and_returns_is_no_more_than_undecided_in_a_search() {
    if python().is_none() {
        return;
    }
    let bounds = "--clients 2 --crashes 0 --drops 0 --expiries 0 --lag 0";
    let words = format!("kinds.py:watches --promises configuration=/config {bounds}");
    let report = searched(&host().join("tests"), "0", &words);
    let mut promises = report["promises"].as_array().expect("a list").iter();
    let fresh = promises.find(|it| it["name"] == "fresh-at-rest").expect("it is owed");
    let [verdict, fresh] = [&report["verdict"], &fresh["verdict"]];
    assert_eq!((verdict, fresh), (&"undecided".into(), &"never-tested".into()), "{report:#}");
}

/// Each failed, or did to other processes what it meant for itself.
#[test]
fn programs_have_streams_signals_and_names_of_their_own() {
    if python().is_none() {
        return;
    }
    let run =
        |words: &str| json(&zoocheck(&host().join("tests"), "0", &format!("{words} --format json {ALONE}")));
    for function in [
        "uses_its_streams",
        "handles_its_signals",
        "names_itself",
        "stops_by_a_signal",
        "hears_of_its_threads",
    ] {
        let report = run(&format!("run process.py:{function} --promises lock=/lock --seeds 4 --jobs 1"));
        assert_eq!(report["answer"], "held", "{function}: {report:#}");
    }
    let digest = || {
        let words = "replay process.py:keeps_sets_of_its_own --promises program=/lock --seed 1";
        run(words)["digest"].clone()
    };
    assert_eq!(digest(), digest());
    let report = run("replay process.py:dies_of_a_signal --promises lock=/lock --seed 1");
    assert!(report["cause"].to_string().contains("SIGTERM(143) (process.py, line "), "{report:#}");
}

/// Its session lived for ever, and whoever waited for the end of that was stuck.
#[test]
fn the_session_of_a_client_that_is_stopped_without_a_connection_ends() {
    if python().is_none() {
        return;
    }
    let bounds = "--promises program=/n --drops 1 --expiries 0 --lag 0 --promise no-waiter-stuck";
    let report = searched(&host().join("tests"), "0", &format!("process.py:stops_its_client {bounds}"));
    assert_eq!(report["verdict"], "holds", "{report:#}");
}
