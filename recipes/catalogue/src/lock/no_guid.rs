//! `lock/no-guid`: a lost create is repeated blindly.

use super::fixture::{Fixture, lock};
use zk_api::{CreateMode, Data, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The sequential lock as it was published before contenders had guids.
///
/// A create whose answer is lost is tried again: if the first one took effect, the client now waits behind a
/// znode of its own that nobody will ever delete (S-050).
pub fn trial() -> Trial {
    lock("lock/no-guid", turn)
        .summary("Sequential lock without guids: a create whose answer was lost is simply repeated.")
        .source("ZooKeeper's recipes page, editions before ZOOKEEPER-1262")
        .breaks("no-waiter-stuck", "S-050", "lost answer")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let prefix = plain::child(&lock, "lock-");
    let create = || zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential);
    let own = plain::path(&plain::again_from(&zk, "no-guid/create", &[], create).await?);
    plain::turn(&zk, &lock, &own).await?;
    fixture.holds(&own).await
}
