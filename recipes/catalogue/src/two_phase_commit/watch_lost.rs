//! `two-phase-commit/watch-lost`: a watch is not set again.

use super::fixture::{Fixture, SAFE, Sites, commit, published};
use super::published::on_one_connection;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// Sites that watch each other. A site drops its watch with the connection, and goes on waiting for what it would have
/// told once there is a new one (S-145).
pub fn trial() -> Trial {
    commit("two-phase-commit/watch-lost", Sites::Silent, turn)
        .summary("Gives up its watch with the connection, and goes on waiting for its event on the next one.")
        .source("reading of ZooKeeper's recipes, which set each watch once and name no lost connections")
        .breaks("no-waiter-stuck", "S-145", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
        .promises(published)
        .keeps(SAFE)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    on_one_connection(&fixture, "watch-lost/vote", async |_| std::future::pending().await).await
}
