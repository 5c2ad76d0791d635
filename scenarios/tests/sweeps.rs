//! Sweeps shared by processes, interrupted, and put together again, byte for byte.
#![cfg(feature = "run")]

use crate::common::{Ran, command, ran, zoocheck, zoocheck_in};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use zoocheck::reports::SweepReport;

/// A variant of which chaos breaks several promises, in some of the seeds, so that failures, rates and digests are
/// compared. Looking for their turning points takes longer than the rest of a sweep.
const BROKEN: &str = "lock/fails-at-loss --redraws 1";

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Every file of two reports is the same.
fn same(dir: &Path, one: &str, other: &str) {
    let names = |report: &str| {
        let entries = fs::read_dir(dir.join(report)).expect("a report");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(one), names(other));
    for name in names(one) {
        let [a, b] = [one, other].map(|report| fs::read(dir.join(report).join(&name)).expect("a file"));
        assert!(a == b, "{}: {one} and {other} differ", name.display());
    }
}

fn refused(what: &str, ran: &Ran, expected: &[&str]) {
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{what}: {}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{what}: {}", ran.stderr);
    for part in expected {
        assert!(ran.stderr.contains(part), "{what}: '{part}' in {}", ran.stderr);
    }
}

#[test]
fn shards_run_by_processes_merge_to_the_unsharded_sweep() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let shards: Vec<Child> = (1..=4)
        .map(|index| {
            let arguments = format!("run {BROKEN} --seeds 60 --jobs 1 --shard {index}/4 --report {index}");
            let mut command = command(dir);
            command.args(arguments.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().expect("it starts")
        })
        .collect();
    let whole = zoocheck_in(dir, &format!("run {BROKEN} --seeds 60 --report whole"));
    for mut shard in shards {
        shard.wait().expect("it ends");
    }
    let merged = zoocheck_in(dir, "report 2 4 1/report.json 3 -o all");
    assert_eq!((whole.status, merged.status), (1, 1), "{}{}", merged.stdout, merged.stderr);
    same(dir, "whole", "all");
    let last = |ran: &Ran| ran.stdout.lines().last().map(String::from);
    assert_eq!(last(&whole), last(&merged), "the command that replays the first failure");

    // What does not belong together is not merged, and nothing is written for it.
    zoocheck_in(dir, &format!("run {BROKEN} --seeds 60 --shard 2/3 --report other"));
    zoocheck_in(dir, "run lock --seeds 60 --shard 2/4 --report lock");
    for (arguments, expected) in [
        ("report 1 2 3 -o x", &["no report of shard 4/4", "--partial"][..]),
        ("report 1 2 3 4 4 -o x", &["4/report.json: shard 4/4"]),
        ("report 1 2 3 4 other -o x", &["other/report.json: shard 2/3"]),
        ("report 1 lock 3 4 -o x", &["lock/report.json: what: lock"]),
        ("report 1 whole -o x", &["whole/report.json: it is no shard"]),
        ("report 1 2 3 4 -o all", &["all: cannot write the report", "not overwritten"]),
        ("report 1 2 3 4 -o 1/report.json/x", &["1/report.json/x: cannot create the directory"]),
        ("report 1 2 3 none -o x", &["none: cannot read the report"]),
        ("report", &["DIR"]),
    ] {
        refused(arguments, &zoocheck_in(dir, arguments), expected);
        assert!(!dir.join("x").exists(), "{arguments}");
    }
    same(dir, "whole", "all");
    let partial = zoocheck_in(dir, "report 1 2 4 -o some --partial");
    assert_eq!(partial.status, 3);
    assert!(partial.stdout.contains("partial: these seeds were not run: all of shard 3/4"));
    assert!(read(dir, "some/junit.xml").contains("not all seeds were run"));
    let resumed = zoocheck_in(dir, &format!("run {BROKEN} --seeds 60 --report some --resume"));
    refused("a merge", &resumed, &["some/report.json: shard: several, merged, and not none"]);
}

