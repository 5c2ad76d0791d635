//! `timed-lock`: the recipe of this project.

use crate::lock::{Fixture, LOCK, lock};
use std::time::Duration;
use zk_harness::common::Stop;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{Measured, OneWokenPerDeletion, of_fenced_lock};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Lock, OnDisconnect};

/// How long this one and its variant wait: as long as somebody mostly works, so that some get the lock and some do not.
pub(super) const LIMIT: Duration = Duration::from_millis(400);

/// [`zk_recipes::Lock::acquire_within`], and then [`zk_recipes::Lock::abandon`] for those who did not get it.
pub fn trial() -> Trial {
    lock("timed-lock", turn)
        .summary("Waits for the lock for a while only; who gives up leaves the line.")
        .source("zk-recipes")
        .bounds(Bounds { drops: 1, lag: 1, ..Bounds::clients(2) })
        .promises(|| promises(of_fenced_lock(LOCK)))
}

/// What a lock promises that is waited for only for a while. Whoever gives up leaves its watch where it stood: when that
/// one goes, it is told as well. So how many are woken is only measured.
pub(super) fn promises(all: Vec<Box<dyn AnyPromise>>) -> Vec<Box<dyn AnyPromise>> {
    let owed = all.into_iter().filter(|promise| promise.name() != "one-woken-per-deletion");
    let measured: Box<dyn AnyPromise> = Box::new(Measured(OneWokenPerDeletion::of(LOCK)));
    owed.chain([measured]).collect()
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
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
