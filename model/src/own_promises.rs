//! What a model promises of every recipe, besides what a trial is held to.

/// Promises that every recipe makes, behind those of its trial.
pub const OWN_PROMISES: [&str; 4] = ["no-panic", "no-spin", HONEST_CHECKPOINTS, NO_LIVELOCK];
/// That a recipe's checkpoints tell all that matters; where they do not, nothing else that a check says can be relied
/// on.
pub const HONEST_CHECKPOINTS: &str = "honest-checkpoints";
/// That what moves comes to an end: see [`crate::livelock`].
pub const NO_LIVELOCK: &str = "no-livelock";
