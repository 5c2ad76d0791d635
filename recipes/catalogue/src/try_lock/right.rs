//! `try-lock`: the recipe of this project.

use crate::lock::{Fixture, LOCK, lock};
use zk_harness::common::Stop;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{TrySucceedsUncontended, of_fenced_lock};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Lock, OnDisconnect};

/// [`zk_recipes::Lock::try_acquire`]: each round is one try.
pub fn trial() -> Trial {
    lock("try-lock", turn)
        .summary("Takes the lock if nobody stands before it; else it leaves nothing behind.")
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) })
        .promises(promises)
}

/// What a lock promises that may be tried as well. Nobody waits, so nobody is woken.
pub(crate) fn promises() -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_fenced_lock(LOCK);
    all.retain(|promise| promise.name() != "one-woken-per-deletion");
    all.push(Box::new(TrySucceedsUncontended::of(LOCK)));
    all
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let guid = fixture.guid();
    let mut lock = Lock::new(fixture.zk.clone(), &fixture.lock(), &guid).expect("a guid is fit for a name");
    let Some(held) = lock.try_acquire().await? else {
        fixture.passes("somebody stands before it");
        return Ok(());
    };
    fixture.section(held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop)).await;
    Ok(held.release().await?)
}
