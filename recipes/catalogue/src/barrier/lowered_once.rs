//! `barrier/lowered-once`: a deletion that fails leaves the barrier up.

use super::fixture::{Fixture, barrier_lowered};
use zk_api::{Outcome, ZooKeeper};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// The barrier, but whoever lowers it asks once, and takes any answer for good.
///
/// Where the request is lost with its connection the barrier stays, and those who wait wait on, though they are said to be
/// let go.
pub fn trial() -> Trial {
    barrier_lowered("barrier/lowered-once", wait, lower)
        .summary("Deletes the barrier's znode once, and takes a lost answer for good.")
        .source("reading of ZooKeeper's recipes, which name no errors")
        .breaks("raised-as-told", "S-063", "lost request")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
        // Connections are to drop while it is lowered.
        .scenario(&[("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")])
}

async fn wait(fixture: Fixture) -> Result<(), Stop> {
    fixture.until_absent().await
}

async fn lower(fixture: Fixture) -> Result<(), Stop> {
    match fixture.zk.delete(&fixture.node(), -1).await {
        Err(error) if error.is_session_over() => Err(error.into()),
        Err(error) if error.outcome() == Outcome::NotApplied => fixture.lowers().await,
        Ok(()) | Err(_) => Ok(()),
    }
}
