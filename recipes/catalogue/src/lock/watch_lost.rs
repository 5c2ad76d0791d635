//! `lock/watch-lost`: an event that is no deletion uses the watch up.

use super::fixture::{Fixture, Next, lock};
use zk_api::{EventType, Watch, ZPath};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

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

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        if let (Some(_), watch) = plain::exists(zk, &lower, own.as_str()).await? {
            deletion(watch).await?;
        }
        Ok(Next::Look)
    };
    fixture.in_line(waits).await
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
