//! `election/goes-on`: a leader that is not interrupted.

use super::epochs;
use super::stage::{ElectionKind, Stage};
use crate::common::Stop;
use crate::promise::AnyPromise;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_recipes::Election;

/// Elects as [`Election`] does, but the leader does its work to the end, whatever it is told meanwhile.
///
/// Its client knows that the session is over, and the leader does not ask (S-165, and R-70 in a library's user).
#[derive(Clone, Copy, Debug)]
pub struct GoesOn;

impl ElectionKind for GoesOn {
    fn about(&self) -> About {
        About {
            name: "election/goes-on",
            summary: "A leader is not interrupted when its session ends, and works on beside the next.",
            source: "Yelp/paasta, pull request 2450, and ZooKeeper Recipes, which do not speak of it",
            breaks: Some(Breaks { promise: "stops-at-loss", defect: "S-165", fault: "session expiry" }),
            bounds: Bounds { expiries: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        epochs::promises()
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let mut election =
            Election::new(stage.zk(), &stage.election(), &stage.guid()).expect("a guid is fit for a name");
        let leadership = election.lead().await?;
        let never = std::future::pending::<()>();
        stage.term(leadership.node(), Some(leadership.epoch()), never, async { Ok(()) }).await?;
        Ok(leadership.resign().await?)
    }
}
