//! `leader-latch/reset-race`: a look that was asked for before a reset counts after it.

use super::fixture::{Fixture, election};
use zk_api::{CreateMode, Data, ErrorCode, KeeperState, ZPath, ZooKeeper};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::session::connected;

/// On a new connection it looks where it stands, and begins anew with another candidate, both at once.
///
/// The look was asked for first and still shows the old candidate in front: it leads by a znode whose deletion is on
/// its way, and the next in line leads as soon as that is done.
pub fn trial() -> Trial {
    election("leader-latch/reset-race", turn)
        .summary("Leads by a list that was asked for before its own candidate was deleted to begin anew.")
        .source("CURATOR-653, CURATOR-652: LeaderLatch.reset")
        .breaks("exclusion-among-live-sessions", "R-02", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, guid) = (fixture.zk.clone(), fixture.guid());
    let mut own = fixture.stand(&guid).await?;
    loop {
        match fixture.place(&own).await? {
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(before) => {
                if let Some(watch) = fixture.watch(&before, &own).await? {
                    plain::event(watch).await?;
                }
            }
            Place::First => {
                let lost = zk.state_change();
                fixture.term(&own, None, lost, async { Ok(()) }).await?;
                if zk.state() == KeeperState::SyncConnected {
                    return plain::remove(&zk, &own).await;
                }
                connected(&zk).await?;
                own = reset(&fixture, &guid, own).await?;
            }
        }
    }
}

/// Looks, deletes the candidate and makes another, all asked for at once.
async fn reset(fixture: &Fixture, guid: &str, own: ZPath) -> Result<ZPath, Stop> {
    let (zk, election) = (fixture.zk.clone(), fixture.election());
    let listed = zk.children(&election);
    let deleted = zk.delete(&own, -1);
    let created = zk.create(&fixture.prefix(guid), Data::NULL, CreateMode::EphemeralSequential);
    if let Ok(names) = listed.await
        && plain::place(&election, &names, &own) == Place::First
    {
        // Until the new candidate is there and shows otherwise.
        let (mut made, mut gone) = (None, None);
        let until = async {
            gone = Some(deleted.await);
            made = Some(created.await);
        };
        fixture.term(&own, None, until, async { Ok(()) }).await?;
        let (Some(gone), Some(made)) = (gone, made) else { return Ok(own) };
        return settled(fixture, guid, &own, gone, made).await;
    }
    let (gone, made) = (deleted.await, created.await);
    settled(fixture, guid, &own, gone, made).await
}

/// The new candidate, however often it takes.
async fn settled(
    fixture: &Fixture,
    guid: &str,
    own: &ZPath,
    gone: Result<(), zk_api::Error>,
    made: Result<zk_api::Text, zk_api::Error>,
) -> Result<ZPath, Stop> {
    let zk = fixture.zk.clone();
    if let Err(e) = gone
        && e.code != ErrorCode::NoNode
    {
        plain::passing(&zk, e).await?;
        plain::remove(&zk, own).await?;
    }
    match made {
        Ok(made) => Ok(plain::path(&made)),
        Err(e) => {
            plain::passing(&zk, e).await?;
            fixture.finds_or_stands(guid).await
        }
    }
}
