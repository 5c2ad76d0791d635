//! `lock/session-as-guid`: a session has one guid, whoever asks on it.

use super::fixture::{Fixture, lock_of_threads};
use zk_api::ZooKeeper;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

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
    let guid = format!("x{:x}", fixture.zk.session());
    fixture.adopts(&guid).await
}
