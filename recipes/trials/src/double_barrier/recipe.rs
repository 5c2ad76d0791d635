//! `double-barrier` and `double-barrier/newcomers`: the recipe of this project.

use super::stage::{DoubleBarrierKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Reductions};
use zk_recipes::DoubleBarrier;

/// [`zk_recipes::DoubleBarrier`], with as many members as there are clients.
#[derive(Clone, Copy, Debug)]
pub struct Recipe;

impl DoubleBarrierKind for Recipe {
    fn about(&self) -> About {
        About {
            name: "double-barrier",
            summary: "So many enter together and leave together, round after round; members may die at any time.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    async fn round(&self, stage: &Stage) -> Result<bool, Stop> {
        enter_and_leave(stage).await
    }
}

/// The same, with one client more than a round needs: who comes late waits for the next round, or for ever.
#[derive(Clone, Copy, Debug)]
pub struct Newcomers;

impl DoubleBarrierKind for Newcomers {
    fn about(&self) -> About {
        About {
            name: "double-barrier/newcomers",
            summary: "The double barrier, with one client more than a round needs.",
            bounds: Bounds::clients(3),
            ..Recipe.about()
        }
    }

    fn size(&self, clients: u16) -> u16 {
        clients.saturating_sub(1).max(1)
    }

    async fn round(&self, stage: &Stage) -> Result<bool, Stop> {
        enter_and_leave(stage).await
    }
}

async fn enter_and_leave(stage: &Stage) -> Result<bool, Stop> {
    let (zk, parent, guid) = (stage.zk(), stage.barrier(), stage.guid());
    let mut barrier = DoubleBarrier::new(zk, &parent, &guid, stage.size()).expect("a guid is fit for a name");
    let inside = barrier.enter().await?;
    stage.inside().await;
    inside.leave().await?;
    Ok(true)
}
