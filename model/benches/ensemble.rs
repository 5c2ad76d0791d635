//! Ensemble states per second on one thread and on two, and bytes per state: three servers from the start, a
//! transaction, a crash and a further election, to their end.
//!
//! Memory is what the process holds at most (`VmHWM`), less what it held before, over the number of states: states
//! known and to be explored, transitions recorded for liveness, steps remembered.

use std::io::Write;
use zk_model::Verdict;
use zk_model::ensemble::{EnsembleBounds, EnsembleConfig, Level, PeerNode, check_ensemble};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let bounds = EnsembleBounds { txns: 1, crashes: 1, elections: 1, ..EnsembleBounds::servers(3) };
    for (liveness, threads) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let config = EnsembleConfig { liveness, threads, ..EnsembleConfig::new(Level::Whole, bounds) };
        let before = most_kilobytes();
        let check = check_ensemble::<PeerNode>(&config, &mut |_| ());
        assert_eq!(check.verdict, Verdict::Holds);
        let rate = check.states as f64 / check.wall.as_secs_f64();
        let bytes = (most_kilobytes() - before) * 1024 / check.states;
        let checked = if liveness { "with liveness" } else { "invariants alone" };
        // What comes later finds memory that the first has left.
        let bytes = if liveness || threads > 1 { String::new() } else { format!(", {bytes} bytes a state") };
        let line = format!(
            "{checked}, {threads} threads: {} states, {rate:.0} unique states/s{bytes}",
            check.states
        );
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

/// The most that this process has held so far.
fn most_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
