//! `barrier/any-event`: whatever it is told lets it pass.

use super::fixture::{Fixture, barrier};
use zk_api::{Either, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The barrier, but what it is told of is not looked at, and a lost connection counts as well (S-010).
///
/// The published steps speak of a watch event. In libraries where the watcher is told of the session too, a
/// disconnection is one.
pub fn trial() -> Trial {
    barrier("barrier/any-event", wait)
        .summary("Takes any event for the barrier to be gone, that of a lost connection too.")
        .source("ZooKeeper's recipes page, taken literally")
        .breaks("barrier-holds", "S-010", "none")
        .bounds(Bounds::clients(2))
}

async fn wait(fixture: Fixture) -> Result<(), Stop> {
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
