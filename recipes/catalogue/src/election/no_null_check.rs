//! `election/no-null-check`: waits for who is gone.

use super::fixture::{Fixture, election};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Watches its predecessor without looking whether it is still there.
///
/// If it went between the list and the watch, the watch waits for a creation that nobody owes (S-162).
pub fn trial() -> Trial {
    election("election/no-null-check", turn)
        .summary("Waits for an event of its predecessor even when that is gone as it is looked for.")
        .source("ZooKeeper Recipes and Solutions, Leader Election: its steps name no such case")
        .breaks("no-waiter-stuck", "S-162", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let own = &fixture.stand(&fixture.guid()).await?;
    let waits = |before| async move {
        let (_, watch) = plain::exists(zk, &before, own.as_str()).await?;
        plain::event(watch).await
    };
    fixture.leads_behind(own, waits).await
}
