//! The lock and its published variants on trial.
//!
//! [`Fixture`] is what they have in common: attempts and the critical section.
//!
//! ```
//! use zk_harness::common::{Stop, plain};
//! use zk_catalogue::lock::{Fixture, lock};
//!
//! /// Makes a znode, waits until it is the first, works, and deletes it.
//! async fn turn(fixture: Fixture) -> Result<(), Stop> {
//!     let (zk, parent) = (fixture.zk.clone(), fixture.lock());
//!     let own = plain::contend(&zk, &parent, &fixture.guid()).await?;
//!     plain::turn(&zk, &parent, &own).await?;
//!     fixture.holds(&own).await
//! }
//! let trial = lock("my-lock", turn);
//! // The eight promises of a fair lock without tokens, and that its actors tell what those listen for.
//! assert_eq!(trial.owed().len(), 9);
//! ```

mod adopts_ghost;
mod fails_at_loss;
mod fixture;
mod guid;
mod java;
pub(crate) mod name_order;
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
mod two_threads;
mod watch_lost;

pub use fixture::{Fixture, LOCK, fair, fenced, lock, lock_of_threads};
pub use zk_harness::common::{InRound, Stop};

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    let [before, after] = [
        vec![
            guid::trial(),
            no_guid::trial(),
            simple::trial(),
            simple_looped::trial(),
            java::trial(),
            no_recheck::trial(),
            null_is_held::trial(),
            no_loop::trial(),
        ],
        vec![
            release_once::trial(),
            name_order::trial(),
            watch_lost::trial(),
            read_then_watch::trial(),
            no_watch_after_loss::trial(),
            adopts_ghost::trial(),
            fails_at_loss::trial(),
            two_threads::trial(),
            session_as_guid::trial(),
        ],
    ];
    [before, no_sync::trials(), after].concat()
}
