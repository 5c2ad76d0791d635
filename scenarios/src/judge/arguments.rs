//! What can be typed behind `judge`.

use crate::output::Format;
use crate::typed::whole;
use clap::{Args, ValueEnum};
use zk_reports::Report;
use zk_simulator::MOST_CLIENTS;

/// Where a search gives up unless somebody says otherwise.
pub(crate) const MAX_STATES: u64 = 3_000_000;

#[derive(Args, Debug)]
pub(crate) struct JudgeArguments {
    /// Recipes and variants; lock stands for lock and all lock/… [default: all]
    pub(crate) what: Vec<String>,
    /// How many seeds each is run under
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "100", value_parser = whole(1..=1_000_000u64))]
    pub(crate) seeds: u64,
    /// Give up on a model after so many states
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = MAX_STATES, value_parser = whole(1..=1_000_000_000u64))]
    pub(crate) max_states: u64,
    /// Run them in this file's scenario instead of the default one
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<String>,
    /// How many trials at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    pub(crate) jobs: Option<u16>,
    /// Write index.html, report.json, junit.xml and summary.md there
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<std::path::PathBuf>,
    /// Tell promise by promise
    #[arg(long)]
    pub(crate) promises: bool,
    /// Instead: how many clients a release wakes, where so many contend
    #[arg(long, value_name = "N,…", allow_negative_numbers = true, num_args = 0..=1, require_equals = true, default_missing_value = CONTENDERS, conflicts_with_all = ["seeds", "max_states", "scenario", "report", "promises"])]
    pub(crate) herd: Option<Contenders>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: JudgeFormat,
}

/// How judgements are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum JudgeFormat {
    // Text for people.
    #[default]
    Human,
    // For machines.
    Json,
    // A table for a README.
    Markdown,
}

impl JudgeFormat {
    /// A report so.
    pub(crate) fn of(self, report: &impl Report) -> String {
        match self {
            JudgeFormat::Markdown => report.table(),
            JudgeFormat::Human | JudgeFormat::Json => self.progress().of(report),
        }
    }

    /// How progress is told.
    pub(crate) fn progress(self) -> Format {
        match self {
            JudgeFormat::Human => Format::Human,
            JudgeFormat::Json | JudgeFormat::Markdown => Format::Json,
        }
    }
}

/// What is asked for with no numbers.
pub(super) const CONTENDERS: &str = "1,2,5,10,20,50,100,200,500,1000";
/// Numbers of contenders, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contenders(pub(super) Vec<u16>);

impl std::str::FromStr for Contenders {
    type Err = String;

    fn from_str(text: &str) -> Result<Contenders, String> {
        let number = |word: &str| word.parse().ok().filter(|n| (1..=MOST_CLIENTS).contains(n));
        let numbers: Option<Vec<u16>> = text.split(',').map(number).collect();
        let mut numbers =
            numbers.ok_or_else(|| format!("expected numbers from 1 to {MOST_CLIENTS}, such as 1,10,100"))?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Contenders(numbers))
    }
}
