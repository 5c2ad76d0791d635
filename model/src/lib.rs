//! Recipe models, explored exhaustively: every order of events within bounds, not one order per seed.
//!
//! A model is N replayed recipes, the ensemble as its clients see it, and the promises, as one state machine.
//! Recipes, promises and the tree are the very code that runs elsewhere; nothing is described a second time.
//!
//! | module | what is in it |
//! |---|---|
//! | [`check`](mod@check) | [`check()`]: explores a trial, as often as it takes; [`explore`] |
//! | [`model`] | [`RecipeModel`](model::RecipeModel): the state machine, put together of the parts below |
//! | [`state`], [`action`], [`actions`] | a state, a step, and what can happen in a state, always in the same order |
//! | [`process`], [`life`] | actors as histories of their inputs, replayed; how a life of a process begins |
//! | [`replay_runtime`] | what an actor asks with and sees of the model, and what it waits for |
//! | [`link`] | a process with its connection: what it sent, what comes to it, what it believes |
//! | [`service`] | the ensemble: one real tree, sessions, watches, views that lag |
//! | [`trace_validation`] | whether [`service`] allows what clients saw in a recorded run |
//! | [`reads`] | values that are varied only if somebody reads them |
//! | [`message`] | what travels between processes and the ensemble |
//! | [`monitors`] | promises as part of a state |
//! | [`symmetry`] | states that differ only in which process is which |
//! | [`digest`] | digests of 128 bits |
//! | [`search`] | the search of a recipe's states |
//! | [`livelock`] | livelocks in what a search has recorded |
//! | [`stateright`] | the same model for stateright's searches and its Explorer |
//! | [`describe`], [`scene`], [`story`] | steps, for people to read, and as data, to be drawn; how that is told |
//! | [`stop`] | why a search cannot go on |
//! | [`ensemble`] | ensemble models: real servers over links that break |
//! | [`soundness`] | how a model works, and why its reductions are sound |
//!
//! Everything that happens in a step is worked out by one of four automata whose transitions are remembered:
//! a process, a client, the ensemble, the promises. A step is a few look-ups.
//!
//! The lock holds for two clients, and a barrier does not that takes any event for its end:
//!
//! ```
//! use zk_model::{CheckConfig, Verdict, check};
//! use zk_harness::trial::Bounds;
//!
//! let checked = |name| {
//!     let mut trials = zk_catalogue::trials().into_iter();
//!     let trial = trials.find(|trial| trial.about.name == name).expect("it is in the catalogue");
//!     check(trial, &CheckConfig::new(Bounds::clients(2)), &mut |_| ()).verdict
//! };
//! assert_eq!(checked("lock"), Verdict::Holds);
//! let Verdict::Violated { promise, .. } = checked("barrier/any-event") else { panic!("it is broken") };
//! assert_eq!(promise, "barrier-holds");
//! ```
//!
//! A [`service::Service`] takes orders, and leaves the one before it as it was:
//!
//! ```
//! use zk_api::Request;
//! use zk_model::service::{Order, Rules, Service};
//! # use zk_harness::event::ActorId;
//! # let actor = ActorId { process: 0, life: 0, thread: 0 };
//! # let rules = Rules {
//! #     lag: 0,
//! #     stale_syncs: true,
//! #     goes_back: false,
//! #     lost_answers_bind: false,
//! #     outlives: true,
//! #     registers_late: true,
//! #     counts_wakes: false,
//! #     true_zxids: false,
//! #     pzxids: false,
//! #     symmetry: false,
//! #     ranks: false,
//! # };
//!
//! let before = Service::new(&["/a".into()], &[], &[actor], &rules);
//! let request = Request::Delete { path: "/a".into(), version: -1 };
//! let served = before.step(&Order::Serve { client: 0, request: &request }, &rules);
//! assert!(before.tree().node("/a").is_some());
//! assert!(served.service.tree().node("/a").is_none());
//! assert_eq!(served.post.len(), 1, "the client is answered");
//! ```

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `tasks`, `timers` | the tasks of a process, and which of them are ready; which of its timers may fire first |
// | `waits` | what an actor waits for |
// | `config`, `verdict` | what to check, and how far; what comes of it |
// | `own_promises` | what a model promises of every recipe |
// | `orders` | the order of names in lists |
// | `memo` | what is remembered by digests |
// | `explorer` | our own breadth-first search, of recipes' states and of ensembles' |
// | `tree`, `limits` | the states that it has found, and when it gives up |
// | `inevitable` | the step of a counterexample from which on nothing avoids the break |
// | `script` | steps, for the simulator to take again |
// | `quiet` | caught panics |

pub mod action;
pub mod actions;
pub mod check;
mod config;
pub mod describe;
pub mod digest;
pub mod ensemble;
mod explorer;
mod inevitable;
pub mod life;
mod limits;
pub mod link;
pub mod livelock;
mod memo;
pub mod message;
pub mod model;
pub mod monitors;
mod orders;
mod own_promises;
pub mod process;
mod quiet;
pub mod reads;
pub mod replay_runtime;
pub mod scene;
mod script;
pub mod search;
pub mod service;
pub mod trace_validation;
#[doc = include_str!("../SOUNDNESS.md")]
pub mod soundness {}
pub mod state;
pub mod stateright;
pub mod stop;
pub mod story;
pub mod symmetry;
mod tasks;
mod timers;
mod tree;
mod verdict;
mod waits;

pub use check::{check, explore};
pub use config::{CheckConfig, Engine, OtherTime};
pub use scene::{Does, Scene};
pub use verdict::{Check, Counterexample, Progress, PromiseReport, Verdict};
