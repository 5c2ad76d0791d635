//! Which seeds to run.

use crate::BadInput;
use std::str::FromStr;
use zk_reports::Seeds;

/// More than anybody waits for; a typing error, rather.
const MOST_SEEDS: u64 = 1_000_000_000;

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
    index: u64,
    of: u64,
}

impl SeedRange {
    /// From the first to the last before `end`.
    pub(crate) fn new(first: u64, end: u64) -> Result<SeedRange, BadInput> {
        if first >= end {
            return Err(BadInput::new(format!("seeds {first}..{end}: there is none in it")));
        }
        if end - first > MOST_SEEDS {
            return Err(BadInput::new(format!("seeds {first}..{end}: at most {MOST_SEEDS} at a time")));
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
            return Err(BadInput::new(format!("--shard {index}/{of}: seeds {range} leave none for it")));
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

    /// Whether a seed is run twice, to see that it gives the same run: one in twenty, drawn by the seed itself,
    /// or the first if none of them is.
    pub(crate) fn is_run_twice(&self, seed: u64) -> bool {
        is_drawn(seed) || (self.nth(0) == Some(seed) && !self.iter().any(is_drawn))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.count()).filter_map(|index| self.nth(index))
    }

    /// For a report.
    pub(crate) fn report(&self, twice: u64) -> Seeds {
        let shard = self.shard.map(|Shard { index, of }| format!("{index}/{of}"));
        Seeds { first: self.first, end: self.end, shard, count: self.count(), twice }
    }

    fn start_and_step(&self) -> (u64, u64) {
        let Some(Shard { index, of }) = self.shard else { return (self.first, 1) };
        // The first seed from `first` on that leaves index - 1.
        let ahead = (index - 1 + of - self.first % of) % of;
        (self.first.saturating_add(ahead), of)
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
            digits.parse::<u64>().map_err(|_| {
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

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, of)) if 1 <= index && index <= of && of <= MOST_SEEDS => Ok(Shard { index, of }),
            _ => Err("expected I/N with I from 1 to N, such as 2/4".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> SeedRange {
        text.parse().expect(text)
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
        for bad in ["", "3/2", "0/2", "1/0", "1", "a/b", "1/2/3", "-1/2"] {
            bad.parse::<Shard>().expect_err(bad);
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
}
