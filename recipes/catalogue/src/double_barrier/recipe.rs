//! `double-barrier` and `double-barrier/newcomers`: the recipe of this project.

use super::fixture::{Fixture, Size, double_barrier};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::DoubleBarrier;

/// [`zk_recipes::DoubleBarrier`], with as many members as there are clients; and with one client more than a round
/// needs: who comes late waits for the next round, or for ever.
pub fn trials() -> Vec<Trial> {
    vec![
        double_barrier("double-barrier", Size::All, enter_and_leave)
            .summary(
                "So many enter together and leave together, round after round; members may die at any time.",
            )
            .source("zk-recipes")
            .bounds(Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) }),
        double_barrier("double-barrier/newcomers", Size::OneSpare, enter_and_leave)
            .summary("The double barrier, with one client more than a round needs.")
            .source("zk-recipes")
            .bounds(Bounds::clients(3)),
    ]
}

async fn enter_and_leave(fixture: Fixture) -> Result<bool, Stop> {
    let (zk, parent, guid) = (fixture.zk.clone(), fixture.barrier(), fixture.guid());
    let mut barrier =
        DoubleBarrier::new(zk, &parent, &guid, fixture.size()).expect("a guid is fit for a name");
    let inside = barrier.enter().await?;
    fixture.inside().await;
    inside.leave().await?;
    Ok(true)
}