#[test]
fn a_saved_report_is_shown_again_and_its_files_are_made_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let first = zoocheck_in(dir, &format!("run {BROKEN} --seeds 20 --report one"));
    let before = read(dir, "one/report.json");
    let junit = read(dir, "one/junit.xml");
    fs::remove_file(dir.join("one/junit.xml")).expect("removed");
    let again = zoocheck_in(dir, "report one");
    assert_eq!(again.status, first.status);
    assert_eq!((read(dir, "one/report.json"), read(dir, "one/junit.xml")), (before.clone(), junit));
    // How long it took is not known any more, and nothing else is missing.
    let told =
        |ran: &Ran| ran.stdout.lines().filter(|l| !l.contains("virtual seconds")).map(String::from).collect();
    let (one, other): (Vec<String>, Vec<String>) = (told(&first), told(&again));
    assert_eq!(one, other);
    zoocheck_in(dir, "report one --format json").json::<SweepReport>();

    let bad = |text: &str, expected: &str| {
        fs::write(dir.join("one/report.json"), text).expect("written");
        refused(expected, &zoocheck_in(dir, "report one"), &["one/report.json: ", expected]);
        assert_eq!(read(dir, "one/report.json"), text, "nothing was overwritten");
        refused(expected, &zoocheck_in(dir, "report one -o out"), &[expected]);
        assert!(!dir.join("out").exists());
    };
    bad(&before[..before.len() / 2], "cut off");
    let newer = before.replacen("zoocheck-sweep/3", "zoocheck-sweep/4", 1);
    bad(&newer, "zoocheck-sweep/4: made by a newer zoocheck; this one reads up to zoocheck-sweep/3");
    bad("{\"schema\": \"zoocheck-judge/2\"}", "another kind of report");
}

/// Starts a sweep that takes a while, and waits until some of it is saved.
fn started(dir: &Path, seeds: u32) -> Child {
    let arguments = format!("run {BROKEN} --seeds {seeds} --jobs 2 --report part");
    let mut command = command(dir);
    command.args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    while !dir.join("part/report.json").exists() {
        std::thread::yield_now();
    }
    child
}

fn signal(child: &Child, name: &str) {
    // There is no such thing in the standard library.
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().expect("kill is there").success());
}

#[test]
fn an_interrupted_search_says_what_it_has_come_to() {
    for what in
        ["check chubby --clients 4 --lag 1 --drops 2", "check ensemble --servers 3 --txns 3 --crashes 2"]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zoocheck"))
            .args(what.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // It tells how far it is once it waits for signals.
        let mut told = [0; 1];
        child.stderr.as_mut().expect("it is piped").read_exact(&mut told).expect("it goes on for long");
        signal(&child, "-INT");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(3), "{what}: {output:?}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.ends_with("undecided (interrupted)\n") && out.contains(" states, "), "{out}");
    }
}

#[test]
fn an_interrupted_sweep_says_how_far_it_came_and_resumes_to_the_same_report() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let seeds = 400;
    for name in ["-INT", "-TERM"] {
        let _ = fs::remove_dir_all(dir.join("part"));
        let child = started(dir, seeds);
        signal(&child, name);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(out.contains("interrupted: these seeds were not run: those from "), "{out}");
        assert!(err.contains("interrupted after ") && err.contains("--resume"), "{err}");
    }
    let report: serde_json::Value = serde_json::from_str(&read(dir, "part/report.json")).expect("JSON");
    let count = report["seeds"]["count"].as_u64().expect("a number");
    assert_eq!(report["seeds"]["missing"][0]["from"].as_u64(), Some(count), "all before it were run");
    assert!(count >= 1 && count < u64::from(seeds), "{count}");

    let arguments = format!("run {BROKEN} --seeds {seeds} --report part");
    refused("again", &zoocheck_in(dir, &arguments), &["part/report.json", "did not end", "--resume"]);
    let other = zoocheck_in(dir, &format!("run {BROKEN} --seeds 9000 --report part --resume"));
    refused("other seeds", &other, &["part/report.json", "seeds: 0..400, and not 0..9000"]);
    let other = zoocheck_in(dir, &format!("{arguments} --resume --shard 1/2"));
    refused("a shard", &other, &["part/report.json", "shard: none, and not 1/2"]);

    let resumed = zoocheck_in(dir, &format!("{arguments} --resume"));
    assert_eq!(resumed.status, 1, "{}", resumed.stderr);
    assert_eq!(zoocheck_in(dir, &format!("run {BROKEN} --seeds {seeds} --report whole")).status, 1);
    same(dir, "whole", "part");
    // What has ended is not run again.
    let again = zoocheck_in(dir, &format!("{arguments} --resume"));
    assert_eq!(again.status, 1);
    same(dir, "whole", "part");
}

