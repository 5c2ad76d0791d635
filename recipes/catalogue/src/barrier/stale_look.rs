//! `barrier/stale-look`: the first look is a plain read.

use super::fixture::{Fixture, barrier};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// The barrier as published: it looks, waits for an event if the barrier is there, and looks again.
///
/// A read shows what the server at hand has. One that is behind shows what was before the barrier was raised, and
/// lets those pass who have come since (S-009).
pub fn trial() -> Trial {
    barrier("barrier/stale-look", wait)
        .summary("The first look is a plain read, which may show what was before the barrier was raised.")
        .source("ZooKeeper's recipes page, all editions")
        .breaks("barrier-holds", "S-009", "a server that is behind")
        .bounds(Bounds { lag: 1, ..Bounds::clients(2) })
        // A server is behind now and then: the more often somebody comes, the better.
        .scenario(&[("rounds", "20")])
}

async fn wait(fixture: Fixture) -> Result<(), Stop> {
    fixture.until_absent().await
}
