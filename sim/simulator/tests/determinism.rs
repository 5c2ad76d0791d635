//! One seed gives one run, to the byte.

use crate::common::{calm, published, say, scripted};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use zk_harness::event::End;
use zk_simulator::schedule::When;
use zk_simulator::{RunOptions, Scenario, run};

fn everything() -> RunOptions {
    RunOptions { trace: true, record_choices: true, ..RunOptions::default() }
}

#[test]
fn a_seed_gives_the_same_run_again_to_the_byte() {
    let lock = published("lock");
    for seed in 0..5 {
        let first = run(&lock, &Scenario::default(), seed, &everything());
        assert!(first.trace.len() > 100 && first.choices.len() > 100);
        assert_eq!(first, run(&lock, &Scenario::default(), seed, &everything()));
    }
}

#[test]
fn messages_are_kept_with_both_their_times_and_change_nothing() {
    let (lock, alone) = (published("lock"), Scenario { servers: 1, observers: 0, ..Scenario::default() });
    let mut lost = 0;
    for seed in 0..10 {
        let kept = run(&lock, &alone, seed, &everything());
        let bare = run(&lock, &alone, seed, &RunOptions::default());
        assert_eq!((kept.digest, &kept.herd), (bare.digest, &bare.herd));
        assert!(bare.crossings.is_empty());
        assert!(kept.crossings.is_sorted_by_key(|crossing| crossing.sent_ns));
        let late =
            |crossing: &zk_simulator::Crossing| crossing.arrived_ns.is_none_or(|at| at >= crossing.sent_ns);
        assert!(kept.crossings.iter().all(late));
        let arrived = kept.crossings.iter().filter(|crossing| crossing.arrived_ns.is_some()).count();
        assert_eq!(arrived as u64, kept.messages, "one server hears from clients alone");
        lost += kept.crossings.len() - arrived;
    }
    assert!(lost > 0, "faults lose messages");
}

#[test]
fn runs_side_by_side_do_not_disturb_each_other() {
    let lock = published("lock");
    let digests = || -> Vec<u64> {
        (0..20).map(|seed| run(&lock, &Scenario::default(), seed, &RunOptions::default()).digest).collect()
    };
    let alone = digests();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(digests)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no run panics"), alone);
        }
    });
}

#[test]
fn different_seeds_give_different_runs() {
    let lock = published("lock");
    let digests: Vec<u64> =
        (0..20).map(|seed| run(&lock, &Scenario::default(), seed, &RunOptions::default()).digest).collect();
    let mut unlike = digests.clone();
    unlike.sort_unstable();
    unlike.dedup();
    assert_eq!(unlike.len(), digests.len());
}

#[test]
fn what_is_kept_of_a_run_does_not_change_it() {
    let lock = published("lock");
    let kept = run(&lock, &Scenario::default(), 3, &RunOptions { log: true, ..everything() });
    let bare = run(&lock, &Scenario::default(), 3, &RunOptions::default());
    assert_eq!((kept.digest, kept.steps), (bare.digest, bare.steps));
    assert!(bare.trace.is_empty() && bare.choices.is_empty());
}

const ASKED: &str = "ZK_WORLD_PRINT_DIGEST";

fn digest_of_seed_seven() -> u64 {
    run(&published("lock"), &Scenario::default(), 7, &RunOptions::default()).digest
}

/// Prints for the test below, which runs it in another process. By itself it proves nothing.
#[test]
fn digest_for_another_process() {
    if std::env::var_os(ASKED).is_some() {
        println!("digest={:016x}.", digest_of_seed_seven());
    }
}

