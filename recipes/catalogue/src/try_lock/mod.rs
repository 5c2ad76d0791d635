//! Taking the lock only if it is free, on trial.
//!
//! ```
//! let right = zk_catalogue::try_lock::trials().swap_remove(0);
//! let owed: Vec<_> = right.owed().iter().map(|promise| promise.name()).collect();
//! assert!(owed.contains(&"try-succeeds-uncontended"));
//! assert!(!owed.contains(&"one-woken-per-deletion"), "nobody waits, so nobody is woken");
//! ```

mod orphan;
mod right;
mod waits;

pub(crate) use right::promises;

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![right::trial(), orphan::trial(), waits::trial()]
}
