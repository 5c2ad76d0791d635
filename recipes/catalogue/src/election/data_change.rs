//! `election/data-change`: a watch is used up by something else.

use super::fixture::{Fixture, election};
use zk_api::{Data, EventType, Local, ZPath, ZooKeeper};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};

/// Handles the deletion of its predecessor alone, and the leader writes into its own candidate how it is reached.
///
/// A watch fires once, for whatever happens: the write uses it up, and the deletion is told to nobody (S-169).
pub fn trial() -> Trial {
    election("election/data-change", turn)
        .summary("Reacts to a deletion alone, though the predecessor's data may change first.")
        .source("ZooKeeper Recipes and Solutions, Leader Election: upon receiving a notification of deletion")
        .breaks("no-waiter-stuck", "S-169", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let own = fixture.stand(&fixture.guid()).await?;
    loop {
        match fixture.place(&own).await? {
            Place::First => {
                let begin = introduce(&zk, &own);
                fixture.term(&own, None, fixture.session_over(), begin).await?;
                return plain::remove(&zk, &own).await;
            }
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(before) => {
                if let Some(watch) = fixture.watch(&before, &own).await? {
                    match watch.await.kind {
                        EventType::NodeDeleted => {}
                        EventType::None => return Err(Stop::SessionLost),
                        EventType::NodeDataChanged
                        | EventType::NodeCreated
                        | EventType::NodeChildrenChanged => std::future::pending().await,
                    }
                }
            }
        }
    }
}

/// Writes into the own candidate how its process is reached.
async fn introduce(zk: &impl ZooKeeper, own: &ZPath) -> Result<(), Stop> {
    let set = || zk.set_data(own, Data::from("here"), -1);
    plain::again_from(zk, "data-change/introduce", &[Local::Text(own.as_str())], set).await.map(drop)
}
