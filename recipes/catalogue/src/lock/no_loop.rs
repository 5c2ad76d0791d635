//! `lock/no-loop`: waits for a predecessor that is gone already.

use super::fixture::{Fixture, Next, lock};
use zk_api::ZPath;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but it waits for an event also where the predecessor is gone already.
///
/// The predecessor was deleted between the list and the look; the watch now waits for a creation, and no
/// sequential znode is created twice (S-057).
pub fn trial() -> Trial {
    lock("lock/no-loop", turn)
        .summary("Waits for an event of the znode before its own even if it was gone as it was looked for.")
        .source("mutant of the recipe; related to R-23, zookeeper-recipes' WriteLock")
        .breaks("no-waiter-stuck", "S-057", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        let (_, watch) = plain::exists(zk, &lower, own.as_str()).await?;
        plain::event(watch).await.map(|()| Next::Look)
    };
    fixture.in_line(waits).await
}
