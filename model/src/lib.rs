//! Recipe models, explored exhaustively.

pub mod check;

pub use check::{
    Check, CheckConfig, Counterexample, Engine, Progress, PromiseReport, Verdict, check, explore,
};
