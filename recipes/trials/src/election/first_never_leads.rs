//! `election/first-never-leads`: who stands first is told by nobody.

use super::stage::{ElectionKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{About, Bounds, Breaks, Reductions};

/// Looks whether it leads only when it is told of a deletion, as the published steps have it.
///
/// Who stands first has nobody before it, watches nothing, and is told of nothing (S-161).
#[derive(Clone, Copy, Debug)]
pub struct FirstNeverLeads;

impl ElectionKind for FirstNeverLeads {
    fn about(&self) -> About {
        About {
            name: "election/first-never-leads",
            summary: "Looks whether it leads only when it is notified, and the first candidate watches nobody.",
            source: "ZooKeeper Recipes and Solutions, Leader Election, taken by the letter",
            breaks: Some(Breaks { promise: "no-waiter-stuck", defect: "S-161", fault: "none" }),
            bounds: Bounds::clients(1),
            reductions: Reductions::default(),
        }
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let own = stage.stand(&stage.guid()).await?;
        let mut notified = false;
        loop {
            match stage.place(&own).await? {
                Place::First if notified => return stage.leads(&own).await,
                Place::First => std::future::pending().await,
                Place::Absent => return Err(plain::gone(&own)),
                Place::Behind(before) => {
                    if let Some(watch) = stage.watch(&before, &own).await? {
                        plain::event(watch).await?;
                        notified = true;
                    }
                }
            }
        }
    }
}
