//! What can be typed behind `mutate`.

use crate::judge::JudgeFormat;
use crate::typed::whole;
use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct MutateArguments {
    /// Recipes, or programs (lock.py:worker)
    #[arg(required_unless_present = "all_right")]
    pub(super) what: Vec<String>,
    /// What a program owes: KIND=PATH, such as fair-lock=/lock; repeatable
    #[arg(long, value_name = "OWED", value_delimiter = ',', conflicts_with = "all_right")]
    pub(super) promises: Vec<String>,
    /// All that are not known to be wrong
    #[arg(long, conflicts_with = "what")]
    pub(super) all_right: bool,
    /// How many seeds each mutation is run under
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "20", value_parser = whole(1..=1_000_000u64))]
    pub(super) seeds: u64,
    /// Give up on a model after so many states
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "50000", value_parser = whole(4..=100_000_000u64))]
    pub(super) max_states: u64,
    /// How many occasions of each kind go wrong, one at a time
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "6", value_parser = whole(1..=200u8))]
    pub(super) occasions: u8,
    /// How many of a hundred are to be killed of those not equivalent
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, default_value = "97", value_parser = whole(0..=100u8))]
    pub(super) at_least: u8,
    /// How many mutations at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    pub(super) jobs: Option<u16>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: JudgeFormat,
}

impl MutateArguments {
    /// These recipes, and so many seeds; smaller models than the command's, for a test.
    pub(crate) fn of(what: &[&str], seeds: u64) -> MutateArguments {
        let what = what.iter().map(ToString::to_string).collect();
        let (max_states, occasions, at_least) = (10_000, 3, 97);
        let format = JudgeFormat::default();
        let (all_right, promises, jobs) = (false, Vec::new(), None);
        MutateArguments { what, promises, all_right, seeds, max_states, occasions, at_least, jobs, format }
    }
}
