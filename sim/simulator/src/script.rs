//! A script: steps that are given, to be taken in their order.

use serde::{Deserialize, Serialize};
use std::fmt;
use zk_harness::script::ScriptStep;

/// What happens in a run once every client has its session, step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Script {
    /// Actors write to the outside resource; without it their writes come to nothing, at once.
    pub effects: bool,
    /// So many transactions a client's server may be behind. If any, there is one server that leads, and of the
    /// observers each client has its own, one for each of its connections.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lag: u8,
    /// Guids are in the other order than they were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guids_fall: bool,
    /// The steps.
    pub steps: Vec<WrittenStep>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(lag: &u8) -> bool {
    *lag == 0
}

/// A step, in a file as its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WrittenStep(pub ScriptStep);

impl TryFrom<String> for WrittenStep {
    type Error = String;

    fn try_from(text: String) -> Result<WrittenStep, String> {
        text.parse().map(WrittenStep)
    }
}

impl From<WrittenStep> for String {
    fn from(step: WrittenStep) -> String {
        step.0.to_string()
    }
}

impl fmt::Display for WrittenStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
