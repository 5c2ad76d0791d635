//! `try-lock/orphan`: a deletion that fails leaves the znode.

use super::right::promises;
use crate::lock::{Fixture, lock};
use zk_api::ZooKeeper;
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::promises::without_tokens;
use zk_harness::trial::{Bounds, Trial};

/// Whoever does not stand first deletes its znode and gives up, whatever becomes of the deletion.
///
/// Should its request be lost with the connection, the znode stays as long as the session, and nobody gets the lock any
/// more: neither by a try nor by waiting (S-105, R-14).
pub fn trial() -> Trial {
    lock("try-lock/orphan", turn)
        .summary("A try that fails deletes its znode once, and does not look whether it is gone.")
        .source("an article on ZooKeeper, on Chubby's TryAcquire; a client library's non-blocking lock")
        .breaks("no-orphan-znode", "S-105", "lost request")
        .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
        // It gives no tokens.
        .promises(|| without_tokens(promises()))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    let names = plain::children(&zk, &lock, own.as_str()).await?;
    match plain::place(&lock, &names, &own) {
        Place::First => {}
        Place::Absent => return Err(plain::gone(&own)),
        Place::Behind(_) => {
            let deleted = zk.delete(&own, -1).await;
            fixture.passes("somebody stands before it");
            return match deleted {
                Err(error) if error.is_session_over() => Err(Stop::SessionLost),
                Ok(()) | Err(_) => Ok(()),
            };
        }
    }
    fixture.holds(&own).await
}
