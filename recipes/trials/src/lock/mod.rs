//! The lock and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `lock` | `guid` | nothing: the recipe of this project |
//! | `lock/no-guid` | `no_guid` | a lost create is repeated: it waits behind its own znode |
//! | `lock/simple` | `simple` | waits for an event of a znode that is gone already |
//! | `lock/simple-looped` | `simple_looped` | takes its own znode for another's |
//! | `lock/java` | `java` | an event before the wait is lost |
//! | `lock/no-recheck` | `no_recheck` | enters when the waiter before it dies |
//! | `lock/null-is-held` | `null_is_held` | enters when the waiter before it is dead already |
//! | `lock/no-loop` | `no_loop` | waits for an event of a predecessor that is gone already |
//! | `lock/no-sync` | `no_sync` | a lost create is looked up in a list that may be old |
//! | `lock/behind-sync` | `no_sync` | the same behind a sync, which a leader answers though it is behind |
//! | `lock/release-once` | `release_once` | a deletion that fails leaves the lock held |
//! | `lock/name-order` | `name_order` | enters beside a holder with a higher guid |
//! | `lock/watch-lost` | `watch_lost` | an event that is no deletion uses the watch up |
//! | `lock/read-then-watch` | `read_then_watch` | the watch is set after the look |
//! | `lock/no-watch-after-loss` | `no_watch_after_loss` | a lost connection loses the watch |
//! | `lock/adopts-ghost` | `adopts_ghost` | takes up the znode of its former session |
//! | `lock/fails-at-loss` | `fails_at_loss` | a lost connection ends the attempt |
//! | `lock/two-threads` | `two_threads` | nothing: the recipe, by two threads on each session |
//! | `lock/session-as-guid` | `session_as_guid` | a second thread takes up the first one's znode |
//!
//! `stage` is what they have in common: attempts and the critical section; `threads` those of several threads.

mod adopts_ghost;
mod fails_at_loss;
mod guid;
mod java;
mod name_order;
mod no_guid;
mod no_loop;
mod no_recheck;
mod no_sync;
mod no_watch_after_loss;
mod null_is_held;
mod read_then_watch;
mod release_once;
mod session_as_guid;
mod simple;
mod simple_looped;
mod stage;
mod two_threads;
mod watch_lost;

pub use crate::common::{InRound, Stop};
pub use adopts_ghost::AdoptsGhost;
pub use fails_at_loss::FailsAtLoss;
pub use guid::Guid;
pub use java::Java;
pub use name_order::NameOrder;
pub use no_guid::NoGuid;
pub use no_loop::NoLoop;
pub use no_recheck::NoRecheck;
pub use no_sync::NoSync;
pub use no_watch_after_loss::NoWatchAfterLoss;
pub use null_is_held::NullIsHeld;
pub use read_then_watch::ReadThenWatch;
pub use release_once::ReleaseOnce;
pub use session_as_guid::SessionAsGuid;
pub use simple::Simple;
pub use simple_looped::SimpleLooped;
pub use stage::{LOCK, LockKind, OnTrial, Stage};
pub use two_threads::TwoThreads;
pub use watch_lost::WatchLost;

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Guid)),
        Arc::new(OnTrial(NoGuid)),
        Arc::new(OnTrial(Simple)),
        Arc::new(OnTrial(SimpleLooped)),
        Arc::new(OnTrial(Java)),
        Arc::new(OnTrial(NoRecheck)),
        Arc::new(OnTrial(NullIsHeld)),
        Arc::new(OnTrial(NoLoop)),
        Arc::new(OnTrial(NoSync::Nothing)),
        Arc::new(OnTrial(NoSync::Sync)),
        Arc::new(OnTrial(ReleaseOnce)),
        Arc::new(OnTrial(NameOrder)),
        Arc::new(OnTrial(WatchLost)),
        Arc::new(OnTrial(ReadThenWatch)),
        Arc::new(OnTrial(NoWatchAfterLoss)),
        Arc::new(OnTrial(AdoptsGhost)),
        Arc::new(OnTrial(FailsAtLoss)),
        Arc::new(OnTrial(TwoThreads)),
        Arc::new(OnTrial(SessionAsGuid)),
    ]
}
