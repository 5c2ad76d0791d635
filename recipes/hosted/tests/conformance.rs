//! What is said to a host, and what a host may not do: one line that names the program, within a limit.

use std::process::{Command, Stdio};
use std::time::Duration;
use zk_harness::event::ActorId;
use zk_harness::program::{Input, Life, Now, Output, Programs};
use zk_hosted::{Hosts, Limits, Start};

const NOW: Now = Now { steady_ns: 5, wall_ns: -7 };

fn life() -> Life {
    Life {
        me: ActorId { process: 2, life: 1, thread: 0 },
        clients: 3,
        rounds: 2,
        seed: 42,
        servers: vec![1, 0],
        timeout_ms: 3000,
        stands_still: 8,
        stands_still_ns: 1_000_000,
    }
}

/// A fake host that behaves so, if there is a Python.
fn host(mode: &str) -> Option<Result<Hosts, String>> {
    let python = std::env::var("ZOOCHECK_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("ZOOCHECK_NO_SKIP").is_none(), "there is no {python}");
        eprintln!("skipped: there is no {python}; ZOOCHECK_PYTHON names another");
        return None;
    }
    let fake = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake.py");
    let start = Start {
        program: "fake.py:worker".into(),
        command: [&python, fake, mode].map(String::from).to_vec(),
        environment: Vec::new(),
        preamble: Vec::new(),
    };
    // However busy the machine is, who only spins is not taken for one that hangs, nor one that is loaded for either.
    let limits = match mode {
        "spins" => {
            Limits { cpu: Duration::from_millis(500), wait: Duration::from_secs(300), ..Limits::default() }
        }
        "wakes now and then" => Limits { all: Duration::from_secs(6), ..Limits::default() },
        "hangs" | "endless frame" => Limits { wait: Duration::from_secs(5), ..Limits::default() },
        _ => Limits::default(),
    };
    Some(Hosts::start(start, limits))
}

/// What comes of a step of a host that behaves so.
fn wrong(mode: &str) -> Option<String> {
    let hosts = host(mode)?.expect("it can be loaded");
    let (mut program, _) = hosts.begin(&life(), NOW).expect("it begins");
    let line = program.step(NOW, &[]).expect_err(mode);
    let after = program.step(NOW, &[]).expect_err("it is not asked again");
    assert_eq!(after, "fake.py:worker: it has done something wrong before");
    assert_eq!(line.lines().count(), 1, "{line}");
    Some(line)
}

#[test]
fn a_program_is_told_what_happens_and_what_it_wants_is_heard() {
    let Some(hosts) = host("good") else { return };
    let hosts = hosts.expect("it can be loaded");
    assert_eq!(hosts.who(), "a fake");
    let (mut program, begun) = hosts.begin(&life(), NOW).expect("it begins");
    assert_eq!(begun.timer_ns, Some(1_000_000_005));
    assert_eq!(begun.outputs, [Output::Connect { socket: 1, server: Some(1) }]);
    let inputs = [
        Input::Connected(1),
        Input::Refused(2),
        Input::Data(1, b"hi".to_vec()),
        Input::End(1),
        Input::Done { ask: 9, accepted: true },
    ];
    let step = program.step(NOW, &inputs).expect("it answers");
    assert_eq!((step.timer_ns, step.switches), (None, 5));
    let [Output::Send { socket: 1, bytes }] = &step.outputs[..] else { panic!("{step:?}") };
    let expected = r"b'\x01\x00\x00\x00\x01\x02\x00\x00\x00\x02\x03\x00\x00\x00\x01\x00\x00\x00\x02hi\x04\x00\x00\x00\x01\x05\x00\x00\x00\t\x01'";
    assert_eq!(String::from_utf8_lossy(bytes), expected);
}

#[test]
fn a_worker_is_used_again_unless_it_cannot_end_a_life() {
    for (mode, again) in [("good", true), ("cannot end", false)] {
        let Some(hosts) = host(mode) else { return };
        let hosts = hosts.expect("it can be loaded");
        // The fake tells its process in the place of its switches.
        let process = || hosts.begin(&life(), NOW).expect("it begins").1.switches;
        let (one, other) = (process(), process());
        assert_eq!(one == other, again, "{mode}");
    }
}

#[test]
fn lives_at_a_time_have_a_worker_each() {
    let Some(hosts) = host("good") else { return };
    let hosts = hosts.expect("it can be loaded");
    let (_one, first) = hosts.begin(&life(), NOW).expect("it begins");
    let (_other, second) = hosts.begin(&life(), NOW).expect("it begins");
    assert_ne!(first.switches, second.switches);
}

#[test]
fn whoever_does_not_keep_to_the_protocol_is_told_of_in_one_line() {
    for (mode, expected) in [
        ("prints", "it writes to its stdout, which is for frames alone: 'hello, world'"),
        ("ends", "it ends in the middle, with exit status 1: it had enough"),
        ("dies", "it ends in the middle, by signal: 9 (SIGKILL)"),
        ("spins", "it spins: no answer after 0.5 s of processor time"),
        ("hangs", "it hangs: no answer after 5 s"),
        ("wakes now and then", "it hangs: no answer after 6 s"),
        ("closes", "it has closed its stdout"),
        ("unknown kind", "it writes garbage to its stdout: an answer of an unknown kind"),
        ("too short", "it writes garbage to its stdout: an answer that ends too early"),
        ("too long", "it writes garbage to its stdout: an answer with more behind its end"),
        ("no UTF-8", "it writes garbage to its stdout: a text that is not UTF-8"),
        ("another answer", "it writes garbage to its stdout: an answer that is no 'stepped'"),
        ("wrong", "it cannot be helped"),
        ("endless frame", "it hangs: no answer after 5 s"),
    ] {
        let Some(line) = wrong(mode) else { return };
        assert_eq!(line, format!("fake.py:worker: {expected}"), "{mode}");
    }
}

#[test]
fn a_program_that_cannot_be_loaded_is_told_of_before_anything_runs() {
    let Some(refused) = host("refuses") else { return };
    let line = refused.expect_err("it is refused");
    assert_eq!(line, "fake.py:worker: there is no such program");
    let start = |command: &str| Start {
        program: "x.py:worker".into(),
        command: vec![command.into()],
        environment: Vec::new(),
        preamble: b"much more than it reads".to_vec(),
    };
    let absent = Hosts::start(start("/nowhere/python"), Limits::default()).expect_err("there is none");
    assert!(absent.starts_with("x.py:worker: '/nowhere/python' cannot be started: "), "{absent}");
    let silent = Hosts::start(start("true"), Limits::default()).expect_err("it says nothing");
    assert_eq!(silent, "x.py:worker: it ends in the middle, with exit status 0");
}
