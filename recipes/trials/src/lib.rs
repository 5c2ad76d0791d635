//! Promises, trials, and the published variants that are to be judged.

pub mod event;
pub mod probe;
pub mod promise;
pub mod trial;
