//! Client programs in real time: `zoocheck drive`, and the fixture of pytest.
//!
//! What needs kazoo says that it is skipped where there is none; with `ZOOCHECK_NO_SKIP` set, as in CI, that is a
//! failure.
#![cfg(all(feature = "serve", feature = "live"))]

use crate::common::{Ran, command, needs, ran};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zoocheck::reports::DriveReport;

fn python() -> Option<String> {
    needs::python("kazoo, pytest")
}

fn host() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recipes/hosted/python")
}

/// Drives a program, in a folder.
fn drive(folder: &Path, program: &str, words: &str) -> Ran {
    let mut command = command(folder);
    command.args(["drive", "--program", program]).args(words.split_whitespace());
    ran(command.env("PYTHONPATH", host()))
}

fn kazoo(python: &str, worker: &str) -> String {
    format!("{python} -m zoocheck_live {worker}:worker")
}

fn lives(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

#[test]
fn a_lock_that_is_none_is_broken_by_name_each_time_and_leaves_no_process() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/programs");
    // The shell is the leader of the group; Python is another of it.
    let worker = programs.join("no_lock.py").display().to_string();
    let program = format!("echo $$ >> pids; {}; echo done", kazoo(&python, &worker));
    let words = "--promises lock=/lock --seeds 1 --again 1 --clients 3 --set rounds=20 --set fault-seconds=2 --format json";
    let ran = drive(folder.path(), &program, words);
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    let report = ran.json::<DriveReport>();
    let broken = report["failures"][0]["broken"].as_array().expect("promises");
    assert!(broken.contains(&"exclusion-among-live-sessions".into()), "{report:#}");
    assert_eq!([&report["failures"][0]["again"], &report["failures"][0]["broken_again"]], [&1, &1]);
    let command = report["failures"][0]["command"].as_str().expect("a command");
    assert!(command.ends_with("--clients 3 --set rounds=20 --set fault-seconds=2"), "{command}");
    let pids = std::fs::read_to_string(folder.path().join("pids")).expect("they were told");
    assert!(pids.lines().count() >= 6 && !pids.lines().any(lives), "{pids}");
}

/// It failed, and was not started again.
#[test]
fn a_program_that_ends_itself_as_its_session_expires_is_started_again_and_has_not_failed() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/programs");
    let worker = programs.join("exits.py").display().to_string();
    let others: Vec<&str> = EVERY_FAULT.into_iter().filter(|fault| *fault != "expiries").collect();
    let words = format!("--promises lock=/lock --seeds 1 --clients 2 --format json{}", without(&others));
    let words = format!("{words} --set faults.expiries=20 --set rounds=8 --set fault-seconds=3");
    let ran = drive(folder.path(), &kazoo(&python, &worker), &words);
    let report = ran.json::<DriveReport>();
    // Where one of the two has no processor for long, the lock's other promises may not be put to the test.
    assert!([0, 3].contains(&ran.status), "{report:#}{}", ran.stderr);
    let promises = report["promises"].as_array().expect("they are told");
    let no_failure = promises.iter().find(|promise| promise["name"] == "no-failure").expect("it is owed");
    assert_eq!(no_failure["verdict"], "held", "{report:#}");
    assert!(report["faults"].as_u64() >= Some(2), "{report:#}");
}

/// Those by which kazoo's lock makes a second znode for one attempt, as it does not find its first: KAZOO.md.
const FIRST_NOT_FOUND: [&str; 6] =
    ["drops", "slow-syncs", "slow-links", "server-lags", "server-pauses", "partitions"];

#[test]
#[ignore = "in real time: kazoo's own defects show at times"]
fn kazoos_lock_holds_while_processes_die_or_stand_still_and_sessions_expire() {
    let Some(python) = python() else { return };
    let words = format!("--promises fair-lock=/lock --seeds 2 --format json{}", without(&FIRST_NOT_FOUND));
    let ran = drive(&host().join("examples"), &kazoo(&python, "lock.py"), &words);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let report = ran.json::<DriveReport>();
    assert!(report["faults"].as_u64() >= Some(3), "nothing went wrong, so nothing was shown: {report:#}");
    assert!(report["happened"]["grants"].as_u64() >= Some(20), "{report:#}");
}

/// The script that runs Curator's programs, if they are installed.
fn curator() -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recipes/hosted/java/curator");
    let check = Command::new(&script).arg("check").output().expect("the script runs");
    if !check.status.success() {
        needs::skip(String::from_utf8_lossy(&check.stdout).trim());
        return None;
    }
    Some(script.display().to_string())
}

