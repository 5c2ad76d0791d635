//! What came of client programs in real time, under many seeds' faults.

use crate::{Answer, Happened, LivePromise};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`DriveReport`]'s JSON.
pub const DRIVE_SCHEMA: &str = "zoocheck-drive/1";

/// What came of client programs in real time. A seed draws only the faults: the same seed may have another outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveReport {
    /// [`DRIVE_SCHEMA`].
    pub schema: String,
    /// The command of a client program.
    pub program: String,
    /// What is owed of it, as it was said.
    pub owed: Vec<String>,
    /// Servers.
    pub servers: u8,
    /// Client processes.
    pub clients: u16,
    /// How often each was to do what it does.
    pub rounds: u8,
    /// The session timeout that they were to ask for.
    pub session_timeout_ms: u64,
    /// For how long there were faults in a run.
    pub fault_seconds: u32,
    /// How many seeds were run, once each.
    pub seeds: u64,
    /// The answer.
    pub answer: Answer,
    /// How long it took.
    pub wall_seconds: f64,
    /// Faults that struck.
    pub faults: u64,
    /// How much happened.
    pub happened: Happened,
    /// What is owed, over all seeds; times are since the beginning of a seed's run.
    pub promises: Vec<LivePromise>,
    /// The invariants of the servers.
    pub invariants: Vec<LivePromise>,
    /// Seeds in which something was broken.
    pub failures: Vec<DriveFailure>,
    /// Seeds whose run did not come to an end.
    pub undecided: Vec<DriveUndecided>,
    /// What is owed, as it was said, of which nothing but standard promises can be judged from outside. That leaves it
    /// undecided.
    #[serde(default)]
    pub unjudged: Vec<String>,
    /// What ended it before all seeds were run.
    pub interrupted: Option<String>,
}

/// A seed in which something was broken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveFailure {
    /// The seed.
    pub seed: u64,
    /// What was broken.
    pub broken: Vec<String>,
    /// How often it was tried again.
    pub again: u32,
    /// How often something was broken then.
    pub broken_again: u32,
    /// The command that tries it once more.
    pub command: String,
    /// The last lines of a program that failed.
    pub output: Vec<String>,
}

/// A seed whose run did not come to an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveUndecided {
    /// The seed.
    pub seed: u64,
    /// What was waited for.
    pub why: String,
    /// What tries it once more.
    pub command: String,
}

impl DriveReport {
    /// Promises and invariants together.
    pub fn all(&self) -> impl Iterator<Item = &LivePromise> {
        self.promises.iter().chain(&self.invariants)
    }
}
