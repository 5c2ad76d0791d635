//! `election/waiter-outlives-lease`: a candidate that waits on when its session is over.

use super::stage::{ElectionKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::EventType;

/// Waits for the deletion of its predecessor and for nothing else, also when its own session has ended.
///
/// Its own candidate is gone, nobody is going to tell it of anything, and it takes itself for the next leader.
#[derive(Clone, Copy, Debug)]
pub struct WaiterOutlivesLease;

impl ElectionKind for WaiterOutlivesLease {
    fn about(&self) -> About {
        About {
            name: "election/waiter-outlives-lease",
            summary: "A candidate whose own session ends keeps waiting behind the leader, for ever.",
            source: "etcd issue 19597, pull request 22387: Mutex and Election",
            breaks: Some(Breaks { promise: "session-end-noticed", defect: "R-68", fault: "session expiry" }),
            bounds: Bounds { expiries: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let own = stage.stand(&stage.guid()).await?;
        loop {
            match stage.place(&own).await? {
                Place::First => return stage.leads(&own).await,
                Place::Absent => return Err(plain::gone(&own)),
                Place::Behind(before) => {
                    if let Some(watch) = stage.watch(&before, &own).await?
                        && watch.await.kind == EventType::None
                    {
                        std::future::pending().await
                    }
                }
            }
        }
    }
}
