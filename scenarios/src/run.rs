//! Chaos: scenario files, seeds, sweeps, replays.

#[cfg(feature = "live")]
mod live;
mod logs;
mod replay;
pub(crate) mod scenario_file;
mod seeds;
mod shrink;
mod sweep;
mod tally;
mod target;
mod timeline;

#[cfg(feature = "live")]
pub(crate) use live::{LiveRun, live};
pub(crate) use logs::logs;
pub(crate) use replay::{drawn, replay, replay_drawn};
pub(crate) use scenario_file::read_scenario;
pub(crate) use seeds::{SeedRange, Shard};
pub(crate) use shrink::{Effort as ShrinkEffort, new_scenario_file, shrink, shrunk_text, size, to_file};
pub(crate) use sweep::{default_jobs, each_seed, sweep, sweep_with};
pub(crate) use target::Target;
pub(crate) use timeline::told_with_paths;
