//! Judgements as a reader gets them.

use zk_reports::{
    Answer, Bounds, Catalogued, Engines, Expected, JUDGE_SCHEMA, JudgeReport, JudgedPromise, JudgedTrial,
    Judgement, Paint, Report, Verdict, judge_by_promises,
};

fn promise(name: &str, expected: Expected, model: Verdict, chaos: Verdict) -> JudgedPromise {
    let broken = if chaos == Verdict::Broken { 20 } else { 0 };
    JudgedPromise {
        name: name.into(),
        expected,
        model,
        steps: (model == Verdict::Broken).then_some(11),
        chaos,
        broken,
        broken_as_expected: if chaos == Verdict::BrokenAsExpected { 4 } else { 0 },
        first_seed: (broken > 0).then_some(3),
        assumptions: vec!["nobody sleeps".into()],
    }
}

fn report() -> JudgeReport {
    let bounds = Bounds {
        clients: 2,
        rounds: 1,
        expiries: 0,
        drops: 0,
        crashes: 0,
        pauses: 0,
        restarts: 0,
        lag: 0,
        admin: 0,
        stale_syncs: true,
        false_expiries: true,
    };
    let right = JudgedTrial {
        name: "lock".into(),
        about: "A lock.".into(),
        source: "us".into(),
        catalogued: None,
        found_by: Engines::Both,
        bounds,
        model: Judgement::Holds,
        ran_out: None,
        states: 1234,
        depth: 9,
        scenario: Vec::new(),
        promises: vec![
            promise("exclusion", Expected::Holds, Verdict::Held, Verdict::Held),
            promise("effects", Expected::Holds, Verdict::BrokenAsExpected, Verdict::BrokenAsExpected),
        ],
        wrong: Vec::new(),
        answer: Answer::Held,
    };
    let wrong = JudgedTrial {
        name: "lock/simple".into(),
        about: "A lock | with a hole.".into(),
        catalogued: Some(Catalogued {
            promise: "no-waiter-stuck".into(),
            defect: "S-070".into(),
            fault: "none".into(),
        }),
        model: Judgement::Violated,
        scenario: vec!["clients=3".into()],
        promises: vec![
            promise("no-waiter-stuck", Expected::Breaks, Verdict::Broken, Verdict::Broken),
            promise("exclusion", Expected::Either, Verdict::Held, Verdict::NeverTested),
        ],
        ..right.clone()
    };
    let bad = JudgedTrial {
        name: "lock/odd".into(),
        promises: vec![promise("no-waiter-stuck", Expected::Breaks, Verdict::Held, Verdict::Held)],
        wrong: vec!["no-waiter-stuck is broken under no seed".into()],
        answer: Answer::Broken,
        ..wrong.clone()
    };
    JudgeReport {
        schema: JUDGE_SCHEMA.into(),
        what: vec!["lock".into()],
        seeds: 200,
        max_states: 3_000_000,
        trials: vec![right, wrong, bad],
        answer: Answer::Broken,
        wall_seconds: 1.5,
    }
}

/// The cells of the row of that name.
fn row(text: &str, name: &str) -> Vec<String> {
    let row = text.lines().find(|line| line.trim_start().split("  ").next() == Some(name)).expect("a row");
    row.split("  ").map(|cell| cell.trim().to_string()).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn a_newcomer_can_read_a_judgement() {
    let text = judge_by_promises(&report(), Paint::PLAIN);
    assert_eq!(row(&text, "lock"), ["lock", "holds", "holds (1,234 states, depth 9)", "held", "agree"]);
    let known = ["S-070 breaks no-waiter-stuck", "broken in 11 steps", "20 of 200 seeds (10.0 %)", "agree"];
    assert_eq!(row(&text, "lock/simple")[1..], known);
    let effects = ["holds", "broken as expected", "broken as expected in 4 of 200 seeds (2.0 %)"];
    assert_eq!(row(&text, "effects")[1..4], effects);
    assert!(text.contains("\nlock/odd: no-waiter-stuck is broken under no seed\n"), "{text}");
    assert!(text.ends_with("3 trials in 1.50 s\nNOT as expected\n"), "{text}");
}

#[test]
fn a_search_that_ended_with_a_break_does_not_say_that_the_rest_holds() {
    let text = judge_by_promises(&report(), Paint::PLAIN);
    let of_variant = &text[text.find("lock/simple").expect("a row")..];
    assert_eq!(row(of_variant, "exclusion")[1..3], ["not broken so far", "never put to the test"]);
}

#[test]
fn markdown_is_a_table_whatever_the_texts_hold() {
    let text = report().table();
    assert!(
        text.lines().all(|line| line.starts_with('|') && line.replace("\\|", "").matches('|').count() == 6)
    );
    assert!(
        text.contains("| `lock/simple` | A lock \\| with a hole. | S-070 breaks no-waiter-stuck |"),
        "{text}"
    );
}
