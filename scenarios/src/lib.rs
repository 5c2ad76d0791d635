//! The library behind the command, for a command of one's own and for tests.
//!
//! A `main` with one's own recipe beside the built-in ones:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     zoocheck::Zoo::default().with(MyLock).main()
//! }
//! ```
//!
//! The same from a test:
//!
//! ```ignore
//! let zoo = zoocheck::Zoo::default().with(MyLock);
//! let report = zoo.sweep(&zoo.scenario("my-lock")?, 0..100)?;
//! assert!(report.held(), "{report}");
//! let report = zoo.check("my-lock", &zoo.check_config("my-lock")?)?;
//! assert!(report.held(), "{report}");
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | `zoo` | [`Zoo`]: the trials, and what can be done with them |
//! | `command` | the command line |
//! | `bad_input` | [`BadInput`]: what is wrong with a command line, a file or the environment, in one line |
//! | `check` | checks, and the Explorer |
//! | `list` | what there is |
//! | `run` | chaos: scenario files, seeds, sweeps, replays (feature `run`) |
//! | `progress` | how far it is, on stderr |
//! | `output` | results, on stdout |
//!
//! Without the default feature `run` there is no chaos, no madsim, and no cfg to set.

mod bad_input;
mod check;
mod command;
mod list;
mod output;
mod progress;
#[cfg(feature = "run")]
mod run;
mod zoo;

pub use bad_input::BadInput;
pub use zk_model::{CheckConfig, Engine};
pub use zk_reports as reports;
pub use zk_reports::{Answer, CheckReport, ReplayReport, SweepReport, Verdict};
#[cfg(feature = "run")]
pub use zk_world::{Faults, Scenario};
pub use zoo::Zoo;
