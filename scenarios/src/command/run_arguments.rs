//! What can be typed behind `run`, `report`, `replay` and `shrink`.

use crate::BadInput;
use crate::output::Format;
use crate::run::{Asked, DatedSeeds, SeedRange, Shard, Target};
use crate::trial_list::Trials;
#[cfg(feature = "live")]
use crate::typed::servers;
use crate::typed::{duration, whole};
use clap::Args;
use std::time::Duration;
use zk_reports::Lines;

/// What is to be run.
#[derive(Args, Debug)]
pub(super) struct Asks {
    /// A recipe, a variant, a scenario file, or a program (lock.py:worker)
    what: String,
    #[command(flatten)]
    asked: Asked,
}

impl Asks {
    /// The recipe or program, and its scenario.
    pub(super) fn target(&self, catalogue: &Trials) -> Result<Target, BadInput> {
        Target::asked(catalogue, &self.what, self.asked.clone())
    }
}

#[derive(Args, Debug)]
pub(super) struct RunArguments {
    #[command(flatten)]
    pub(super) asks: Asks,
    /// How many, from 0, or from A to the last before B [default: 100]
    #[arg(long, value_name = "N|A..B", allow_negative_numbers = true)]
    pub(super) seeds: Option<SeedRange>,
    /// Seeds that no other day uses [default: today's, in UTC]
    #[arg(long, value_name = "DATE", num_args = 0..=1, require_equals = true, default_missing_value = "today")]
    pub(super) fresh: Option<DatedSeeds>,
    /// Stop after K seeds with nothing new, or --seeds [default: 100000]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = whole(1..=1_000_000_000u64), conflicts_with = "shard")]
    pub(super) until_covered: Option<u64>,
    /// How many seeds at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    pub(super) jobs: Option<u16>,
    /// Only the share of machine I, from 1, of N; auto: from CI or Kubernetes
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
    /// Write index.html, report.json, junit.xml and summary.md there
    #[arg(long, value_name = "DIR")]
    pub(super) report: Option<std::path::PathBuf>,
    /// Find turning points for the report, by N runs each [default: 20]
    #[arg(long, value_name = "N", requires = "report", allow_negative_numbers = true, value_parser = whole(0..=10_000u32))]
    pub(super) redraws: Option<u32>,
    /// Continue the sweep whose report is in DIR, if there is one
    #[arg(long, requires = "report")]
    pub(super) resume: bool,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
    /// Show every promise and every case
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Logs on stderr: info, or zoocheck=info,my_crate=debug; then --jobs is 1
    #[arg(long, value_name = "FILTER")]
    pub(super) log: Option<String>,
    /// Run once on a live ensemble instead, under znodes that must be free
    #[cfg(feature = "live")]
    #[arg(help_heading = LIVE, long, value_name = "HOST:PORT,…", value_parser = servers, conflicts_with_all = OF_SEEDS)]
    pub(super) connect: Option<String>,
    /// Stop after this long, such as 90s or 1h: undecided [default: 5m]
    #[cfg(feature = "live")]
    #[arg(help_heading = LIVE, long, value_name = "TIME", value_parser = duration, requires = "connect", conflicts_with_all = OF_SEEDS)]
    pub(super) time_limit: Option<Duration>,
}

#[cfg(feature = "live")]
const LIVE: &str = "On a live ensemble";
/// Options that make no sense on a live ensemble. Options that require `--connect` must conflict with them too: clap
/// does not demand a required argument that conflicts with one that is given.
#[cfg(feature = "live")]
const OF_SEEDS: [&str; 7] = ["seeds", "jobs", "shard", "fresh", "until_covered", "redraws", "resume"];

