//! Taking the lock only if it is free, on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `try-lock` | `right` | nothing: [`zk_recipes::Lock::try_acquire`] |
//! | `try-lock/orphan` | `orphan` | a deletion that fails leaves the znode |

mod orphan;
mod right;

pub use orphan::Orphan;
pub use right::Right;

use crate::lock::{LOCK, OnTrial};
use crate::promise::AnyPromise;
use crate::promises::{self, TrySucceedsUncontended};
use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![Arc::new(OnTrial(Right)), Arc::new(OnTrial(Orphan))]
}

/// What a lock promises that may be tried as well. Nobody waits, so nobody is woken.
fn promises() -> Vec<Box<dyn AnyPromise>> {
    let mut all = promises::of_fenced_lock(LOCK);
    all.retain(|promise| promise.name() != "one-woken-per-deletion");
    all.push(Box::new(TrySucceedsUncontended::of(LOCK)));
    all
}
