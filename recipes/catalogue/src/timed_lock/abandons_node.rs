//! `timed-lock/abandons-node`: who gives up leaves its znode in the line.

use super::right::{LIMIT, promises};
use crate::lock::{Fixture, LOCK, lock};
use zk_api::{Either, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::promises::of_fair_lock;
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, and a timeout around it that forgets the znode.
///
/// Whoever gives up stands in the line as long as its session lives, and all behind it wait (S-065, R-37). The recipes say
/// that they need no timeouts, and name no step for giving up.
pub fn trial() -> Trial {
    lock("timed-lock/abandons-node", turn)
        .summary("Who waits too long gives up, and leaves its znode in the line.")
        .source("client libraries that put a timeout around the recipe")
        .breaks("no-orphan-znode", "S-065", "none")
        .bounds(Bounds::clients(1))
        .promises(|| promises(of_fair_lock(LOCK)))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
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
