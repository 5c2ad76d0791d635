//! `lock/null-is-held`: a predecessor that is not there is taken for the lock.

use super::stage::{Stage, lock};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{Bounds, Trial};

/// The lock with guids, but an absent predecessor is taken for the lock.
///
/// The znode before may have vanished with its waiter, not with its holder (S-081).
pub fn trial() -> Trial {
    lock("lock/null-is-held", turn)
        .summary("Takes the lock for granted when the znode before its own is gone as it is looked for.")
        .source("mutant of the recipe; so does the Java class of lock/java")
        .breaks("exclusion-among-live-sessions", "S-081", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(3) })
        // Waiters are to die, and just before somebody looks for their znodes.
        .scenario(&[("faults.expiries", "12")])
}

async fn turn(stage: Stage) -> Result<(), Stop> {
    let (zk, lock) = (stage.zk(), stage.lock());
    let own = plain::contend(&zk, &lock, &stage.guid()).await?;
    loop {
        let names = plain::children(&zk, &lock, own.as_str()).await?;
        match plain::place(&lock, &names, &own) {
            Place::First => break,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(lower) => match plain::exists(&zk, &lower, own.as_str()).await? {
                (None, _) => break,
                (Some(_), watch) => plain::event(watch).await?,
            },
        }
    }
    stage.section(&own, None, std::future::pending::<()>()).await;
    plain::remove(&zk, &own).await
}
