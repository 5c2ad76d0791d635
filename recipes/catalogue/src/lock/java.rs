//! `lock/java`: one that waits on a monitor.

use super::fixture::{Fixture, lock};
use zk_api::{CreateMode, Data, Either, EventType, Text, WatchedEvent, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// A lock class published as an example, monitor and all.
///
/// - Its watcher notifies the object's monitor; a notification that comes between the look and the wait wakes
///   nobody, and there is no other (S-082). It takes no fault.
/// - When woken, or when the predecessor was gone already, it returns without another look (S-080, S-081).
/// - Only a deletion notifies: an expired session, or a change of data, uses the watch up (S-086).
/// - Errors are passed on as they come, leaving the znode behind (S-087, S-088), and a missing own znode is an
///   index out of bounds (S-089).
pub fn trial() -> Trial {
    lock("lock/java", turn)
        .summary("A Java class that waits on a monitor: a notification before the wait is lost.")
        .source("an article on ZooKeeper, class SimpleLockWithoutHerdEffect")
        .breaks("no-waiter-stuck", "S-082", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let prefix = plain::child(&lock, "lock-");
    let own = plain::path(&zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await?);
    let names = in_order(zk.children(&lock).await?);
    match names.iter().position(|name| **name == *own.name()) {
        None => return Err(plain::gone(&own)),
        Some(0) => {}
        Some(at) => {
            let (stat, mut watch) = zk.exists_watch(&plain::child(&lock, &names[at - 1])).await?;
            if stat.is_some() {
                // The thread has left exists() and has not yet entered the monitor.
                match race(&mut watch, fixture.point()).await {
                    Either::Left(_) => std::future::pending().await,
                    Either::Right(()) => notified(watch.await).await,
                }
            }
        }
    }
    fixture.section(&own, None, std::future::pending::<()>()).await;
    zk.delete(&own, -1).await?;
    Ok(())
}

/// Sorted by the whole name, which is by number as long as the counter is not negative.
fn in_order(mut names: Vec<Text>) -> Vec<Text> {
    names.sort_unstable();
    names
}

/// Goes on if the event notifies the monitor; another one leaves the thread waiting for good.
async fn notified(event: WatchedEvent) {
    if event.kind != EventType::NodeDeleted {
        std::future::pending().await
    }
}
