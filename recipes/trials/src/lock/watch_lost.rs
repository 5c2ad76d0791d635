//! `lock/watch-lost`: an event that is no deletion uses the watch up.

use super::stage::{Stage, lock};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{Bounds, Trial};
use zk_api::{EventType, Watch};

/// The lock with guids, but only a deletion makes it look again.
///
/// A watch fires once. Where somebody writes to the znode before, as whoever revokes a lock does, the event is no deletion,
/// and the waiter goes on waiting with a watch that has fired (S-059).
pub fn trial() -> Trial {
    lock("lock/watch-lost", turn)
        .summary("Waits for the deletion of the znode before, and ignores what else its watch tells.")
        .source("mutant of the recipe; so does the Java class of lock/java")
        .breaks("no-waiter-stuck", "S-059", "administrator writes")
        .bounds(Bounds { admin: 1, ..Bounds::clients(2) })
        .scenario(&[("faults.admin-writes", "12")])
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
                    deletion(watch).await?;
                }
            }
        }
    }
    stage.section(&own, None, std::future::pending::<()>()).await;
    plain::remove(&zk, &own).await
}

async fn deletion(watch: Watch) -> Result<(), Stop> {
    match watch.await.kind {
        EventType::None => Err(Stop::SessionLost),
        EventType::NodeDeleted => Ok(()),
        EventType::NodeCreated | EventType::NodeDataChanged | EventType::NodeChildrenChanged => {
            std::future::pending().await
        }
    }
}
