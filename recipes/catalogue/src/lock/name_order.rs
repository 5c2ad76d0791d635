//! `lock/name-order`: whole names are compared.

use super::fixture::{Fixture, lock};
use zk_api::{Text, ZPath};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but it sorts by whole names.
///
/// Names begin with guids, so whoever has the lower guid stands first, although another holds the lock (S-053, R-25).
/// Where names have no guids, it goes well until the counter is negative (S-067).
pub fn trial() -> Trial {
    lock("lock/name-order", turn)
        .summary("Sorts the contenders by their whole names, which begin with guids.")
        .source("a lock in C that compares whole names (ZOOKEEPER-3162)")
        .breaks("exclusion-among-live-sessions", "S-067", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    plain::turn_by(&zk, &lock, &own, place).await?;
    fixture.holds(&own).await
}

pub(crate) fn place(lock: &ZPath, names: &[Text], own: &ZPath) -> Place {
    let mut names = names.to_vec();
    names.sort_unstable();
    match names.iter().position(|name| **name == *own.name()) {
        None => Place::Absent,
        Some(0) => Place::First,
        Some(at) => Place::Behind(plain::child(lock, &names[at - 1])),
    }
}
