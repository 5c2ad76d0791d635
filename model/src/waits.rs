//! What an actor waits for, and which of it its tasks have polled.

use crate::process::Req;
use std::sync::Arc;
use std::time::Duration;
use zk_proto::server::{FRAME_BYTES_MAX, frame_bytes};
use zk_proto::watching::Watching;

/// What an actor waits for when it is quiet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Waits {
    /// Calls without an answer, oldest first: whether anybody still waits for it. The first is waited for.
    pub calls: Vec<bool>,
    /// Watches that somebody waits for.
    pub watches: Vec<Watching>,
    /// Listeners for the session's state.
    pub changes: u8,
    /// Scheduling points.
    pub points: u8,
    /// Timers, in the order in which they were set: how long each is, and how old: equally old are those that were set
    /// in one step.
    pub timers: Vec<(Duration, u8)>,
    /// Writes on their way, waited for or not.
    pub writes: u8,
}

impl Waits {
    /// A state counts no further.
    pub const MOST: usize = 254;

    /// How many things it waits for that no message brings.
    pub fn others(&self) -> usize {
        usize::from(self.changes) + usize::from(self.points) + self.timers.len() + usize::from(self.writes)
    }

    /// What a process does that is in no model, if it does: it asks or waits for more than a state can count, or asks
    /// for what is so long that a server closes the connection.
    pub fn beyond(&self, asked: &[Arc<Req>]) -> Option<String> {
        let counted = [self.changes, self.points, self.writes].map(usize::from);
        let listed = [asked.len(), self.watches.len(), self.timers.len()];
        if counted.into_iter().chain(listed).any(|many| many > Waits::MOST) {
            return Some(format!("asks or waits for more than {} things at once", Waits::MOST));
        }
        let longest = asked.iter().map(|asked| frame_bytes(&asked.request)).max()?;
        let is_cut_off = longest > FRAME_BYTES_MAX;
        is_cut_off.then(|| format!("asks with {longest} bytes, and a server takes {FRAME_BYTES_MAX} at most"))
    }
}

/// Which of what an actor waits for its tasks would look at as soon as it came, in the order of [`Waits`]. What they
/// hold and have not polled is the same to them whenever it comes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    /// Calls.
    pub calls: Vec<bool>,
    /// Watches.
    pub watches: Vec<bool>,
}

impl Polled {
    /// How many of them.
    pub fn many(&self) -> usize {
        self.calls.iter().chain(&self.watches).filter(|is_polled| **is_polled).count()
    }
}
