//! `barrier/no-recheck`: the event is taken for the barrier's end.

use super::fixture::{Fixture, barrier};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The barrier, but for one arrow: after the event, it does not look again.
///
/// A watch fires for a change of the data as well: somebody says anew why the barrier is up, and all pass (S-010).
pub fn trial() -> Trial {
    barrier("barrier/no-recheck", wait)
        .summary("Passes after the event of its watch without another look; a change of data is one.")
        .source("an article on ZooKeeper, where the steps end there")
        .breaks("barrier-holds", "S-010", "none")
        .bounds(Bounds::clients(2))
}

async fn wait(fixture: Fixture) -> Result<(), Stop> {
    if fixture.recipe().look().await?.is_none() {
        return Ok(());
    }
    fixture.sees();
    if let (Some(_), watch) = plain::exists(&fixture.zk, &fixture.node(), "").await? {
        plain::event(watch).await?;
    }
    Ok(())
}
