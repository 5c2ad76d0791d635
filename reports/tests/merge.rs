//! Reports of shards, merged, are the report of the sweep that they share.

use serde_json::json;
use std::fs;
use zk_reports::{
    Answer, Arrow, ArrowKind, Confidence, Diagram, Failure, HerdPoint, Lane, LaneKind, Missing, Paint,
    PromiseResult, Reached, Report, SCHEMAS, SWEEP_SCHEMA, Seeds, SweepReport, Told, UNSAID, Unheard, Unit,
    Verdict, first_of_shard, merge, prepare_new_dir, prepare_report_dir, read_sweep, to_json, write_dir,
};

const RANGE: (u64, u64) = (7, 1207);

fn failure(promise: &str, seed: u64) -> Failure {
    Failure {
        seed,
        promise: promise.into(),
        digest: seed * 31,
        virtual_ns: seed,
        what: format!("in {seed}"),
        replay: format!("zoocheck replay lock --seed {seed}"),
        cause: None,
        diagram: None,
    }
}

type Is<'a> = &'a dyn Fn(u64) -> bool;

fn count(seeds: &[u64], is: Is<'_>) -> u64 {
    seeds.iter().filter(|seed| is(**seed)).count() as u64
}

fn result(name: &str, seeds: &[u64], broken: Is<'_>, expected: Is<'_>) -> PromiseResult {
    let (tested, broken) = (seeds.len() as u64, count(seeds, broken));
    let expected_count = count(seeds, expected);
    PromiseResult {
        name: name.into(),
        about: "A promise.".into(),
        verdict: Verdict::of(broken, expected_count, tested),
        tested,
        broken,
        expected: expected_count,
        assumptions: if expected_count > 0 { vec!["away".into(), "late".into()] } else { Vec::new() },
        first_expected: seeds.iter().find(|seed| expected(**seed)).map(|seed| failure(name, *seed)),
        tested_when: seeds.is_empty().then(|| "Two contend.".into()),
    }
}

/// The report of a sweep over some seeds of the range, each of which costs and breaks what its number says.
fn sweep(shard: Option<(u64, u64)>) -> SweepReport {
    let is_mine = |seed: &u64| shard.is_none_or(|(index, of)| seed % of == index - 1);
    let seeds: Vec<u64> = (RANGE.0..RANGE.1).filter(is_mine).collect();
    let count = |is: Is<'_>| count(&seeds, is);
    let result = |name: &str, broken: Is<'_>, expected: Is<'_>| result(name, &seeds, broken, expected);
    let (often, seldom) = (|seed: u64| seed.is_multiple_of(3), |seed: u64| seed == 501);
    let never = |_: u64| false;
    let mut failures = Vec::new();
    for seed in &seeds {
        // In the order of the run, which is not that of the names.
        failures.extend(often(*seed).then(|| failure("order", *seed)));
        failures.extend(seldom(*seed).then(|| failure("exclusion", *seed)));
    }
    let mut orders = 0;
    failures.retain(|failure| {
        orders += usize::from(failure.promise == "order");
        failure.promise != "order" || orders <= SweepReport::KEPT
    });
    let mut invariants = vec![result("always", &never, &never)];
    // An invariant of which only some seeds speak.
    if seeds.contains(&501) {
        invariants.push(result("now-and-then", &never, &never));
        invariants[1].tested = 1;
    }
    let mut report = SweepReport {
        regressions: Vec::new(),
        schema: SWEEP_SCHEMA.into(),
        build: "0.1.0 (0123abcd)".into(),
        what: "lock".into(),
        recipe: "lock".into(),
        about: "A lock.".into(),
        catalogued: None,
        scenario: json!({"clients": 2, "latency-ms": [0.1, 20.0]}),
        facts: vec!["2 clients".into()],
        seeds: Seeds {
            first: RANGE.0,
            end: RANGE.1,
            shard: shard.map(|(index, of)| format!("{index}/{of}")),
            count: seeds.len() as u64,
            twice: count(&|seed| seed % 20 == 7),
            interrupted: false,
            endless: false,
            missing: Vec::new(),
        },
        until_covered: None,
        answer: Answer::Held,
        virtual_seconds: 0.0,
        virtual_ns: seeds.iter().map(|seed| seed * 1_000_003).sum(),
        messages: seeds.iter().sum(),
        steps: seeds.iter().map(|seed| 2 * seed).sum(),
        digest: seeds.iter().fold(0, |sum, seed| seed.wrapping_mul(u64::MAX / 3).wrapping_add(sum)),
        wall_seconds: shard.map(|(index, _)| index as f64),
        confidence: Confidence::of([].iter(), 0),
        promises: vec![
            result("order", &often, &never),
            result("exclusion", &seldom, &never),
            result("late", &never, &|seed| seed % 5 == 1),
        ],
        invariants,
        sometimes: vec![Reached { name: "snow".into(), seeds: count(&seldom), times: 3 * count(&seldom) }],
        told: None,
        herd: Vec::new(),
        failures,
    };
    report.settle();
    report
}

