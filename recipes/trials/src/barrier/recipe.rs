//! `barrier`: the recipe of this project.

use super::stage::{BarrierKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Reductions};

/// [`zk_recipes::Barrier`].
#[derive(Clone, Copy, Debug)]
pub struct Recipe;

impl BarrierKind for Recipe {
    fn about(&self) -> About {
        About {
            name: "barrier",
            summary: "A znode that holds everybody up: a checked first look, and no opening is missed.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    async fn wait(&self, stage: &Stage) -> Result<(), Stop> {
        let barrier = stage.recipe();
        if let Some(up) = barrier.look().await? {
            stage.sees();
            barrier.gone(up).await?;
        }
        Ok(())
    }
}
