//! Sweeps over runs that are made up, so that every verdict can be had.

use super::*;
use crate::trial_list::Trials;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use zk_harness::promise::Assumption;
use zk_reports::{Answer, Verdict};
use zk_simulator::RunViolation;

fn target() -> Target {
    let catalogue = Trials::built_in();
    Target::resolve(&catalogue, catalogue.trials()[0].about.name, None).expect("it is there")
}

/// The first promise of the target.
fn promise() -> &'static str {
    target().trial.owed()[0].name()
}

/// A run that tested everything and broke nothing.
fn good(seed: u64) -> Run {
    Run {
        seed,
        digest: seed * 1000,
        virtual_ns: 2_000_000_000,
        messages: 10,
        steps: 20,
        deviations: 0,
        disk_ops: 0,
        replay_error: None,
        ordered: Vec::new(),
        redrawn: None,
        visible: Vec::new(),
        tested: target().trial.owed().iter().map(|promise| (promise.name(), 3)).collect(),
        violations: Vec::new(),
        sometimes: [("answer-lost", seed % 2), ("snow", 0)].into(),
        trace: Vec::new(),
        timeline: Vec::new(),
        choices: BTreeMap::new(),
        herd: BTreeMap::new(),
        granted: 0,
        crossings: Vec::new(),
        told: zk_harness::heard::Told::default(),
    }
}

fn broken(seed: u64, violated_assumption: Option<Assumption>) -> Run {
    let at_ns = 7_000_000;
    let violations = vec![RunViolation {
        promise: promise(),
        at_ns,
        what: "p0 and p1 are inside".into(),
        violated_assumption,
    }];
    Run { violations, ..good(seed) }
}

fn swept(seeds: u64, jobs: usize, one: One<'_>) -> SweepReport {
    let seeds = SeedRange::new(0, seeds).expect("there are some");
    let mut each = |_: &SoFar<'_>| ControlFlow::Continue(());
    sweep_over(&target(), &seeds, &How { jobs, ..How::default() }, one, &mut each).expect("nothing panics")
}

/// However its lines are broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_sweep_in_which_all_was_tested_and_nothing_broke_has_held() {
    let report = swept(40, 2, &|seed, _| good(seed));
    assert_eq!(report.answer, Answer::Held);
    assert_eq!((report.virtual_seconds, report.messages), (80.0, 400));
    assert_eq!(report.promise(promise()).expect("there").tested, 120);
    let lost = report.sometimes.iter().find(|case| case.name == "answer-lost").expect("there");
    assert_eq!((lost.seeds, lost.times), (20, 20));
    let text = report.to_string();
    let missed = words(text.split_once("never reached\n").expect("some are not").1);
    assert!(missed.contains("snow"), "{text}");
    assert!(missed.contains("answer lost after commit"), "what the faults could lead to is missed: {text}");
    assert!(text.ends_with("every promise held\n"), "{text}");
}

#[test]
fn the_report_does_not_depend_on_the_number_of_jobs() {
    // Later seeds are done first.
    let one = |seed: u64, _: bool| {
        let mut run = if seed % 7 == 3 { broken(seed, None) } else { good(seed) };
        for _ in 0..(100 - seed) * 1000 {
            run.steps = std::hint::black_box(run.steps);
        }
        run
    };
    let by = |jobs| SweepReport { wall_seconds: None, ..swept(100, jobs, &one) };
    let alone = by(1);
    assert_eq!(alone, by(4));
    assert_eq!(alone.failures.first().map(|failure| failure.seed), Some(3));
    assert!(alone.failures.is_sorted_by_key(|failure| failure.seed));
    assert_eq!(alone.digest, (0..100).map(|seed| seed * 1000).sum::<u64>());
}

#[test]
fn a_broken_promise_is_told_with_its_first_seed_and_replay_as_the_last_line() {
    let report = swept(20, 2, &|seed, _| if seed >= 11 { broken(seed, None) } else { good(seed) });
    assert_eq!(report.answer.exit_status(), 1);
    assert_eq!(report.promise(promise()).expect("there").broken, 9);
    let text = report.to_string();
    assert!(text.contains("BROKEN in 9 of 20 seeds"), "{text}");
    assert!(text.contains("first in seed 11, at 0.007 s"), "{text}");
    assert!(text.lines().last().expect("a line").contains(" --seed 11 --promise "), "{text}");
}

#[test]
fn a_break_that_is_expected_is_told_with_its_rate_and_assumption() {
    let violated_assumption = Some(Assumption::NoAdministrator);
    let report =
        swept(10, 1, &|seed, _| if seed == 4 { broken(seed, violated_assumption) } else { good(seed) });
    assert_eq!(report.answer, Answer::Held);
    let result = report.promise(promise()).expect("there");
    assert_eq!(result.verdict, Verdict::BrokenAsExpected);
    assert_eq!(result.first_expected.as_ref().map(|failure| failure.seed), Some(4));
    assert!(report.failures.is_empty());
    let text = report.to_string();
    assert!(words(&text).contains("as expected: this assumption failed: no administrator"), "{text}");
    assert!(text.contains("broken as expected in 1 of 10 seeds (10.0 %)"), "{text}");
}

