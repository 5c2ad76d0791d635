//! Chubby's interface on trial, and the readings of its mapping that are published.
//!
//! ```
//! let trials = zk_catalogue::chubby::trials();
//! let named = |name: &str| trials.iter().find(|trial| trial.about.name == name).expect("it is there");
//! assert!(named("chubby").owed().iter().any(|promise| promise.name() == "sequencer-names-a-holder"));
//!
//! // To ask the ensemble and then to act is too late if the session ends in between.
//! let breaks = named("chubby/check-then-act").about.breaks.expect("it is known to be wrong");
//! assert_eq!((breaks.promise, breaks.fault), ("exclusion-at-checked-resource", "session expiry"));
//! ```

mod fixture;
mod lock_delay;
mod published;
mod right;

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    [right::trials(), lock_delay::trials(), published::trials()].concat()
}
