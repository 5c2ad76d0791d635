//! `election/waiter-outlives-lease`: a candidate that waits on when its session is over.

use super::fixture::{Fixture, election};
use zk_api::EventType;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// Waits for the deletion of its predecessor and for nothing else, also when its own session has ended.
///
/// Its own candidate is gone, nobody is going to tell it of anything, and it takes itself for the next leader.
pub fn trial() -> Trial {
    election("election/waiter-outlives-lease", turn)
        .summary("A candidate whose own session ends keeps waiting behind the leader, for ever.")
        .source("etcd issue 19597, pull request 22387: Mutex and Election")
        .breaks("session-end-noticed", "R-68", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (fixture, own) = (&fixture, &fixture.stand(&fixture.guid()).await?);
    let waits = |before| async move {
        if let Some(watch) = fixture.watch(&before, own).await?
            && watch.await.kind == EventType::None
        {
            std::future::pending().await
        }
        Ok(())
    };
    fixture.leads_behind(own, waits).await
}