#[test]
fn a_promise_that_was_never_tested_is_not_held() {
    let one = |seed: u64, _: bool| {
        let mut run = good(seed);
        run.tested.insert(promise(), 0);
        run
    };
    let report = swept(10, 1, &one);
    assert_eq!(report.answer.exit_status(), 3);
    assert_eq!(report.promise(promise()).expect("there").verdict, Verdict::NeverTested);
    assert!(report.to_string().ends_with(&format!("never put to the test: {}\n", promise())));
}

#[test]
fn a_broken_invariant_breaks_the_sweep() {
    let one = |seed: u64, _: bool| {
        let mut run = good(seed);
        run.tested.insert("acknowledged-writes-survive", 1);
        let what = "1:7 is gone".into();
        run.violations.push(RunViolation {
            promise: "acknowledged-writes-survive",
            at_ns: 1,
            what,
            violated_assumption: None,
        });
        run
    };
    let report = swept(1, 1, &one);
    assert_eq!(report.answer, Answer::Broken);
    assert_eq!(report.invariants[0].name, "acknowledged-writes-survive");
}

#[test]
fn a_hidden_source_of_chance_is_caught() {
    let hidden = AtomicU64::new(0);
    let one = |seed: u64, trace: bool| {
        let chance = hidden.fetch_add(1, Ordering::Relaxed);
        let lines = vec!["0.000s p0 Observed hello".to_string(), format!("0.001s p0 Observed {chance}")];
        Run { digest: chance, trace: if trace { lines } else { Vec::new() }, ..good(seed) }
    };
    let report = swept(3, 2, &one);
    assert_eq!(report.answer, Answer::Broken);
    let failure = &report.failures[0];
    assert_eq!(failure.promise, "determinism");
    assert!(failure.what.contains("first differed here:\n  0.001s p0 Observed"), "{}", failure.what);
    assert!(report.to_string().contains("BROKEN: determinism"));
}

#[test]
fn a_panic_of_the_simulator_names_its_seed() {
    let seeds = SeedRange::new(0, 30).expect("there are some");
    let one = |seed: u64, _: bool| if seed == 5 { panic!("no such queue") } else { good(seed) };
    let mut each = |_: &SoFar<'_>| ControlFlow::Continue(());
    let swept = sweep_over(&target(), &seeds, &How { jobs: 3, ..How::default() }, &one, &mut each);
    let error = swept.expect_err("it panics").to_string();
    assert!(error.contains("seed 5: the simulator itself has failed: no such queue"), "{error}");
}

/// One part after the other, each cut after so many seeds: what they come to.
fn in_parts(seeds: &SeedRange, cuts: &[u64], until_covered: Option<u64>, one: One<'_>) -> SweepReport {
    let mut before = None;
    for cut in cuts.iter().map(|cut| Some(*cut)).chain([None]) {
        let how = How { jobs: 3, log: false, until_covered, before };
        let mut each = |so_far: &SoFar<'_>| match cut {
            Some(cut) if so_far.done >= cut => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let report = sweep_over(&target(), seeds, &how, one, &mut each).expect("nothing panics");
        if let Some(cut) = cut {
            let next = seeds.nth(cut).expect("a seed is left");
            assert_eq!(report.seeds.missing.first().map(|missing| missing.from), Some(next));
            assert!(report.seeds.interrupted && report.seeds.count == cut);
            assert_eq!(report.outcome(), Answer::Undecided);
        }
        before = Some(report);
    }
    SweepReport { wall_seconds: None, ..before.expect("there is one") }
}

fn mixed(seed: u64) -> Run {
    match seed % 7 {
        3 => broken(seed, None),
        5 => broken(seed, Some(Assumption::NoAdministrator)),
        _ => good(seed),
    }
}

#[test]
fn a_sweep_that_was_interrupted_anywhere_ends_as_if_it_had_not_been() {
    let shard = "2/3".parse().expect("a shard");
    for shard in [None, Some(shard)] {
        let seeds = SeedRange::new(4, 300).and_then(|seeds| seeds.shard(shard)).expect("there are some");
        let one = |seed: u64, _: bool| mixed(seed);
        let whole = in_parts(&seeds, &[], None, &one);
        assert!(whole.is_complete() && whole.answer == Answer::Broken);
        for cuts in [&[1][..], &[50], &[1, 2, 3, 70], &[98]] {
            let resumed = in_parts(&seeds, cuts, None, &one);
            assert_eq!(zk_reports::to_json(&resumed), zk_reports::to_json(&whole), "{cuts:?}");
        }
    }
}

