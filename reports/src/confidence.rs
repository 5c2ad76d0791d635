//! How much confidence a number of seeds gives.

use crate::verdict::PromiseResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::function::beta::inv_beta_reg;

/// How much confidence a sweep gives, as far as seeds can give any. Rates are shares of all seeds, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// The confidence level: 0.95.
    pub level: f64,
    /// Whatever breaks in at least this share of all seeds would have been seen here, at this level.
    pub unseen_below: f64,
    /// How often each promise that broke does break.
    pub rates: Vec<Rate>,
}

/// How often a promise breaks where it is owed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The promise or invariant.
    pub promise: String,
    /// The smallest share of seeds that is compatible with this sweep at this level.
    pub low: f64,
    /// The largest such share.
    pub high: f64,
    /// After a fix, this many other seeds without a break leave a chance of at most 1 - `level` that the bug is still
    /// there and has not shown, if it breaks as often as `low`.
    pub green_seeds: u64,
}

const LEVEL: f64 = 0.95;

impl Confidence {
    /// The confidence that `seeds` seeds give in these results.
    ///
    /// Source: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    /// Biometrika 26 (1934), for the interval; the chance of no break in n seeds, (1 - rate)^n, for the rest.
    pub fn of<'a>(results: impl Iterator<Item = &'a PromiseResult>, seeds: u64) -> Confidence {
        // More breaks than seeds: a report that somebody has edited.
        let broken = results.filter(|result| (1..=seeds).contains(&result.broken));
        let rates = broken.map(|result| {
            let (low, high) = interval(result.broken, seeds);
            Rate { promise: result.name.clone(), low, high, green_seeds: green_seeds(low) }
        });
        Confidence { level: LEVEL, unseen_below: unseen_below(seeds), rates: rates.collect() }
    }
}

/// The exact interval for `hits` of `of`, at least one.
fn interval(hits: u64, of: u64) -> (f64, f64) {
    let tail = (1.0 - LEVEL) / 2.0;
    let (hits, of) = (hits as f64, of as f64);
    let low = inv_beta_reg(hits, of - hits + 1.0, tail);
    let high = if hits < of { inv_beta_reg(hits + 1.0, of - hits, 1.0 - tail) } else { 1.0 };
    (rounded(low), rounded(high))
}

/// The rate that shows in so many seeds with the level's likelihood: 3/n, nearly.
fn unseen_below(seeds: u64) -> f64 {
    if seeds == 0 {
        return 1.0;
    }
    // 1 - (1 - level)^(1/n), without losing what is near 1.
    rounded(-((1.0 - LEVEL).ln() / seeds as f64).exp_m1())
}

/// How many seeds a rate does not spare with the level's likelihood.
fn green_seeds(rate: f64) -> u64 {
    if rate >= 1.0 {
        return 1;
    }
    ((1.0 - LEVEL).ln() / (-rate).ln_1p()).ceil().max(1.0) as u64
}

/// Four digits that count: more would be noise, and the last ones another machine's.
fn rounded(rate: f64) -> f64 {
    format!("{rate:.3e}").parse().expect("it was a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 0.002 * other
    }

    #[test]
    fn the_interval_is_that_of_the_tables() {
        // From published tables of exact binomial limits.
        for (hits, of, low, high) in [
            (1, 10, 0.002_529, 0.445),
            (5, 10, 0.1871, 0.8129),
            (10, 10, 0.6915, 1.0),
            (12, 1000, 0.006_216, 0.020_87),
        ] {
            let found = interval(hits, of);
            assert!(near(found.0, low) && near(found.1, high), "{hits} of {of}: {found:?}");
        }
    }

    #[test]
    fn limits_are_where_the_binomial_tails_are_a_fortieth() {
        // By adding up the tails, which shares nothing with the beta function.
        let tail = |n: u64, from: u64, rate: f64| -> f64 {
            let term = |k: u64| {
                let choose: f64 = (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product();
                choose * rate.powi(k as i32) * (1.0 - rate).powi((n - k) as i32)
            };
            (from..=n).map(term).sum()
        };
        for (hits, of) in [(1, 7), (3, 40), (37, 40), (20, 60)] {
            let (low, high) = interval(hits, of);
            // Four digits of a rate near 1 are few of its distance from there.
            let is_fortieth = |tail: f64| (tail - 0.025).abs() < 0.000_5;
            assert!(is_fortieth(tail(of, hits, low)), "{hits} of {of}: {low}");
            assert!(is_fortieth(1.0 - tail(of, hits + 1, high)), "{hits} of {of}: {high}");
        }
    }

    #[test]
    fn a_green_sweep_bounds_what_it_has_not_seen() {
        assert!(near(unseen_below(1000), 0.002_991), "three in a thousand, nearly");
        assert!(near(unseen_below(1), 0.95));
        assert_eq!(unseen_below(0), 1.0);
        assert!(near(unseen_below(1_000_000_000), 2.996e-9));
    }

    #[test]
    fn so_many_green_seeds_leave_a_twentieth_and_one_less_leaves_more() {
        for rate in [0.5, 0.01, 0.0062, 1e-6] {
            let seeds = green_seeds(rate) as f64;
            assert!((1.0 - rate).powf(seeds) <= 0.05 && (1.0 - rate).powf(seeds - 1.0) > 0.05, "{rate}");
        }
        assert_eq!(green_seeds(1.0), 1);
    }

    #[test]
    fn only_what_broke_where_it_was_owed_has_a_rate() {
        let result = |name: &str, broken, expected| PromiseResult {
            name: name.into(),
            about: String::new(),
            verdict: Verdict::of(broken, expected, 1),
            tested: 1,
            broken,
            expected,
            assumptions: Vec::new(),
            first_expected: None,
            tested_when: None,
        };
        let results = [result("a", 0, 4), result("b", 2, 0), result("c", 0, 0)];
        let confidence = Confidence::of(results.iter(), 100);
        assert_eq!(confidence.rates.len(), 1);
        assert_eq!(confidence.rates[0].promise, "b");
    }
}
