//! Failing runs made smaller, and the files of them.
#![cfg(feature = "run")]

mod common;

use common::{command, ran, zoocheck, zoocheck_in};
use std::fs;
use std::process::Command;
use zoocheck::reports::SweepReport;

/// The number before a word in the line that says what is left.
fn left(stdout: &str, word: &str) -> u32 {
    let line = stdout.lines().find(|line| line.trim_start().starts_with("to ")).expect("a line");
    let part = line.split(", ").find(|part| part.contains(word)).expect("a part");
    let number = part.split_whitespace().find_map(|word| word.parse().ok());
    number.expect("a number")
}

/// The first seed that breaks a promise.
fn failing(variant: &str, promise: &str) -> u64 {
    let report = zoocheck(&format!("run {variant} --seeds 100 --format json")).json::<SweepReport>();
    let failures = report["failures"].as_array().expect("a list");
    let failure = failures.iter().find(|failure| failure["promise"] == promise).expect("it breaks");
    failure["seed"].as_u64().expect("a seed")
}

#[test]
fn a_failing_run_becomes_small_and_its_file_shows_it_again() {
    let dir = tempfile::tempdir().expect("a directory");
    for (variant, promise) in [
        ("lock/java", "no-waiter-stuck"),
        // Broken as expected as well, which is not what is to be kept.
        ("lock/java", "exclusion-at-unfenced-resource"),
        ("lock/no-recheck", "exclusion-among-live-sessions"),
        ("lock/simple", "no-waiter-stuck"),
        ("shared-lock/name-order", "exclusion-among-live-sessions"),
        ("chubby/version-zero", "sequencer-names-a-holder"),
        ("election/no-guid", "no-waiter-stuck"),
        ("leader-latch/reset-race", "exclusion-among-live-sessions"),
        ("barrier/no-recheck", "barrier-holds"),
        ("double-barrier/any-event", "enters-together"),
        ("queue/lost-delete", "nothing-lost"),
        ("two-phase-commit/vote-rewritten", "irrevocability"),
        ("membership/no-rejoin", "session-end-noticed"),
        ("configuration/watch-once", "fresh-at-rest"),
    ] {
        let seed = failing(variant, promise);
        let command = format!("shrink {variant} --seed {seed} --promise {promise} -o small.toml");
        let ran = zoocheck_in(dir.path(), &command);
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(left(&ran.stdout, "client") <= 3 && left(&ran.stdout, "fault") <= 5, "{}", ran.stdout);
        let again = zoocheck_in(dir.path(), "replay small.toml");
        assert_eq!(again.status, 1, "{}{}", again.stdout, again.stderr);
        assert!(again.stdout.contains(&format!("{promise} broken")) || again.stdout.contains(promise));
        assert!(again.stdout.contains("the same run, to the byte"), "{}", again.stdout);
        let more = zoocheck_in(dir.path(), &command);
        assert_eq!(more.status, 2);
        assert!(
            more.stderr.contains("small.toml") && more.stderr.contains("not overwritten"),
            "{}",
            more.stderr
        );
        fs::remove_file(dir.path().join("small.toml")).expect("it is there");
    }
}

#[test]
fn a_file_whose_promise_does_not_break_any_more_says_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = zoocheck_in(
        dir.path(),
        &format!(
            "shrink lock/java --seed {} -o small.toml --tries 300",
            failing("lock/java", "no-waiter-stuck")
        ),
    );
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    let file = dir.path().join("small.toml");
    let text = fs::read_to_string(&file).expect("it was written");
    fs::write(&file, text.replace("\"lock/java\"", "\"lock\"")).expect("it can be changed");
    let ran = zoocheck_in(dir.path(), "replay small.toml");
    assert_ne!(ran.status, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("does not break any more"), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_shrunk_is_one_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let bad = |command: &str| {
        let ran = zoocheck_in(dir.path(), command);
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{command}: {}", ran.stderr);
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0, "{command}");
        ran.stderr
    };
    assert!(bad("shrink lock --seed 1 -o x.toml").contains("no promise breaks there"));
    assert!(bad("shrink lock/java --seed 0 -o x.txt").contains("ends in .toml"));
    assert!(bad("shrink lock/java --seed 0 -o none/x.toml").contains("none/x.toml: cannot write the file"));
    assert!(bad("shrink lock/java -o x.toml").contains("--seed: say which run"));
    let other = bad("shrink lock/java --seed 0 -o x.toml --promise tokens-increase");
    assert!(other.contains("--promise tokens-increase: it does not break"), "{other}");
}

