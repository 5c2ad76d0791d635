//! `leader-latch/adopts-ghost`: a candidate of the process's former session is taken for its own.

use super::fixture::{Fixture, election};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// Knows its candidate by the process's name alone, also when that has a new session.
///
/// The candidate of the former session is first in line and lives until that session expires. The process leads by it,
/// is not told when it is deleted, and the next in line leads beside it. The `ephemeralOwner` would tell.
pub fn trial() -> Trial {
    election("leader-latch/adopts-ghost", turn)
        .summary("After a restart it leads by the candidate of its former session, which then vanishes.")
        .source("CURATOR-696, CURATOR-620, Druid issue 16411: LeaderLatch")
        .breaks("exclusion-among-live-sessions", "R-01", "client crash and restart")
        .bounds(Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let me = format!("process{}", fixture.role.me.process);
    let own = fixture.finds_or_stands(&me).await?;
    fixture.leads_in_turn(&own).await
}
