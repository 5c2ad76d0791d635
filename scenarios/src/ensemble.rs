//! Checks of an ensemble.

use crate::BadInput;
use crate::check::{MOST_GIGABYTES, gigabytes, invariant_report, promise_report, reached};
use crate::output::Format;
use crate::typed::{one_of, whole};
use clap::Args;
use std::time::Duration;
use zk_model::ensemble::{
    EnsembleBounds, EnsembleConfig, Level, Merges, NO_FAIR_CYCLE, NO_PANIC, PROGRESS_POSSIBLE, Work,
    check_nodes,
};
use zk_model::{Counterexample, Progress, PromiseReport, Verdict};
use zk_reports::{
    ENSEMBLE_SCHEMA, EnsembleBounds as ReportedBounds, EnsembleReport, Judgement, Limits, Path, WholeServers,
};

pub(crate) const ABOUT: &str = "\
Explores an ensemble of real servers over links that break, in every order of events within bounds

It explores the protocol that runs everywhere else: elections, synchronisation and broadcast, over
disks that lose what was not synced. Every state is checked against all invariants; afterwards,
the search checks that progress stays possible. The servers are peers without trees; with
--whole-servers they have trees, sessions, files and a client.";

const SERVERS: &str = "What the servers are";
const BOUNDS: &str = "Bounds: how many of each at most";
const LIMITS: &str = "When to give up";
const SEARCH: &str = "How to search";

#[derive(Args, Debug)]
pub(crate) struct EnsembleArguments {
    /// Where it begins, and what can happen
    #[arg(long, default_value = "whole", value_parser = one_of(Level::ALL))]
    level: Level,
    /// Servers with trees, sessions, files and a client; transactions are what it asks for
    #[arg(help_heading = SERVERS, long)]
    pub(crate) whole_servers: bool,
    /// What the client asks for, one thing after the other [default: counters]
    #[arg(help_heading = SERVERS, long, requires = "whole_servers", value_parser = one_of(Work::ALL))]
    asks: Option<Work>,
    /// Each begins a snapshot of its own after every transaction
    #[arg(help_heading = SERVERS, long, requires = "whole_servers")]
    snapshots: bool,
    /// Servers that vote
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "3", value_parser = whole(1..=5u8))]
    servers: u8,
    /// Servers that do not
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "0", value_parser = whole(0..=2u8))]
    observers: u8,
    /// Transactions
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "1", value_parser = whole(0..=16u8))]
    txns: u8,
    /// Servers that crash; each may start again at any time
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "1", value_parser = whole(0..=16u8))]
    crashes: u8,
    /// Links that break
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "0", value_parser = whole(0..=16u8))]
    breaks: u8,
    /// Pairs of servers that are cut off from each other
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "0", value_parser = whole(0..=16u8))]
    partitions: u8,
    /// Rounds of elections that any server begins after the first
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "1", value_parser = whole(0..=16u8))]
    elections: u8,
    /// Timers that come while something else could still happen
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "0", value_parser = whole(0..=16u8))]
    timeouts: u8,
    /// Transactions that a past epoch may have left on some disks; with --level synchronisation
    #[arg(help_heading = BOUNDS, long, value_name = "N", allow_negative_numbers = true, default_value = "0", value_parser = whole(0..=3u8))]
    past: u8,
    /// Every step and every state by itself
    #[arg(help_heading = SEARCH, long)]
    unmerged: bool,
    /// Invariants alone: less memory
    #[arg(help_heading = SEARCH, long)]
    no_liveness: bool,
    /// Give up after so long, such as 90s, 5m or 1h
    #[arg(help_heading = LIMITS, long, value_name = "TIME", value_parser = crate::typed::duration)]
    time_limit: Option<Duration>,
    /// Give up once it holds so many gigabytes in memory
    #[arg(help_heading = LIMITS, long, value_name = "GB", allow_negative_numbers = true, default_value_t = MOST_GIGABYTES, value_parser = whole(1..=100_000u32))]
    max_memory: u32,
    /// Give up after so many states
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=u64::MAX))]
    max_states: Option<u64>,
    /// Go no deeper than so many steps
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=u32::MAX))]
    max_depth: Option<u32>,
    /// Write index.html, report.json, junit.xml and summary.md there
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<std::path::PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