#[test]
fn a_file_says_which_build_made_it_and_one_of_a_newer_version_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = zoocheck_in(dir.path(), "shrink lock/java --seed 0 -o small.toml --tries 50");
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    let file = dir.path().join("small.toml");
    let text = fs::read_to_string(&file).expect("it was written");
    let own = env!("CARGO_PKG_VERSION");
    assert!(text.contains("\nzoocheck = \"0.") && text.contains(&format!("\nbuild = \"{own} (")), "{text}");
    for newer in
        [text.replace("zoocheck = \"0.1\"", "zebra = 1\nzoocheck = \"99.0\""), text.replace(own, "99.0.0")]
    {
        fs::write(&file, newer).expect("it can be changed");
        let ran = zoocheck_in(dir.path(), "replay small.toml");
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
        assert!(ran.stderr.contains("made for zoocheck 99.0"), "{}", ran.stderr);
    }
}

#[test]
fn a_file_of_any_name_shows_it_again_by_the_command_that_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in ["sp ace.toml", "$HOME;`x`.toml", "it's.toml", "-o.toml"] {
        let output = format!("--output={name}");
        let made =
            ran(command(dir.path()).args(["shrink", "lock/java", "--seed", "0", "--tries", "3", &output]));
        assert_eq!(made.status, 1, "{name}: {}{}", made.stdout, made.stderr);
        let (_, told) = made.stdout.split_once("zoocheck replay ").expect("a command");
        let script = format!("exec \"$0\" replay {told}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_zoocheck")]).current_dir(dir.path());
        let again = ran(&mut shell);
        assert_eq!(again.status, 1, "{name}: {told}: {}{}", again.stdout, again.stderr);
        assert!(again.stdout.contains("the same run, to the byte"), "{}", again.stdout);
    }
}

#[test]
fn a_seed_that_no_file_can_hold_is_refused_before_the_work() {
    let dir = tempfile::tempdir().expect("a directory");
    let seeds = "run lock/java --seeds 18446744073709551600..18446744073709551615 --format json";
    let report = zoocheck(seeds).json::<SweepReport>();
    let seed = report["failures"][0]["seed"].as_u64().expect("one of them breaks");
    let ran = zoocheck_in(dir.path(), &format!("shrink lock/java --seed {seed} -o small.toml"));
    assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("up to 9223372036854775807"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn past_failures_break_as_they_did() {
    let dir = format!("{}/suite/regressions", env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for entry in fs::read_dir(dir).expect("the regressions") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let ran = zoocheck(&format!("replay suite/regressions/{name}"));
        assert_eq!(ran.status, 1, "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("does not break any more"), "{name}: {}", ran.stdout);
        seen += 1;
    }
    assert!(seen >= 10, "there are some of every family");
}

#[test]
fn one_run_is_not_a_sweep() {
    let one = "suite/regressions/lock-java.toml";
    let ran = zoocheck(&format!("run {one} --seeds 3"));
    assert_eq!((ran.status, ran.stderr.contains("is one run")), (2, true), "{}", ran.stderr);
    let ran = zoocheck(&format!("replay {one} --seed 3"));
    assert_eq!((ran.status, ran.stderr.contains("leave the seed out")), (2, true), "{}", ran.stderr);
    let ran = zoocheck(&format!("replay {one} --set run.seed=3"));
    assert_eq!((ran.status, ran.stderr.contains("unknown key")), (2, true), "{}", ran.stderr);
}
