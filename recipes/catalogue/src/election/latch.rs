//! A leader latch, with the defects that its users have met.

use super::fixture::{Fixture, election};
use zk_api::{CreateMode, Data, Either, ErrorCode, KeeperState, Local, ZPath, ZooKeeper, race};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::session::connected;

/// All of them.
pub fn trials() -> Vec<Trial> {
    vec![
        election("leader-latch/adopts-ghost", latch_adopts_ghost)
            .summary("After a restart it leads by the candidate of its former session, which then vanishes.")
            .source("CURATOR-696, CURATOR-620, Druid issue 16411: LeaderLatch")
            .breaks("exclusion-among-live-sessions", "R-01", "client crash and restart")
            .bounds(Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) }),
        election("leader-latch/reset-race", latch_reset_race)
            .summary("Leads by a list that was asked for before its own candidate was deleted to begin anew.")
            .source("CURATOR-653, CURATOR-652: LeaderLatch.reset")
            .breaks("exclusion-among-live-sessions", "R-02", "lost connection")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) }),
        election("leader-latch/close-race", latch_close_race)
            .summary("Closing it while its create is under way leaves the candidate behind.")
            .source("CURATOR-3, CURATOR-18, CURATOR-297: LeaderLatch.close")
            .breaks("no-orphan-znode", "R-40", "none")
            .bounds(Bounds::clients(1)),
        election("leader-latch/no-parent-ignored", latch_no_parent_ignored)
            .summary("With a new session it lists the candidates, and ignores that their parent is gone.")
            .source("CURATOR-724, Druid pull request 17786: LeaderLatch")
            .breaks("no-waiter-stuck", "R-04", "session expiry")
            .bounds(Bounds { expiries: 1, restarts: 1, ..Bounds::clients(2) })
            .scenario(&[("clients", "2"), ("rounds", "10")]),
    ]
}

/// Knows its candidate by the process's name alone, also when that has a new session.
///
/// The candidate of the former session is first in line and lives until that session expires. The process leads by it,
/// is not told when it is deleted, and the next in line leads beside it. The `ephemeralOwner` would tell.
async fn latch_adopts_ghost(fixture: Fixture) -> Result<(), Stop> {
    let me = format!("process{}", fixture.role.me.process);
    let own = fixture.finds_or_stands(&me).await?;
    fixture.leads_in_turn(&own).await
}

/// On a new connection it looks where it stands, and begins anew with another candidate, both at once.
///
/// The look was asked for first and still shows the old candidate in front: it leads by a znode whose deletion is on
/// its way, and the next in line leads as soon as that is done.
async fn latch_reset_race(fixture: Fixture) -> Result<(), Stop> {
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

/// May be closed at any time before it stands, and deletes on closing the candidate that it knows of.
///
/// The create may be under way: its candidate is there after the close, for as long as the session, and comes to lead
/// with nobody behind it.
async fn latch_close_race(fixture: Fixture) -> Result<(), Stop> {
    let (zk, guid) = (fixture.zk.clone(), fixture.guid());
    let created = zk.create(&fixture.prefix(&guid), Data::NULL, CreateMode::EphemeralSequential);
    let own = match race(created, fixture.point()).await {
        // Closed, and no candidate is known.
        Either::Right(()) => return Ok(()),
        Either::Left(Ok(made)) => plain::path(&made),
        Either::Left(Err(e)) => {
            plain::passing(&zk, e).await?;
            fixture.finds_or_stands(&guid).await?
        }
    };
    fixture.leads_in_turn(&own).await
}

/// So often process 0 looks in a round whether the election's znode may go.
const LOOKS: u8 = 4;

/// Makes the election's znode where it is missing, but after a reconnection with a new session it only looks who
/// stands, and takes no notice when there is nothing to look at.
///
/// The znode may go when nobody stands: process 0 removes it then, as an ensemble removes an empty container. With the
/// only session its candidate went, and with that the znode: the latch waits for an answer that it has had.
async fn latch_no_parent_ignored(fixture: Fixture) -> Result<(), Stop> {
    if fixture.role.me.process == 0 {
        return tidies_up(&fixture).await;
    }
    let (zk, guid) = (fixture.zk.clone(), fixture.guid());
    if fixture.role.me.life > 0 {
        look(&zk, &fixture.election()).await?;
    }
    let own = stand(&zk, &fixture.election(), &fixture.prefix(&guid)).await?;
    fixture.leads_in_turn(&own).await
}

/// Removes the election's znode when nobody stands.
async fn tidies_up(fixture: &Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    for look in 0..LOOKS {
        zk.checkpoint("latch/tidy", &[Local::Number(look.into())]);
        match zk.delete(&fixture.election(), -1).await {
            Ok(()) => {}
            Err(e) if e.code == ErrorCode::NotEmpty || e.code == ErrorCode::NoNode => {}
            Err(e) => plain::passing(&zk, e).await?,
        }
        fixture.other_work().await?;
    }
    Ok(())
}

/// Looks who stands. Where nobody can, it waits to be called again, and nobody calls.
async fn look(zk: &impl ZooKeeper, election: &ZPath) -> Result<(), Stop> {
    loop {
        zk.checkpoint("latch/look", &[]);
        match zk.children(election).await {
            Ok(_) => return Ok(()),
            Err(e) if e.code == ErrorCode::NoNode => std::future::pending().await,
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}

/// Makes a candidate, and the election's znode where it is missing.
async fn stand(zk: &impl ZooKeeper, election: &ZPath, prefix: &ZPath) -> Result<ZPath, Stop> {
    loop {
        zk.checkpoint("latch/stand", &[Local::Text(prefix.as_str())]);
        match zk.create(prefix, Data::NULL, CreateMode::EphemeralSequential).await {
            Ok(made) => return Ok(plain::path(&made)),
            Err(e) if e.code == ErrorCode::NoNode => {
                match zk.create(election, Data::NULL, CreateMode::Persistent).await {
                    Ok(_) => continue,
                    Err(e) if e.code == ErrorCode::NodeExists => continue,
                    Err(e) => plain::passing(zk, e).await?,
                }
            }
            Err(e) => plain::passing(zk, e).await?,
        }
        match zk.children(election).await {
            Ok(names) => {
                if let Some(name) = names.iter().find(|name| name.starts_with(prefix.name())) {
                    return Ok(plain::child(election, name));
                }
            }
            Err(e) if e.code == ErrorCode::NoNode => {}
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}
