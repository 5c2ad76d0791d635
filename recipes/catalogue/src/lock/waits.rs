//! What whoever stands in line makes of the znode before its own: each with its defect.

use super::fixture::{Fixture, Next, lock};
use zk_api::{Either, EventType, KeeperState, Local, Watch, WatchedEvent, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Those that err as they look for it.
pub fn looking() -> Vec<Trial> {
    vec![
        lock("lock/no-recheck", no_recheck)
            .summary("Waits for the znode before its own to vanish, and then takes the lock for granted.")
            .source("mutant of the recipe; so does the Java class of lock/java")
            .breaks("exclusion-among-live-sessions", "S-056", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(3) }),
        lock("lock/null-is-held", null_is_held)
            .summary("Takes the lock for granted when the znode before its own is gone as it is looked for.")
            .source("mutant of the recipe; so does the Java class of lock/java")
            .breaks("exclusion-among-live-sessions", "S-081", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(3) })
            // Waiters are to die, and just before somebody looks for their znodes.
            .scenario(&[("faults.expiries", "12")]),
        lock("lock/no-loop", no_loop)
            .summary(
                "Waits for an event of the znode before its own even if it was gone as it was looked for.",
            )
            .source("mutant of the recipe; related to R-23, zookeeper-recipes' WriteLock")
            .breaks("no-waiter-stuck", "S-057", "none")
            .bounds(Bounds::clients(2)),
    ]
}

/// Those that err in their watch.
pub fn watching() -> Vec<Trial> {
    vec![
        lock("lock/watch-lost", watch_lost)
            .summary("Waits for the deletion of the znode before, and ignores what else its watch tells.")
            .source("mutant of the recipe; so does the Java class of lock/java")
            .breaks("no-waiter-stuck", "S-059", "administrator writes")
            .bounds(Bounds { admin: 1, ..Bounds::clients(2) })
            .scenario(&[("faults.admin-writes", "12")]),
        lock("lock/read-then-watch", read_then_watch)
            .summary("Looks for the znode before, and then sets a watch on it whose answer it does not read.")
            .source("mutant of the recipe; a lock over another store lost its revision so")
            .breaks("no-waiter-stuck", "S-058", "none")
            .bounds(Bounds::clients(2)),
        lock("lock/no-watch-after-loss", no_watch_after_loss)
            .summary("Forgets its watch as the connection is lost, and waits on.")
            .source("a client library whose lock had no listener for its session (kazoo, pull request 170)")
            .breaks("no-waiter-stuck", "R-13", "lost connection")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) }),
    ]
}

/// The lock with guids, but for one arrow: after the event, the list is not looked at again.
///
/// That the znode before is gone does not say that all before it are. Its owner may have been waiting itself:
/// its session expires, and the next one enters beside the holder (S-056, S-080).
async fn no_recheck(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        match plain::exists(zk, &lower, own.as_str()).await? {
            (None, _) => Ok(Next::Look),
            (Some(_), watch) => plain::event(watch).await.map(|()| Next::Hold),
        }
    };
    fixture.in_line(waits).await
}

/// The lock with guids, but an absent predecessor is taken for the lock.
///
/// The znode before may have vanished with its waiter, not with its holder (S-081).
async fn null_is_held(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        match plain::exists(zk, &lower, own.as_str()).await? {
            (None, _) => Ok(Next::Hold),
            (Some(_), watch) => plain::event(watch).await.map(|()| Next::Look),
        }
    };
    fixture.in_line(waits).await
}

/// The lock with guids, but it waits for an event also where the predecessor is gone already.
///
/// The predecessor was deleted between the list and the look; the watch now waits for a creation, and no
/// sequential znode is created twice (S-057).
async fn no_loop(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        let (_, watch) = plain::exists(zk, &lower, own.as_str()).await?;
        plain::event(watch).await.map(|()| Next::Look)
    };
    fixture.in_line(waits).await
}

/// The lock with guids, but only a deletion makes it look again.
///
/// A watch fires once. Where somebody writes to the znode before, as whoever revokes a lock does, the event is no
/// deletion, and the waiter goes on waiting with a watch that has fired (S-059).
async fn watch_lost(fixture: Fixture) -> Result<(), Stop> {
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

/// The lock with guids, but it looks first and sets its watch then.
///
/// What happens between the two is in neither: the znode before is gone when the watch is set, which waits for a
/// creation that nobody owes (S-058, R-69).
async fn read_then_watch(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        if plain::exists(zk, &lower, own.as_str()).await?.0.is_some() {
            plain::event(watch_unread(zk, &lower, &own).await?).await?;
        }
        Ok(Next::Look)
    };
    fixture.in_line(waits).await
}

/// Sets the watch, and does not look what there is.
async fn watch_unread(zk: &impl ZooKeeper, lower: &ZPath, own: &ZPath) -> Result<Watch, Stop> {
    let known = [lower.as_str(), own.as_str()].map(Local::Text);
    let answer = plain::again_from(zk, "read-then-watch/watch", &known, || zk.exists_watch(lower)).await;
    answer.map(|(_, watch)| watch)
}

/// The lock with guids, in a client library that forgets its watches with the connection.
///
/// A waiter whose connection is lost and comes back waits for an event that nobody will tell it.
async fn no_watch_after_loss(fixture: Fixture) -> Result<(), Stop> {
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
