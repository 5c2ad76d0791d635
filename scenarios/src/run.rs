//! Chaos: scenario files, seeds, sweeps, replays.

mod build;
mod covered;
mod dated_seeds;
mod exhaust;
mod export;
mod failed;
#[cfg(feature = "live")]
mod live;
mod logs;
#[cfg(feature = "live")]
pub(crate) mod monitor;
mod no_return;
mod pace;
mod program;
mod regressions;
mod replay;
mod requests;
mod saved;
pub(crate) mod scenario_file;
mod seeds;
mod shards;
mod shrink;
mod sweep;
mod tally;
mod target;
mod threads;
mod timeline;

pub(crate) use dated_seeds::DatedSeeds;
pub(crate) use exhaust::{Exhaust, exhaust};
pub(crate) use export::export;
pub(crate) use failed::{caught, message};
#[cfg(feature = "live")]
pub(crate) use live::{LiveRun, live};
#[cfg(all(feature = "live", feature = "serve"))]
pub(crate) use live::{is_unjudged, travel, work};
pub(crate) use logs::logs;
pub(crate) use no_return::Redraws;
pub(crate) use pace::Pace;
pub(crate) use program::is_program;
pub(crate) use regressions::{cases, new_case, no_case, tried};
pub(crate) use replay::{drawn, explained, replay, replay_drawn};
pub(crate) use requests::requests;
pub(crate) use saved::Saving;
pub(crate) use scenario_file::{read_scenario, set};
pub(crate) use seeds::{SeedRange, Shard};
pub(crate) use shrink::{
    Effort as ShrinkEffort, Shrunk, new_scenario_file, replay_of, shrink, shrunk_text, size, to_file,
};
pub(crate) use sweep::{How, SoFar, asked, default_jobs, each_seed, sweep, sweep_with};
pub(crate) use target::{Asked, Target, suited};
pub(crate) use threads::{each_of, in_order};
pub(crate) use timeline::{event_of, lines};
