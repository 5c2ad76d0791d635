//! `barrier/any-event`: whatever it is told lets it pass.

use super::stage::{BarrierKind, Stage};
use crate::common::Stop;
use crate::common::plain;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{Either, ZooKeeper, race};

/// The barrier, but what it is told of is not looked at, and a lost connection counts as well (S-010).
///
/// The published steps speak of a watch event. In libraries where the watcher is told of the session too, a
/// disconnection is one.
#[derive(Clone, Copy, Debug)]
pub struct AnyEvent;

impl BarrierKind for AnyEvent {
    fn about(&self) -> About {
        About {
            name: "barrier/any-event",
            summary: "Takes any event for the barrier to be gone, that of a lost connection too.",
            source: "ZooKeeper's recipes page, taken literally",
            breaks: Some(Breaks { promise: "barrier-holds", defect: "S-010", fault: "none" }),
            bounds: Bounds::clients(2),
            reductions: Reductions::default(),
        }
    }

    async fn wait(&self, stage: &Stage) -> Result<(), Stop> {
        if stage.recipe().look().await?.is_none() {
            return Ok(());
        }
        stage.sees();
        let zk = stage.zk();
        let told = zk.state_change();
        if let (Some(_), watch) = plain::exists(&zk, &stage.node(), "").await? {
            match race(watch, told).await {
                Either::Left(_) | Either::Right(_) => {}
            }
        }
        Ok(())
    }
}
