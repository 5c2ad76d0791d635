//! `try-lock/waits`: who tries waits.

use crate::lock::{Fixture, LOCK, lock};
use zk_harness::common::{Stop, plain};
use zk_harness::promises::{TrySucceedsUncontended, of_fair_lock};
use zk_harness::trial::{Bounds, Trial};

/// The steps of the lock in the place of the try: who does not stand first waits, where it is to fail.
pub fn trial() -> Trial {
    lock("try-lock/waits", turn)
        .summary("Who tries to take the lock waits until it has it.")
        .source("mutant of the recipe")
        .breaks("try-succeeds-uncontended", "S-104", "none")
        .bounds(Bounds::clients(2))
        .promises(|| {
            let mut all = of_fair_lock(LOCK);
            all.push(Box::new(TrySucceedsUncontended::of(LOCK)));
            all
        })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.holds(&own).await
}