/// As words of the command: none of these faults.
fn without(faults: &[&str]) -> String {
    faults.iter().map(|fault| format!(" --set faults.{fault}=0")).collect::<Vec<_>>().concat()
}

#[test]
#[ignore = "in real time, and with a JVM: `recipes/hosted/java/curator install` first"]
fn curators_mutex_holds_while_leaders_and_processes_crash() {
    let Some(script) = curator() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // Where a session ends while it asks, Curator may delete a path that is null: recipes/hosted/CURATOR.md.
    let faults = [&FIRST_NOT_FOUND[..], &["expiries", "client-pauses"]].concat();
    let words = format!("--promises fair-lock=/lock --seeds 1 --clients 3 --format json{}", without(&faults));
    let ran = drive(folder.path(), &format!("{script} run Mutex"), &words);
    let report = ran.json::<DriveReport>();
    assert_eq!(ran.status, 0, "{report:#}{}", ran.stderr);
    assert!(report["happened"]["grants"].as_u64() >= Some(9), "{report:#}");
}

/// What a seed may draw in this scenario, clocks and all.
const EVERY_FAULT: [&str; 14] = [
    "server-crashes",
    "slow-syncs",
    "drops",
    "slow-links",
    "expiries",
    "client-crashes",
    "client-pauses",
    "clock-skew-permille",
    "clock-jump-ms",
    "leader-crashes",
    "partitions",
    "server-pauses",
    "server-lags",
    "link-breaks",
];

#[test]
#[ignore = "in real time, and with a JVM: `recipes/hosted/java/curator install` first"]
fn curators_recipes_hold_where_nothing_fails() {
    let Some(script) = curator() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for (program, promises, status) in [
        ("Mutex", "fair-lock=/lock", 0),
        ("LeaderLatch", "fair-lock=/latch", 0),
        ("Semaphore", "lock=/semaphore", 0),
        // Of these, what is judged from outside is not what makes them what they are.
        ("DoubleBarrier", "double-barrier=/barrier --rounds 1", 3),
        ("SharedCount", "counter=/count", 3),
    ] {
        let calm = without(&EVERY_FAULT);
        let words = format!("--promises {promises} --seeds 1 --clients 3 --format json{calm}");
        let ran = drive(folder.path(), &format!("{script} run {program}"), &words);
        let report = ran.json::<DriveReport>();
        assert_eq!(ran.status, status, "{program}: {report:#}{}", ran.stderr);
        assert_eq!(report["faults"], 0, "{program}: {report:#}");
    }
}

