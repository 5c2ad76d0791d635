//! Runs that come to no verdict: a program under test does not keep to the protocol, or the simulator itself fails.

use crate::BadInput;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_simulator::Foul;

/// Runs a seed, or several runs that are made of it.
pub(crate) fn caught<T>(seed: u64, run: impl FnOnce() -> T) -> Result<T, BadInput> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|why| bad!("seed {seed}: {}", failed(&*why)))
}

/// Why a run came to no verdict.
pub(crate) fn failed(payload: &(dyn Any + Send)) -> String {
    if let Some(foul) = payload.downcast_ref::<Foul>() {
        return foul.what.clone();
    }
    format!("the simulator itself has failed: {}", message(payload).unwrap_or_else(|| "a panic".into()))
}

/// What a panic says.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}
