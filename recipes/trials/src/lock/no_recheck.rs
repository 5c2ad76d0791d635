//! `lock/no-recheck`: the event is taken for the lock.

use super::stage::{LOCK, LockKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Breaks, Reductions};

/// The lock with guids, but for one arrow: after the event, the list is not looked at again.
///
/// That the znode before is gone does not say that all before it are. Its owner may have been waiting itself:
/// its session expires, and the next one enters beside the holder (S-056, S-080).
#[derive(Clone, Copy, Debug)]
pub struct NoRecheck;

impl LockKind for NoRecheck {
    fn about(&self) -> About {
        About {
            name: "lock/no-recheck",
            summary: "Waits for the znode before its own to vanish, and then takes the lock for granted.",
            source: "mutant of the recipe; so does the Java class of lock/java",
            breaks: Some(Breaks {
                promise: "exclusion-among-live-sessions",
                defect: "S-056",
                fault: "session expiry",
            }),
            bounds: Bounds { expiries: 1, ..Bounds::clients(3) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::of_fair_lock(LOCK)
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
                        plain::event(watch).await?;
                        break;
                    }
                }
            }
        }
        stage.section(&own, None, std::future::pending::<()>()).await;
        plain::remove(&zk, &own).await
    }
}
