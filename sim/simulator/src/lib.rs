//! Servers, clients, network, disks and clocks under one seed.
//!
//! [`run`](run()) runs a trial under a seed. One event queue and one loop own everything; recipes are tasks of a
//! small executor that the loop wakes, and talk to it through a mailbox.
//!
//! | module | what is in it |
//! |---|---|
//! | [`run`](mod@run) | [`run`](run()) and [`run_schedule`]: what they take and what they give |
//! | [`scenario`] | [`Scenario`]: how large a run is and which [`Faults`] it may have |
//! | [`schedule`] | [`Schedule`]: the faults of one run as data, and how a seed draws them |
//! | [`script`] | [`Script`](script::Script): steps that are taken in the order given |
//! | [`order`] | [`Order`](order::Order): other orders of some events of a run |
//! | [`timeline`] | [`Moment`](timeline::Moment): those of the trace's events that tell the story, typed |
//! | [`crossing`] | [`Crossing`]: messages with both their times, to be drawn |
//!
//! | item | what it is |
//! |---|---|
//! | [`cases()`] | the interesting cases, and which of them a scenario can reach |
//! | [`Recorded`] | choices as a scenario file holds them |
//! | [`DiskCrash`], [`CRASH_WAYS`] | a crash at an operation of a server's disk |
//! | [`Herd`] | how many clients a change wakes, by how many are waiting |
//! | [`Foul`] | how a run ends whose program does not keep to the protocol |
//! | [`guid()`], [`GuidOrder`] | the guids that clients are given, and their order |
//! | [`in_other_time`] | work in another time, to find code that reads the operating system's clocks |
//! | [`Invariant`] | what must hold whatever the recipe |
//!
//! One seed gives one run, and another seed another:
//!
//! ```
//! use zk_simulator::{RunOptions, Scenario, run};
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let scenario = Scenario { clients: 3, fault_seconds: 10, ..Scenario::default() };
//! let digest = |seed| run(&lock, &scenario, seed, &RunOptions::default()).digest;
//! assert_eq!(digest(7), digest(7));
//! assert_ne!(digest(7), digest(8));
//! ```
//!
//! A [schedule] is a function of the scenario and the seed as well, and can be changed by hand:
//!
//! ```
//! use zk_simulator::{Fault, RunOptions, Scenario, Schedule, TimedFault, run_schedule};
//!
//! let scenario = Scenario::default();
//! assert_eq!(Schedule::draw(&scenario, 7), Schedule::draw(&scenario, 7));
//! assert!(Schedule::draw(&scenario.without_faults(), 7).faults.is_empty());
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let small = Scenario { clients: 2, rounds: 1, servers: 1, observers: 0, ..Scenario::default() };
//! let faults = vec![TimedFault { at_ms: 50, fault: Fault::ServerCrash { server: 0, down_ms: 500, mid_sync: false } }];
//! let options = RunOptions { trace: true, ..RunOptions::default() };
//! let run = run_schedule(&lock, &small, 7, &Schedule { faults }, &options);
//! assert!(run.trace.iter().any(|line| line.contains(" s0 Down")));
//! assert!(run.violations.is_empty());
//! ```
//!
//! Each step of a [script] is a line of text:
//!
//! ```
//! use zk_simulator::script::WrittenStep;
//!
//! let step = WrittenStep::try_from("serve p0".to_owned()).expect("a step");
//! assert_eq!(step.to_string(), "serve p0");
//! assert!(WrittenStep::try_from("serves p0".to_owned()).is_err());
//! ```

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `fault` | the faults of one run as data |
// | `limits` | what the values of a scenario and the faults of one run may be |
// | `options`, `result` | what a run is asked for, and what it gave |
// | `follow`, `script_state` | how a script is followed, and what is kept of it |
// | `views` | a run that a script holds up, and what it holds back where its views lag |
// | `cases` | the interesting cases, and which of them a scenario can reach |
// | `choices` | the one stream of choices |
// | `recorded` | `Recorded`: choices as a scenario file holds them |
// | `event` | what happens in a run: the events of the queue |
// | `simulation` | the loop |
// | `stage` | what all that act have in common: time, queue, choices, what is known, and who is told |
// | `swarm` | how a run as a whole is |
// | `next_event`, `describe` | which event comes next, where an order is given, and events in words |
// | `queue`, `clock`, `network` | what is owned beside the cluster: small, and ignorant of each other |
// | `conns` | what goes over connections between clients and servers, and how they end |
// | `disk_faults` | disks that rot, fail and fill up, and which violations are expected then |
// | `machine`, `server_host` | machines, and the servers on them: what comes to them, what they want done, crashes |
// | `ensemble`, `zab_checks` | what goes from server to server, who leads, and what must hold among them |
// | `process`, `lives`, `clients` | client processes, what their code asks for and sends, their sessions |
// | `executor`, `mailbox` | the tasks of client processes, and what they see of the simulator |
// | `other_time` | work in another time, to find code that reads the operating system's clocks |
// | `tasks` | which of the ready tasks runs, and when |
// | `hosted`, `programs` | client processes that are programs of others, and what these want done |
// | `nemesis` | injects the faults of the schedule |
// | `administrator` | makes the trial's znodes; deletes those that clients hold, or writes to them |
// | `deadline`, `rest` | when a run is over, and what is left then |
// | `knowledge` | what is known outside every server: the ground truth that promises are judged by |
// | `judge` | shows the promises what happens |
// | `trace`, `trace_event`, `bytes` | what happened as a digest, and as lines of text |
// | `herd` | `Herd`: how many clients a change wakes, by how many are waiting |
// | `visible` | what clients see, recorded to be judged by others |
// | `watch` | how the invariants are shown what happens |

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
mod clients;
mod clock;
mod conns;
pub mod crossing;
mod deadline;
mod describe;
mod disk_faults;
mod ensemble;
mod event;
mod executor;
mod fault;
mod follow;
mod herd;
mod hosted;
mod judge;
mod knowledge;
mod limits;
mod lives;
mod machine;
mod mailbox;
mod nemesis;
mod network;
mod next_event;
mod options;
pub mod order;
mod other_time;
mod process;
mod programs;
mod queue;
mod recorded;
mod rest;
mod result;
pub mod run;
pub mod scenario;
pub mod schedule;
pub mod script;
mod script_state;
mod server_host;
mod simulation;
mod stage;
mod swarm;
mod tasks;
pub mod timeline;
mod trace;
mod trace_event;
mod views;
mod visible;
mod watch;
mod zab_checks;

pub use cases::cases;
pub use crossing::{Carried, Crossing};
pub use herd::Herd;
pub use hosted::Foul;
pub use mailbox::{GuidOrder, guid};
pub use options::{CRASH_WAYS, DiskCrash};
pub use other_time::in_other_time;
pub use recorded::Recorded;
pub use run::{Redraw, Run, RunOptions, RunViolation, run, run_schedule};
pub use scenario::{Faults, MOST_CLIENTS, OneRun, Scenario, ScenarioError, SyncRule};
pub use schedule::{Fault, Schedule, TimedFault};
pub use zk_invariants::Invariant;
