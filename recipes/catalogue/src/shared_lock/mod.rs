//! The shared lock and its published variants on trial.
//!
//! They have in common who reads and who writes: by turns.
//!
//! ```
//! let trials = zk_catalogue::shared_lock::trials();
//! let named = |name: &str| trials.iter().find(|trial| trial.about.name == name).expect("it is there");
//! let owed: Vec<_> = named("shared-lock").owed().iter().map(|promise| promise.name()).collect();
//! assert!(owed.contains(&"sharers-meet") && owed.contains(&"sharers-wake-together"));
//! // A lock that readers hold one by one is exclusive, and still not right.
//! assert_eq!(named("shared-lock/one-by-one").about.breaks.map(|breaks| breaks.promise), Some("sharers-meet"));
//! ```

mod fixture;
mod published;
mod right;

pub(crate) use fixture::of_reader;

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    [vec![right::trial()], published::trials()].concat()
}
