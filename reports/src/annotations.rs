//! A sweep as annotations of a build.

use crate::pages::sweep_answer;
use crate::sweep::SweepReport;
use crate::verdict::{Answer, Verdict};
use crate::words::{count, seconds};
use std::fmt::Write;

/// How many breaks are annotated.
const SHOWN: usize = 10;

/// What broke as annotations: a GitHub workflow command a line.
pub fn sweep_annotations(report: &SweepReport) -> String {
    let mut out = String::new();
    let broken = report.firsts().filter(|(_, _, verdict)| *verdict == Verdict::Broken);
    for (result, failure, _) in broken.take(SHOWN) {
        let title = format!("{}: {} is broken", report.what, failure.promise);
        let message = format!(
            "{} of {} seeds break it; first {}, at {}:\n{}\n{}",
            count(result.broken),
            count(report.seeds.count),
            failure.seed,
            seconds(failure.virtual_ns),
            failure.what,
            failure.replay
        );
        let _ = writeln!(out, "::error title={}::{}", property(&title), data(&message));
    }
    if report.answer == Answer::Undecided {
        let title = format!("{}: undecided", report.what);
        let _ = writeln!(out, "::warning title={}::{}", property(&title), data(&sweep_answer(report)));
    }
    out
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// One of its properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_command_is_one_line_whatever_it_says() {
        assert_eq!(data("50 %\r\n::error::x"), "50 %25%0D%0A::error::x");
        assert_eq!(property("a: b, c\n"), "a%3A b%2C c%0A");
    }
}
