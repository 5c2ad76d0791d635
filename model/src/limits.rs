//! Why a search gives up, besides what it has come to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The same for all searches; and how they may work.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    pub time: Option<Duration>,
    /// Bytes that the process holds in memory. Where nobody can tell how much it holds, the search goes on.
    pub memory: Option<u64>,
    /// Somebody wants it to end.
    pub stop: Option<&'a Arc<AtomicBool>>,
    /// States found, and steps from the start; [`reached`](Limits::reached) does not look at these.
    pub states: Option<u64>,
    pub depth: Option<u32>,
    /// How many threads may work.
    pub threads: usize,
}

impl Limits<'_> {
    /// Which one of time, memory and interruption it has come to, if any.
    pub fn reached(&self, started: Instant) -> Option<String> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some("interrupted".to_owned());
        }
        if self.time.is_some_and(|limit| started.elapsed() >= limit) {
            // Which one was asked for is told with the bounds; a search may have been given a part of it.
            return Some("time limit".to_owned());
        }
        let most = self.memory?;
        let held = memory_stats::memory_stats()?.physical_mem as u64;
        (held > most).then(|| format!("memory: {} MB", most / 1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Limits<'_> =
        Limits { time: None, memory: None, stop: None, states: None, depth: None, threads: 1 };

    #[test]
    fn who_holds_more_than_it_may_gives_up() {
        let held = memory_stats::memory_stats().expect("it can be told here").physical_mem as u64;
        let reached = |memory| Limits { memory, ..NONE }.reached(Instant::now());
        assert_eq!(reached(Some(1_000_000)), Some("memory: 1 MB".to_owned()), "{held} bytes are held");
        assert_eq!((reached(Some(held * 1000)), reached(None)), (None, None));
    }

    #[test]
    fn who_is_interrupted_gives_up() {
        let stop = Arc::new(AtomicBool::new(false));
        let limits = Limits { stop: Some(&stop), ..NONE };
        assert_eq!(limits.reached(Instant::now()), None);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(limits.reached(Instant::now()), Some("interrupted".to_owned()));
    }
}
