//! The real command's checks and lists, which need no simulator.

use crate::common::{command, ran, zoocheck, zoocheck_in};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use zoocheck::reports::CheckReport;

/// A variant that two clients without any fault break.
const BROKEN: &str = "lock/simple";

#[test]
fn a_check_of_the_right_recipe_holds() {
    let ran = zoocheck("check lock --clients 2");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let last = ran.stdout.lines().last().expect("a line");
    assert!(last.starts_with("holds (exhaustive, "), "{last}");
    assert!(ran.stdout.contains("bounds: 2 clients"), "{}", ran.stdout);
}

#[test]
fn every_promise_is_put_to_the_test_unless_somebody_says_otherwise() {
    let ran = zoocheck("check lock");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("put to the test"), "{}", ran.stdout);
    let less = zoocheck("check lock --no-effects");
    let last = less.stdout.lines().last().expect("a line");
    assert!(last.starts_with("undecided (exhaustive, "), "{last}");
    assert!(last.contains("never put to the test: exclusion-at-fenced-resource,"), "{last}");
    assert_eq!(less.status, 3, "as of a run");
    let report = zoocheck("check lock --no-effects --format json").json::<CheckReport>();
    let promises = report["promises"].as_array().expect("promises").iter();
    let untested = promises.filter(|promise| promise["verdict"] == "never-tested").count();
    assert_eq!((untested, &report["how"]["effects"]), (3, &false.into()));
}

/// What merges states on trust, and what is not shown to give the same verdict, finds what it finds and says nothing
/// else.
#[test]
fn a_search_that_is_not_shown_to_be_sound_never_says_holds() {
    for (words, why) in [
        ("check lock --symmetry --eager", "not shown to give the same verdict for lock: "),
        ("check lock --no-memo", "checkpoints are not audited where nothing is remembered: add --no-keys"),
    ] {
        let ran = zoocheck(&format!("{words} --clients 2 --rounds 1 --drops 0 --expiries 0 --lag 0"));
        let last = ran.stdout.lines().last().expect("a line");
        assert!(ran.status == 3 && last.starts_with("undecided") && last.contains(why), "{words}: {last}");
    }
    let ran = zoocheck("check lock --clients 2 --rounds 1 --drops 0 --expiries 0 --no-memo --no-keys");
    assert_eq!(ran.status, 0, "{}", ran.stdout);
}

/// Of a search that ended in time, and of one that did not, the last line and the exit status are those of the promise
/// that was asked for, though another is broken.
#[test]
fn with_a_promise_what_became_of_it_is_the_last_line() {
    let about = "check lock/no-recheck --clients 3 --expiries 1 --no-livelock --promise";
    let last = |more: &str| {
        let ran = zoocheck(&format!("{about} {more}"));
        (ran.status, ran.stdout.lines().last().expect("a line").to_owned())
    };
    let (status, line) = last("exclusion-among-live-sessions --max-states 10000");
    assert_eq!(status, 3, "{line}");
    let broken = "fifo, session-end-noticed";
    assert_eq!(line, format!("exclusion-among-live-sessions: undecided (states: 10000); broken: {broken}"));
    let (status, line) = last("no-waiter-stuck");
    assert_eq!(status, 0, "{line}");
    assert!(
        line.starts_with("no-waiter-stuck: holds (exhaustive, ") && line.contains("; broken: "),
        "{line}"
    );
    let (status, line) = last("fifo");
    assert!(status == 1 && line.starts_with("violated (") && line.ends_with("): fifo"), "{line}");
}

#[test]
fn a_scenario_file_stands_for_the_recipe_in_it() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("a.toml"), "recipe = \"lock/simple\"\n").expect("written");
    for (arguments, status) in [("check a.toml", 1), ("list a.toml", 0)] {
        let ran = zoocheck_in(dir.path(), arguments);
        let is_possible = cfg!(feature = "run");
        assert_eq!(ran.status, if is_possible { status } else { 2 }, "{}{}", ran.stdout, ran.stderr);
        assert!(!is_possible || ran.stdout.starts_with("lock/simple: "), "{}", ran.stdout);
    }
}

#[test]
fn a_check_of_a_wrong_variant_tells_the_steps() {
    let ran = zoocheck(&format!("check {BROKEN}"));
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("\n  1. ") || ran.stdout.contains("\n   1. "), "{}", ran.stdout);
    let report = zoocheck(&format!("check {BROKEN} --format json")).json::<CheckReport>();
    assert_eq!(report["verdict"], "violated");
    assert!(!report["steps"].as_array().expect("steps").is_empty());
}

#[test]
fn a_check_that_is_cut_short_is_undecided() {
    let ran = zoocheck("check lock --max-states 10 --format json");
    assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
    let report = ran.json::<CheckReport>();
    assert_eq!((&report["verdict"], &report["exhaustive"]), (&"undecided".into(), &false.into()));
}

#[test]
fn the_explorer_serves_the_model() {
    let mut child = command(Path::new("."))
        .args(["explore", BROKEN, "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let (_, rest) = line.split_once("http://").expect("an address");
    let (address, _) = rest.split_once('/').expect("a path");
    // It listens soon after it has said where.
    let mut stream =
        std::iter::repeat_with(|| TcpStream::connect(address)).find_map(Result::ok).expect("it listens");
    stream.write_all(b"GET /.status HTTP/1.0\r\n\r\n").expect("it reads");
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).expect("it answers");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(answer.ends_with(b" 200 OK"), "{:?}", String::from_utf8_lossy(&answer));
}

#[test]
fn everything_is_listed() {
    let ran = zoocheck_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), "list");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    for name in ["lock ", BROKEN, "exclusion-among-live-sessions"] {
        assert!(ran.stdout.contains(name), "{name}: {}", ran.stdout);
    }
    assert_eq!(ran.stdout.contains("scenarios/suite/calm.toml"), cfg!(feature = "run"), "{}", ran.stdout);
    let ran = zoocheck("list lock");
    assert!(ran.stdout.contains("source: "), "{}", ran.stdout);
}

#[test]
fn colours_are_for_terminals_and_for_who_asks_unless_nobody_wants_them() {
    let list = |variables: &[&str]| {
        let mut command = command(Path::new("."));
        let ran = ran(command.arg("list").envs(variables.iter().map(|name| (name, "1"))));
        ran.stdout.contains('\u{1b}')
    };
    assert!(!list(&[]));
    assert!(list(&["CLICOLOR_FORCE"]));
    assert!(!list(&["CLICOLOR_FORCE", "NO_COLOR"]));
}
