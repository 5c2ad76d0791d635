//! Waiting for the lock for a while only, on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `timed-lock` | `right` | nothing: [`zk_recipes::Lock::acquire_within`] |
//! | `timed-lock/abandons-node` | `abandons_node` | who gives up leaves its znode in the line |

mod abandons_node;
mod right;

pub use abandons_node::AbandonsNode;
pub use right::Right;

use crate::lock::{LOCK, OnTrial};
use crate::promise::AnyPromise;
use crate::promises::{Measured, OneWokenPerDeletion};
use crate::trial::AnyTrial;
use std::sync::Arc;
use std::time::Duration;

/// How long they wait: as long as somebody mostly works, so that some get the lock and some do not.
const LIMIT: Duration = Duration::from_millis(400);

/// What a lock promises that is waited for only for a while. Whoever gives up leaves its watch where it stood: when that
/// one goes, it is told as well. So how many are woken is only measured.
fn promises(all: Vec<Box<dyn AnyPromise>>) -> Vec<Box<dyn AnyPromise>> {
    let owed = all.into_iter().filter(|promise| promise.name() != "one-woken-per-deletion");
    owed.chain([Box::new(Measured(OneWokenPerDeletion::of(LOCK))) as Box<dyn AnyPromise>]).collect()
}

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![Arc::new(OnTrial(Right)), Arc::new(OnTrial(AbandonsNode))]
}