#[test]
fn another_process_gives_the_same_digest() {
    let this = std::env::current_exe().expect("a test knows its program");
    let output = std::process::Command::new(this)
        .args(["--exact", "determinism::digest_for_another_process", "--nocapture"])
        .env(ASKED, "1")
        .output()
        .expect("a test's program can be run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(&format!("digest={:016x}.", digest_of_seed_seven())), "{text}");
}

/// Says what clocks, hash seeds and sleeps are like.
fn curious() -> std::sync::Arc<zk_harness::trial::Trial> {
    scripted(|zk, probe, _| async move {
        let (start, day) = (Instant::now(), SystemTime::now());
        let map: HashMap<u32, u32> = (0..100).map(|n| (n, n)).collect();
        say(&probe, format!("{:?}", map.keys().collect::<Vec<_>>()));
        zk.sleep(Duration::from_millis(1234)).await;
        say(&probe, format!("slept {} ms", start.elapsed().as_millis()));
        say(&probe, format!("{:?} and {:?}", day, day.elapsed()));
        End::Done
    })
}

#[test]
fn hash_order_and_real_clocks_are_a_function_of_the_seed() {
    let runs: Vec<_> = [1, 1, 2].map(|seed| run(&curious(), &calm(), seed, &everything())).into();
    assert_eq!(runs[0], runs[1]);
    let said: Vec<_> = runs.iter().map(crate::common::said).collect();
    assert_ne!(said[0][0], said[2][0], "hash order varies with the seed");
    assert!(said.iter().all(|s| s[1] == "slept 1234 ms"), "{:?}", said[0]);
}

#[test]
fn a_hidden_source_of_chance_shows_in_the_digest() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let leaky = scripted(|zk, _, _| async move {
        let _ = zk.exists(&crate::common::path("/t")).await;
        let n = RUNS.fetch_add(1, Ordering::Relaxed);
        // What it does is the same; only when it does it is not.
        zk.sleep(Duration::from_micros(n)).await;
        let _ = zk.exists(&crate::common::path("/t")).await;
        End::Done
    });
    let digest = || run(&leaky, &calm(), 1, &RunOptions::default()).digest;
    assert_ne!(digest(), digest());
}

#[test]
fn a_fault_added_to_a_schedule_shifts_no_choice() {
    use zk_simulator::{Fault, Schedule, run_schedule, schedule::TimedFault};
    let (lock, scenario) = (published("lock"), Scenario::default());
    let with = |faults| run_schedule(&lock, &scenario, 5, &Schedule { faults }, &everything());
    let calm = with(Vec::new());
    let fault = TimedFault {
        at_ms: 0,
        fault: Fault::ClientCrash { client: 4, when: When::Now, restart_after_ms: 500 },
    };
    let other = with(vec![fault]);
    assert_ne!(calm.digest, other.digest);
    let same = |stream: &str| {
        let of = |key: &(String, u64, u64)| key.0 == stream;
        let both = calm.choices.iter().filter(|(key, _)| of(key) && other.choices.contains_key(key));
        both.map(|(key, value)| assert_eq!(other.choices[key], *value, "{key:?}")).count()
    };
    // These are drawn below the same bound whatever happens.
    assert!(same("latency") > 100 && same("work") > 5 && same("start") == 5);
}

#[test]
fn a_choice_that_is_given_is_taken() {
    let lock = published("lock");
    let free = run(&lock, &calm(), 5, &everything());
    let key = ("work".to_owned(), 0, 0);
    let given = if free.choices[&key] == 9 { 10 } else { 9 };
    let options = RunOptions { choices: [(key.clone(), given)].into(), ..everything() };
    let bound = run(&lock, &calm(), 5, &options);
    assert_eq!(bound.choices[&key], given);
    assert_ne!(bound.digest, free.digest);
    let again = RunOptions { choices: free.choices.clone(), ..everything() };
    assert_eq!(run(&lock, &calm(), 5, &again), free);
}

#[test]
fn a_run_that_nobody_watches_goes_the_same_way() {
    let lock = published("lock");
    for (seed, servers) in [(1, 1), (2, 3), (3, 3)] {
        let scenario = Scenario { servers, observers: 0, ..Scenario::default() };
        let checked = run(&lock, &scenario, seed, &RunOptions::default());
        let unchecked = run(&lock, &scenario, seed, &RunOptions { unchecked: true, ..RunOptions::default() });
        assert_eq!((unchecked.digest, unchecked.steps), (checked.digest, checked.steps));
        let is_judged = |run: &zk_simulator::Run| run.tested["answers-match-reference"] > 0;
        assert!(is_judged(&checked) && !is_judged(&unchecked));
    }
}
