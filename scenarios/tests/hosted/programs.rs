//! What programs may do: threads of every kind, logging, coroutines, trying again at once; and what is said of what they do
//! wrong.

use super::{ALONE, CALM, host, json, python, searched, zoocheck};
use serde_json::Value;
use std::process::Output;

/// Runs a command in the folder of these programs.
fn of_programs(hash_seed: &str, words: &str) -> Output {
    zoocheck(&host().join("tests"), hash_seed, words)
}

#[test]
fn threads_of_every_kind_logging_and_event_loops_take_their_turns_in_virtual_time() {
    if python().is_none() {
        return;
    }
    // With one job, lives of many seeds are had by the same workers.
    let run = |function: &str, hash_seed| {
        let words = format!("run programs.py:{function} --promises lock=/lock --seeds 24 --jobs 1 --format json");
        let output = of_programs(hash_seed, &format!("{words} {ALONE}"));
        (output.status.code(), json(&output))
    };
    for function in ["means", "coroutine"] {
        let (status, report) = run(function, "1");
        assert_eq!((status, &report["answer"]), (Some(0), &"held".into()), "{report:#}");
        assert!(report["seeds"]["twice"].as_u64() >= Some(1), "{report:#}");
    }
    let digest = |hash_seed, seed| {
        let words = format!("replay programs.py:means --promises lock=/lock --seed {seed} --format json");
        json(&of_programs(hash_seed, &words))["digest"].clone()
    };
    for seed in 0..4 {
        let one = digest("1", seed);
        assert!(one.is_string(), "{one}");
        assert_eq!(one, digest("2", seed), "seed {seed}");
    }
    for function in ["means", "coroutine"] {
        let words = format!("programs.py:{function} --promises lock=/lock {CALM}");
        let report = searched(&host().join("tests"), "0", &words);
        assert_eq!(report["verdict"], "holds", "{report:#}");
    }
}
