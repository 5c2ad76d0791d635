//! Failing runs made smaller, and the files of them.
#![cfg(feature = "run")]

use crate::common::{command, ran, zoocheck, zoocheck_in};
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
#[ignore = "takes a minute: .ci/run runs it"]
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
        // Without a limit of time: beside all other tests of two cores, a minute is a few seconds.
        let command =
            format!("shrink {variant} --seed {seed} --promise {promise} -o small.toml --time-limit 1h");
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
    assert!(bad("shrink lock --seed 1 --keep").contains("no promise breaks there"));
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

const CASE: &str = "zoocheck-regressions/lock-java-no-failure-0.toml";

/// A directory with a case of lock/java in it.
fn with_a_case() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = zoocheck_in(dir.path(), "shrink lock/java --seed 0 --promise no-failure --keep");
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(&format!("{CASE} is written")), "{}", ran.stdout);
    dir
}

#[test]
fn a_case_holds_what_was_drawn_and_so_is_the_same_run_under_any_seed() {
    let dir = with_a_case();
    let text = fs::read_to_string(dir.path().join(CASE)).expect("the case");
    let seed = text.lines().find(|line| line.starts_with("seed = ")).expect("a seed");
    let replayed = |text: &str| {
        fs::write(dir.path().join(CASE), text).expect("written");
        zoocheck_in(dir.path(), &format!("replay {CASE}")).stdout
    };
    let other = text.replace(seed, "seed = 4711");
    assert!(replayed(&other).contains("the same run, to the byte"));
    let (start, drawn) = other.split_once("[run.choices]").expect("choices");
    let schedule = &drawn[drawn.find("\n[").expect("the table behind them")..];
    assert!(
        !replayed(&format!("{start}{schedule}")).contains("the same run, to the byte"),
        "by a seed alone"
    );
}

#[test]
fn a_kept_case_is_tried_before_any_seed_until_it_is_mended() {
    let dir = with_a_case();
    let dir = dir.path();
    let red = zoocheck_in(dir, "run lock/java --seeds 1");
    assert!(red.stdout.contains("1 past failure, tried first: 1 breaks"), "{}", red.stdout);
    assert!(red.stdout.contains(&format!("BROKEN: no-failure in {CASE},")), "{}", red.stdout);
    let last = red.stdout.lines().last().expect("a command");
    assert!(last.ends_with(&format!("replay {CASE} --promise no-failure")), "{last}");
    assert!(red.stdout.contains("shrink lock/java --seed 0 --promise no-failure --keep"), "{}", red.stdout);

    // The recipe is right, and so is whatever runs beside it.
    let text = fs::read_to_string(dir.join(CASE)).expect("the case");
    fs::write(dir.join(CASE), text.replace("\"lock/java\"", "\"lock\"")).expect("written");
    let green = zoocheck_in(dir, "run lock --seeds 30");
    assert_eq!(green.status, 0, "{}", green.stdout);
    assert!(green.stdout.contains("1 past failure, tried first: none breaks"), "{}", green.stdout);
    let none = zoocheck_in(dir, "run lock/java --seeds 1");
    assert!(!none.stdout.contains("past failure"), "{}", none.stdout);

    // The cases of a scenario file are beside it.
    fs::create_dir(dir.join("suite")).expect("created");
    fs::rename(dir.join("zoocheck-regressions"), dir.join("suite/zoocheck-regressions")).expect("moved");
    fs::write(dir.join("suite/calm.toml"), "recipe = \"lock\"\n").expect("written");
    for what in ["suite/calm.toml", "lock --scenario suite/calm.toml"] {
        let ran = zoocheck_in(dir, &format!("run {what} --seeds 1"));
        assert!(ran.stdout.contains("1 past failure, tried first"), "{what}: {}", ran.stdout);
    }
}

#[test]
fn shards_try_the_cases_once_and_merge_to_the_whole() {
    let dir = with_a_case();
    let dir = dir.path();
    let sweep = "run lock/java --seeds 9 --redraws 0";
    for index in [1, 2] {
        let ran = zoocheck_in(dir, &format!("{sweep} --shard {index}/2 --report {index}"));
        assert_eq!(ran.stdout.contains("past failure"), index == 1, "{}", ran.stdout);
    }
    zoocheck_in(dir, &format!("{sweep} --report whole"));
    assert_eq!(zoocheck_in(dir, "report 2 1 -o merged").status, 1);
    let read = |name: &str| fs::read_to_string(dir.join(name)).expect("a file");
    for file in ["report.json", "junit.xml", "summary.md", "index.html"] {
        assert!(read(&format!("merged/{file}")) == read(&format!("whole/{file}")), "{file}");
    }
    assert!(read("whole/junit.xml").contains("classname=\"lock/java.regressions\""));
    zoocheck_in(dir, "report whole --format json").json::<SweepReport>();
}

#[test]
fn what_is_no_case_is_told_in_one_line_before_anything_is_run() {
    let dir = with_a_case();
    let dir = dir.path();
    let text = fs::read_to_string(dir.join(CASE)).expect("the case");
    for (case, expected) in [
        ("clients = 2\n".to_owned(), "no case, as it has no [run]".to_owned()),
        (text.replace("seed = ", "sede = "), "unknown key 'sede'; did you mean 'seed'?".into()),
        (text.replace("start-0 = \"", "start-0 = \"x"), "choices: start-0: 'x".into()),
    ] {
        fs::write(dir.join(CASE), case).expect("written");
        let ran = zoocheck_in(dir, "run lock/java --seeds 1 --report out");
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
        assert!(ran.stderr.contains(CASE) && ran.stderr.contains(&expected), "{}", ran.stderr);
        assert!(!dir.join("out").exists(), "{expected}");
    }
    fs::write(dir.join(CASE), text.replace("\"lock/java\"", "\"lock/jaba\"")).expect("written");
    let ran = zoocheck_in(dir, "run lock --seeds 1");
    assert!(ran.stderr.contains("not tried: there is no recipe 'lock/jaba'"), "{}", ran.stderr);
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
