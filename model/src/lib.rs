//! Recipe models, explored exhaustively: every order of events within bounds, not one order per seed.
//!
//! A model is N replayed recipes, the ensemble as its clients see it, and the promises, as one state machine.
//! Recipes, promises and the tree are the very code that runs elsewhere; nothing is described a second time.
//!
//! | module | what is in it |
//! |---|---|
//! | `check` | [`check()`]: what to explore, and what came of it; [`explore`] |
//! | `model` | [`RecipeModel`](model::RecipeModel): the state machine, put together of the parts below |
//! | `state`, `actions` | a state, and what can happen in it, always in the same order |
//! | `process` | actors as histories of their inputs, replayed; steps remembered, checkpoints audited |
//! | `tasks`, `timers` | the tasks of a process, and which of them are ready; which of its timers may fire first |
//! | `replay_runtime`, `client`, `probe` | what an actor sees of the model, and what it waits for |
//! | `link` | a process with its connection: what it sent, what comes to it, what it believes |
//! | `service` | the ensemble: one real tree, sessions, watches, views that lag |
//! | `trace_validation` | whether `service` allows what clients saw in a recorded run |
//! | `reads`, `orders` | values that are varied only if somebody reads them; the order of names in lists |
//! | `message` | what travels between processes and the ensemble |
//! | `monitors` | promises as part of a state |
//! | `symmetry` | states that differ only in which process is which |
//! | `digest`, `memo` | digests of 128 bits, and what is remembered by them |
//! | `search`, `tree` | our own breadth-first search, and the states it has found |
//! | `inevitable` | the step of a counterexample from which on nothing avoids the break |
//! | `livelock` | livelocks in what a search has recorded |
//! | `stateright` | the same model for stateright's searches and its Explorer |
//! | `describe`, `script` | steps, for people to read, and for the simulator to take again |
//! | `scene` | steps as data, to be drawn |
//! | `quiet` | caught panics |
//! | `waits` | what an actor waits for |
//! | `watching` | watches as a client knows them |
//! | `life` | how a life of a process begins |
//! | `stop` | why a search cannot go on |
//! | [`ensemble`] | ensemble models: real servers over links that break |
//! | [`soundness`] | how a model works, and why its reductions are sound |
//!
//! Everything that happens in a step is worked out by one of four automata whose transitions are remembered:
//! a process, a client, the ensemble, the promises. A step is a few look-ups.

pub mod actions;
pub mod check;
mod client;
pub mod describe;
pub mod digest;
pub mod ensemble;
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
mod probe;
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
pub mod symmetry;
mod tasks;
mod timers;
mod tree;
mod waits;
mod watching;

pub use check::{
    Check, CheckConfig, Counterexample, Engine, OtherTime, Progress, PromiseReport, Verdict, check, explore,
};
pub use scene::{Does, Scene};
