//! What recipes are judged by: trials, probes, promises and mutations.
//!
//! A [`Trial`](trial::Trial) is a recipe set up, driven by actors, and held to promises. Each actor tells what it
//! observes by its [`Probe`](probe::Probe). A [`Promise`](promise::Promise) sees that and the ground truth, and says
//! what it finds.
//!
//! ```
//! use zk_harness::prelude::*;
//!
//! let idle = Trial::new("idle", |_zk, _probe, _part| async { End::Done });
//! let held_to = idle.held_to();
//! assert!(held_to.iter().any(|promise| promise.name() == "no-polling"), "as every trial is, by default");
//! ```
//!
//! | module | for the author of a trial |
//! |---|---|
//! | [`prelude`] | everything that such an author needs |
//! | [`trial`] | [`Trial`](trial::Trial), its [`Bounds`](trial::Bounds), and the [`Role`](trial::Role) of an actor |
//! | [`probe`] | [`Probe`](probe::Probe), how an actor tells what it observes |
//! | [`event`] | [`Observation`](event::Observation), [`GroundTruth`](event::GroundTruth): what promises see |
//! | [`words`] | [`Word`](words::Word), what probes say and promises listen for |
//! | [`promise`] | [`Promise`](promise::Promise), what must hold, and [`Assumption`](promise::Assumption) |
//! | [`promises`] | the promises there are |
//! | [`outside`] | [`Outside`](outside::Outside), the resource that a lock is to protect |
//! | [`common`] | what trials of all recipes have in common: rounds, and careful requests for the variants |
//!
//! | module | for engines |
//! |---|---|
//! | [`program`] | [`Program`](program::Program), a client written by others, in place of an actor |
//! | [`script`] | [`ScriptStep`](script::ScriptStep), what happens in a run, step by step |
//! | [`mutation`] | [`Mutated`](mutation::Mutated), a trial that goes wrong on purpose |
//! | [`polling`] | finding code that asks the same thing again and again |
//! | [`pulse`] | which actor is acting, to catch a step that never ends |

// | module | what is in it |
// |---|---|
// | `context` | what promises know in common: which actors live, which have lost a znode, which threads go on |
// | `standing` | how each actor stands to a lock, by what it says |
// | `threads` | which thread a task tells as: when it ends, and what is refused |

pub mod common;
mod context;
pub mod event;
pub mod heard;
pub mod mutation;
pub mod outside;
pub mod polling;
pub mod prelude;
pub mod probe;
pub mod program;
pub mod promise;
pub mod promises;
pub mod pulse;
pub mod script;
mod standing;
mod threads;
pub mod trial;
pub mod words;

pub use zk_recipes as recipes;
