//! `election/smallest-watched`: everybody watches the leader.

use super::stage::{ElectionKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::sequence_of;

/// All watch the candidate with the smallest number, which an older edition of the recipe asks for.
///
/// It is safe and it makes progress; but each death wakes all who wait (S-160), against its own words on the herd.
#[derive(Clone, Copy, Debug)]
pub struct SmallestWatched;

impl ElectionKind for SmallestWatched {
    fn about(&self) -> About {
        About {
            name: "election/smallest-watched",
            summary: "All watch the smallest candidate, so that its end wakes everybody.",
            source: "ZooKeeper Recipes and Solutions before ZOOKEEPER-1483: the smallest j such that j < i",
            breaks: Some(Breaks { promise: "one-woken-per-deletion", defect: "S-160", fault: "none" }),
            bounds: Bounds::clients(3),
            reductions: Reductions::default(),
        }
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let (zk, election) = (stage.zk(), stage.election());
        let own = stage.stand(&stage.guid()).await?;
        loop {
            let names = plain::children(&zk, &election, own.as_str()).await?;
            match plain::place(&election, &names, &own) {
                Place::First => return stage.leads(&own).await,
                Place::Absent => return Err(plain::gone(&own)),
                Place::Behind(_) => {
                    let smallest =
                        names.iter().min_by_key(|name| sequence_of(name)).expect("its own at least");
                    if let Some(watch) = stage.watch(&plain::child(&election, smallest), &own).await? {
                        plain::event(watch).await?;
                    }
                }
            }
        }
    }
}
