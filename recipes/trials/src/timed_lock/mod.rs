//! Waiting for the lock for a while only, on trial.
//!
//! ```
//! use zk_trials::promise::Assumption;
//! let right = zk_trials::timed_lock::trials().swap_remove(0);
//! let owed = right.owed();
//! let woken = owed.iter().find(|promise| promise.name() == "one-woken-per-deletion").expect("it is there");
//! // Who gives up leaves a watch behind, so that it is only measured how many are woken.
//! assert_eq!(woken.terms().assumes, [Assumption::Promised]);
//! ```

mod abandons_node;
mod right;

use crate::lock::LOCK;
use crate::promise::AnyPromise;
use crate::promises::{Measured, OneWokenPerDeletion};
use crate::trial::Trial;
use std::time::Duration;

/// How long they wait: as long as somebody mostly works, so that some get the lock and some do not.
const LIMIT: Duration = Duration::from_millis(400);

/// What a lock promises that is waited for only for a while. Whoever gives up leaves its watch where it stood: when that
/// one goes, it is told as well. So how many are woken is only measured.
fn promises(all: Vec<Box<dyn AnyPromise>>) -> Vec<Box<dyn AnyPromise>> {
    let owed = all.into_iter().filter(|promise| promise.name() != "one-woken-per-deletion");
    let measured: Box<dyn AnyPromise> = Box::new(Measured(OneWokenPerDeletion::of(LOCK)));
    owed.chain([measured]).collect()
}

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![right::trial(), abandons_node::trial()]
}
