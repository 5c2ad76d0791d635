//! `lock/no-recheck`: the event is taken for the lock.

use super::stage::{Stage, lock};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{Bounds, Trial};

/// The lock with guids, but for one arrow: after the event, the list is not looked at again.
///
/// That the znode before is gone does not say that all before it are. Its owner may have been waiting itself:
/// its session expires, and the next one enters beside the holder (S-056, S-080).
pub fn trial() -> Trial {
    lock("lock/no-recheck", turn)
        .summary("Waits for the znode before its own to vanish, and then takes the lock for granted.")
        .source("mutant of the recipe; so does the Java class of lock/java")
        .breaks("exclusion-among-live-sessions", "S-056", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(3) })
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
                if let (Some(_), watch) = plain::exists(&zk, &lower, own.as_str()).await? {
                    plain::event(watch).await?;
                    break;
                }
            }
        }
    }
    stage.section(&own, None, std::future::pending::<()>()).await;
    plain::remove(&zk, &own).await
}
