//! Client programs in real time: the page, its JSON and JUnit.

use crate::sample::live_promise;
use zk_reports::{
    Answer, DRIVE_SCHEMA, DriveFailure, DriveReport, DriveUndecided, Happened, Paint, Report, Verdict,
    annotations, junit, to_json,
};

fn report() -> DriveReport {
    let mut exclusion = live_promise("exclusion", 1, 0, Some(9));
    exclusion.first.iter_mut().for_each(|first| first.seed = Some(7));
    DriveReport {
        schema: DRIVE_SCHEMA.into(),
        program: "java -jar mine.jar".into(),
        owed: vec!["lock=/lock".into()],
        servers: 3,
        clients: 5,
        rounds: 2,
        session_timeout_ms: 1500,
        fault_seconds: 15,
        seeds: 20,
        answer: Answer::Broken,
        wall_seconds: 90.0,
        faults: 31,
        happened: Happened {
            sessions: 130,
            sessions_lost: 12,
            grants: 200,
            writes: 400,
            ..Happened::default()
        },
        promises: vec![exclusion, live_promise("fifo", 0, 0, None)],
        invariants: vec![live_promise("session-fifo", 0, 0, Some(3)), live_promise("no-spin", 0, 0, Some(0))],
        failures: vec![DriveFailure {
            seed: 7,
            broken: vec!["exclusion".into()],
            again: 2,
            broken_again: 1,
            command: "zoocheck drive --seeds 7..8".into(),
            output: vec!["p1: Traceback".into()],
        }],
        undecided: vec![DriveUndecided {
            seed: 9,
            why: "the time limit came".into(),
            command: "zoocheck drive --seeds 9..10".into(),
        }],
        unjudged: Vec::new(),
        interrupted: None,
    }
}

#[test]
fn a_newcomer_can_read_that_it_is_not_deterministic_and_what_was_tried_again() {
    let text = report().text(Paint::PLAIN);
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = squeeze(&text);
    for part in [
        "java -jar mine.jar: owes lock=/lock",
        "in real time, which is not deterministic: a seed fixes only the faults, and a rerun may end differently",
        "5 clients × 2 rounds, 3 servers, session timeout 1,500 ms, faults for 15 s a seed",
        "fifo not judged on a live ensemble not counted",
        "invariants at the servers: 1 held, 0 broken, 1 never put to the test",
        "first in seed 7, at 1.250 s",
        "=> p0 & p1 are <inside>",
        "seed 7 broke exclusion; tried again 2 times, broken 1 time zoocheck drive --seeds 7..8",
        "the last lines of a program that failed: p1: Traceback",
        "seed 9 came to no end: the time limit came zoocheck drive --seeds 9..10",
    ] {
        assert!(found.contains(part), "{part}: {text}");
    }
    assert!(text.ends_with("BROKEN: exclusion\n"), "{text}");
    assert!(report().html().contains("p0 &#38; p1 are &#60;inside&#62;"));
    let less = DriveReport { answer: Answer::Undecided, ..report() };
    assert!(less.text(Paint::PLAIN).ends_with("undecided: 1 seed came to no end\n"));
    let promises =
        vec![live_promise("no-failure", 0, 2, Some(3)), live_promise("counts-each-once", 0, 0, None)];
    let unjudged =
        DriveReport { unjudged: vec!["counter=/c".into()], undecided: Vec::new(), promises, ..less.clone() };
    let why = "what counter=/c owes of its own is not judged from outside: counts-each-once";
    assert!(squeeze(&unjudged.text(Paint::PLAIN)).ends_with(&format!("undecided: {why}")));
    assert!(annotations(&unjudged.suite().expect("it has cases")).contains(why));
    let held = DriveReport { answer: Answer::Held, unjudged: Vec::new(), ..unjudged };
    let said = "every judged promise held, but for what was broken as expected; not judged from outside: counts-each-once";
    assert!(squeeze(&held.text(Paint::PLAIN)).ends_with(said), "{}", held.text(Paint::PLAIN));
    let cut = DriveReport { interrupted: Some("it was interrupted by SIGINT".into()), ..less };
    assert!(cut.text(Paint::PLAIN).ends_with("undecided: it was interrupted by SIGINT\n"));
}

#[test]
fn it_is_read_back_as_it_was_and_junit_has_a_case_for_each_live_promise() {
    assert_eq!(serde_json::from_str::<DriveReport>(&to_json(&report())).expect("a report"), report());
    let junit = junit(&report().suite().expect("it has cases"));
    assert!(junit.contains(r#"tests="4" skipped="2" errors="0" failures="1""#), "{junit}");
}

#[test]
fn results_of_two_runs_are_one_with_the_first_break_of_each_kind() {
    let held = live_promise("exclusion", 0, 0, Some(4)).with(live_promise("exclusion", 0, 0, Some(5)));
    assert_eq!((held.verdict, held.tested), (Some(Verdict::Held), 9));
    let broken = live_promise("exclusion", 0, 2, Some(4)).with(live_promise("exclusion", 1, 1, Some(5)));
    assert_eq!((broken.verdict, broken.broken, broken.expected), (Some(Verdict::Broken), 1, 3));
    assert!(broken.first.is_some() && broken.first_expected.is_some());
    assert_eq!(broken.assumptions, ["nobody sleeps"]);
    assert_eq!(live_promise("fifo", 0, 0, None).with(live_promise("fifo", 0, 0, None)).verdict, None);
}
