//! `election/first-never-leads`: who stands first is told by nobody.

use super::fixture::{Fixture, election};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};

/// Looks whether it leads only when it is told of a deletion, as the published steps have it.
///
/// Who stands first has nobody before it, watches nothing, and is told of nothing (S-161).
pub fn trial() -> Trial {
    election("election/first-never-leads", turn)
        .summary("Looks whether it leads only when it is notified, and the first candidate watches nobody.")
        .source("ZooKeeper Recipes and Solutions, Leader Election, taken by the letter")
        .breaks("no-waiter-stuck", "S-161", "none")
        .bounds(Bounds::clients(1))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let own = fixture.stand(&fixture.guid()).await?;
    let mut notified = false;
    loop {
        match fixture.place(&own).await? {
            Place::First if notified => return fixture.leads(&own).await,
            Place::First => std::future::pending().await,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(before) => {
                if let Some(watch) = fixture.watch(&before, &own).await? {
                    plain::event(watch).await?;
                    notified = true;
                }
            }
        }
    }
}
