//! The recipe of this project, and what else was published as a barrier.

use super::fixture::{Fixture, barrier, barrier_lowered};
use zk_api::{Either, Outcome, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, FoundBy, Trial};

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        barrier("barrier", checked_look)
            .summary("A znode that holds everybody up: a checked first look, and no opening is missed.")
            .source("zk-recipes")
            .bounds(Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) }),
        barrier("barrier/stale-look", until_absent)
            .summary("The first look is a plain read, which may show what was before the barrier was raised.")
            .source("ZooKeeper's recipes page, all editions")
            .breaks("barrier-holds", "S-009", "a server that is behind")
            .bounds(Bounds { lag: 1, ..Bounds::clients(2) })
            // A server is behind now and then: the more often somebody comes, the better.
            .scenario(&[("rounds", "20")]),
        barrier("barrier/any-event", any_event)
            .summary("Takes any event for the barrier to be gone, that of a lost connection too.")
            .source("ZooKeeper's recipes page, taken literally")
            .breaks("barrier-holds", "S-010", "none")
            .bounds(Bounds::clients(2)),
        barrier("barrier/no-recheck", no_recheck)
            .summary("Passes after the event of its watch without another look; a change of data is one.")
            .source("an article on ZooKeeper, where the steps end there")
            .breaks("barrier-holds", "S-010", "none")
            .bounds(Bounds::clients(2)),
        barrier("barrier/raised-again", raised_again)
            .summary(
                "Looks again after the event, and waits on if the barrier has been raised again meanwhile.",
            )
            .source("ZooKeeper's recipes page, all editions")
            .breaks("no-opening-missed", "S-011", "crash of who lowers it")
            .bounds(Bounds { rounds: 2, crashes: 1, ..Bounds::clients(2) })
            .found_by(FoundBy::Model),
        barrier_lowered("barrier/lowered-once", until_absent, lowers_once)
            .summary("Deletes the barrier's znode once, and takes a lost answer for good.")
            .source("reading of ZooKeeper's recipes, which name no errors")
            .breaks("raised-as-told", "S-063", "lost request")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
            // Connections are to drop while it is lowered.
            .scenario(&[("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")]),
    ]
}

/// [`zk_recipes::Barrier`].
async fn checked_look(fixture: Fixture) -> Result<(), Stop> {
    let barrier = fixture.recipe();
    if let Some(up) = barrier.look().await? {
        fixture.sees();
        barrier.gone(up).await?;
    }
    Ok(())
}

/// The barrier as published: it looks, waits for an event if the barrier is there, and looks again.
///
/// A read shows what the server at hand has. One that is behind shows what was before the barrier was raised, and
/// lets those pass who have come since (S-009).
async fn until_absent(fixture: Fixture) -> Result<(), Stop> {
    fixture.until_absent().await
}

/// The barrier, but what it is told of is not looked at, and a lost connection counts as well (S-010).
///
/// The published steps speak of a watch event. In libraries where the watcher is told of the session too, a
/// disconnection is one.
async fn any_event(fixture: Fixture) -> Result<(), Stop> {
    if fixture.recipe().look().await?.is_none() {
        return Ok(());
    }
    fixture.sees();
    let zk = fixture.zk.clone();
    let told = zk.state_change();
    if let (Some(_), watch) = plain::exists(&zk, &fixture.node(), "").await? {
        match race(watch, told).await {
            Either::Left(_) | Either::Right(_) => {}
        }
    }
    Ok(())
}

/// The barrier, but for one arrow: after the event, it does not look again.
///
/// A watch fires for a change of the data as well: somebody says anew why the barrier is up, and all pass (S-010).
async fn no_recheck(fixture: Fixture) -> Result<(), Stop> {
    if fixture.recipe().look().await?.is_none() {
        return Ok(());
    }
    fixture.sees();
    if let (Some(_), watch) = plain::exists(&fixture.zk, &fixture.node(), "").await? {
        plain::event(watch).await?;
    }
    Ok(())
}

/// The barrier as published, but for the first look, which is a checked one.
///
/// It is told that the barrier is gone, looks again, and finds another one that has been raised meanwhile: it has
/// missed the opening (S-011). If whoever raised it does not come back, it waits for ever.
async fn raised_again(fixture: Fixture) -> Result<(), Stop> {
    match fixture.recipe().look().await? {
        None => Ok(()),
        Some(_) => fixture.until_absent().await,
    }
}

/// The barrier, but whoever lowers it asks once, and takes any answer for good.
///
/// Where the request is lost with its connection the barrier stays, and those who wait wait on, though they are said to
/// be let go.
async fn lowers_once(fixture: Fixture) -> Result<(), Stop> {
    match fixture.zk.delete(&fixture.node(), -1).await {
        Err(error) if error.is_session_over() => Err(error.into()),
        Err(error) if error.outcome() == Outcome::NotApplied => fixture.lowers().await,
        Ok(()) | Err(_) => Ok(()),
    }
}
