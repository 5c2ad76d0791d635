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

mod fixture;
mod guid;
mod no_sync;
mod own;
mod published;
mod waits;

pub use fixture::{Fixture, LOCK, fair, fenced, lock, lock_of_threads};
pub(crate) use own::place;
pub use zk_harness::common::{InRound, Stop};

use zk_harness::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    let right = vec![guid::trial()];
    let first = [right, published::trials(), waits::looking(), no_sync::trials()];
    let second = [own::naming(), waits::watching(), own::adopting()];
    first.into_iter().chain(second).flatten().collect()
}