#[derive(Args, Debug)]
pub(super) struct ReportArguments {
    /// What `run --report` wrote: one sweep, or all of its shards
    #[arg(value_name = "DIR", required = true)]
    pub(super) reports: Vec<std::path::PathBuf>,
    /// Write into this new or empty directory [default for a single DIR: that DIR]
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<std::path::PathBuf>,
    /// Merge even if shards are missing; the report says so; exit status 3
    #[arg(long)]
    pub(super) partial: bool,
    /// Show every promise and every case
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Args, Debug)]
pub(super) struct ReplayArguments {
    #[command(flatten)]
    pub(super) asks: Asks,
    /// Which run: a seed from a sweep; not needed for a file that holds one run
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = whole(0..=u64::MAX))]
    pub(super) seed: Option<u64>,
    /// Explain this promise's break instead of the first one
    #[arg(long, value_name = "NAME")]
    pub(super) promise: Option<String>,
    /// Find the turning point, by N runs with other delays [default: 20]
    #[arg(long, value_name = "N", conflicts_with_all = ["trace", "at"], allow_negative_numbers = true, value_parser = whole(0..=10_000u32))]
    pub(super) redraws: Option<u32>,
    /// How many lines up to the break; all: every line
    #[arg(long, value_name = "N|all", allow_negative_numbers = true, default_value = "60", value_parser = lines)]
    pub(super) lines: Lines,
    /// Everything, raw, instead of the timeline: messages, timers, disks
    #[arg(long, conflicts_with = "lines")]
    pub(super) trace: bool,
    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: ReplayFormat,
    /// Logs on stderr: info, or zoocheck=info,my_crate=debug
    #[arg(long, value_name = "FILTER")]
    pub(super) log: Option<String>,
    /// Virtual time from which events are reordered, such as 12.5
    #[arg(help_heading = ORDERS, long, value_name = "T", allow_negative_numbers = true, value_parser = virtual_time)]
    pub(super) at: Option<u64>,
    /// Run the next K events in every order, each order to the end of the run
    #[arg(help_heading = ORDERS, long, value_name = "K", requires = "at", conflicts_with_all = ["trace", "lines", "log", "promise"], allow_negative_numbers = true, value_parser = whole(1..=100u32))]
    pub(super) exhaust: Option<u32>,
    /// Run one order, as printed by --exhaust
    #[arg(help_heading = ORDERS, long, value_name = "N,…", requires = "at", conflicts_with = "exhaust", value_delimiter = ',')]
    pub(super) order: Vec<u32>,
    /// Give up after this many orders
    #[arg(help_heading = ORDERS, long, value_name = "N", requires = "exhaust", default_value_t = 100_000, allow_negative_numbers = true, value_parser = whole(1..=u64::MAX))]
    pub(super) max_orders: u64,
    /// How many orders or redraws at a time [default: one for each core]
    #[arg(help_heading = ORDERS, long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=1024u16))]
    pub(super) jobs: Option<u16>,
}

const ORDERS: &str = "Other orders of events";

#[derive(Args, Debug)]
pub(super) struct ShrinkArguments {
    #[command(flatten)]
    pub(super) asks: Asks,
    /// Which run: the seed that a sweep named
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = whole(0..=u64::MAX))]
    pub(super) seed: Option<u64>,
    /// Where to write the smaller run; the file must not exist yet
    #[arg(short, long, value_name = "FILE.toml", required_unless_present = "keep", conflicts_with = "keep")]
    pub(super) output: Option<std::path::PathBuf>,
    /// Write it where `run` finds it, and tries it before any seed
    #[arg(long)]
    pub(super) keep: bool,
    /// The promise that must still break [default: as catalogued, or the first]
    #[arg(long, value_name = "NAME")]
    pub(super) promise: Option<String>,
    /// Runs to try at most
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "20000", value_parser = whole(1..=100_000_000u64))]
    pub(super) tries: u64,
    /// Stop after this long, such as 90s, with what there is
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = duration)]
    pub(super) time_limit: Duration,
}

/// How a replay is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ReplayFormat {
    // Text for people.
    #[default]
    Human,
    // For machines.
    Json,
    // A sequence diagram, for wherever Markdown is shown.
    Mermaid,
}

impl ReplayFormat {
    /// How progress is told.
    pub(super) fn progress(self) -> Format {
        match self {
            ReplayFormat::Human => Format::Human,
            ReplayFormat::Json | ReplayFormat::Mermaid => Format::Json,
        }
    }
}

/// `60`, or `all`.
fn lines(text: &str) -> Result<Lines, String> {
    match (text, text.parse()) {
        ("all", _) => Ok(Lines::All),
        (_, Ok(most @ 1..)) => Ok(Lines::Last(most)),
        _ => Err("expected a number of lines from 1, or all".into()),
    }
}

/// Nanoseconds since the start of a run, written in seconds as timelines do.
fn virtual_time(text: &str) -> Result<u64, String> {
    let bad = || "expected a virtual time in seconds, such as 12.5 or 12.040s".to_owned();
    let text = text.strip_suffix('s').unwrap_or(text);
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 9 {
        return Err(bad());
    }
    let seconds: u64 = whole.parse().map_err(|_| bad())?;
    let nanos: u64 = format!("{part:0<9}").parse().map_err(|_| bad())?;
    seconds.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(nanos)).ok_or_else(bad)
}
