//! What is run on a live ensemble, and what is left to chance.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A run on a live ensemble.
#[derive(Clone, Debug)]
pub(crate) struct LiveRun {
    /// `HOST:PORT[,HOST:PORT…]`.
    pub(crate) connect: String,
    /// Client processes.
    pub(crate) clients: u16,
    /// How often each does what it does.
    pub(crate) rounds: u8,
    /// The run is stopped after so long.
    pub(crate) time_limit: Duration,
}

/// Learns how many rounds are done.
pub(super) type RoundsDone<'a> = &'a mut (dyn FnMut(u64) + Send);

/// A number that nobody can know before. Runs on a live ensemble cannot be had again anyway.
pub(super) fn chance() -> u64 {
    // The standard library's keys come from the system, and differ from call to call.
    RandomState::new().hash_one(0)
}

/// How long a piece of work takes. Some is over at once, so that a release meets those who are just about to look; the
/// rest is mostly short, and at times longer than a session may be silent.
pub(crate) fn work([least, most]: [Duration; 2]) -> Duration {
    let is_quick = chance().is_multiple_of(4);
    if is_quick { least } else { least + share(most.saturating_sub(least)) }
}

/// How long a write travels: mostly it is there soon, at times late.
pub(crate) fn travel(latest: Duration) -> Duration {
    let is_late = chance().is_multiple_of(16);
    share(if is_late { latest } else { Duration::from_millis(20) })
}

/// Mostly little of `most`, at times nearly all.
pub(super) fn share(most: Duration) -> Duration {
    let part = (chance() % 65_536) as f64 / 65_536.0;
    most.mul_f64(part * part * part)
}
