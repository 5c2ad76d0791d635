//! `leader-latch/close-race`: a create outlives the close.

use super::stage::{ElectionKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{CreateMode, Data, Either, ZooKeeper, race};

/// May be closed at any time before it stands, and deletes on closing the candidate that it knows of.
///
/// The create may be under way: its candidate is there after the close, for as long as the session, and comes to lead
/// with nobody behind it.
#[derive(Clone, Copy, Debug)]
pub struct CloseRace;

impl ElectionKind for CloseRace {
    fn about(&self) -> About {
        About {
            name: "leader-latch/close-race",
            summary: "Closing it while its create is under way leaves the candidate behind.",
            source: "CURATOR-3, CURATOR-18, CURATOR-297: LeaderLatch.close",
            breaks: Some(Breaks { promise: "no-orphan-znode", defect: "R-40", fault: "none" }),
            bounds: Bounds::clients(1),
            reductions: Reductions::default(),
        }
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let (zk, guid) = (stage.zk(), stage.guid());
        let created = zk.create(&stage.prefix(&guid), Data::NULL, CreateMode::EphemeralSequential);
        let own = match race(created, stage.point()).await {
            // Closed, and no candidate is known.
            Either::Right(()) => return Ok(()),
            Either::Left(Ok(made)) => plain::path(&made),
            Either::Left(Err(e)) => {
                plain::passing(&zk, e).await?;
                let election = stage.election();
                let names = plain::children(&zk, &election, &guid).await?;
                match names.iter().find(|name| name.starts_with(stage.prefix(&guid).name())) {
                    Some(name) => plain::child(&election, name),
                    None => stage.stand(&guid).await?,
                }
            }
        };
        loop {
            match stage.place(&own).await? {
                Place::First => return stage.leads(&own).await,
                Place::Absent => return Err(plain::gone(&own)),
                Place::Behind(before) => {
                    if let Some(watch) = stage.watch(&before, &own).await? {
                        plain::event(watch).await?;
                    }
                }
            }
        }
    }
}
