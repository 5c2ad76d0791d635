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

use crate::lock::{Fixture, LOCK, lock};
use std::time::Duration;
use zk_api::{Either, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{Measured, OneWokenPerDeletion, of_fair_lock, of_fenced_lock};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Lock, OnDisconnect};

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        lock("timed-lock", waits_for_a_while)
            .summary("Waits for the lock for a while only; who gives up leaves the line.")
            .source("zk-recipes")
            .bounds(Bounds { drops: 1, lag: 1, ..Bounds::clients(2) })
            .promises(|| promises(of_fenced_lock(LOCK))),
        lock("timed-lock/abandons-node", abandons_node)
            .summary("Who waits too long gives up, and leaves its znode in the line.")
            .source("client libraries that put a timeout around the recipe")
            .breaks("no-orphan-znode", "S-065", "none")
            .bounds(Bounds::clients(1))
            .promises(|| promises(of_fair_lock(LOCK))),
    ]
}

/// How long this one and its variant wait: as long as somebody mostly works, so that some get the lock and some do not.
pub(super) const LIMIT: Duration = Duration::from_millis(400);

/// What a lock promises that is waited for only for a while. Whoever gives up leaves its watch where it stood: when
/// that one goes, it is told as well. So how many are woken is only measured.
pub(super) fn promises(all: Vec<Box<dyn AnyPromise>>) -> Vec<Box<dyn AnyPromise>> {
    let owed = all.into_iter().filter(|promise| promise.name() != "one-woken-per-deletion");
    let measured: Box<dyn AnyPromise> = Box::new(Measured(OneWokenPerDeletion::of(LOCK)));
    owed.chain([measured]).collect()
}

/// [`zk_recipes::Lock::acquire_within`], and then [`zk_recipes::Lock::abandon`] for those who did not get it.
async fn waits_for_a_while(fixture: Fixture) -> Result<(), Stop> {
    let guid = fixture.guid();
    let mut lock = Lock::new(fixture.zk.clone(), &fixture.lock(), &guid).expect("a guid is fit for a name");
    if let Some(held) = lock.acquire_within(LIMIT).await? {
        fixture.section(held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop)).await;
        return Ok(held.release().await?);
    }
    lock.abandon().await?;
    fixture.passes("the time is over");
    Ok(())
}

/// The lock with guids, and a timeout around it that forgets the znode.
///
/// Whoever gives up stands in the line as long as its session lives, and all behind it wait (S-065, R-37). The recipes
/// say that they need no timeouts, and name no step for giving up.
async fn abandons_node(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let end = zk.sleep(LIMIT);
    let own = match race(acquire(&zk, &lock, &fixture.guid()), end).await {
        Either::Left(own) => own?,
        Either::Right(()) => {
            fixture.passes("the time is over");
            return Ok(());
        }
    };
    fixture.holds(&own).await
}

async fn acquire(zk: &impl ZooKeeper, lock: &ZPath, guid: &str) -> Result<ZPath, Stop> {
    let own = plain::contend(zk, lock, guid).await?;
    plain::turn(zk, lock, &own).await?;
    Ok(own)
}
