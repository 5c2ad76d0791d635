//! `barrier`: the recipe of this project.

use super::fixture::{Fixture, barrier};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// [`zk_recipes::Barrier`].
pub fn trial() -> Trial {
    barrier("barrier", wait)
        .summary("A znode that holds everybody up: a checked first look, and no opening is missed.")
        .source("zk-recipes")
        .bounds(Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) })
}

async fn wait(fixture: Fixture) -> Result<(), Stop> {
    let barrier = fixture.recipe();
    if let Some(up) = barrier.look().await? {
        fixture.sees();
        barrier.gone(up).await?;
    }
    Ok(())
}
