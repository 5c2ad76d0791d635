//! From one engine to the other: counterexamples that the simulator replays, and runs of which it takes every order.
#![cfg(feature = "run")]

use crate::common::{zoocheck, zoocheck_in};
use std::fs;
use zoocheck::reports::ExhaustReport;

#[test]
fn a_counterexample_becomes_a_file_that_the_simulator_replays_to_the_same_violation() {
    let dir = tempfile::tempdir().expect("a directory");
    let checked = zoocheck_in(dir.path(), "check lock/no-recheck --export found.toml");
    assert_eq!(checked.status, 1, "{}{}", checked.stdout, checked.stderr);
    assert!(checked.stderr.contains("zoocheck replay found.toml"), "{}", checked.stderr);
    let replayed = zoocheck_in(dir.path(), "replay found.toml");
    assert_eq!(replayed.status, 1, "{}{}", replayed.stdout, replayed.stderr);
    for words in
        ["exclusion-among-live-sessions breaks: the same run, to the byte", "p2 holds /lock while p0"]
    {
        assert!(replayed.stdout.contains(words), "{}", replayed.stdout);
    }
    assert_eq!(zoocheck_in(dir.path(), "replay found.toml").digest(), replayed.digest());
    let refused = zoocheck_in(dir.path(), "check lock/no-recheck --export found.toml");
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("not overwritten") && refused.stdout.is_empty(), "{}", refused.stderr);
    let refused = zoocheck_in(dir.path(), "shrink found.toml -o smaller.toml");
    assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("the shortest there is already"), "{}", refused.stderr);
}