#[test]
fn a_sweep_that_was_killed_resumes_to_the_same_report() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let mut child = started(dir, 300);
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let resumed = zoocheck_in(dir, &format!("run {BROKEN} --seeds 300 --report part --resume"));
    assert_eq!(resumed.status, 1, "{}", resumed.stderr);
    zoocheck_in(dir, &format!("run {BROKEN} --seeds 300 --report whole"));
    // A name that says so may be left of a file that was being written.
    for entry in fs::read_dir(dir.join("part")).expect("the report") {
        let entry = entry.expect("an entry");
        if entry.file_name().to_string_lossy().ends_with(".tmp") {
            fs::remove_file(entry.path()).expect("removed");
        }
    }
    same(dir, "whole", "part");
}

#[test]
fn a_report_that_cannot_be_saved_any_more_ends_the_sweep_and_the_last_one_stays() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let child = started(dir, 100_000_000);
    // As a disk does that is taken away. The next report is due within seconds.
    fs::rename(dir.join("part"), dir.join("gone")).expect("renamed");
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(
        err.contains("part/report.json: cannot write the file") && err.contains("there is no report"),
        "{err}"
    );
    let left: serde_json::Value = serde_json::from_str(&read(dir, "gone/report.json")).expect("it is whole");
    assert_eq!(left["seeds"]["interrupted"], true);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("interrupted: these seeds were not run"), "what it found is told: {told}");
}

#[test]
fn a_folder_in_which_a_sweep_goes_on_is_left_to_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let mut child = started(dir, 100_000_000);
    for arguments in [
        format!("run {BROKEN} --seeds 100000000 --report part --resume"),
        format!("run {BROKEN} --seeds 100000000 --report part"),
        "run lock --seeds 2 --report part".into(),
    ] {
        let ran = zoocheck_in(dir, &arguments);
        refused(&arguments, &ran, &["part: another sweep is being written there"]);
    }
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    // Whoever is gone holds nothing.
    let after = zoocheck_in(dir, "run lock --seeds 2 --report part");
    refused("after it", &after, &["part/report.json: a sweep that did not end"]);
}

#[test]
fn a_folder_with_files_of_others_is_left_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let first = zoocheck_in(dir, &format!("run {BROKEN} --seeds 5 --report one"));
    assert_eq!(first.status, 1, "{}", first.stderr);
    let own = read(dir, "one/report.json");
    let newer = own.replacen("zoocheck-sweep/3", "zoocheck-sweep/4", 1);
    fs::create_dir(dir.join("other")).expect("created");
    for (file, text) in [
        ("report.json", "{\"a\": 1}"),
        ("report.json", "no JSON"),
        ("report.json", &own[..own.len() / 2]),
        ("report.json", &newer),
        ("index.html", "<h1>mine</h1>"),
        ("junit.xml", "<testsuites/>"),
        ("summary.md", "# mine"),
    ] {
        fs::write(dir.join("other").join(file), text).expect("written");
        for command in [
            "run lock --seeds 2",
            "check lock/simple",
            "judge lock/simple --seeds 2 --max-states 100",
            "check ensemble --level broadcast --crashes 0 --elections 0",
            "mutants canary --seeds 1 --max-states 0",
        ] {
            let ran = zoocheck_in(dir, &format!("{command} --report other"));
            refused(command, &ran, &[&format!("other/{file}: "), "not overwritten"]);
        }
        assert_eq!(read(dir, &format!("other/{file}")), text);
        assert_eq!(fs::read_dir(dir.join("other")).expect("it is there").count(), 1, "{file}");
        fs::remove_file(dir.join("other").join(file)).expect("it is there");
    }
    // What else is in there is nobody's business, and a report of ours is replaced.
    fs::write(dir.join("other/notes.txt"), "mine").expect("written");
    for command in ["run lock --seeds 2", "check lock/simple", "run lock --seeds 2"] {
        let ran = zoocheck_in(dir, &format!("{command} --report other"));
        assert_ne!(ran.status, 2, "{command}: {}", ran.stderr);
    }
    assert_eq!(read(dir, "other/notes.txt"), "mine");
}