#[test]
fn shards_come_together_to_the_bytes_of_the_whole() {
    let one = |seed: u64, _: bool| mixed(seed);
    let range = || SeedRange::new(5, 900).expect("there are some");
    let whole = in_parts(&range(), &[], None, &one);
    let share = |index: u64| {
        let shard = format!("{index}/4").parse().expect("a shard");
        let seeds = range().shard(Some(shard)).expect("there are some");
        (format!("{index}"), in_parts(&seeds, &[3], None, &one))
    };
    let merged = zk_reports::merge([3, 1, 4, 2].map(share).into(), false).expect("they belong together");
    assert_eq!(zk_reports::to_json(&merged), zk_reports::to_json(&whole));
}

#[test]
fn a_sweep_until_covered_ends_at_the_same_seed_with_any_number_of_jobs_and_after_any_interruption() {
    // Something new comes with seeds 0, 30 and 77.
    let one = |seed: u64, _: bool| {
        let mut run = good(seed);
        run.sometimes.insert("answer-lost", 0);
        run.sometimes.insert("thunder", u64::from(seed == 30));
        run.sometimes.insert("snow", u64::from(seed == 77));
        run
    };
    let seeds = SeedRange::new(0, 1000).expect("there are some");
    let until = |quiet, jobs| {
        let how = How { jobs, until_covered: Some(quiet), ..How::default() };
        let mut each = |_: &SoFar<'_>| ControlFlow::Continue(());
        let report = sweep_over(&target(), &seeds, &how, &one, &mut each).expect("nothing panics");
        SweepReport { wall_seconds: None, ..report }
    };
    let report = until(50, 1);
    assert_eq!((report.seeds.end, report.seeds.count), (128, 128), "seed 77, and fifty without anything new");
    let told = report.until_covered.clone().expect("it was asked for");
    assert_eq!((told.last_new, told.covered, told.at_most), (Some(77), true, 1000));
    assert!(report.is_complete() && report.answer == Answer::Held);
    assert_eq!(report, until(50, 4));
    assert_eq!(report, in_parts(&seeds, &[3, 60, 100], Some(50), &one));
    assert_eq!(until(40, 2).seeds.end, 71, "thunder came in time, snow did not");
    let never = until(5000, 2);
    assert!(!never.until_covered.as_ref().expect("it was asked for").covered);
    assert_eq!((never.answer, never.seeds.count), (Answer::Undecided, 1000));
}

/// The first of both was the only one that counted.
#[test]
fn a_break_that_is_owed_counts_beside_one_of_the_same_promise_that_is_expected() {
    let one = |seed: u64, _: bool| {
        let mut run = broken(seed, Some(Assumption::NoAdministrator));
        run.violations.extend(broken(seed, None).violations);
        run
    };
    let report = swept(3, 1, &one);
    let result = report.promise(promise()).expect("there");
    assert_eq!((report.answer, result.broken, result.expected), (Answer::Broken, 3, 3));
}

#[test]
fn what_is_broken_unless_that_was_meant_leaves_a_sweep_undecided() {
    let violated = Some(Assumption::NobodyMeantToWait);
    let report = swept(4, 1, &|seed, _| if seed == 2 { broken(seed, violated) } else { good(seed) });
    assert_eq!(report.answer, Answer::Undecided);
    assert_eq!(report.promise(promise()).expect("there").verdict, Verdict::Undecided);
}

#[test]
fn a_promise_that_one_of_two_equal_runs_breaks_is_caught() {
    let runs = AtomicU64::new(0);
    let one = |seed: u64, _: bool| {
        let is_first = runs.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first { good(seed) } else { broken(seed, None) }
    };
    let report = swept(1, 1, &one);
    assert_eq!(report.broken().collect::<Vec<_>>(), ["determinism"]);
    assert!(report.failures[0].what.contains("came to different verdicts"), "{:?}", report.failures);
}

#[test]
fn what_is_put_to_the_test_or_broken_for_the_first_time_is_new() {
    let last_new = |odd: &dyn Fn(&mut Run)| {
        let mut covered = Covered::new(5, 100);
        for seed in 0..9 {
            let mut run = good(seed);
            run.sometimes.clear();
            run.tested.insert(promise(), 0);
            if seed == 3 {
                odd(&mut run);
            }
            covered.add(0, &run);
        }
        covered.report(false).last_new
    };
    assert_eq!(last_new(&|_| ()), Some(0));
    let tests = |run: &mut Run| {
        run.tested.insert(promise(), 1);
    };
    assert_eq!(last_new(&tests), Some(3));
    for violated in [None, Some(Assumption::NoAdministrator)] {
        assert_eq!(last_new(&|run| run.violations = broken(3, violated).violations), Some(3));
    }
}