type NamedReport = (String, SweepReport);

fn shards(of: u64) -> Vec<NamedReport> {
    (1..=of).map(|index| (format!("{index}/report.json"), sweep(Some((index, of))))).collect()
}

#[test]
fn shards_merged_in_any_order_are_the_whole_to_the_byte() {
    let whole = to_json(&sweep(None));
    for of in [1, 2, 3, 7, 100] {
        let mut parts = shards(of);
        assert_eq!(
            to_json(&merge(parts.clone(), false).expect("they belong together")),
            whole,
            "{of} shards"
        );
        parts.reverse();
        assert_eq!(to_json(&merge(parts.clone(), false).expect("they belong together")), whole);
        parts.rotate_left(of as usize / 2);
        assert_eq!(to_json(&merge(parts, true).expect("they belong together")), whole, "nothing is missing");
    }
}

#[test]
fn every_report_that_does_not_belong_is_named_with_what_is_wrong() {
    let refused = |change: fn(&mut Vec<NamedReport>), expected: &[&str]| {
        let mut parts = shards(3);
        change(&mut parts);
        let error = merge(parts, false).expect_err(expected[0]).to_string();
        for part in expected {
            assert!(error.contains(part), "'{part}' in {error}");
        }
        assert_eq!(error.lines().count(), 1, "{error}");
    };
    refused(
        |parts| parts[1].1.build = "0.2.0 (x)".into(),
        &["2/report.json: build: 0.2.0 (x), and not 0.1.0"],
    );
    refused(|parts| parts[2].1.what = "lock/java".into(), &["3/report.json: what: lock/java"]);
    refused(|parts| parts[2].1.scenario["clients"] = json!(3), &["scenario: clients: 3, and not 2"]);
    refused(|parts| parts[2].1.scenario["more"] = json!(3), &["3/report.json: other keys"]);
    refused(|parts| parts[1].1.seeds.end = 9000, &["2/report.json: seeds: 7..9000, and not 7..1207"]);
    refused(
        |parts| parts[1].1.seeds.shard = Some("1/3".into()),
        &["2/report.json: shard 1/3, as 1/report.json is"],
    );
    refused(
        |parts| parts[1].1.seeds.shard = Some("2/4".into()),
        &["shard 2/4, where 1/report.json is one of 3"],
    );
    refused(|parts| parts[1].1.seeds.shard = None, &["2/report.json: it is no shard"]);
    refused(|parts| drop(parts.remove(1)), &["no report of shard 2/3", "--partial"]);
    refused(|parts| parts.truncate(1), &["no report of shard 2/3, 3/3"]);
    refused(|parts| parts.clear(), &["no report"]);
}

#[test]
fn a_partial_merge_says_what_is_missing_and_is_never_held() {
    let mut parts = shards(3);
    parts.remove(1);
    let report = merge(parts, true).expect("that is allowed");
    assert_eq!(report.seeds.missing, [Missing { shard: Some("2/3".into()), from: 7 }]);
    assert_eq!((report.outcome(), report.answer), (Answer::Undecided, Answer::Broken));
    let text = report.text(zk_reports::Paint::PLAIN);
    assert!(text.contains("partial: these seeds were not run: all of shard 2/3"), "{text}");
    // Short ranges leave some shards without a seed; nobody can have run those.
    assert_eq!(first_of_shard((0, 2), 3, 4), None);
    assert_eq!(first_of_shard((u64::MAX - 2, u64::MAX), 1, 4), None);
    assert_eq!(first_of_shard((u64::MAX - 4, u64::MAX), 4, 4), Some(u64::MAX - 4));
}

#[test]
fn a_number_of_shards_that_nobody_has_is_no_endless_search() {
    let mut parts = shards(3);
    parts.truncate(1);
    parts[0].1.seeds.shard = Some(format!("1/{}", u64::MAX));
    let error = merge(parts.clone(), false).expect_err("the others are missing").to_string();
    assert!(error.contains("no report of shard 8/18446744073709551615"), "{}", &error[..200]);
    let range = RANGE.1 - RANGE.0;
    assert_eq!(merge(parts, true).expect("it is allowed").seeds.missing.len() as u64, range);
}

