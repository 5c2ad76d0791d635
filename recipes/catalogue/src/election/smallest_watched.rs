//! `election/smallest-watched`: everybody watches the leader.

use super::fixture::{Fixture, election};
use zk_api::sequence_of;
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};

/// All watch the candidate with the smallest number, which an older edition of the recipe asks for.
///
/// It is safe and it makes progress; but each death wakes all who wait (S-160), against its own words on the herd.
pub fn trial() -> Trial {
    election("election/smallest-watched", turn)
        .summary("All watch the smallest candidate, so that its end wakes everybody.")
        .source("ZooKeeper Recipes and Solutions before ZOOKEEPER-1483: the smallest j such that j < i")
        .breaks("one-woken-per-deletion", "S-160", "none")
        .bounds(Bounds::clients(3))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, election) = (fixture.zk.clone(), fixture.election());
    let own = fixture.stand(&fixture.guid()).await?;
    loop {
        let names = plain::children(&zk, &election, own.as_str()).await?;
        match plain::place(&election, &names, &own) {
            Place::First => return fixture.leads(&own).await,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(_) => {
                let smallest = names.iter().min_by_key(|name| sequence_of(name)).expect("its own at least");
                if let Some(watch) = fixture.watch(&plain::child(&election, smallest), &own).await? {
                    plain::event(watch).await?;
                }
            }
        }
    }
}
