//! Waiting for the lock for a while only, on trial.
//!
//! ```
//! use zk_harness::promise::Assumption;
//! let right = zk_catalogue::timed_lock::trials().swap_remove(0);
//! let owed = right.owed();
//! let woken = owed.iter().find(|promise| promise.name() == "one-woken-per-deletion").expect("it is there");
//! // Who gives up leaves a watch behind, so that it is only measured how many are woken.
//! assert_eq!(woken.terms().assumes, [Assumption::Promised]);
//! ```

mod abandons_node;
mod right;

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![right::trial(), abandons_node::trial()]
}
