//! Dated seeds, which no other day has.

use super::seeds::{MOST_SEEDS, SeedRange};
use crate::BadInput;
use chrono::{NaiveDate, Utc};
use std::str::FromStr;

/// A day, whose seeds are its own: those that begin at a thousand million times its number since 1970. Seeds below that
/// are no day's, so that what is run on every change shares none with any date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DatedSeeds {
    day: u64,
}

impl FromStr for DatedSeeds {
    type Err = String;

    /// `2026-11-22`, or `today`, by UTC.
    fn from_str(text: &str) -> Result<DatedSeeds, String> {
        let expected = "expected a day from 1970-01-02 on, such as 2026-11-22, or today";
        let date = match text {
            "today" => Utc::now().date_naive(),
            // chrono would read 2026-1-2 as well, and who compares two commands would not.
            _ if text.len() != "2026-11-22".len() => return Err(expected.into()),
            _ => NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| expected.to_string())?,
        };
        let days = date.signed_duration_since(NaiveDate::default()).num_days();
        match u64::try_from(days) {
            Ok(day @ 1..) => Ok(DatedSeeds { day }),
            _ => Err(expected.into()),
        }
    }
}

impl DatedSeeds {
    /// As many seeds of this day as there are in a range, and in the same place.
    pub(crate) fn seeds(self, range: SeedRange) -> Result<SeedRange, BadInput> {
        range.ahead(self.day * MOST_SEEDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(day: &str, range: &str) -> (u64, u64) {
        let dated: DatedSeeds = day.parse().expect(day);
        dated.seeds(range.parse().expect(range)).expect("they fit").ends()
    }

    #[test]
    fn seeds_of_any_two_dates_are_disjoint_and_so_are_those_of_every_change() {
        let all = "1000000000";
        let days = ["1970-01-02", "2026-11-21", "2026-11-22", "2026-11-23", "2027-01-01", "9999-12-31"];
        let ranges: Vec<(u64, u64)> = days.iter().map(|day| seeds(day, all)).collect();
        assert!(ranges.iter().all(|(first, _)| *first >= MOST_SEEDS), "{ranges:?}");
        assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{ranges:?}");
    }

    #[test]
    fn dated_seeds_are_run_again_by_their_date() {
        assert_eq!(seeds("2026-11-22", "500"), (20_779_000_000_000, 20_779_000_000_500));
        assert_eq!(seeds("2026-11-22", "100..200"), (20_779_000_000_100, 20_779_000_000_200));
        let now: DatedSeeds = "today".parse().expect("there is one");
        assert!(now.day > 20_000);
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for bad in ["", "yesterday", "1969-12-31", "1970-01-01", "2026-13-01", "2026-1-2", "2026-11-22Z"] {
            bad.parse::<DatedSeeds>().expect_err(bad);
        }
    }
}
