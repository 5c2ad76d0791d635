//! `two-phase-commit`, `two-phase-commit/each-other` and `two-phase-commit/silent`: the recipe of this project.

use super::fixture::{Fixture, Sites, commit};
use zk_api::ZooKeeper;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Decided, Verdict, Watching};

/// [`zk_recipes::Participant`], either way, and among sites that may say nothing.
pub fn trials() -> Vec<Trial> {
    vec![
        ours("two-phase-commit", Watching::Coordinator)
            .summary(
                "Votes and decision are written once; a coordinator collects them, and is replaced if it is gone.",
            )
            .bounds(Bounds { expiries: 1, drops: 1, lag: 1, ..Bounds::clients(2) }),
        ours("two-phase-commit/each-other", Watching::EachOther).summary(
            "The same recipe where every site watches the others' votes, so that none waits for a coordinator.",
        ),
        commit("two-phase-commit/silent", Sites::Acknowledging, in_time)
            .summary("The same recipe among sites that may live and not vote: each waits for so long, and aborts.")
            .source("zk-recipes")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(2) }),
    ]
}

fn ours(name: &'static str, watching: Watching) -> Trial {
    commit(name, Sites::Acknowledging, move |fixture| turn(fixture, watching))
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, lag: 1, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture, watching: Watching) -> Result<(), Stop> {
    let site = fixture.site();
    let Some(transaction) = fixture.begin(&site, watching).await? else {
        fixture.is_over();
        return Ok(());
    };
    transaction.vote(fixture.considers().await).await?;
    ends(&fixture, transaction.decision().await?).await
}

/// Does what was decided, if that is known still.
async fn ends(
    fixture: &Fixture,
    decided: Option<Decided<'_, '_, impl ZooKeeper + Clone>>,
) -> Result<(), Stop> {
    match decided {
        Some(decided) => {
            fixture.does(decided.verdict());
            decided.acknowledge().await?;
        }
        None => fixture.is_over(),
    }
    Ok(())
}

/// [`zk_recipes::Participant`], where a site that is not ready does not vote, though it lives: nothing but a timer can
/// tell that, and the recipe has none. Here each site has one, as any of them may have to take over, and aborts.
///
/// It is the one case in which the recipe blocks, with the way out that it offers.
async fn in_time(fixture: Fixture) -> Result<(), Stop> {
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
    ends(&fixture, decided).await
}
