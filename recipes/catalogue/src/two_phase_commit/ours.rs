//! `two-phase-commit` and `two-phase-commit/each-other`: the recipe of this project.

use super::fixture::{Fixture, Sites, commit};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Watching;

/// [`zk_recipes::Participant`], either way.
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
    match transaction.decision().await? {
        Some(decided) => {
            fixture.does(decided.verdict());
            decided.acknowledge().await?;
        }
        None => fixture.is_over(),
    }
    Ok(())
}