#[test]
fn a_sweep_until_covered_ends_where_nothing_new_comes_whatever_the_jobs() {
    let sweep = |jobs: u32| {
        let mut report = zoocheck(&format!("run lock --until-covered 25 --jobs {jobs} --format json"))
            .json::<SweepReport>();
        report["wall_seconds"] = serde_json::Value::Null;
        report
    };
    let report = sweep(1);
    assert_eq!(report, sweep(3));
    let last = report["until_covered"]["last_new"].as_u64().expect("something was reached");
    assert_eq!(report["seeds"]["end"], last + 26);
    let short = zoocheck("run lock --until-covered 25 --seeds 20");
    assert_eq!(short.status, 3);
    assert!(short.stdout.contains("not covered: never 25 seeds"), "{}", short.stdout);
    refused("0", &zoocheck("run lock --until-covered 0"), &["'0'"]);
    refused("both", &zoocheck("run lock --until-covered 5 --shard 1/2"), &["--shard"]);
}

#[test]
fn dated_seeds_are_a_dates_own_and_the_range_that_is_told_runs_them_again() {
    let report =
        |arguments: &str| zoocheck(&format!("run lock {arguments} --format json")).json::<SweepReport>();
    let mut dated = report("--seeds 3 --fresh=2026-11-22");
    assert_eq!(dated["seeds"]["first"], 20_779_000_000_000_u64);
    let mut again = report("--seeds 20779000000000..20779000000003");
    dated["wall_seconds"] = serde_json::Value::Null;
    again["wall_seconds"] = serde_json::Value::Null;
    assert_eq!(dated, again);
    refused("no day", &zoocheck("run lock --fresh=2026-13-01"), &["2026-13-01", "expected a day"]);
    refused("seeds", &zoocheck("run lock --seeds 9..3"), &["9..3", "100..200"]);
    refused("alone", &zoocheck("run lock --resume"), &["--report"]);
    refused("no pictures", &zoocheck("run lock --redraws 1"), &["--report"]);
}

#[test]
fn the_environment_of_a_job_names_its_shard() {
    let run = |variables: &[(&str, &str)]| {
        let mut command = command(Path::new(env!("CARGO_MANIFEST_DIR")));
        for name in ["JOB_COMPLETION_INDEX", "ZOOCHECK_SHARDS", "CI_NODE_INDEX", "CI_NODE_TOTAL"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        ran(command.args(["run", "lock", "--seeds", "8", "--shard", "auto", "--format", "json"]))
    };
    let pod = run(&[("JOB_COMPLETION_INDEX", "3"), ("ZOOCHECK_SHARDS", "4")]).json::<SweepReport>();
    assert_eq!((&pod["seeds"]["shard"], &pod["seeds"]["count"]), (&"4/4".into(), &2.into()));
    let node = run(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")]).json::<SweepReport>();
    assert_eq!(node["seeds"]["shard"], "1/4");
    refused("nothing set", &run(&[]), &["--shard", "JOB_COMPLETION_INDEX"]);
    refused("no total", &run(&[("JOB_COMPLETION_INDEX", "3")]), &["ZOOCHECK_SHARDS"]);
}

#[test]
fn a_green_run_is_told_in_a_few_lines_and_in_more_if_asked() {
    let brief = zoocheck("run lock --seeds 40");
    assert_eq!(brief.status, 0, "{}", brief.stdout);
    assert!(brief.stdout.lines().count() <= 18, "{}", brief.stdout);
    assert!(brief.stdout.lines().all(|line| line.chars().count() <= 80), "{}", brief.stdout);
    assert!(brief.stdout.contains("promises: ") && brief.stdout.contains("every promise held"));
    let long = zoocheck("run lock --seeds 40 -v");
    assert!(long.stdout.lines().count() > 50, "{}", long.stdout);
    assert!(long.stdout.contains("partitions"), "{}", long.stdout);
    // One server has nobody to be cut off from.
    let alone = zoocheck("run lock --seeds 2 --set servers=1 --set observers=0 -v");
    assert!(
        !alone.stdout.contains("partitions") && alone.stdout.contains("server-crashes"),
        "{}",
        alone.stdout
    );
}
