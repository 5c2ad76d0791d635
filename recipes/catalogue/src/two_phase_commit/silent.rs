//! `two-phase-commit/silent`: the recipe of this project among sites that may say nothing.

use super::fixture::{Fixture, Sites, commit};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Verdict, Watching};

/// [`zk_recipes::Participant`], where a site that is not ready does not vote, though it lives: nothing but a timer can
/// tell that, and the recipe has none. Here each site has one, as any of them may have to take over, and aborts.
///
/// It is the one case in which the recipe blocks, with the way out that it offers.
pub fn trial() -> Trial {
    commit("two-phase-commit/silent", Sites::Acknowledging, turn)
        .summary(
            "The same recipe among sites that may live and not vote: each waits for so long, and aborts.",
        )
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else {
        fixture.is_over();
        return Ok(());
    };
    if fixture.is_ready().await {
        fixture.votes(Verdict::Commit);
        transaction.vote(Verdict::Commit).await?;
    }
    let decided = match fixture.in_time(transaction.decision()).await? {
        Some(decided) => decided,
        None => {
            transaction.abort().await?;
            transaction.decision().await?
        }
    };
    match decided {
        Some(decided) => {
            fixture.does(decided.verdict());
            decided.acknowledge().await?;
        }
        None => fixture.is_over(),
    }
    Ok(())
}
