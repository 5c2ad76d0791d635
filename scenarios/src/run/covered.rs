//! When a sweep has reached what it will reach.

use std::collections::BTreeSet;
use zk_reports::{SweepReport, UntilCovered};
use zk_simulator::Run;

/// What was reached so far, and for how long nothing new was. Seeds are added in their order, without a gap.
pub(super) struct Covered {
    quiet: u64,
    at_most: u64,
    seen: BTreeSet<String>,
    last_new: Option<u64>,
}

impl Covered {
    /// Until so many seeds bring nothing new, or seed `at_most` would be next.
    pub(super) fn new(quiet: u64, at_most: u64) -> Covered {
        Covered { quiet, at_most, seen: BTreeSet::new(), last_new: None }
    }

    /// Knows what a former part of the sweep reached.
    pub(super) fn after(mut self, before: &SweepReport) -> Covered {
        let cases = before.sometimes.iter().filter(|case| case.seeds > 0);
        self.seen.extend(cases.map(|case| reached(&case.name)));
        for result in before.all() {
            let of = |n: u64, key: String| (n > 0).then_some(key);
            let keys = [
                of(result.tested, tested(&result.name)),
                of(result.broken, broken(&result.name, false)),
                of(result.expected, broken(&result.name, true)),
            ];
            self.seen.extend(keys.into_iter().flatten());
        }
        self.last_new = before.until_covered.as_ref().and_then(|until| until.last_new);
        self
    }

    /// Adds a run, the first of all being that of seed `first`. Whether that is enough.
    pub(super) fn add(&mut self, first: u64, run: &Run) -> bool {
        let cases = run.sometimes.iter().filter(|(_, times)| **times > 0).map(|(name, _)| reached(name));
        let tests = run.tested.iter().filter(|(_, times)| **times > 0).map(|(name, _)| tested(name));
        let breaks = run.violations.iter().map(|it| broken(it.promise, it.violated_assumption.is_some()));
        let before = self.seen.len();
        self.seen.extend(cases.chain(tests).chain(breaks));
        if self.seen.len() > before {
            self.last_new = Some(run.seed);
        }
        self.is_covered(first, run.seed)
    }

    fn is_covered(&self, first: u64, last: u64) -> bool {
        let quiet = match self.last_new {
            Some(new) => last - new,
            None => last - first + 1,
        };
        quiet >= self.quiet
    }

    /// For a report.
    pub(super) fn report(&self, covered: bool) -> UntilCovered {
        UntilCovered { quiet: self.quiet, at_most: self.at_most, last_new: self.last_new, covered }
    }
}

fn reached(case: &str) -> String {
    format!("reached {case}")
}

fn tested(promise: &str) -> String {
    format!("tested {promise}")
}

fn broken(promise: &str, as_expected: bool) -> String {
    format!("{} {promise}", if as_expected { "expected" } else { "broken" })
}
