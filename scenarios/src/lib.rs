//! The library behind the command, for building your own command and for tests.
//!
//! | to | there is |
//! |---|---|
//! | put a recipe on trial | [`Trial`], [`Role`], the [prelude](trials::prelude) |
//! | tell what its actors observe | [`Probe`], [`Observation`], the [words](trials::words) |
//! | say what it promises | the [promises](trials::promises) that there are, [`Promise`] for your own |
//! | talk to ZooKeeper | [`ZooKeeper`](api::ZooKeeper), the trait that recipes are written against |
//! | know what an error means | [`api::Error`], and its [`Outcome`](api::Outcome) |
//! | judge it in a test | [`assert_right`] |
//! | judge it step by step | [`Catalogue`]: the trials, and what can be done with them |
//! | bound a check | [`CheckConfig`], [`Bounds`], [`Engine`] |
//! | shape a run | [`Scenario`], [`Faults`] |
//! | read a report | [`CheckReport`], [`SweepReport`], [`ReplayReport`], [`LiveReport`], [`EnsembleReport`] |
//! | read a verdict | [`Verdict`] of one promise, [`Answer`] of the whole |
//! | learn what was wrong with the input | [`BadInput`], in one line |
//!
//! | module | what is in it |
//! |---|---|
//! | [`api`] | ZooKeeper's vocabulary |
//! | [`trials`] | promises, trials, and the published variants of recipes |
//! | [`trials::recipes`] | the recipes themselves |
//! | [`reports`] | reports as data, JSON, text and pages |
//!
//! [`Bounds`]: trials::trial::Bounds
//! [`Observation`]: trials::event::Observation
//! [`Probe`]: trials::probe::Probe
//! [`Promise`]: trials::promise::Promise
//! [`Role`]: trials::trial::Role
//! [`Trial`]: trials::trial::Trial
//!
//! # Your own recipe
//!
//! Write a [`Trial`], and have it judged:
//!
//! ```
//! use zoocheck::api::{Error, ZPath, ZooKeeper};
//! use zoocheck::trials::prelude::*;
//! use zoocheck::trials::promises::ExclusionAmongLiveSessions;
//! use zoocheck::{Answer, Catalogue, reports};
//!
//! /// A lock that keeps nobody out.
//! async fn enter(zk: AnyZooKeeper, probe: AnyProbe, _: Role) -> Result<(), Error> {
//!     zk.exists(&ZPath::parse("/lock").expect("a path")).await?;
//!     probe.observe(Observation::Enters { lock: "/lock".into() });
//!     probe.work().await;
//!     probe.observe(Observation::Leaves { lock: "/lock".into() });
//!     Ok(())
//! }
//! # fn main() -> Result<(), zoocheck::BadInput> {
//! let trial = Trial::new("open-door", enter)
//!     .setup(["/lock"])
//!     .promises(|| vec![Box::new(ExclusionAmongLiveSessions::of("/lock"))])
//!     .bounds(Bounds::clients(2));
//! let catalogue = Catalogue::empty().with(trial);
//! let report = catalogue.check("open-door", &catalogue.check_config("open-door")?)?;
//! assert_eq!(report.verdict.answer(), Answer::Broken);
//! assert_eq!(report.promise.as_deref(), Some("exclusion-among-live-sessions"));
//! assert!(reports::to_json(&report).contains(reports::CHECK_SCHEMA));
//! # Ok(())
//! # }
//! ```
//!
//! To add it to the built-in ones, write a one-line `main`; `examples/own-recipe` is a crate that has both:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     zoocheck::Catalogue::default().main() // with(MyRecipe) before it
//! }
//! ```
//!
//! # Tests
//!
//! [`assert_right`] judges a trial with both engines in one line. With more to say in each step:
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
//! Without the default feature `run` there is no chaos, no madsim, and no cfg to set.

// | module | what is in it |
// |---|---|
// | `catalogue` | `Catalogue`: trials, and what can be done with them |
// | `command` | the command line |
// | `bad_input` | `BadInput`: what is wrong with a command line, a file or the environment, in one line |
// | `check` | checks, and the Explorer |
// | `compare` | recipes side by side (feature `run`) |
// | `draw` | runs as space-time diagrams |
// | `drive` | client programs in real time, under many seeds (features `serve` and `live`) |
// | `fuzz` | generated programs in both engines (feature `run`) |
// | `github` | annotations and a job summary for builds on GitHub |
// | `ensemble` | checks of an ensemble |
// | `interrupt` | noticing that somebody wants the command to end |
// | `judge` | every trial by both engines, against the catalogue (feature `run`) |
// | `mutate` | how strong a recipe's promises are (feature `run`) |
// | `list` | listing recipes, variants, promises and scenarios |
// | `explain` | what the number of a defect stands for |
// | `new` | creating a crate for your own recipe |
// | `run` | chaos: scenario files, seeds, sweeps, replays (feature `run`); trials on live ensembles (feature `live`) |
// | `scenario_keys` | what the keys of scenario files are for (feature `run`) |
// | `observe` | judging what clients of `serve` say they do (features `serve` and `live`) |
// | `serve` | the server behind real sockets (feature `serve`) |
// | `conform` | our server compared with a real one, answer by answer (feature `conform`) |
// | `shell` | the command and its words, as a shell takes them |
// | `story` | runs as lines, and why a promise was broken |
// | `trial_list` | the trials of a catalogue, and what is said of them |
// | `typed` | parsing what is typed into values |
// | `progress` | how far the work has got, on stderr |
// | `output` | results, on stdout |

#[macro_use]
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
mod shell;
mod story;
mod trial_list;
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
/// What recipes are judged by, and the built-in trials.
pub mod trials {
    pub use zk_catalogue::*;
    pub use zk_harness::*;
}
