//! Cases as JUnit XML, for CI systems.

use crate::suite::{Case, Outcome, Suite};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// A test case for each case: a broken one is a failure that ends with the command that shows it again, and one of
/// which nothing is known is skipped.
pub fn junit(suite: &Suite) -> String {
    let mut out = TestSuite::new(suite.title.as_str());
    for (name, value) in &suite.properties {
        out.add_property((*name, value.as_str()));
    }
    out.add_test_cases(suite.cases.iter().map(|case| test_case(case, suite.broken)));
    let mut junit = Report::new("zoocheck");
    if let Some(time) = suite.time {
        out.set_time(time);
        junit.set_time(time);
    }
    junit.add_test_suite(out);
    let text = junit.to_string().expect("writing into memory does not fail");
    // No XML may have these in it, not even by their numbers.
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

fn test_case(case: &Case, broken: &str) -> TestCase {
    let status = match &case.outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Skipped(why) => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(why.as_str());
            skipped
        }
        Outcome::Broken { how, what } => {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failure.set_message(how.as_str()).set_type(broken).set_description(what.as_str());
            failure
        }
        Outcome::Error { kind, why } => {
            let mut error = TestCaseStatus::non_success(NonSuccessKind::Error);
            error.set_message(why.as_str()).set_type(*kind);
            error
        }
    };
    let mut out = TestCase::new(case.name.as_str(), status);
    out.set_classname(case.class.as_str());
    if let Some(aside) = &case.aside {
        out.set_system_out(aside.as_str());
    }
    out
}
