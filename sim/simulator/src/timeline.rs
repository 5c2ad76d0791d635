//! The timeline of a run: of all its events those that tell its story, typed, for whoever tells it to people.
//!
//! ```
//! use zk_simulator::timeline::TimelineEvent;
//! use zk_simulator::{RunOptions, Scenario, run};
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let calm = Scenario { clients: 2, rounds: 1, ..Scenario::default() }.without_faults();
//! let run = run(&lock, &calm, 7, &RunOptions { trace: true, ..RunOptions::default() });
//! let mut what = run.timeline.iter().map(|moment| &moment.what);
//! assert!(what.any(|what| matches!(what, TimelineEvent::Leads { epoch: 1, .. })));
//! assert!(run.timeline.iter().all(|moment| run.trace.contains(&moment.to_string())));
//! ```

use crate::fault::Fault;
use crate::trace_event::{What, line};
use std::fmt;
use zk_api::{KeeperState, Zxid};
use zk_harness::event::{GroundTruth, Observation};

pub use crate::trace_event::Place;

/// Something that happened. Displayed, it is its line of the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// When, in virtual time.
    pub at_ns: u64,
    /// Where.
    pub place: Place,
    /// What.
    pub what: TimelineEvent,
}

/// What happened. Messages, timers, disks and transactions are left to the trace.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineEvent {
    /// A server starts, and has a state up to here; more may be logged.
    Started { zxid: Zxid },
    /// A server is down.
    Down,
    /// A server begins to lead an epoch, with a history up to here.
    Leads { epoch: u32, last: Zxid },
    /// A server has the state of its leader in the place of its own.
    Restored { zxid: Zxid },
    /// A server begins to serve clients, or stops.
    Serves { serves: bool },
    /// A client's session changes its state, as the client sees it.
    State(KeeperState),
    /// An actor says so.
    Observed(Observation),
    /// A program prints a line.
    Prints { line: String },
    /// It is so.
    Is(GroundTruth),
    /// The nemesis strikes.
    Fault(Fault),
    /// Faults are over.
    Heal,
    /// An invariant is broken.
    Broken { name: String },
}

impl TimelineEvent {
    /// `None` for what is no part of a timeline.
    pub(crate) fn of(what: &What<'_>) -> Option<TimelineEvent> {
        Some(match what {
            What::Started { zxid } => TimelineEvent::Started { zxid: *zxid },
            What::Down => TimelineEvent::Down,
            What::Leads { epoch, last } => TimelineEvent::Leads { epoch: *epoch, last: *last },
            What::Restored { zxid } => TimelineEvent::Restored { zxid: *zxid },
            What::Serves { serves } => TimelineEvent::Serves { serves: *serves },
            What::State(state) => TimelineEvent::State(*state),
            What::Observed(observation) => TimelineEvent::Observed((*observation).clone()),
            What::Prints { line } => TimelineEvent::Prints { line: (*line).to_owned() },
            What::Is(truth) => TimelineEvent::Is((*truth).clone()),
            What::Fault(fault) => TimelineEvent::Fault((*fault).clone()),
            What::Heal => TimelineEvent::Heal,
            What::Broken { name } => TimelineEvent::Broken { name: (*name).to_owned() },
            What::Opened { .. }
            | What::Refused { .. }
            | What::Lost { .. }
            | What::Dropped { .. }
            | What::ToServer { .. }
            | What::ToClient { .. }
            | What::ServerTimer(_)
            | What::ClientTimer(_)
            | What::Synced { .. }
            | What::Propose(_)
            | What::Commit { .. }
            | What::Apply { .. }
            | What::Notified { .. }
            | What::Linked { .. }
            | What::Unlinked { .. }
            | What::FromPeer { .. }
            | What::PeerNotes(_)
            | What::Rotten { .. }
            | What::StaysOut { .. }
            | What::Lacks { .. }
            | What::NewDisk { .. }
            | What::Stepped(_)
            | What::End { .. } => return None,
        })
    }

    fn as_what(&self) -> What<'_> {
        match self {
            TimelineEvent::Started { zxid } => What::Started { zxid: *zxid },
            TimelineEvent::Down => What::Down,
            TimelineEvent::Leads { epoch, last } => What::Leads { epoch: *epoch, last: *last },
            TimelineEvent::Restored { zxid } => What::Restored { zxid: *zxid },
            TimelineEvent::Serves { serves } => What::Serves { serves: *serves },
            TimelineEvent::State(state) => What::State(*state),
            TimelineEvent::Observed(observation) => What::Observed(observation),
            TimelineEvent::Prints { line } => What::Prints { line },
            TimelineEvent::Is(truth) => What::Is(truth),
            TimelineEvent::Fault(fault) => What::Fault(fault),
            TimelineEvent::Heal => What::Heal,
            TimelineEvent::Broken { name } => What::Broken { name },
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line(self.at_ns, self.place, &self.what.as_what()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    #[test]
    fn a_timeline_is_without_transactions_and_a_moment_is_its_line_of_the_trace() {
        let mut trace = Trace::new(true, false);
        let zxid = Zxid::new(1, 7);
        trace.add(1_000_000, Place::Server(0), &What::Started { zxid });
        trace.add(2_000_000, Place::Server(0), &What::Commit { zxid });
        trace.add(3_000_000, Place::Simulation, &What::Broken { name: "no-panic" });
        let (_, lines, timeline, _) = trace.finish();
        let told: Vec<String> = timeline.iter().map(Moment::to_string).collect();
        assert_eq!(told, ["0.001s s0 Started zxid=1:7", "0.003s -- Broken no-panic"]);
        assert_eq!([&lines[0], &lines[2]], [&told[0], &told[1]]);
    }
}
