//! `two-phase-commit/gives-up`: a site that has voted goes away.

use super::fixture::{Fixture, Sites, commit, published};
use super::published::on_one_connection;
use zk_api::KeeperState;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// Sites that watch each other. One that loses its connection while it waits gives the transaction up, though it has voted
/// and its session lives: it neither commits nor aborts, whatever the others do, and says nothing (S-145).
pub fn trial() -> Trial {
    commit("two-phase-commit/gives-up", Sites::Silent, turn)
        .summary(
            "A site that has voted, and loses its connection while it waits, goes on without a decision.",
        )
        .source("reading of ZooKeeper's recipes, which name no lost connections")
        .breaks("voters-learn", "S-145", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
        .promises(published)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let lost = async |state: KeeperState| if state.is_final() { Err(Stop::SessionLost) } else { Ok(()) };
    on_one_connection(&fixture, "gives-up/vote", lost).await
}
