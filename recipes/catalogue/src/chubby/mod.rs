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

mod check_then_act;
mod fixture;
mod lock_delay;
mod no_mode;
mod right;
mod set_sequencer;
mod stale_check;
mod version_zero;

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        right::trial(),
        right::checked_late(),
        right::tried(),
        lock_delay::trial(),
        lock_delay::without(),
        version_zero::trial(),
        no_mode::trial(),
        set_sequencer::trial(),
        stale_check::trial(),
        check_then_act::trial(),
    ]
}
