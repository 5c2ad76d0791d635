//! The real command under chaos: exit statuses, reports, and the same run in another process.
#![cfg(feature = "run")]

use crate::common::{command, zoocheck, zoocheck_in};
use std::fs;
use std::process::Stdio;
use zoocheck::reports::{ReplayReport, SweepReport};

/// A variant that chaos breaks in every third seed.
const BROKEN: &str = "lock/java";
const BROKEN_SEEDS: &str = "40";

#[test]
fn a_right_recipe_holds_under_chaos() {
    let ran = zoocheck("run lock --seeds 20");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("every promise held"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "a pipe gets no colours");
}

#[test]
fn a_wrong_variant_is_broken_and_its_last_line_replays_it() {
    let run = zoocheck(&format!("run {BROKEN} --seeds {BROKEN_SEEDS}"));
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    let last = run.stdout.lines().last().expect("a line");
    let (_, arguments) = last.split_once(' ').expect("a command");
    assert!(arguments.starts_with(&format!("replay {BROKEN} --seed ")), "{last}");
    let replay = zoocheck(arguments);
    assert_eq!(replay.status, 1, "{}{}", replay.stdout, replay.stderr);
    assert!(run.stdout.contains(replay.digest()), "the sweep tells the same digest");
}

#[test]
fn a_seed_gives_the_same_run_in_another_process() {
    let arguments = format!("run {BROKEN} --seeds {BROKEN_SEEDS} --format json");
    let sweep = zoocheck(&arguments).json::<SweepReport>();
    let failure = &sweep["failures"][0];
    let seed = failure["seed"].as_u64().expect("a seed");
    let again = || zoocheck(&format!("replay {BROKEN} --seed {seed} --format json --trace"));
    let (one, other) = (again(), again());
    assert_eq!(one.stdout, other.stdout, "to the byte");
    let report = one.json::<ReplayReport>();
    assert_eq!(report["digest"], failure["digest"]);
    let seen = report["violations"].as_array().expect("violations").iter();
    let mut seen = seen.filter(|seen| seen["promise"] == failure["promise"] && seen["expected"].is_null());
    assert_eq!(seen.next().expect("it breaks again")["virtual_ns"], failure["virtual_ns"]);
}

#[test]
fn a_sweep_does_not_depend_on_jobs_and_shards_share_it() {
    let sweep = |more: &str| {
        let mut report =
            zoocheck(&format!("run {BROKEN} --seeds 30 --format json {more}")).json::<SweepReport>();
        report["wall_seconds"] = serde_json::Value::Null;
        report
    };
    let whole = sweep("--jobs 1");
    assert_eq!(whole, sweep("--jobs 3"));
    let shares = [sweep("--shard 1/2"), sweep("--shard 2/2")];
    let messages = |report: &serde_json::Value| report["messages"].as_u64().expect("a number");
    assert_eq!(messages(&whole), shares.iter().map(messages).sum::<u64>());
}

#[test]
fn reports_are_written_whole_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = zoocheck_in(dir.path(), "run lock --seeds 3 --report out/here");
    assert!(matches!(ran.status, 0 | 3), "{}{}", ran.stdout, ran.stderr);
    let mut names: Vec<_> = fs::read_dir(dir.path().join("out/here"))
        .expect("the directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, ["index.html", "junit.xml", "report.json", "summary.md"]);
    let read = |name| fs::read_to_string(dir.path().join("out/here").join(name)).expect("the file");
    let json: serde_json::Value = serde_json::from_str(&read("report.json")).expect("JSON");
    assert_eq!(json["schema"], "zoocheck-sweep/3");
    let junit = quick_junit::Report::deserialize_from_str(&read("junit.xml")).expect("JUnit");
    let cases = |key: &str| json[key].as_array().expect("an array").len();
    assert_eq!(junit.tests, cases("promises") + cases("invariants"));
}

#[test]
fn a_reader_that_goes_away_changes_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = command(dir.path())
        .args(["run", "lock", "--seeds", "3", "--report", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
    assert_eq!(output.stderr, b"", "no panic");
    assert!(dir.path().join("out/report.json").exists());
}

#[test]
fn logs_carry_virtual_time_and_go_to_stderr() {
    let quiet = zoocheck("replay lock --seed 1");
    let ran = zoocheck("replay lock --seed 1 --log info");
    assert_eq!(ran.stdout, quiet.stdout, "logs change nothing");
    assert!(ran.stderr.lines().any(|line| line.contains("0.") && line.contains("s0")), "{}", ran.stderr);
    assert!(!ran.stderr.contains("madsim"), "{}", ran.stderr);
}

#[test]
fn logs_of_a_sweep_are_apart_by_seed() {
    let ran = zoocheck("run lock --seeds 2 --log info");
    let seeds: Vec<&str> =
        ran.stderr.lines().filter_map(|line| line.split_once("seed ")).map(|(_, n)| n).collect();
    // One of them is run twice.
    assert!(seeds == ["0", "0", "1"] || seeds == ["0", "1", "1"], "{seeds:?}");
}

#[test]
fn machines_get_json_and_silence() {
    let ran = zoocheck("run lock --seeds 3 --format json");
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.json::<SweepReport>()["seeds"]["count"], 3);
}

