//! A sweep that broke something, in which every text that a user can have chosen is hostile.

use serde_json::json;
use zk_reports::{
    Answer, Arrow, ArrowKind, Bar, BarKind, Confidence, Diagram, Failure, HerdPoint, Lane, LaneKind,
    LiveBreak, LivePromise, Point, PointKind, PromiseResult, Reached, SWEEP_SCHEMA, Seeds, SweepReport, Unit,
    Verdict,
};

/// A znode, and whatever else a user names.
pub const HOSTILE: &str =
    "/lock/</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;{{7*7}}";

/// So many events on five lanes.
pub fn diagram(events: u64) -> Diagram {
    let kinds = [LaneKind::Server, LaneKind::Client, LaneKind::Client, LaneKind::Client, LaneKind::Resource];
    let names = ["s0", "p0", "p1", "p2", "outside"];
    let lanes = names.into_iter().zip(kinds).map(|(name, kind)| Lane { name: name.into(), kind });
    let mut diagram = Diagram::new(Unit::Nanoseconds, lanes.collect());
    for nth in 0..events {
        let (lane, at) = (1 + (nth % 3) as usize, nth * nth * 1_000_000);
        let path = if nth % 5 == 0 { HOSTILE.to_string() } else { format!("/lock/n-{}", nth % 5) };
        let promise = None;
        diagram.points.push(Point {
            lanes: vec![lane],
            at,
            kind: if nth % 7 == 3 { PointKind::Fault } else { PointKind::Observed },
            who: names[lane].into(),
            what: format!("does something to {path}"),
            promise,
            paths: vec![path.clone()],
            is_cause: nth % 4 == 2,
        });
        let sides = if nth % 2 == 0 { [lane, 0] } else { [0, lane] };
        diagram.arrows.push(Arrow {
            from: sides[0],
            to: sides[1],
            sent: at,
            arrived: (nth % 4 != 1).then_some(at + 700_000),
            kind: if nth % 2 == 0 { ArrowKind::Request } else { ArrowKind::Answer },
            label: format!("create {path}"),
            paths: vec![path.clone()],
        });
        let kind = if nth % 3 == 0 { BarKind::Critical } else { BarKind::Pause };
        let until = Some(at + 2_000_000);
        diagram.bars.push(Bar { lane, from: at, until, kind, label: path.clone(), paths: vec![path] });
    }
    let at = events * events * 1_000_000;
    diagram.points.push(Point {
        lanes: vec![1, 2],
        at,
        kind: PointKind::Broken,
        who: "--".into(),
        what: format!("exclusion: p0 and p1 are both inside of {HOSTILE}"),
        promise: Some("exclusion".into()),
        paths: Vec::new(),
        is_cause: false,
    });
    diagram.up_to(at, Diagram::KEPT)
}

pub fn failure(promise: &str, seed: u64, diagram: Option<Diagram>) -> Failure {
    Failure {
        seed,
        promise: promise.into(),
        digest: 0xfedc_ba98_7654_3210,
        virtual_ns: 12_040_000_001,
        what: format!("p0 & p1 are inside:\n{HOSTILE}"),
        replay: format!("zoocheck replay '{HOSTILE}' --seed {seed}"),
        cause: None,
        diagram,
    }
}

/// So many promises, each broken, with a diagram of so many events where there may be one.
pub fn sweep(promises: u64, events: u64) -> SweepReport {
    let name = |nth: u64| if nth == 0 { "exclusion".to_string() } else { format!("promise-{nth}") };
    let result = |nth: u64| PromiseResult {
        name: name(nth),
        about: format!("Nobody enters {HOSTILE}."),
        verdict: Verdict::Broken,
        tested: 12_345,
        broken: 7,
        expected: 2,
        assumptions: vec!["nobody sleeps".into()],
        first_expected: Some(failure(&name(nth), 3, None)),
        tested_when: None,
    };
    let mut report = SweepReport {
        regressions: Vec::new(),
        schema: SWEEP_SCHEMA.into(),
        build: "0.1.0 (0123abcd)".into(),
        until_covered: None,
        virtual_ns: 1_234_500_000_000,
        steps: 200_000,
        confidence: Confidence { level: 0.95, unseen_below: 0.0003, rates: Vec::new() },
        what: "lock/simple".into(),
        recipe: "lock/simple".into(),
        about: format!("One ephemeral znode, {HOSTILE}."),
        catalogued: None,
        scenario: json!({"clients": 3}),
        facts: vec![HOSTILE.into()],
        seeds: Seeds {
            first: 0,
            end: 10_000,
            shard: None,
            count: 10_000,
            twice: 3,
            interrupted: false,
            endless: false,
            missing: Vec::new(),
        },
        answer: Answer::Broken,
        virtual_seconds: 1234.5,
        wall_seconds: Some(2.0),
        messages: 98_765,
        digest: 0,
        promises: (0..promises).map(result).collect(),
        invariants: Vec::new(),
        sometimes: vec![
            Reached { name: "answer-lost".into(), seeds: 40, times: 99 },
            Reached { name: HOSTILE.into(), seeds: 0, times: 0 },
        ],
        told: None,
        herd: (1..=6).map(|n| HerdPoint { contenders: n, changes: 10, woken: 10 * n, most: n }).collect(),
        failures: (0..100)
            .flat_map(|seed| (0..promises).map(move |nth| (seed, nth)))
            .map(|(seed, nth)| failure(&name(nth), seed, None))
            .collect(),
    };
    report.draw(|_, _| Some(diagram(events)));
    report
}

/// The result of a promise that was judged so often, or not at all.
pub fn live_promise(name: &str, broken: u64, expected: u64, tested: Option<u64>) -> LivePromise {
    let seen = || LiveBreak {
        seed: None,
        seconds: 1.25,
        what: "p0 & p1 are <inside>".into(),
        timeline: vec!["  1.250s  p0  enters".into()],
    };
    LivePromise {
        name: name.into(),
        about: format!("The {name} promise."),
        verdict: tested.map(|tested| Verdict::of(broken, expected, tested)),
        tested: tested.unwrap_or(0),
        broken,
        expected,
        assumptions: if expected > 0 { vec!["nobody sleeps".into()] } else { Vec::new() },
        first: (broken > 0).then(seen),
        first_expected: (expected > 0).then(seen),
    }
}
