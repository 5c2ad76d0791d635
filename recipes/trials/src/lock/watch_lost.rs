//! `lock/watch-lost`: an event that is no deletion uses the watch up.

use super::stage::{LOCK, LockKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{EventType, Watch};

/// The lock with guids, but only a deletion makes it look again.
///
/// A watch fires once. Where somebody writes to the znode before, as whoever revokes a lock does, the event is no deletion,
/// and the waiter goes on waiting with a watch that has fired (S-059).
#[derive(Clone, Copy, Debug)]
pub struct WatchLost;

impl LockKind for WatchLost {
    fn about(&self) -> About {
        About {
            name: "lock/watch-lost",
            summary: "Waits for the deletion of the znode before, and ignores what else its watch tells.",
            source: "mutant of the recipe; so does the Java class of lock/java",
            breaks: Some(Breaks {
                promise: "no-waiter-stuck",
                defect: "S-059",
                fault: "administrator writes",
            }),
            bounds: Bounds { admin: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::of_fair_lock(LOCK)
    }

    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[("faults.admin-writes", "12")]
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
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
