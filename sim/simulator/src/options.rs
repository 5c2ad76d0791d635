//! What a run is asked for besides its trial, its scenario and its seed.

use crate::order::Order;
use std::collections::BTreeMap;
use zk_proto::mutant::Mutant;

/// A crash at an operation of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskCrash {
    /// Just after so many operations, of all servers' disks, that write, sync, cut or remove something.
    pub after: u64,
    /// What it leaves of what was not synced: nothing, everything, or a part that the number says.
    pub way: u64,
}

/// How many ways a crash may go: those of [`DiskCrash::way`].
pub const CRASH_WAYS: u64 = 6;

/// Another chance: up to some event a run is what its seed makes it, and behind that all that is drawn is drawn anew.
/// The faults of the schedule stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redraw {
    /// The last event that is as it was, counted from 1; 0 for none.
    pub after: u64,
    /// Which chance.
    pub with: u64,
}

/// What to keep of a run besides its verdict.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Keep the trace as lines of text, the timeline, and the messages with both their times.
    pub trace: bool,
    /// Send human logs to `tracing`, stamped with virtual time and node. Never part of the digest.
    pub log: bool,
    /// Choices to take instead of the drawn ones: `(stream, entity, ordinal) -> value`.
    pub choices: BTreeMap<(String, u64, u64), u64>,
    /// Keep the choices that were drawn.
    pub record_choices: bool,
    /// Keep what clients saw, and in which order things took effect.
    pub visible: bool,
    /// A bug to be planted into every server.
    pub mutant: Option<Mutant>,
    /// Go on when an invariant is broken, to see what else is.
    pub beyond: bool,
    /// Check the invariants among servers whenever a peer of theirs does something, and not now and then.
    pub check_always: bool,
    /// Check and judge nothing, to see what that costs. What happens is the same.
    pub unchecked: bool,
    /// Crash a server at an operation of its disk.
    pub crash_at: Option<DiskCrash>,
    /// Take some events in another order.
    pub order: Option<Order>,
    /// Leave something else to chance from some event on.
    pub redraw: Option<Redraw>,
    /// Stop where this promise is broken, with a violated assumption or without. Nothing after that is known.
    pub stop_at: Option<(&'static str, bool)>,
}
