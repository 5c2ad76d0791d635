//! `barrier/stale-look`: the first look is a plain read.

use super::stage::{BarrierKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Breaks, Reductions};

/// The barrier as published: it looks, waits for an event if the barrier is there, and looks again.
///
/// A read shows what the server at hand has. One that is behind shows what was before the barrier was raised, and
/// lets those pass who have come since (S-009).
#[derive(Clone, Copy, Debug)]
pub struct StaleLook;

impl BarrierKind for StaleLook {
    fn about(&self) -> About {
        About {
            name: "barrier/stale-look",
            summary: "The first look is a plain read, which may show what was before the barrier was raised.",
            source: "ZooKeeper's recipes page, all editions",
            breaks: Some(Breaks {
                promise: "barrier-holds",
                defect: "S-009",
                fault: "a server that is behind",
            }),
            bounds: Bounds { lag: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    /// A single server is never behind, and of three one is so now and then: the more often somebody comes, the better.
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[("servers", "3"), ("rounds", "20")]
    }

    async fn wait(&self, stage: &Stage) -> Result<(), Stop> {
        stage.until_absent().await
    }
}
