//! Cases as annotations of a build.

use crate::suite::{Outcome, Suite};
use std::fmt::Write;

/// How many breaks are annotated.
const SHOWN: usize = 10;

/// What broke as annotations: a GitHub workflow command a line.
pub fn annotations(suite: &Suite) -> String {
    let mut out = String::new();
    let broken = suite.cases.iter().filter_map(|case| match &case.outcome {
        Outcome::Broken { how, what } => Some((&case.name, how, what)),
        Outcome::Passed | Outcome::Skipped(_) | Outcome::Error { .. } => None,
    });
    for (name, how, what) in broken.take(SHOWN) {
        let title = format!("{}: {name} is {}", suite.title, suite.broken);
        let _ = writeln!(out, "::error title={}::{}", property(&title), data(&format!("{how}\n{what}")));
    }
    if let Some(why) = &suite.undecided {
        let title = format!("{}: undecided", suite.title);
        let _ = writeln!(out, "::warning title={}::{}", property(&title), data(why));
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
