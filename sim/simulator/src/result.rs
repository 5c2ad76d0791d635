//! What one run gave.

use crate::crossing::Crossing;
use crate::herd::Herd;
use crate::order::Ordered;
use crate::timeline::Moment;
use std::collections::BTreeMap;
use zk_harness::heard::Told;
use zk_harness::promise::Assumption;
use zk_invariants::Invariant;
use zk_proto::visible::VisibleStep;

/// What one run gave. A function of trial, scenario, seed and schedule, to the byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// Digest of the whole trace.
    pub digest: u64,
    /// Virtual time at the end.
    pub virtual_ns: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Queue events taken.
    pub steps: u64,
    /// Why the script that was given could not be taken to its end.
    pub replay_error: Option<String>,
    /// When the last event before a redraw came, in virtual time, and what it was.
    pub redrawn: Option<(u64, String)>,
    /// The steps of the order that was given.
    pub ordered: Vec<Ordered>,
    /// Operations that disks did.
    pub disk_ops: u64,
    /// How often a planted bug made a difference.
    pub deviations: u64,
    /// For each promise, and each invariant, by name: how often it was put to the test.
    pub tested: BTreeMap<&'static str, u64>,
    /// What was broken, in order of time; the first of each promise is kept with and without a violated assumption.
    pub violations: Vec<RunViolation>,
    /// What was told, where it is known what is heard.
    pub told: Told,
    /// How often each interesting case was reached.
    pub sometimes: BTreeMap<&'static str, u64>,
    /// The trace, if it was asked for.
    pub trace: Vec<String>,
    /// Those of its events that tell the story, if it was asked for.
    pub timeline: Vec<Moment>,
    /// The messages, in the order in which they were sent, if the trace was asked for.
    pub crossings: Vec<Crossing>,
    /// How many a change woke, by how many waited for something.
    pub herd: BTreeMap<u16, Herd>,
    /// How often somebody was granted what he had asked for.
    pub granted: u64,
    /// What clients saw, and in which order things took effect, if it was asked for.
    pub visible: Vec<VisibleStep>,
    /// The choices drawn, if they were asked for.
    pub choices: BTreeMap<(String, u64, u64), u64>,
}

impl Run {
    /// What was broken although no assumption of it was violated, in order of time.
    pub fn owed(&self) -> impl Iterator<Item = &RunViolation> + Clone {
        self.violations.iter().filter(|violation| violation.violated_assumption.is_none())
    }

    /// Whether it came to an end. Of one that did not nothing is known but whose step does not end, and its thread goes
    /// on until the process ends.
    pub fn has_ended(&self) -> bool {
        !self.violations.iter().any(|violation| violation.promise == Invariant::EveryStepEnds.name())
    }
}

/// A promise or invariant that was broken.
#[derive(Clone, Debug, PartialEq)]
pub struct RunViolation {
    /// Its name.
    pub promise: &'static str,
    /// When, in virtual time.
    pub at_ns: u64,
    /// What happened.
    pub what: String,
    /// The assumption that did not hold, where the break is expected.
    pub violated_assumption: Option<Assumption>,
}
