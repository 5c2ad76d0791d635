//! What is driven: what was typed, and what all seeds have in common.

use crate::interrupt::Interrupt;
use crate::output::Format;
use crate::run::SeedRange;
use crate::typed::whole;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use zk_simulator::Scenario;

/// What can be typed behind `drive`.
#[derive(Args, Debug)]
pub(crate) struct DriveArguments {
    /// What a shell is to run as each client
    #[arg(long, value_name = "CMD")]
    pub(super) program: String,
    /// What the program owes: KIND=PATH, such as fair-lock=/lock; repeatable
    #[arg(long, value_name = "OWED", value_delimiter = ',', required = true)]
    pub(super) promises: Vec<String>,
    /// How many, from 0, or from A to the last before B
    #[arg(long, value_name = "N|A..B", allow_negative_numbers = true, default_value = "20")]
    pub(super) seeds: SeedRange,
    /// Client processes [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=100u16))]
    pub(super) clients: Option<u16>,
    /// Rounds for each client [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=100u8))]
    pub(super) rounds: Option<u8>,
    /// Servers [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=5u8))]
    pub(super) servers: Option<u8>,
    /// Its sizes and faults, instead of the default ones: three servers, 15 s of faults
    #[arg(long, value_name = "FILE")]
    pub(super) scenario: Option<String>,
    /// Another value for a scenario's key, such as faults.drops=5; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    /// How often a seed in which something was broken is tried again
    #[arg(long, value_name = "K", default_value = "2", allow_negative_numbers = true, value_parser = whole(0..=1000u32))]
    pub(super) again: u32,
    /// How many seeds at a time [default: one for each core]
    #[arg(long, value_name = "J", allow_negative_numbers = true, value_parser = whole(1..=64u16))]
    pub(super) jobs: Option<u16>,
    /// Stop a seed after so long, such as 90s or 5m: undecided
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = crate::typed::duration)]
    pub(super) time_limit: Duration,
    /// Write index.html, report.json, junit.xml and summary.md there
    #[arg(long, value_name = "DIR")]
    pub(super) report: Option<PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

/// What all seeds have in common.
pub(super) struct Plan {
    pub(super) arguments: DriveArguments,
    pub(super) scenario: Scenario,
    pub(super) interrupt: Interrupt,
}
