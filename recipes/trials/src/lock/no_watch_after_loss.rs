//! `lock/no-watch-after-loss`: a lost connection loses the watch.

use super::stage::{LOCK, LockKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{Either, EventType, KeeperState, WatchedEvent, ZooKeeper, race};

/// The lock with guids, in a client library that forgets its watches with the connection.
///
/// A waiter whose connection is lost and comes back waits for an event that nobody will tell it.
#[derive(Clone, Copy, Debug)]
pub struct NoWatchAfterLoss;

impl LockKind for NoWatchAfterLoss {
    fn about(&self) -> About {
        About {
            name: "lock/no-watch-after-loss",
            summary: "Forgets its watch as the connection is lost, and waits on.",
            source: "a client library whose lock had no listener for its session (kazoo, pull request 170)",
            breaks: Some(Breaks { promise: "no-waiter-stuck", defect: "R-13", fault: "lost connection" }),
            bounds: Bounds { drops: 1, ..Bounds::clients(2) },
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
                        heard(race(watch, zk.state_change()).await).await?;
                    }
                }
            }
        }
        stage.section(&own, None, std::future::pending::<()>()).await;
        plain::remove(&zk, &own).await
    }
}

/// What it heard first: the watch, or something about the connection.
async fn heard(first: Either<WatchedEvent, KeeperState>) -> Result<(), Stop> {
    match first {
        Either::Left(event) if event.kind == EventType::None => Err(Stop::SessionLost),
        Either::Left(_) => Ok(()),
        Either::Right(state) if state.is_final() => Err(Stop::SessionLost),
        Either::Right(_) => std::future::pending().await,
    }
}
