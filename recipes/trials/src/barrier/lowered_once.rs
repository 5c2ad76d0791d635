//! `barrier/lowered-once`: a deletion that fails leaves the barrier up.

use super::stage::{BarrierKind, Stage};
use crate::common::Stop;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{Outcome, ZooKeeper};

/// The barrier, but whoever lowers it asks once, and takes any answer for good.
///
/// Where the request is lost with its connection the barrier stays, and those who wait wait on, though they are said to be
/// let go.
#[derive(Clone, Copy, Debug)]
pub struct LoweredOnce;

impl BarrierKind for LoweredOnce {
    fn about(&self) -> About {
        About {
            name: "barrier/lowered-once",
            summary: "Deletes the barrier's znode once, and takes a lost answer for good.",
            source: "reading of ZooKeeper's recipes, which name no errors",
            breaks: Some(Breaks { promise: "raised-as-told", defect: "S-063", fault: "lost request" }),
            bounds: Bounds { drops: 1, ..Bounds::clients(1) },
            reductions: Reductions::default(),
        }
    }

    /// Connections are to drop while it is lowered.
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        &[("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")]
    }

    async fn lower(&self, stage: &Stage) -> Result<(), Stop> {
        match stage.zk().delete(&stage.node(), -1).await {
            Err(error) if error.is_session_over() => Err(error.into()),
            Err(error) if error.outcome() == Outcome::NotApplied => stage.lowers().await,
            Ok(()) | Err(_) => Ok(()),
        }
    }

    async fn wait(&self, stage: &Stage) -> Result<(), Stop> {
        stage.until_absent().await
    }
}
