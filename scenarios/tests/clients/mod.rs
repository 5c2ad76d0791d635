//! Clients of others on `zoocheck serve`: kazoo, and ZooKeeper's own command line client.
//!
//! A client that is not installed here is skipped with a line that says so; with `ZOOCHECK_NO_SKIP` set, as in CI,
//! that is a failure.

use crate::common::needs;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A `zoocheck serve` that leaves when it is dropped.
struct Served {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    address: String,
    control: String,
}

impl Served {
    fn start(tick_ms: &str) -> Served {
        Served::several("1", tick_ms)
    }

    /// So many servers.
    fn several(servers: &str, tick_ms: &str) -> Served {
        Served::with(&["--servers", servers, "--tick-ms", tick_ms])
    }

    fn with(arguments: &[&str]) -> Served {
        let mut process = Command::new(env!("CARGO_BIN_EXE_zoocheck"))
            .args(["serve", "--listen", "127.0.0.1:0", "--until-stdin-closes"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("zoocheck starts");
        let stdin = process.stdin.take();
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line when it is ready");
        let ready: Value = serde_json::from_str(&line).expect("JSON");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let servers = ready["servers"].as_array().expect("servers").iter();
        let address = servers.map(|server| text(&server["client"])).collect::<Vec<_>>().join(",");
        let control = text(&ready["control"]);
        Served { process, stdin, stdout, address, control }
    }

    /// Lets it leave: every invariant must have held.
    fn finish(mut self) {
        drop(self.stdin.take());
        let mut verdict = String::new();
        self.stdout.read_to_string(&mut verdict).expect("a verdict");
        let status = self.process.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{verdict}");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn python() -> Option<String> {
    needs::python("kazoo, objgraph, pytest, pytest_timeout")
}

/// Runs a script of this folder; gives what it printed.
fn run(python: &str, script: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(python).arg(folder().join(script)).args(arguments).output().expect("Python starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script}: {stdout}\n{stderr}");
    stdout.into_owned()
}

fn summary(python: &str, script: &str, served: &Served, arguments: &[&str]) -> Value {
    let text = run(python, script, &[&[&*served.address, &*served.control], arguments].concat());
    println!("{script} {arguments:?}: {text}");
    serde_json::from_str(&text).expect("a line of JSON")
}

fn struck(summary: &Value) -> u64 {
    let faults = summary["faults"].as_object().expect("by name");
    faults.values().map(|count| count.as_u64().expect("a number")).sum()
}

#[test]
fn kazoo_finds_what_it_finds_on_zookeeper() {
    let Some(python) = python() else { return };
    let served = Served::start("200");
    let done = run(&python, "basics.py", &[&served.address]);
    assert_eq!(done.lines().count(), 8, "{done}");
    served.finish();
}

#[test]
fn kazoos_lock_excludes_whoever_lives_through_crashes_drops_and_expiries() {
    let Some(python) = python() else { return };
    let served = Served::start("200");
    let summary = summary(&python, "lock_under_faults.py", &served, &["1", "25"]);
    assert_eq!(summary["violations"], serde_json::json!([]), "{summary}");
    assert_eq!(summary["stuck"], 0, "{summary}");
    assert!(summary["entered"].as_u64() >= Some(100), "{summary}");
    assert!(struck(&summary) >= 5, "nothing went wrong, so nothing was shown: {summary}");
    served.finish();
}

#[test]
fn kazoos_lock_excludes_whoever_lives_while_the_leaders_of_three_servers_crash() {
    let Some(python) = python() else { return };
    let served = Served::several("3", "200");
    let summary = summary(&python, "lock_under_faults.py", &served, &["1", "150", "leaders"]);
    assert_eq!(summary["violations"], serde_json::json!([]), "{summary}");
    assert_eq!(summary["stuck"], 0, "{summary}");
    assert!(summary["entered"].as_u64() >= Some(600), "{summary}");
    assert!(summary["faults"]["leader-crash"].as_u64() >= Some(2), "{summary}");
    served.finish();
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn kazoos_own_tests_pass_on_three_servers_and_raise_no_false_alarm() {
    let Some(python) = python() else { return };
    let super_digest = "super:D/InIHSb7yEEbrWz8b9l71RjZJU="; // as their own servers have it
    let served = Served::with(&["--servers", "3", "--list-order", "real", "--super-digest", super_digest]);
    let summary = summary(&python, "kazoos_own_tests.py", &served, &[]);
    assert_eq!(summary["failed"], serde_json::json!({}), "{summary}");
    assert!(summary["passed"].as_u64() >= Some(230) && summary["stopped"] == 3, "{summary}");
    served.finish();
}

#[test]
fn workers_that_lock_nothing_are_caught() {
    let Some(python) = python() else { return };
    let served = Served::start("200");
    let summary = summary(&python, "lock_under_faults.py", &served, &["1", "25", "no-lock"]);
    assert_ne!(summary["violations"], serde_json::json!([]), "{summary}");
    served.finish();
}

#[test]
fn kazoos_locking_queue_loses_nothing_through_crashes_drops_and_expiries() {
    let Some(python) = python() else { return };
    let served = Served::start("200");
    let summary = summary(&python, "queue_under_faults.py", &served, &["1", "100"]);
    assert_eq!(summary["lost"], serde_json::json!([]), "{summary}");
    assert_eq!(summary["violations"], serde_json::json!([]), "{summary}");
    assert_eq!(summary["finished"], true, "{summary}");
    assert!(struck(&summary) >= 3, "nothing went wrong, so nothing was shown: {summary}");
    served.finish();
}

#[test]
fn zookeepers_own_client_finds_what_it_finds_on_zookeeper() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/conform/real-zookeeper");
    let check = Command::new(&script).arg("check").output().expect("the script runs");
    if !check.status.success() {
        return needs::skip(String::from_utf8_lossy(&check.stdout).trim());
    }
    let served = Served::start("500");
    let ask = |arguments: &[&str]| {
        let output =
            Command::new(&script).arg("cli").arg(&served.address).args(arguments).output().expect("runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let says = |arguments: &[&str], part: &str| {
        let said = ask(arguments);
        assert!(said.contains(part), "{arguments:?}: {said}");
    };
    says(&["create", "/cli", "hello"], "Created /cli");
    says(&["create", "-s", "/cli/n-", "x"], "Created /cli/n-0000000000");
    says(&["get", "/cli"], "hello");
    says(&["ls", "/cli"], "[n-0000000000]");
    says(&["set", "-v", "7", "/cli", "no"], "version No is not valid");
    says(&["stat", "/cli"], "numChildren = 1");
    says(&["stat", "/cli"], "dataLength = 5");
    says(&["getAcl", "/cli"], "'world,'anyone");
    says(&["deleteall", "/cli"], "SyncConnected");
    says(&["ls", "/"], "[zookeeper]");
    served.finish();
}
