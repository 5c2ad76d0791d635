//! Taking the lock only if it is free, on trial.
//!
//! ```
//! let right = zk_catalogue::try_lock::trials().swap_remove(0);
//! let owed: Vec<_> = right.owed().iter().map(|promise| promise.name()).collect();
//! assert!(owed.contains(&"try-succeeds-uncontended"));
//! assert!(!owed.contains(&"one-woken-per-deletion"), "nobody waits, so nobody is woken");
//! ```

use crate::lock::{Fixture, LOCK, lock};
use zk_api::ZooKeeper;
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{TrySucceedsUncontended, of_fair_lock, of_fenced_lock, without_tokens};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Lock, OnDisconnect};

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        lock("try-lock", tries)
            .summary("Takes the lock if nobody stands before it; else it leaves nothing behind.")
            .source("zk-recipes")
            .bounds(Bounds { expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) })
            .promises(promises),
        lock("try-lock/orphan", orphan)
            .summary("A try that fails deletes its znode once, and does not look whether it is gone.")
            .source("an article on ZooKeeper, on Chubby's TryAcquire; a client library's non-blocking lock")
            .breaks("no-orphan-znode", "S-105", "lost request")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
            // It gives no tokens.
            .promises(|| without_tokens(promises())),
        lock("try-lock/waits", waits)
            .summary("Who tries to take the lock waits until it has it.")
            .source("mutant of the recipe")
            .breaks("try-succeeds-uncontended", "S-104", "none")
            .bounds(Bounds::clients(2))
            .promises(|| {
                let mut all = of_fair_lock(LOCK);
                all.push(Box::new(TrySucceedsUncontended::of(LOCK)));
                all
            }),
    ]
}

/// What a lock promises that may be tried as well. Nobody waits, so nobody is woken.
pub(crate) fn promises() -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_fenced_lock(LOCK);
    all.retain(|promise| promise.name() != "one-woken-per-deletion");
    all.push(Box::new(TrySucceedsUncontended::of(LOCK)));
    all
}

/// [`zk_recipes::Lock::try_acquire`]: each round is one try.
async fn tries(fixture: Fixture) -> Result<(), Stop> {
    let guid = fixture.guid();
    let mut lock = Lock::new(fixture.zk.clone(), &fixture.lock(), &guid).expect("a guid is fit for a name");
    let Some(held) = lock.try_acquire().await? else {
        fixture.passes("somebody stands before it");
        return Ok(());
    };
    fixture.section(held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop)).await;
    Ok(held.release().await?)
}

/// Whoever does not stand first deletes its znode and gives up, whatever becomes of the deletion.
///
/// Should its request be lost with the connection, the znode stays as long as the session, and nobody gets the lock any
/// more: neither by a try nor by waiting (S-105, R-14).
async fn orphan(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    let names = plain::children(&zk, &lock, own.as_str()).await?;
    match plain::place(&lock, &names, &own) {
        Place::First => {}
        Place::Absent => return Err(plain::gone(&own)),
        Place::Behind(_) => {
            let deleted = zk.delete(&own, -1).await;
            fixture.passes("somebody stands before it");
            return match deleted {
                Err(error) if error.is_session_over() => Err(Stop::SessionLost),
                Ok(()) | Err(_) => Ok(()),
            };
        }
    }
    fixture.holds(&own).await
}

/// The steps of the lock in the place of the try: who does not stand first waits, where it is to fail.
async fn waits(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.holds(&own).await
}