#[test]
fn a_report_that_somebody_has_edited_is_refused_and_not_drawn() {
    let dir = tempfile::tempdir().expect("a directory");
    let lane = |name: &str| Lane { name: name.into(), kind: LaneKind::Client };
    let mut diagram = Diagram::new(Unit::Steps, vec![lane("p0"), lane("p1")]);
    diagram.arrows.push(Arrow {
        from: 0,
        to: 1,
        sent: 0,
        arrived: None,
        kind: ArrowKind::Request,
        label: String::new(),
        paths: Vec::new(),
    });
    let mut whole = sweep(None);
    whole.failures[0].diagram = Some(diagram);
    whole.herd = vec![HerdPoint { contenders: 2, changes: 5, woken: 7, most: 2 }];
    let file = dir.path().join("report.json");
    let read = |change: &dyn Fn(&mut SweepReport)| {
        let mut edited = whole.clone();
        change(&mut edited);
        fs::write(&file, to_json(&edited)).expect("written");
        read_sweep(&file).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(read(&|_| ()), Ok(()));
    let drawn = |change: fn(&mut Diagram)| {
        let error = read(&|report| change(report.failures[0].diagram.as_mut().expect("drawn")));
        assert!(error.clone().expect_err("it is edited").contains("the diagram of seed "), "{error:?}");
    };
    drawn(|diagram| diagram.from = u64::MAX);
    drawn(|diagram| diagram.arrows[0].to = usize::MAX);
    drawn(|diagram| diagram.lanes.truncate(1));
    for point in [[u64::MAX, 1, 1, 1], [2, 0, 1, 1], [2, 9, 1, 1], [2, 1, 9, 1], [2, 1, 1, 1 << 62]] {
        let [contenders, changes, woken, most] = point;
        let error = read(&|report| report.herd = vec![HerdPoint { contenders, changes, woken, most }]);
        assert!(error.clone().is_err_and(|error| error.contains("herd: ")), "{point:?}: {error:?}");
    }
}

#[test]
fn an_interrupted_shard_keeps_the_whole_from_being_held() {
    for (nth, shard) in ["1/2", "2/2"].into_iter().enumerate() {
        let mut parts = shards(2);
        parts[nth].1.seeds.interrupted = true;
        parts[nth].1.seeds.missing = vec![Missing { shard: Some(shard.into()), from: 99 }];
        let report = merge(parts, false).expect("they belong together");
        assert!(!report.is_complete() && report.seeds.interrupted, "{shard}");
        assert_eq!(report.outcome().exit_status(), 3);
    }
}

#[test]
fn a_saved_report_is_read_as_it_was_and_without_how_long_it_took() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut report = sweep(Some((2, 3)));
    write_dir(&report, dir.path()).expect("written");
    report.wall_seconds = None;
    assert_eq!(read_sweep(dir.path()).expect("read"), report);
    assert_eq!(read_sweep(&dir.path().join("report.json")).expect("read"), report);
}

#[test]
fn a_file_that_is_no_report_of_a_sweep_is_refused_with_its_name_and_why() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("report.json");
    let refused = |text: &str, expected: &str| {
        fs::write(&file, text).expect("written");
        let error = read_sweep(dir.path()).expect_err(expected).to_string();
        assert!(error.contains("report.json: ") && error.contains(expected), "'{expected}' in {error}");
    };
    let whole = to_json(&sweep(None));
    for cut in [0, 1, whole.len() / 2, whole.len() - 3] {
        refused(&whole[..cut], "cut off");
    }
    refused("not JSON", "no JSON");
    refused("[]", "no 'schema'");
    refused("{\"schema\": 2}", "no 'schema'");
    let newer = "zoocheck-sweep/4: made by a newer zoocheck; this one reads up to zoocheck-sweep/3";
    refused("{\"schema\": \"zoocheck-sweep/4\", \"zebra\": 1}", newer);
    refused("{\"schema\": \"zoocheck-sweep/2\"}", "older zoocheck");
    refused("{\"schema\": \"zoocheck-check/2\"}", "another kind of report");
    refused("{\"schema\": \"zebra\"}", "no report of zoocheck");
    refused("{\"schema\": \"zoocheck-sweep/3\"}", "missing field");
    let with = |key: &str, value: serde_json::Value| {
        let mut report: serde_json::Value = serde_json::from_str(&whole).expect("JSON");
        report["seeds"][key] = value;
        report.to_string()
    };
    refused(&with("end", json!(7)), "there is none");
    refused(&with("count", json!(99_999)), "99999 in 7..1207");
    refused(&with("shard", json!("0/0")), "expected I/N");
    fs::remove_file(&file).expect("removed");
    let error = read_sweep(dir.path()).expect_err("it is gone").to_string();
    assert!(error.contains("cannot read the report"), "{error}");
}

