//! `lock/release-once`: a deletion that fails leaves the lock held.

use super::fixture::{Fixture, lock};
use zk_api::ZooKeeper;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but its release asks once.
///
/// Where the request is lost with its connection, the znode lives on with the session, for hours if need be, and everybody
/// waits (S-063, R-10).
pub fn trial() -> Trial {
    lock("lock/release-once", turn)
        .summary("Deletes its znode once when it is done, and takes any answer for good.")
        .source("client libraries that implement the recipe as it is written")
        .breaks("no-orphan-znode", "S-063", "lost request")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.section(&own, None, std::future::pending::<()>()).await;
    match zk.delete(&own, -1).await {
        Err(error) if error.is_session_over() => Err(Stop::SessionLost),
        Ok(()) | Err(_) => Ok(()),
    }
}
