//! `two-phase-commit` and `two-phase-commit/each-other`: the recipe of this project.

use super::stage::{CommitKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Reductions};
use zk_recipes::Watching;

/// [`zk_recipes::Participant`], either way.
#[derive(Clone, Copy, Debug)]
pub struct Ours(pub Watching);

impl CommitKind for Ours {
    fn about(&self) -> About {
        let (name, summary) = match self.0 {
            Watching::Coordinator => (
                "two-phase-commit",
                "Votes and decision are written once; a coordinator collects them, and is replaced if it is gone.",
            ),
            Watching::EachOther => (
                "two-phase-commit/each-other",
                "The same recipe where every site watches the others' votes, so that none waits for a coordinator.",
            ),
        };
        About {
            name,
            summary,
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { expiries: 1, lag: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let site = stage.site();
        let Some(transaction) = stage.begin(&site, self.0).await? else {
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

    async fn again(&self, stage: &Stage) -> Result<(), Stop> {
        stage.acknowledges().await
    }
}
