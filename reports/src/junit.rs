//! A sweep, or a run on a live ensemble, as JUnit XML, for CI systems.

use crate::live::{LivePromise, LiveReport};
use crate::sweep::{PromiseResult, SweepReport};
use crate::verdict::Verdict;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// One test case for each promise and invariant: broken is a failure that names its replay command, never put
/// to the test is skipped.
pub fn sweep_junit(report: &SweepReport) -> String {
    let mut suite = TestSuite::new(report.what.as_str());
    suite.add_property(("recipe", report.recipe.as_str()));
    let seeds = format!("{}..{}", report.seeds.first, report.seeds.end);
    suite.add_property(("seeds", seeds.as_str()));
    if let Some(shard) = &report.seeds.shard {
        suite.add_property(("shard", shard.as_str()));
    }
    if !report.is_complete() {
        suite.add_test_case(incomplete(report));
    }
    for (class, results) in [("promises", &report.promises), ("invariants", &report.invariants)] {
        for result in results {
            suite.add_test_case(case(report, class, result));
        }
    }
    let mut junit = Report::new("zoocheck");
    junit.add_test_suite(suite);
    junit.to_string().expect("writing into memory does not fail")
}

/// What a sweep that was interrupted, or of which a shard is missing, is to a CI system: an error, whatever held so far.
fn incomplete(report: &SweepReport) -> TestCase {
    let mut error = TestCaseStatus::non_success(NonSuccessKind::Error);
    error.set_message("not all seeds were run").set_type("incomplete");
    let mut case = TestCase::new("complete", error);
    case.set_classname(format!("{}.sweep", report.recipe));
    case
}

fn case(report: &SweepReport, class: &str, result: &PromiseResult) -> TestCase {
    let mut case = TestCase::new(result.name.as_str(), status(report, result));
    case.set_classname(format!("{}.{class}", report.recipe));
    if result.verdict == Verdict::BrokenAsExpected {
        case.set_system_out(format!(
            "broken as expected in {} of {} seeds: {}",
            result.expected,
            report.seeds.count,
            result.assumptions.join(", ")
        ));
    }
    case
}

fn status(report: &SweepReport, result: &PromiseResult) -> TestCaseStatus {
    match result.verdict {
        Verdict::Held | Verdict::BrokenAsExpected => TestCaseStatus::success(),
        Verdict::NeverTested => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message("never put to the test");
            skipped
        }
        Verdict::Broken => {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let count = format!("broken in {} of {} seeds", result.broken, report.seeds.count);
            let first = report.failures.iter().find(|failure| failure.promise == result.name);
            let first = first.map(|f| format!("seed {}: {}\n{}", f.seed, f.what, f.replay));
            failure.set_message(count).set_type("broken").set_description(first.unwrap_or_default());
            failure
        }
    }
}

/// The same of a run on a live ensemble. What is not judged there is skipped, as what was never put to the test.
pub fn live_junit(report: &LiveReport) -> String {
    let mut suite = TestSuite::new(report.what.as_str());
    let time = Duration::try_from_secs_f64(report.wall_seconds).unwrap_or_default();
    suite.set_time(time);
    suite.add_property(("recipe", report.recipe.as_str()));
    suite.add_property(("connect", report.connect.as_str()));
    for (class, results) in [("promises", &report.promises), ("invariants", &report.invariants)] {
        for result in results {
            let mut case = TestCase::new(result.name.as_str(), live_status(result));
            case.set_classname(format!("{}.{class}", report.recipe));
            if result.verdict == Some(Verdict::BrokenAsExpected) {
                let why = result.assumptions.join(", ");
                case.set_system_out(format!("broken as expected {} times: {why}", result.expected));
            }
            suite.add_test_case(case);
        }
    }
    let mut junit = Report::new("zoocheck");
    junit.set_time(time).add_test_suite(suite);
    junit.to_string().expect("writing into memory does not fail")
}

fn live_status(result: &LivePromise) -> TestCaseStatus {
    let skipped = |why: &str| {
        let mut skipped = TestCaseStatus::skipped();
        skipped.set_message(why);
        skipped
    };
    match result.verdict {
        Some(Verdict::Held | Verdict::BrokenAsExpected) => TestCaseStatus::success(),
        Some(Verdict::NeverTested) => skipped("never put to the test"),
        None => skipped("not judged on a live ensemble"),
        Some(Verdict::Broken) => {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let first =
                result.first.as_ref().map(|first| format!("at {:.3} s: {}", first.seconds, first.what));
            let count = format!("broken {} times", result.broken);
            failure.set_message(count).set_type("broken").set_description(first.unwrap_or_default());
            failure
        }
    }
}
