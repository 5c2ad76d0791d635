//! The built-in trials: the recipes of [`zk_recipes`], and the published variants that are to be judged beside them.
//!
//! ```
//! let trials = zk_catalogue::trials();
//! let named = |name: &str| trials.iter().find(|trial| trial.about.name == name).expect("it is there");
//! assert!(named("lock").about.breaks.is_none(), "it is expected to hold");
//! let breaks = named("lock/no-guid").about.breaks.expect("it is known to be wrong");
//! assert_eq!((breaks.promise, breaks.fault), ("no-waiter-stuck", "lost answer"));
//! ```
//!
//! | module | trials of |
//! |---|---|
//! | [`lock`] | the lock and its published variants |
//! | [`try_lock`], [`timed_lock`] | the lock for clients that do not wait, or not for ever |
//! | [`shared_lock`] | the lock for readers and writers |
//! | [`revocable_lock`] | the lock that holders can be asked to give back |
//! | [`chubby`] | Chubby's files, locks and sequencers |
//! | [`election`] | leader election |
//! | [`barrier`], [`double_barrier`] | one that holds everybody up, and one that is entered and left together |
//! | [`queue`] | the queue, with priorities and without |
//! | [`two_phase_commit`] | the two-phase commit |
//! | [`membership`] | group membership |
//! | [`configuration`] | name service and configuration |

pub mod barrier;
pub mod chubby;
pub mod configuration;
pub mod double_barrier;
pub mod election;
pub mod lock;
pub mod membership;
pub mod queue;
pub mod revocable_lock;
pub mod shared_lock;
pub mod timed_lock;
pub mod try_lock;
pub mod two_phase_commit;

use std::sync::Arc;
use zk_harness::trial::Trial;

/// Every trial there is, in the order of the reports: right ones, and variants that are known to be wrong.
pub fn trials() -> Vec<Arc<Trial>> {
    [
        lock::trials(),
        try_lock::trials(),
        timed_lock::trials(),
        shared_lock::trials(),
        revocable_lock::trials(),
        chubby::trials(),
        election::trials(),
        barrier::trials(),
        double_barrier::trials(),
        queue::trials(),
        two_phase_commit::trials(),
        membership::trials(),
        configuration::trials(),
    ]
    .concat()
    .into_iter()
    .map(Arc::new)
    .collect()
}
