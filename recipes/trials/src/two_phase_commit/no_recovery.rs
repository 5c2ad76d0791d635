//! `two-phase-commit/no-recovery`: nobody takes over from a coordinator, not even itself.

use super::published::{Shown, read};
use super::stage::{CommitKind, SAFE, SITES, Stage, TRANSACTIONS};
use crate::common::{Stop, plain};
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_recipes::{Verdict, Watching};

/// The recipe, but a site that has voted waits for its coordinator's word and for nothing else, and a coordinator that
/// comes back finds a transaction of which it remembers nothing, and waits as well (S-151).
///
/// Votes and decision are durable, and nobody makes anything of them: all are in doubt for ever.
#[derive(Clone, Copy, Debug)]
pub struct NoRecovery;

impl CommitKind for NoRecovery {
    fn about(&self) -> About {
        About {
            name: "two-phase-commit/no-recovery",
            summary: "Sites wait for the coordinator's decision, and nobody decides when it is gone or has come back.",
            source: "ZooKeeper's recipes, Two-phased Commit, where only the coordinator is notified",
            breaks: Some(Breaks {
                promise: "no-waiter-stuck",
                defect: "S-151",
                fault: "crash of the coordinator",
            }),
            bounds: Bounds { crashes: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    /// The coordinator is to die while others wait for it.
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[("faults.client-crashes", "8")]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::of_published_commitment(TRANSACTIONS, SITES)
    }

    fn keeps(&self) -> &'static [&'static str] {
        SAFE
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let (zk, site) = (stage.zk(), stage.site());
        let Some(transaction) = stage.begin(&site, Watching::Coordinator).await? else { return Ok(()) };
        transaction.vote(stage.considers().await).await?;
        if *transaction.coordinator() == *stage.name() && !stage.has_come_back() {
            if let Some(decided) = transaction.decision().await? {
                stage.does(decided.verdict());
            }
            return Ok(());
        }
        let decision = plain::child(&stage.transaction(), "decision");
        while let Shown::There(data, watch) = read(&zk, &decision, "").await? {
            match Verdict::read(&data) {
                Some(decided) => {
                    stage.does(decided);
                    break;
                }
                None => plain::event(watch).await?,
            }
        }
        Ok(())
    }
}
