//! Programs that look at how much time has passed, or let a lot of it pass: `elapsed.py`.

use super::{CALM, host, json, python, searched, zoocheck};

/// What a search of one of them comes to.
fn of(function: &str, promises: &str) -> serde_json::Value {
    let words = format!("elapsed.py:{function} --promises {promises} {CALM}");
    searched(&host().join("tests"), "0", &words)
}

/// No time passes in a search while a program waits for an answer, or works: these two were held.
#[test]
fn what_a_program_does_as_time_passes_is_undecided() {
    if python().is_none() {
        return;
    }
    for function in ["by_the_clock", "by_a_ticker"] {
        let report = of(function, "fair-lock=/lock");
        assert_eq!(report["verdict"], "undecided", "{report:#}");
        let why = report["ran_out"].as_str().unwrap_or_default();
        assert!(why.contains(" goes by how much time passes while it waits: "), "{why}");
        assert!(
            why.contains("asks for delete in /lock") && why.ends_with(" where a minute has passed"),
            "{why}"
        );
    }
    // Of znodes, each was fifty years old.
    for function in ["told_how_long", "made_today"] {
        let report = of(function, "fair-lock=/lock");
        assert_eq!(report["verdict"], "holds", "{report:#}");
    }
}

/// The run was over while it slept, and so was the search: it waited for ever.
#[test]
fn a_program_that_sleeps_is_waited_for() {
    if python().is_none() {
        return;
    }
    let run = "run elapsed.py:looks_now_and_then --promises lock=/lock --seeds 6 --format json";
    let calm = "--set rounds=1 --set fault-seconds=0";
    let report = json(&zoocheck(&host().join("tests"), "0", &format!("{run} {calm}")));
    assert_eq!(report["answer"], "held", "{report:#}");
    let report = of("begins_late", "counter=/counter");
    assert_eq!(report["verdict"], "holds", "{report:#}");
}
