//! `lock/no-loop`: waits for a predecessor that is gone already.

use super::stage::{Stage, lock};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{Bounds, Trial};

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

async fn turn(stage: Stage) -> Result<(), Stop> {
    let (zk, lock) = (stage.zk(), stage.lock());
    let own = plain::contend(&zk, &lock, &stage.guid()).await?;
    loop {
        let names = plain::children(&zk, &lock, own.as_str()).await?;
        match plain::place(&lock, &names, &own) {
            Place::First => break,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(lower) => {
                let (_, watch) = plain::exists(&zk, &lower, own.as_str()).await?;
                plain::event(watch).await?;
            }
        }
    }
    stage.section(&own, None, std::future::pending::<()>()).await;
    plain::remove(&zk, &own).await
}
