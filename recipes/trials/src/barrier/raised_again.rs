//! `barrier/raised-again`: it looks for any barrier, not for the one it has seen.

use super::stage::{BarrierKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Breaks, FoundBy, Reductions};

/// The barrier as published, but for the first look, which is a checked one.
///
/// It is told that the barrier is gone, looks again, and finds another one that has been raised meanwhile: it has
/// missed the opening (S-011). If whoever raised it does not come back, it waits for ever.
#[derive(Clone, Copy, Debug)]
pub struct RaisedAgain;

impl BarrierKind for RaisedAgain {
    fn about(&self) -> About {
        About {
            name: "barrier/raised-again",
            summary: "Looks again after the event, and waits on if the barrier has been raised again meanwhile.",
            source: "ZooKeeper's recipes page, all editions",
            breaks: Some(Breaks {
                promise: "no-opening-missed",
                defect: "S-011",
                fault: "crash of who lowers it",
            }),
            bounds: Bounds { rounds: 2, crashes: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    fn found_by(&self) -> FoundBy {
        FoundBy::Model
    }

    async fn wait(&self, stage: &Stage) -> Result<(), Stop> {
        match stage.recipe().look().await? {
            None => Ok(()),
            Some(_) => stage.until_absent().await,
        }
    }
}
