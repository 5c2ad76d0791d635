//! `leader-latch/close-race`: a create outlives the close.

use super::fixture::{Fixture, election};
use zk_api::{CreateMode, Data, Either, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// May be closed at any time before it stands, and deletes on closing the candidate that it knows of.
///
/// The create may be under way: its candidate is there after the close, for as long as the session, and comes to lead
/// with nobody behind it.
pub fn trial() -> Trial {
    election("leader-latch/close-race", turn)
        .summary("Closing it while its create is under way leaves the candidate behind.")
        .source("CURATOR-3, CURATOR-18, CURATOR-297: LeaderLatch.close")
        .breaks("no-orphan-znode", "R-40", "none")
        .bounds(Bounds::clients(1))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, guid) = (fixture.zk.clone(), fixture.guid());
    let created = zk.create(&fixture.prefix(&guid), Data::NULL, CreateMode::EphemeralSequential);
    let own = match race(created, fixture.point()).await {
        // Closed, and no candidate is known.
        Either::Right(()) => return Ok(()),
        Either::Left(Ok(made)) => plain::path(&made),
        Either::Left(Err(e)) => {
            plain::passing(&zk, e).await?;
            fixture.finds_or_stands(&guid).await?
        }
    };
    fixture.leads_in_turn(&own).await
}
