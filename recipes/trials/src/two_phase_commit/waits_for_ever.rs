//! `two-phase-commit/waits-for-ever`: there is no rule for a site that is gone.

use super::published::by_votes;
use super::stage::{CommitKind, SAFE, SITES, Stage, TRANSACTIONS};
use crate::common::Stop;
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Breaks, FoundBy, Reductions};
use zk_recipes::{Verdict, Watching};

/// Sites that watch each other, as published, with all znodes made at once and each vote written once: what they do is
/// right, but a site that is gone before it votes is waited for by all others without end (S-144).
///
/// The texts say that sites' failures cannot be detected so. It blocks until the site comes back: who restarts always,
/// as the processes of a chaos run do, is never seen to block.
#[derive(Clone, Copy, Debug)]
pub struct WaitsForEver;

impl CommitKind for WaitsForEver {
    fn about(&self) -> About {
        About {
            name: "two-phase-commit/waits-for-ever",
            summary: "Sites that watch each other and wait for every vote: safe, but one that is gone blocks all.",
            source: "ZooKeeper's recipes, Two-phased Commit; the article says so",
            breaks: Some(Breaks { promise: "no-waiter-stuck", defect: "S-144", fault: "crash of a site" }),
            bounds: Bounds { crashes: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::of_published_commitment(TRANSACTIONS, SITES)
    }

    fn found_by(&self) -> FoundBy {
        FoundBy::Model
    }

    fn joins(&self) -> bool {
        false
    }

    fn keeps(&self) -> &'static [&'static str] {
        SAFE
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let site = stage.site();
        if let Some(transaction) = stage.begin(&site, Watching::EachOther).await? {
            transaction.vote(stage.considers().await).await?;
        }
        stage.does(by_votes(stage, &stage.sites(), Verdict::read).await?);
        Ok(())
    }
}
