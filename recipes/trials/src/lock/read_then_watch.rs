//! `lock/read-then-watch`: the watch is set after the look.

use super::stage::{Stage, lock};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{Bounds, Trial};
use zk_api::{Local, Watch, ZPath, ZooKeeper};

/// The lock with guids, but it looks first and sets its watch then.
///
/// What happens between the two is in neither: the znode before is gone when the watch is set, which waits for a creation
/// that nobody owes (S-058, R-69).
pub fn trial() -> Trial {
    lock("lock/read-then-watch", turn)
        .summary("Looks for the znode before, and then sets a watch on it whose answer it does not read.")
        .source("mutant of the recipe; a lock over another store lost its revision so")
        .breaks("no-waiter-stuck", "S-058", "none")
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
                if plain::exists(&zk, &lower, own.as_str()).await?.0.is_some() {
                    let watch = watch(&zk, &lower, &own).await?;
                    plain::event(watch).await?;
                }
            }
        }
    }
    stage.section(&own, None, std::future::pending::<()>()).await;
    plain::remove(&zk, &own).await
}

/// Sets the watch, and does not look what there is.
async fn watch(zk: &impl ZooKeeper, lower: &ZPath, own: &ZPath) -> Result<Watch, Stop> {
    loop {
        zk.checkpoint("read-then-watch/watch", &[Local::Text(lower.as_str()), Local::Text(own.as_str())]);
        match zk.exists_watch(lower).await {
            Ok((_, watch)) => return Ok(watch),
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}
