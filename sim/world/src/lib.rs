//! Servers, clients, network, disks and clocks under one seed.

#[cfg(not(madsim))]
compile_error!(
    "zk-world needs `--cfg madsim` for every crate. The workspace's .cargo/config.toml sets it; a RUSTFLAGS \
     variable replaces that list, so unset it or add `--cfg madsim` to it. In a workspace of your own, put \
     [build] rustflags = [\"--cfg\", \"madsim\"] and the same under rustdocflags into .cargo/config.toml."
);

pub mod run;
pub mod scenario;
pub mod schedule;

pub use run::{Run, RunOptions, RunViolation, run, run_schedule};
pub use scenario::{Faults, Scenario, ScenarioError};
pub use schedule::{Fault, Schedule};
