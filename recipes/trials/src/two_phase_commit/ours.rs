//! `two-phase-commit` and `two-phase-commit/each-other`: the recipe of this project.

use super::stage::{Sites, Stage, commit};
use crate::common::Stop;
use crate::trial::{Bounds, Trial};
use zk_recipes::Watching;

/// [`zk_recipes::Participant`], either way.
pub fn trials() -> Vec<Trial> {
    vec![
        ours("two-phase-commit", Watching::Coordinator).summary(
            "Votes and decision are written once; a coordinator collects them, and is replaced if it is gone.",
        ),
        ours("two-phase-commit/each-other", Watching::EachOther).summary(
            "The same recipe where every site watches the others' votes, so that none waits for a coordinator.",
        ),
    ]
}

fn ours(name: &'static str, watching: Watching) -> Trial {
    commit(name, Sites::Acknowledging, move |stage| turn(stage, watching))
        .source("zk-recipes")
        .bounds(Bounds { expiries: 1, lag: 1, ..Bounds::clients(2) })
}

async fn turn(stage: Stage, watching: Watching) -> Result<(), Stop> {
    let site = stage.site();
    let Some(transaction) = stage.begin(&site, watching).await? else {
        stage.is_over();
        return Ok(());
    };
    transaction.vote(stage.considers().await).await?;
    match transaction.decision().await? {
        Some(decided) => {
            stage.does(decided.verdict());
            decided.acknowledge().await?;
        }
        None => stage.is_over(),
    }
    Ok(())
}
