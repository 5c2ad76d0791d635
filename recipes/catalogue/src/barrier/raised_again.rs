//! `barrier/raised-again`: it looks for any barrier, not for the one it has seen.

use super::fixture::{Fixture, barrier};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, FoundBy, Trial};

/// The barrier as published, but for the first look, which is a checked one.
///
/// It is told that the barrier is gone, looks again, and finds another one that has been raised meanwhile: it has
/// missed the opening (S-011). If whoever raised it does not come back, it waits for ever.
pub fn trial() -> Trial {
    barrier("barrier/raised-again", wait)
        .summary("Looks again after the event, and waits on if the barrier has been raised again meanwhile.")
        .source("ZooKeeper's recipes page, all editions")
        .breaks("no-opening-missed", "S-011", "crash of who lowers it")
        .bounds(Bounds { rounds: 2, crashes: 1, ..Bounds::clients(2) })
        .found_by(FoundBy::Model)
}

async fn wait(fixture: Fixture) -> Result<(), Stop> {
    match fixture.recipe().look().await? {
        None => Ok(()),
        Some(_) => fixture.until_absent().await,
    }
}
