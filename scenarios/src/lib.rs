//! The library behind the command, for building your own command and for tests.
//!
//! To add your own recipe to the built-in ones, write a [`Trial`](trials::trial::Trial) and a one-line `main`;
//! `examples/own-recipe` is a crate that has both:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     zoocheck::Catalogue::default().main() // with(MyRecipe) before it
//! }
//! ```
//!
//! A test can use the library as well:
//!
//! ```
//! # fn main() -> Result<(), zoocheck::BadInput> {
//! let catalogue = zoocheck::Catalogue::default();
//! let mut config = catalogue.check_config("lock")?;
//! config.bounds.clients = 2;
//! let report = catalogue.check("lock", &config)?;
//! assert!(report.held(), "{report}");
//! # #[cfg(feature = "run")]
//! # {
//! let report = catalogue.sweep(&catalogue.scenario("lock")?.without_faults(), 0..10)?;
//! assert!(report.held(), "{report}");
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! [`assert_right`] does all of this in one line: it judges a trial with both engines, for a `#[test]`.
//!
//! | module | what is in it |
//! |---|---|
//! | `catalogue` | [`Catalogue`]: the trials, and what can be done with them |
//! | `command` | the command line |
//! | `bad_input` | [`BadInput`]: what is wrong with a command line, a file or the environment, in one line |
//! | `check` | checks, and the Explorer |
//! | `compare` | recipes side by side (feature `run`) |
//! | `draw` | runs as space-time diagrams |
//! | `drive` | client programs in real time, under many seeds (features `serve` and `live`) |
//! | `fuzz` | generated programs in both engines (feature `run`) |
//! | `github` | annotations and a job summary for builds on GitHub |
//! | `ensemble` | checks of an ensemble |
//! | `interrupt` | noticing that somebody wants the command to end |
//! | `judge` | every trial by both engines, against the catalogue (feature `run`) |
//! | `mutate` | how strong a recipe's promises are (feature `run`) |
//! | `list` | listing recipes, variants, promises and scenarios |
//! | `explain` | what the number of a defect stands for |
//! | `new` | creating a crate for your own recipe |
//! | `run` | chaos: scenario files, seeds, sweeps, replays (feature `run`); trials on live ensembles (feature `live`) |
//! | `scenario_keys` | what the keys of scenario files are for (feature `run`) |
//! | `observe` | judging what clients of `serve` say they do (features `serve` and `live`) |
//! | `serve` | the server behind real sockets (feature `serve`) |
//! | `conform` | our server compared with a real one, answer by answer (feature `conform`) |
//! | `story` | runs as lines, and why a promise was broken |
//! | `typed` | parsing what is typed into values |
//! | `progress` | how far the work has got, on stderr |
//! | `output` | results, on stdout |
//!
//! Without the default feature `run` there is no chaos, no madsim, and no cfg to set.

mod bad_input;
mod catalogue;
mod check;
mod command;
#[cfg(feature = "run")]
mod compare;
#[cfg(feature = "conform")]
mod conform;
mod draw;
#[cfg(all(feature = "serve", feature = "live"))]
mod drive;
mod ensemble;
mod explain;
#[cfg(feature = "run")]
mod fuzz;
mod github;
mod interrupt;
#[cfg(feature = "run")]
mod judge;
mod list;
#[cfg(feature = "run")]
mod mutants;
#[cfg(feature = "run")]
mod mutate;
mod new;
#[cfg(all(feature = "serve", feature = "live"))]
mod observe;
mod output;
mod progress;
#[cfg(feature = "run")]
mod run;
#[cfg(feature = "run")]
mod scenario_keys;
#[cfg(feature = "serve")]
mod serve;
mod story;
mod typed;

pub use bad_input::BadInput;
pub use catalogue::Catalogue;
#[cfg(feature = "run")]
pub use catalogue::assert_right;
pub use zk_api as api;
pub use zk_model::{CheckConfig, Engine};
pub use zk_reports as reports;
pub use zk_reports::{Answer, CheckReport, EnsembleReport, LiveReport, ReplayReport, SweepReport, Verdict};
#[cfg(feature = "run")]
pub use zk_simulator::{Faults, Scenario};
pub use zk_trials as trials;
