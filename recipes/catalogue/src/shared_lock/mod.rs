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

mod downgrade_new_node;
mod fixture;
mod guid_directory;
mod java;
mod name_order;
mod one_by_one;
mod right;
mod watches_list;
mod writer_watches_writers;

pub(crate) use fixture::of_reader;

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        right::trial(),
        java::trial(),
        name_order::trial(),
        writer_watches_writers::trial(),
        guid_directory::trial(),
        downgrade_new_node::trial(),
        one_by_one::trial(),
        watches_list::trial(),
    ]
}
