//! Servers, clients, network, disks and clocks under one seed.
//!
//! [`run`](run()) runs a trial under a seed. One event queue and one loop own everything; recipes are tasks of a
//! small executor that the loop wakes, and talk to it through a mailbox.
//!
//! | module | what is in it |
//! |---|---|
//! | `run` | [`run`](run()), what it takes and what it gives |
//! | `scenario` | [`Scenario`], how large a run is and which faults it may have |
//! | `schedule` | [`Schedule`], the faults of one run as data, and how a seed draws them |
//! | `limits` | what the faults of one run may be |
//! | `script` | [`Script`](script::Script), steps that are taken in the order given |
//! | `views` | what such a script holds back where its views lag |
//! | `order` | [`Order`](order::Order), other orders of some events of a run |
//! | `cases` | the interesting cases, and which of them a scenario can reach |
//! | `choices` | the one stream of choices |
//! | `recorded` | [`Recorded`]: choices as a scenario file holds them |
//! | `simulation` | the loop |
//! | `queue`, `clock`, `network` | what the loop owns, beside the cluster: small, and ignorant of each other |
//! | `disk_faults` | disks that rot, fail and fill up, and which violations are expected then |
//! | `server_host` | servers on their machines: timers, disks, crashes, what they want done |
//! | `ensemble` | what goes from server to server, who leads, and what must hold among them |
//! | `process`, `lives`, `clients` | client processes, the lives they have, their sessions |
//! | `executor`, `mailbox`, `client`, `probe` | the tasks of client processes, and what they see of the simulator |
//! | `other_time` | work in another time, to find code that reads the operating system's clocks |
//! | `tasks` | which of the ready tasks runs, and when |
//! | `hosted` | client processes that are programs of others |
//! | `nemesis` | injects the faults of the schedule |
//! | `administrator` | deletes znodes that clients hold, or writes to them |
//! | `rest` | when a run is over, and what is left then |
//! | `knowledge` | what is known outside every server: the ground truth that promises are judged by |
//! | `judge` | shows the promises what happens |
//! | `trace`, `bytes` | what happened as a digest, and as lines of text |
//! | `crossing` | [`Crossing`]: messages with both their times, to be drawn |
//! | `herd` | [`Herd`]: how many clients a change wakes, by how many are waiting |
//! | `visible` | what clients see, recorded to be judged by others |
//! | `watch` | how the invariants are shown what happens |
//! | `timeline` | [`Moment`](timeline::Moment): those of the trace's events that tell the story, typed |

#[cfg(not(madsim))]
compile_error!(
    "zk-simulator needs `--cfg madsim` for every crate. The workspace's .cargo/config.toml sets it; a \
     RUSTFLAGS variable replaces that list, so unset it or add `--cfg madsim` to it. In a workspace of your own, \
     put [build] rustflags = [\"--cfg\", \"madsim\"] and the same under rustdocflags into .cargo/config.toml."
);

mod administrator;
mod bytes;
mod cases;
mod choices;
mod client;
mod clients;
mod clock;
pub mod crossing;
mod disk_faults;
mod ensemble;
mod executor;
mod herd;
mod hosted;
mod judge;
mod knowledge;
mod limits;
mod lives;
mod mailbox;
mod nemesis;
mod network;
pub mod order;
mod other_time;
mod probe;
mod process;
mod queue;
mod recorded;
mod rest;
pub mod run;
pub mod scenario;
pub mod schedule;
pub mod script;
mod server_host;
mod simulation;
mod tasks;
pub mod timeline;
mod trace;
mod views;
mod visible;
mod watch;

pub use cases::cases;
pub use crossing::{Carried, Crossing};
pub use disk_faults::{CRASH_WAYS, DiskCrash};
pub use herd::Herd;
pub use hosted::Foul;
pub use mailbox::{GuidOrder, guid};
pub use other_time::in_other_time;
pub use recorded::Recorded;
pub use run::{Redraw, Run, RunOptions, RunViolation, run, run_schedule};
pub use scenario::{Faults, MOST_CLIENTS, OneRun, Scenario, ScenarioError, SyncRule};
pub use schedule::{Fault, Schedule, TimedFault};
pub use zk_invariants::Invariant;
