//! A scenario: how large a run is and which faults it may have. Plain data, read from TOML.

use serde::{Deserialize, Serialize};

/// How large a run is and which faults it may have. A seed draws a run from it.
///
/// All keys are optional in a file; unknown ones are errors. `validate` says which value is impossible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// The recipe or variant on trial, as `zoocheck list` names it.
    pub recipe: String,
    /// What the scenario is for, in one sentence.
    pub about: String,
    /// Client processes, 1 to 64.
    pub clients: u8,
    /// How often each client does what it does.
    pub rounds: u8,
    /// Servers. One, until the ensemble is in.
    pub servers: u8,
    /// A server's tick. Session timeouts are clamped to 2 to 20 of them.
    pub tick_ms: u32,
    /// The session timeout that clients ask for.
    pub session_timeout_ms: u32,
    /// One way of a message, least and most.
    pub latency_ms: [f64; 2],
    /// How long `Probe::work` takes, least and most. On the scale of the session timeout, or little is seen.
    pub work_ms: [u32; 2],
    /// How long faults go on before everything heals.
    pub fault_seconds: u32,
    /// How long the run may go on after healing before who is not finished is called stuck.
    pub heal_seconds: u32,
    /// Queue events a run may take before it is stopped as running away.
    pub step_budget: u64,
    /// The faults.
    pub faults: Faults,
}

/// The most there may be of each fault in one run; a seed draws which are on and how many there are (swarm).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Faults {
    /// A server crashes: unsynced writes are lost or torn. It restarts after `server-down-ms`.
    pub server_crashes: u32,
    /// How long it stays down, least and most.
    pub server_down_ms: [u32; 2],
    /// Disk syncs become slow for a while.
    pub slow_syncs: u32,
    /// How long a slow sync takes, least and most.
    pub slow_sync_ms: [u32; 2],
    /// A client's connection drops: requests under way are lost, or answers are lost, or a request is still in
    /// flight and arrives later.
    pub drops: u32,
    /// A client's link becomes slow for a while.
    pub slow_links: u32,
    /// A server ends a session although its client is well.
    pub expiries: u32,
    /// A client process crashes; it starts again with a new session.
    pub client_crashes: u32,
    /// A client process stops for a while, then goes on as if nothing had been.
    pub client_pauses: u32,
    /// How long a pause takes, least and most.
    pub pause_ms: [u32; 2],
    /// Clocks run fast or slow by at most so many parts per thousand, and jump by at most `clock_jump_ms`.
    pub clock_skew_permille: u32,
    /// The furthest a clock may jump.
    pub clock_jump_ms: u32,
}

/// Why a scenario is not one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ScenarioError {
    /// The key in the file, with its table: `faults.drops`.
    pub key: String,
    /// What is wrong and what was expected.
    pub problem: String,
}

impl Default for Scenario {
    fn default() -> Scenario {
        todo!()
    }
}

impl Default for Faults {
    fn default() -> Faults {
        todo!()
    }
}

impl Scenario {
    /// Checks that every value is possible.
    pub fn validate(&self) -> Result<(), ScenarioError> {
        todo!()
    }

    /// The same without any fault.
    pub fn without_faults(self) -> Scenario {
        todo!()
    }
}
