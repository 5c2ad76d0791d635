//! Which seeds to run.

use crate::BadInput;
use std::str::FromStr;
use zk_reports::{Missing, Seeds, first_of_shard};

/// More than anybody waits for; a typing error, rather.
pub(super) const MOST_SEEDS: u64 = 1_000_000_000;

/// One seed of so many is run twice.
const TWICE_ONE_IN: u64 = 20;

/// A range of seeds, or one machine's share of it. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeedRange {
    first: u64,
    /// The first after the range.
    end: u64,
    shard: Option<Shard>,
}

/// One machine's share: the seeds that leave `index - 1` when divided by `of`, whatever the range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 1.
    pub(super) index: u64,
    pub(super) of: u64,
}

impl SeedRange {
    /// From the first to the last before `end`.
    pub(crate) fn new(first: u64, end: u64) -> Result<SeedRange, BadInput> {
        if first >= end {
            return Err(bad!("seeds {first}..{end}: there is none in it"));
        }
        if end - first > MOST_SEEDS {
            return Err(bad!("seeds {first}..{end}: at most {MOST_SEEDS} at a time"));
        }
        Ok(SeedRange { first, end, shard: None })
    }

    /// The share of one machine.
    pub(crate) fn shard(mut self, shard: Option<Shard>) -> Result<SeedRange, BadInput> {
        self.shard = shard;
        if let Some(Shard { index, of }) = shard
            && self.count() == 0
        {
            let range = format!("{}..{}", self.first, self.end);
            return Err(bad!("--shard {index}/{of}: seeds {range} leave none for it"));
        }
        Ok(self)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        let (start, step) = self.start_and_step();
        if start >= self.end { 0 } else { (self.end - start).div_ceil(step) }
    }

    /// In ascending order.
    pub(crate) fn nth(&self, index: u64) -> Option<u64> {
        let (start, step) = self.start_and_step();
        let seed = start.checked_add(index.checked_mul(step)?)?;
        (seed < self.end).then_some(seed)
    }

    /// Whether a seed is run twice, to see that it gives the same run: the first of the whole range, and one in twenty,
    /// drawn by the seed itself. So it is the same seeds however they are shared, and wherever a sweep is cut.
    pub(crate) fn is_run_twice(&self, seed: u64) -> bool {
        seed == self.first || is_drawn(seed)
    }

    /// For a report: of a sweep that got so far in this range, `next` being the first seed that it did not run.
    pub(crate) fn report(&self, next: Option<u64>, count: u64, twice: u64) -> Seeds {
        let shard = self.shard.map(|Shard { index, of }| format!("{index}/{of}"));
        let missing = next.map(|from| Missing { shard: shard.clone(), from });
        Seeds {
            first: self.first,
            end: self.end,
            shard,
            count,
            twice,
            interrupted: missing.is_some(),
            endless: false,
            missing: missing.into_iter().collect(),
        }
    }

    /// Whether it is the first share of the range, or all of it.
    pub(crate) fn is_first(&self) -> bool {
        self.shard.is_none_or(|shard| shard.index == 1)
    }

    /// The same numbers of seeds so much further on.
    pub(crate) fn ahead(self, by: u64) -> Result<SeedRange, BadInput> {
        match (self.first.checked_add(by), self.end.checked_add(by)) {
            (Some(first), Some(end)) if self.end <= MOST_SEEDS => Ok(SeedRange { first, end, ..self }),
            _ => Err(bad!("seeds {}..{}: of a day there are {MOST_SEEDS}", self.first, self.end)),
        }
    }

    /// The first seed, and the first after the range.
    pub(crate) fn ends(&self) -> (u64, u64) {
        (self.first, self.end)
    }

    fn start_and_step(&self) -> (u64, u64) {
        let Some(Shard { index, of }) = self.shard else { return (self.first, 1) };
        (first_of_shard((self.first, self.end), index, of).unwrap_or(self.end), of)
    }
}

/// Spread by a multiplicative hash, so that no shard and no stride has them all.
fn is_drawn(seed: u64) -> bool {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32).is_multiple_of(TWICE_ONE_IN)
}

impl FromStr for SeedRange {
    type Err = String;

    fn from_str(text: &str) -> Result<SeedRange, String> {
        let number = |digits: &str| {
            // Rust reads +5 as well, and who types it may mean more than 5.
            let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'));
            number.ok_or_else(|| {
                format!("'{digits}' is no seed; expected a number of seeds, or a range such as 100..200")
            })
        };
        let (first, end) = match text.split_once("..") {
            None => (0, number(text)?),
            Some((first, end)) => (number(first)?, number(end)?),
        };
        if first >= end {
            let problem = if text.contains("..") { "the range is empty" } else { "no seed at all" };
            return Err(format!("{problem}; expected a number of seeds, or a range such as 100..200"));
        }
        SeedRange::new(first, end).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> SeedRange {
        text.parse().expect(text)
    }

    impl SeedRange {
        fn iter(&self) -> impl Iterator<Item = u64> {
            (0..self.count()).filter_map(|index| self.nth(index))
        }
    }

    #[test]
    fn a_number_counts_from_zero_and_a_range_leaves_out_its_end() {
        assert_eq!(range("3").iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(range("5..7").iter().collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for bad in
            ["", "0", "5..3", "5..5", "..", "1..", "-1", "1e3", "99999999999999999999", "0..1000000001"]
        {
            bad.parse::<SeedRange>().expect_err(bad);
        }
    }

    #[test]
    fn shards_share_the_seeds_without_loss_or_double() {
        for text in ["100", "7..60", "18446744073709551000..18446744073709551615"] {
            let mut all = Vec::new();
            for index in 1..=4 {
                let share = range(text).shard(Some(Shard { index, of: 4 })).expect("a share");
                assert_eq!(share.iter().count() as u64, share.count());
                all.extend(share.iter());
            }
            all.sort();
            assert_eq!(all, range(text).iter().collect::<Vec<_>>());
        }
        range("2").shard(Some(Shard { index: 3, of: 3 })).expect_err("none is left for it");
    }

    #[test]
    fn one_seed_in_twenty_is_run_twice_and_at_least_one_of_every_sweep() {
        let twice = |range: &SeedRange| range.iter().filter(|seed| range.is_run_twice(*seed)).count();
        let many = twice(&range("10000"));
        assert!((400..600).contains(&many), "{many}");
        for first in 0..50 {
            assert!(twice(&SeedRange::new(first, first + 1).expect("one seed")) == 1);
        }
    }

    #[test]
    fn the_seeds_that_are_run_twice_are_the_same_however_they_are_shared() {
        let whole = range("7..90");
        let twice = |range: &SeedRange| range.iter().filter(|seed| range.is_run_twice(*seed)).count();
        let share = |index| whole.clone().shard(Some(Shard { index, of: 5 })).expect("a share");
        assert_eq!((1..=5).map(|index| twice(&share(index))).sum::<usize>(), twice(&whole));
    }

    #[test]
    fn seeds_of_a_day_do_not_reach_into_the_next() {
        let day = range("3..9").ahead(2 * MOST_SEEDS).expect("they fit");
        assert_eq!(day.ends(), (2_000_000_003, 2_000_000_009));
        range("999999999..1000000001").ahead(MOST_SEEDS).expect_err("they do not");
        range("5").ahead(u64::MAX).expect_err("there are no such numbers");
    }
}
