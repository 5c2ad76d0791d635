//! When a sweep has reached what it will reach.

use std::collections::BTreeSet;
use zk_reports::{SweepReport, UntilCovered};
use zk_simulator::Run;

/// What was reached so far, and for how long nothing new was. Seeds are added in their order, without a gap.
pub(super) struct Covered {
    quiet: u64,
    at_most: u64,
    /// What was done with what: a case reached, a promise tested or broken.
    seen: BTreeSet<(&'static str, String)>,
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
        self.seen.extend(cases.map(|case| ("reached", case.name.clone())));
        for result in before.all() {
            let times = [("tested", result.tested), ("broken", result.broken), ("expected", result.expected)];
            let keys = times.into_iter().filter(|(_, times)| *times > 0);
            self.seen.extend(keys.map(|(what, _)| (what, result.name.clone())));
        }
        self.last_new = before.until_covered.as_ref().and_then(|until| until.last_new);
        self
    }

    /// Adds a run, the first of all being that of seed `first`. Whether that is enough.
    pub(super) fn add(&mut self, first: u64, run: &Run) -> bool {
        let cases = run.sometimes.iter().map(|(name, times)| ("reached", *name, *times));
        let tests = run.tested.iter().map(|(name, times)| ("tested", *name, *times));
        let what = |owed| if owed { "broken" } else { "expected" };
        let breaks = run.violations.iter().map(|it| (what(it.violated_assumption.is_none()), it.promise, 1));
        let all = cases.chain(tests).chain(breaks).filter(|(.., times)| *times > 0);
        let before = self.seen.len();
        self.seen.extend(all.map(|(what, name, _)| (what, name.to_owned())));
        if self.seen.len() > before {
            self.last_new = Some(run.seed);
        }
        let quiet = match self.last_new {
            Some(new) => run.seed - new,
            None => run.seed - first + 1,
        };
        quiet >= self.quiet
    }

    /// For a report.
    pub(super) fn report(&self, covered: bool) -> UntilCovered {
        UntilCovered { quiet: self.quiet, at_most: self.at_most, last_new: self.last_new, covered }
    }
}