#[test]
fn a_counterexample_in_which_views_lag_is_taken_on_servers_that_differ() {
    let dir = tempfile::tempdir().expect("a directory");
    let checked = zoocheck_in(dir.path(), "check lock/no-sync --export found.toml");
    assert_eq!(checked.status, 1, "{}{}", checked.stdout, checked.stderr);
    let text = fs::read_to_string(dir.path().join("found.toml")).expect("it is there");
    assert!(text.contains("servers = 1\n") && text.contains("observers = 3\n") && text.contains("lag = 1\n"));
    let replayed = zoocheck_in(dir.path(), "replay found.toml");
    assert_eq!(replayed.status, 1, "{}{}", replayed.stdout, replayed.stderr);
    assert!(
        replayed.stdout.contains("no-orphan-znode breaks: the same run, to the byte"),
        "{}",
        replayed.stdout
    );
    // Fewer servers than its connections need.
    for (observers, why) in [("1", "does not break any more"), ("0", "observers: 0; where views lag")] {
        let text = text.replace("observers = 3", &format!("observers = {observers}"));
        fs::write(dir.path().join("wrong.toml"), text).expect("it can be written");
        let ran = zoocheck_in(dir.path(), "replay wrong.toml");
        assert!(
            ran.status >= 2 && format!("{}{}", ran.stdout, ran.stderr).contains(why),
            "{observers}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn what_the_simulator_cannot_take_is_said_and_nothing_is_written() {
    let dir = tempfile::tempdir().expect("a directory");
    let files = || fs::read_dir(dir.path()).expect("it is there").count();
    for (what, why) in [
        ("lock --clients 2", "nothing was broken"),
        ("lock/behind-sync", "in the model a deposed leader answers"),
    ] {
        let ran = zoocheck_in(dir.path(), &format!("check {what} --export found.toml"));
        assert!(
            ran.stderr.contains("found.toml is not written") && ran.stderr.contains(why),
            "{}",
            ran.stderr
        );
        assert_eq!(files(), 0);
    }
    // A file whose script cannot be replayed, as the recipe has changed.
    zoocheck_in(dir.path(), "check lock/no-recheck --export found.toml");
    let text = fs::read_to_string(dir.path().join("found.toml")).expect("it is there");
    let wrong = text.replacen("\"serve p0\"", "\"deliver p0\"", 1);
    fs::write(dir.path().join("wrong.toml"), wrong).expect("it can be written");
    let ran = zoocheck_in(dir.path(), "replay wrong.toml");
    assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
    let said = "The simulator cannot take step 2 of 18, 'deliver p0'";
    assert!(ran.stdout.contains(said) && ran.stdout.contains("does not break any more"), "{}", ran.stdout);
    fs::write(dir.path().join("bad.toml"), text.replacen("serve p0", "serve x", 1)).expect("written");
    let ran = zoocheck_in(dir.path(), "replay bad.toml");
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("bad.toml:") && ran.stderr.contains("'serve x' is no step"),
        "{}",
        ran.stderr
    );
}

#[test]
fn every_order_of_a_few_events_is_run_and_the_one_that_breaks_can_be_shown() {
    let what =
        "replay lock/simple --seed 3 --set clients=2 --set servers=1 --set observers=0 --at 1.85 --exhaust 5";
    let report = zoocheck(&format!("{what} --format json")).json::<ExhaustReport>();
    assert_eq!(report["exhaustive"], true);
    assert!(report["orders"].as_u64() > report["different"].as_u64());
    let broken = report["broken"].as_array().expect("a list");
    let stuck = broken.iter().find(|broken| broken["promise"] == "no-waiter-stuck").expect("it breaks");
    let replay = stuck["replay"].as_str().expect("a command");
    let (_, arguments) = replay.split_once(' ').expect("a program and what it is given");
    let shown = zoocheck(arguments);
    assert_eq!(shown.status, 1, "{}{}", shown.stdout, shown.stderr);
    assert!(shown.stdout.contains("no-waiter-stuck: broken"), "{}", shown.stdout);
    // Whatever the number of jobs.
    let one = zoocheck(&format!("{what} --jobs 1"));
    assert_eq!((one.status, &one.stdout), (1, &zoocheck(&format!("{what} --jobs 3")).stdout));
    let cut = zoocheck(
        "replay lock --seed 3 --set clients=3 --set servers=1 --set observers=0 --at 2 --exhaust 4 --max-orders 2",
    );
    assert_eq!(cut.status, 3, "{}{}", cut.stdout, cut.stderr);
    assert!(
        cut.stdout.contains("2 orders, there are more") && cut.stdout.contains("undecided"),
        "{}",
        cut.stdout
    );
}

#[test]
fn an_order_is_drawn_as_the_run_that_it_makes() {
    let drawn = |order: &str| {
        let ran = zoocheck(&format!(
            "replay lock/simple --seed 3 --set clients=2 --set servers=1 --set observers=0 {order} --format mermaid"
        ));
        assert!(ran.stdout.starts_with("sequenceDiagram\n"), "{}{}", ran.stdout, ran.stderr);
        (ran.status, ran.stdout)
    };
    let time = drawn("");
    assert_eq!(drawn("--at 1.85 --order 0"), time, "as time brings it");
    assert_ne!(drawn("--at 1.85 --order 0,0,1"), time);
}

#[test]
fn a_time_or_an_order_that_cannot_be_is_refused() {
    for (arguments, why) in [
        ("--at x --exhaust 3", "12.040s"),
        ("--at 1.0000000001 --exhaust 3", "12.040s"),
        ("--at 1", "--exhaust K"),
        ("--exhaust 3", "--at"),
        ("--at 1 --exhaust 0", "1"),
        ("--at 1 --order 1,x", "x"),
        ("--at 1 --order 1 --exhaust 2", "cannot be used with"),
        ("--at 99999 --exhaust 3", "is over before that"),
        ("--at 99999 --order 1", "is over before that"),
        ("--at 1 --order 0,999", "--order: event 2 of 2: there is no number 999, but "),
        ("--at 1 --exhaust 3 --format mermaid", "--exhaust"),
        ("--at 99999999999999999999 --exhaust 3", "12.040s"),
    ] {
        let ran = zoocheck(&format!("replay lock --seed 1 {arguments}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{arguments}: {}", ran.stderr);
    }
}