#[test]
fn a_replay_is_told_up_to_the_break_and_to_machines_as_a_whole() {
    let replay = |more: &str| zoocheck(&format!("replay {BROKEN} --seed 0 {more}"));
    let short = replay("--lines 5").stdout;
    let (_, told) = short.split_once(" lines left out; --lines all shows them").expect("most are left out");
    let (told, _) = told.split_once(" later lines left out").expect("what comes later is left out");
    let last = told.lines().rfind(|line| line.contains("s  --  ")).expect("a line");
    assert!(last.starts_with("> ") && last.contains("BROKEN "), "{short}");
    assert!(!short.contains("woken: []"), "no Debug forms: {short}");
    let whole = replay("--lines all").stdout;
    assert!(!whole.contains("left out") && whole.contains("! ") && whole.contains(" FAULT "), "{whole}");
    assert!(replay("--trace").stdout.contains(" Commit zxid="));
    let (report, traced) = (
        replay("--format json").json::<ReplayReport>(),
        replay("--format json --trace").json::<ReplayReport>(),
    );
    assert_eq!(report["timeline"], traced["timeline"]);
    let lines = |report: &serde_json::Value, key: &str| report[key].as_array().expect("lines").len();
    let moments = report["timeline"].as_array().expect("moments").iter();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut sentences = moments.map(|moment| words(moment["what"].as_str().expect("a sentence")));
    let whole = words(&whole);
    assert!(sentences.all(|sentence| whole.contains(&sentence)), "{whole}");
    assert!(lines(&report, "trace") < lines(&traced, "trace"));
}

#[test]
fn machines_get_the_exit_status_that_people_get() {
    for arguments in [
        &format!("run {BROKEN} --seeds {BROKEN_SEEDS}"),
        "run lock --seeds 1",
        "replay lock/java --seed 0",
        "check lock/java",
    ] {
        let (people, machine) = (zoocheck(arguments), zoocheck(&format!("{arguments} --format json")));
        assert_eq!(people.status, machine.status, "{arguments}");
        assert_eq!(people.status == 1, !arguments.contains("lock "), "{arguments}");
    }
}

#[test]
fn other_values_are_taken_and_told_in_the_replay_command() {
    let ran = zoocheck(&format!("run {BROKEN} --seeds {BROKEN_SEEDS} --set clients=6 --set rounds=2"));
    assert!(ran.stdout.contains("6 clients × 2 rounds"), "{}", ran.stdout);
    if ran.status == 1 {
        assert!(ran.stdout.contains("--set clients=6 --set rounds=2 --promise "), "{}", ran.stdout);
    }
}

#[test]
fn the_number_of_a_defect_can_be_asked_for() {
    let ran = zoocheck("explain s-070");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for words in
        ["S-070: in 1 variant", "lock/simple: One fixed", "it breaks no-waiter-stuck", "it takes no fault"]
    {
        assert!(ran.stdout.contains(words), "{}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    let several = zoocheck("explain S-063").stdout;
    assert!(
        several.contains("lock/release-once: ") && several.contains("a fault: lost request"),
        "{several}"
    );
    let wrong = zoocheck("explain S-7");
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("no recipe has a defect 'S-7'"), "{}", wrong.stderr);
}

#[test]
fn reports_say_what_did_not_break_what_is_not_promised_and_that_no_model_was_searched() {
    let says = |arguments: &str, words: &str| {
        let told = zoocheck(arguments).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{arguments}: {told}");
    };
    says("replay lock/java --seed 0 --promise fifo", "fifo does not break in this run");
    let measured = "one-woken-per-deletion as expected: the recipe does not promise it; it is only measured";
    says("run lock/simple --seeds 3", measured);
    let mutated = "mutate try-lock --seeds 1 --max-states 20 --occasions 1";
    says(mutated, "1 seed each, and no model: none of the recipe itself came to an end");
}
