//! `lock/no-watch-after-loss`: a lost connection loses the watch.

use super::fixture::{Fixture, Next, lock};
use zk_api::{Either, EventType, KeeperState, WatchedEvent, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, in a client library that forgets its watches with the connection.
///
/// A waiter whose connection is lost and comes back waits for an event that nobody will tell it.
pub fn trial() -> Trial {
    lock("lock/no-watch-after-loss", turn)
        .summary("Forgets its watch as the connection is lost, and waits on.")
        .source("a client library whose lock had no listener for its session (kazoo, pull request 170)")
        .breaks("no-waiter-stuck", "R-13", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        if let (Some(_), watch) = plain::exists(zk, &lower, own.as_str()).await? {
            heard(race(watch, zk.state_change()).await).await?;
        }
        Ok(Next::Look)
    };
    fixture.in_line(waits).await
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