#[test]
fn an_error_that_a_program_does_not_handle_is_shown_with_its_traceback() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let text = "def worker(client, probe):\n    probe.attempts('/lock')\n    client.get('/nowhere')\n";
    std::fs::write(folder.path().join("fails.py"), text).expect("it is written");
    let words = "--promises lock=/lock --seeds 1 --again 0 --clients 1 --set fault-seconds=1";
    let ran = drive(folder.path(), &kazoo(&python, "fails.py"), words);
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    for part in
        ["no-failure: broken", "=> p0 fails", "p0: kazoo.exceptions.NoNodeError", "BROKEN: no-failure"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

/// Two that add one each, and one is lost: no promise that is judged from outside is about that.
#[test]
fn a_counter_that_loses_additions_is_undecided_in_drive_and_fails_an_assertion_in_python() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let worker = "def worker(client, probe):\n    probe.begins('adds', '/c', 1)\n    probe.ends('has added', '/c', 1)\n";
    std::fs::write(folder.path().join("adds.py"), worker).expect("it is written");
    let words = "--promises counter=/c --seeds 1 --clients 2 --set fault-seconds=1";
    let ran = drive(folder.path(), &kazoo(&python, "adds.py"), &format!("{words}{}", without(&EVERY_FAULT)));
    assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
    let why = "undecided: what counter=/c owes of its own is not judged from outside: counts-each-once";
    assert!(ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ").ends_with(why), "{}", ran.stdout);
    let test = "
from kazoo.client import KazooClient
from zoocheck_live.serve import Serve
with Serve(promises=['counter=/c'], servers=1) as served:
    client = KazooClient(served.servers)
    client.start()
    probe = served.probe(client)
    probe.begins('adds', '/c', 1)
    probe.ends('has added', '/c', 1)
    probe.finishes()
    try:
        served.assert_held()
    except AssertionError as error:
        print(error)
    client.stop()
";
    let output = Command::new(&python)
        .args(["-c", test])
        .env("PYTHONPATH", host())
        .env("ZOOCHECK", env!("CARGO_BIN_EXE_zoocheck"))
        .output()
        .expect("Python starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let why = "what counter=/c owes of its own is not judged from outside";
    assert!(output.status.success() && stdout.contains(why), "{stdout}{output:?}");
}

#[test]
fn pytest_asserts_what_was_promised_with_the_fixture() {
    let Some(python) = python() else { return };
    let run = || {
        let output = Command::new(&python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .current_dir(host().join("examples/pytest"))
            .env("PYTHONPATH", host())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("ZOOCHECK", env!("CARGO_BIN_EXE_zoocheck"))
            .output()
            .expect("Python starts");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() && stdout.contains("2 passed") { Ok(()) } else { Err(stdout) }
    };
    // It is in real time: what a loaded machine makes of it once is no verdict.
    run().or_else(|_| run()).unwrap_or_else(|stdout| panic!("{stdout}"));
}

#[test]
fn a_program_that_cannot_be_run_is_one_line_before_anything_is_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    for (program, part) in [
        ("exit 3", "--program 'exit 3': client 0: it ended with exit status: 3 before it said anything"),
        ("echo no; exit 1", "exit status: 1 before it said anything: no"),
        ("no-such-program", "exit status: 127 before it said anything"),
    ] {
        let ran = drive(folder.path(), program, "--promises lock=/lock --seeds 1 --clients 1");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{program}: {}", ran.stderr);
        assert!(ran.stderr.contains(part) && ran.stderr.lines().count() == 1, "{program}: {}", ran.stderr);
    }
    let ran = drive(folder.path(), " ", "--promises lock=/lock");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("--program: expected a command"), "{}", ran.stderr);
    for (words, part) in [
        ("--seeds 1", "--promises"),
        ("--promises lock", "--promises: 'lock': expected KIND=PATH"),
        ("--promises lock=/a --promises lock=/b", "'lock=/a' and 'lock=/b' each owe"),
        ("--promises lock=/lock --seeds 0", "no seed at all"),
        ("--promises lock=/lock --clients 0", "from 1 to 100"),
        ("--promises lock=/lock --set clients=x", "--set clients=x"),
        ("--promises lock=/lock --scenario none.toml", "none.toml: cannot read the scenario"),
    ] {
        let ran = drive(folder.path(), "true", words);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{words}: {}", ran.stderr);
    }
}

#[test]
fn a_program_that_says_nothing_is_undecided_and_one_that_runs_on_is_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let silent =
        drive(folder.path(), "true", "--promises lock=/lock --seeds 1 --clients 2 --set fault-seconds=1");
    assert_eq!(silent.status, 3, "{}{}", silent.stdout, silent.stderr);
    assert!(silent.stdout.contains("undecided: never put to the test: exclusion-among-live-sessions"));
    let words = "--promises lock=/lock --seeds 1 --clients 2 --time-limit 1s --format json";
    let ran = drive(folder.path(), "echo $$ >> pids; sleep 1000", words);
    assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
    let report = ran.json::<DriveReport>();
    assert_eq!(report["undecided"][0]["why"], "the time limit of 1s came: client 0 has not come to its end");
    let pids = std::fs::read_to_string(folder.path().join("pids")).expect("they were told");
    assert!(pids.lines().count() >= 2 && !pids.lines().any(lives), "{pids}");
}

/// Faults wait for it, and it is not taken for one that does nothing.
#[test]
fn a_program_that_starts_slowly_is_waited_for() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/programs");
    let worker = programs.join("exits.py").display().to_string();
    let words = "--promises lock=/lock --seeds 1 --clients 2 --rounds 2 --set fault-seconds=1 --format json";
    let ran = drive(folder.path(), &format!("sleep 11; {}", kazoo(&python, &worker)), words);
    let report = ran.json::<DriveReport>();
    assert!(report["happened"]["sessions"].as_u64() >= Some(2), "{report:#}{}", ran.stderr);
}

#[test]
fn who_is_told_to_leave_leaves_no_program_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut driving = command(folder.path())
        .args([
            "drive",
            "--promises",
            "lock=/lock",
            "--clients",
            "2",
            "--program",
            "echo $$ >> pids; sleep 1000",
        ])
        .args(["--set", "faults.client-crashes=0", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let began = Instant::now();
    let pids = || std::fs::read_to_string(folder.path().join("pids")).unwrap_or_default();
    while pids().lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "nobody starts");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Two, as `timeout` sends them.
    let kill = format!("kill -TERM {0}; kill -INT {0}", driving.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh is there").success());
    assert_eq!(driving.wait().expect("it ends").code(), Some(3));
    assert!(!pids().lines().any(lives), "{}", pids());
}