#[test]
fn a_directory_with_something_in_it_is_not_written_over() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    prepare_new_dir(&out).expect("it is new");
    prepare_new_dir(&out).expect("it is empty");
    fs::write(out.join("x"), "").expect("written");
    let error = prepare_new_dir(&out).expect_err("it is full").to_string();
    assert!(error.contains("not overwritten"), "{error}");
    prepare_new_dir(&out.join("x")).expect_err("a file is in the way");
}

#[test]
fn any_report_of_this_version_is_replaced_and_none_of_a_newer_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let prepared = |schema: &str| {
        fs::write(dir.path().join("report.json"), json!({ "schema": schema }).to_string()).expect("written");
        prepare_report_dir(dir.path())
    };
    for (schema, _) in SCHEMAS {
        prepared(schema).expect(schema);
        let error = prepared(&format!("{schema}9")).expect_err(schema).to_string();
        assert!(error.contains("a newer zoocheck wrote it, and is not overwritten"), "{error}");
    }
}

/// It passed for a break that was expected.
#[test]
fn what_may_be_meant_and_what_is_told_elsewhere_leave_a_sweep_open() {
    let unsaid = || PromiseResult {
        verdict: Verdict::Undecided,
        assumptions: vec!["nobody deletes it".into(), UNSAID.into()],
        ..result("effects", &[1, 2], &|_| false, &|_| true)
    };
    let good = |name| result(name, &[1, 2], &|_| false, &|_| false);
    let held = || good("herd");
    let untested = || result("fifo", &[], &|_| false, &|_| false);
    let settled = |promises: Vec<PromiseResult>, invariants: Vec<PromiseResult>, told: Option<Told>| {
        let mut report = SweepReport { promises, invariants, told, failures: Vec::new(), ..sweep(None) };
        report.settle();
        report
    };
    let words = |report: &SweepReport| {
        let text = report.text(Paint::PLAIN);
        (report.answer, text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (answer, text) = words(&settled(vec![held(), unsaid(), untested()], Vec::new(), None));
    assert_eq!(answer, Answer::Undecided);
    let open = "undecided: only its author can say whether it is intended: effects";
    assert!(text.contains(&format!("{open}; never put to the test: fifo")), "{text}");
    assert!(text.contains("what would test fifo: Two contend."), "{text}");
    let mut report = settled(vec![held()], vec![unsaid()], None);
    let (answer, text) = words(&report);
    assert_eq!(answer, Answer::Undecided);
    assert!(text.contains(open), "{text}");
    assert_eq!(report.firsts().map(|(.., how)| how).collect::<Vec<_>>(), [Verdict::Undecided]);
    let mut explained = Vec::new();
    report.explain(|failure| {
        explained.push(failure.promise.clone());
        None
    });
    assert_eq!(explained, ["effects"]);
    let mut both = settled(vec![good("effects")], Vec::new(), None);
    both.add(settled(vec![unsaid()], Vec::new(), None));
    both.settle();
    assert_eq!((both.promises[0].verdict, both.answer), (Verdict::Undecided, Answer::Undecided));

    let told = |heard_by: u16| {
        let (word, about) = ("enters".into(), "/lck".into());
        let deaf = Unheard { word, about, is_known: true, times: 1, by: [1].into(), meant: None };
        Some(Told { heard_by: [heard_by].into(), unheard: vec![deaf] })
    };
    assert_eq!(settled(vec![held()], Vec::new(), None).answer, Answer::Held);
    let mut report = settled(vec![held()], Vec::new(), told(0));
    let (answer, text) = words(&report);
    assert_eq!(answer, Answer::Undecided);
    assert!(text.contains("undecided: nothing that p1 tells is judged"), "{text}");
    report.add(settled(vec![held()], Vec::new(), told(1)));
    report.settle();
    assert_eq!(report.answer, Answer::Held, "it is heard in another seed");
}
