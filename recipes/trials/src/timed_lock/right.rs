//! `timed-lock`: the recipe of this project.

use super::LIMIT;
use crate::common::Stop;
use crate::lock::{Fixture, LOCK, lock};
use crate::promises::of_fenced_lock;
use crate::trial::{Bounds, Trial};
use zk_recipes::{Lock, OnDisconnect};

/// [`zk_recipes::Lock::acquire_within`], and then [`zk_recipes::Lock::abandon`] for those who did not get it.
pub fn trial() -> Trial {
    lock("timed-lock", turn)
        .summary("Waits for the lock for a while only; who gives up leaves the line.")
        .source("zk-recipes")
        .bounds(Bounds { drops: 1, lag: 1, ..Bounds::clients(2) })
        .promises(|| super::promises(of_fenced_lock(LOCK)))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let guid = fixture.guid();
    let mut lock = Lock::new(fixture.zk(), &fixture.lock(), &guid).expect("a guid is fit for a name");
    if let Some(held) = lock.acquire_within(LIMIT).await? {
        fixture.section(held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop)).await;
        return Ok(held.release().await?);
    }
    lock.abandon().await?;
    fixture.passes("the time is over");
    Ok(())
}
