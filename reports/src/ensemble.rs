//! What came of the check of an ensemble: servers explored with everything that can go wrong between them.

use crate::{CheckedPromise, Judgement, Limits, Picture, Reached, Verdict, named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`EnsembleReport`]'s JSON.
pub const ENSEMBLE_SCHEMA: &str = "zoocheck-ensemble/2";

/// What came of the check of an ensemble.
///
/// Apart from `wall_seconds`, and from where a time limit cut it, it is a function of the build and the bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnsembleReport {
    /// [`ENSEMBLE_SCHEMA`].
    pub schema: String,
    /// `ensemble`.
    pub what: String,
    /// Where it began, and what could happen: `election`, `synchronisation`, `broadcast`, `whole`.
    pub level: String,
    /// How many of each there were at most.
    pub bounds: EnsembleBounds,
    /// What whole servers do; `null` if they were bare peers.
    pub whole: Option<WholeServers>,
    /// What was merged into one step or one state, by name.
    pub merged: Vec<String>,
    /// When to give up.
    pub limits: Limits,
    /// The answer.
    pub verdict: Judgement,
    /// What ran out, if it is undecided.
    pub ran_out: Option<String>,
    /// Whether every state within the bounds was explored.
    pub exhaustive: bool,
    /// Unique states.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// The longest of the shortest paths.
    pub depth: u32,
    /// The invariant that was broken.
    pub promise: Option<String>,
    /// How, step by step.
    pub steps: Vec<String>,
    /// How long it took.
    pub wall_seconds: f64,
    /// What must hold in every state. `tested` counts the different states of the servers that an invariant applies to.
    pub invariants: Vec<CheckedPromise>,
    /// Liveness, and that nothing panics.
    pub liveness: Vec<CheckedPromise>,
    /// The interesting cases; `seeds` is 1 for those that were reached.
    pub sometimes: Vec<Reached>,
    /// What was typed, where a command has made it; never saved.
    #[serde(skip)]
    pub command: Option<String>,
    /// Ways to break promises as pictures, for its page; never saved.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
}

/// Servers with trees, sessions and a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WholeServers {
    /// What the client asks for: `counters`, `multis`, `sessions`, `watches`.
    pub asks: String,
    /// Whether they write snapshots of their own.
    pub snapshots: bool,
}

/// How many of each there are at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnsembleBounds {
    /// Servers that vote.
    pub servers: u8,
    /// Servers that do not vote.
    pub observers: u8,
    /// Transactions.
    pub txns: u8,
    /// Servers that crash.
    pub crashes: u8,
    /// Links that break.
    pub breaks: u8,
    /// Pairs of servers that are cut off from each other.
    pub partitions: u8,
    /// Rounds of elections beyond those of the start.
    pub elections: u8,
    /// Timers that come too early.
    pub timeouts: u8,
    /// Transactions of a past epoch on some disks.
    pub past: u8,
}

impl EnsembleReport {
    /// Invariants and liveness together.
    pub fn all(&self) -> impl Iterator<Item = &CheckedPromise> {
        self.invariants.iter().chain(&self.liveness)
    }

    /// Whether every state was explored and nothing was broken.
    pub fn held(&self) -> bool {
        self.verdict == Judgement::Holds
    }

    /// The invariants that applied to nothing within the bounds.
    pub fn untested(&self) -> impl Iterator<Item = &str> {
        named(&self.invariants, Verdict::NeverTested)
    }
}
