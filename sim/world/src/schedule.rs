//! The faults of one run as data: they can be printed, edited, saved and shrunk.

use serde::{Deserialize, Serialize};

/// The faults of one run, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// What happens when.
    pub faults: Vec<TimedFault>,
}

/// A fault and its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedFault {
    /// Virtual milliseconds since the start of the run.
    pub at_ms: u64,
    /// What happens.
    pub fault: Fault,
}

/// What can go wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// To be listed by the implementation.
    Nothing,
}