impl EnsembleArguments {
    /// What is to be explored.
    pub(crate) fn config(&self) -> Result<EnsembleConfig, BadInput> {
        if self.past > 0 && self.level != Level::Synchronisation {
            let level = self.level.name();
            return Err(bad!(
                "--past {}: level {level} begins with empty disks; --level synchronisation has a past",
                self.past
            ));
        }
        if self.level == Level::CompetingLeaders && self.servers < 3 {
            return Err(bad!(
                "--servers {}: level competing-leaders begins with three servers that vote, or more",
                self.servers
            ));
        }
        let bounds = EnsembleBounds {
            servers: self.servers,
            observers: self.observers,
            txns: self.txns,
            crashes: self.crashes,
            breaks: self.breaks,
            partitions: self.partitions,
            elections: self.elections,
            timeouts: self.timeouts,
            past: self.past,
        };
        Ok(EnsembleConfig {
            work: self.asks.unwrap_or_default(),
            snapshots: self.snapshots,
            merges: if self.unmerged { Merges::NONE } else { Merges::ALL },
            // A refused link may be asked for for ever, if that is not merged.
            liveness: !self.no_liveness && !self.unmerged,
            time_limit: self.time_limit,
            max_states: self.max_states,
            max_memory: Some(gigabytes(self.max_memory)),
            max_depth: self.max_depth,
            ..EnsembleConfig::new(self.level, bounds)
        })
    }
}

/// Explores bare peers, or whole servers, and reports.
pub(crate) fn check(
    config: &EnsembleConfig,
    is_whole: bool,
    progress: &mut dyn FnMut(Progress),
) -> EnsembleReport {
    let check = check_nodes(is_whole, config, progress);
    let whole =
        is_whole.then(|| WholeServers { asks: config.work.name().into(), snapshots: config.snapshots });
    let (verdict, promise, ran_out) = match check.verdict {
        Verdict::Holds => (Judgement::Holds, None, None),
        Verdict::Violated { promise, .. } => (Judgement::Violated, Some(promise), None),
        Verdict::Undecided { ran_out } => (Judgement::Undecided, None, Some(ran_out)),
        Verdict::NotDetermined { what } => (Judgement::NotDetermined, None, Some(what)),
    };
    let broken = check.promises.iter().find(|result| Some(result.name) == promise.as_deref());
    let steps = broken.and_then(|result| result.broken.as_ref()).map(|path| path.steps.clone());
    let is_liveness =
        |result: &&PromiseReport| [PROGRESS_POSSIBLE, NO_FAIR_CYCLE, NO_PANIC].contains(&result.name);
    let (liveness, invariants): (Vec<&PromiseReport>, Vec<_>) = check.promises.iter().partition(is_liveness);
    EnsembleReport {
        schema: ENSEMBLE_SCHEMA.into(),
        what: "ensemble".into(),
        command: None,
        pictures: Vec::new(),
        level: config.level.name().into(),
        bounds: bounds(&config.bounds),
        whole,
        merged: config.merges.names().into_iter().map(str::to_owned).collect(),
        limits: Limits {
            time_seconds: config.time_limit.map(|limit| limit.as_secs_f64()),
            max_states: config.max_states,
            max_memory: config.max_memory,
            max_depth: config.max_depth,
        },
        verdict,
        ran_out,
        exhaustive: verdict == Judgement::Holds,
        states: check.states,
        transitions: check.transitions,
        depth: check.depth,
        promise,
        steps: steps.unwrap_or_default(),
        wall_seconds: check.wall.as_secs_f64(),
        invariants: invariants.into_iter().map(|result| promise_report(result, true, &path)).collect(),
        liveness: liveness.into_iter().map(|result| invariant_report(result, &path)).collect(),
        sometimes: reached(&check.sometimes),
    }
}

fn bounds(bounds: &EnsembleBounds) -> ReportedBounds {
    let EnsembleBounds { servers, observers, txns, crashes, breaks, partitions, elections, timeouts, past } =
        *bounds;
    ReportedBounds { servers, observers, txns, crashes, breaks, partitions, elections, timeouts, past }
}

fn path(broken: &Counterexample) -> Path {
    Path { what: broken.what.clone(), steps: broken.steps.clone(), ..Path::default() }
}
