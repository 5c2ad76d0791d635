//! `lock/session-as-guid`: a session has one guid, whoever asks on it.

use super::fixture::{Fixture, lock_of_threads};
use crate::common::Stop;
use crate::common::plain;
use crate::trial::{Bounds, Trial};
use zk_api::ZooKeeper;

/// The lock with guids, but the guid is the session's id, and a znode with it is taken for one's own.
///
/// That finds a lost create as well as any guid does, where one thread asks. A second one finds the first one's znode,
/// takes it up, and holds the lock beside it (S-069).
pub fn trial() -> Trial {
    lock_of_threads("lock/session-as-guid", turn)
        .summary("Takes up a znode with its session's id in the name, also if another thread made it.")
        .source("zookeeper-recipes, WriteLock: \"x-<session>-\"")
        .breaks("exclusion-among-live-sessions", "S-069", "none")
        .bounds(Bounds::clients(1))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk(), fixture.lock());
    let guid = format!("x{:x}", zk.session());
    let names = plain::children(&zk, &lock, "").await?;
    let own = match names.iter().find(|name| name.starts_with(&format!("{guid}-lock-"))) {
        Some(name) => plain::child(&lock, name),
        None => plain::contend(&zk, &lock, &guid).await?,
    };
    plain::turn(&zk, &lock, &own).await?;
    fixture.holds(&own).await
}
