//! Recipe models, explored exhaustively.

pub mod actions;
pub mod check;
mod client;
pub mod describe;
pub mod digest;
pub mod link;
mod memo;
mod message;
pub mod model;
pub mod monitors;
mod probe;
pub mod process;
mod quiet;
pub mod search;
pub mod service;
mod shell;
pub mod state;
pub mod stateright;
pub mod symmetry;

pub use check::{
    Check, CheckConfig, Counterexample, Engine, Progress, PromiseReport, Verdict, check, explore,
};
