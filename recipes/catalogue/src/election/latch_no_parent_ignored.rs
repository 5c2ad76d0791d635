//! `leader-latch/no-parent-ignored`: the election's znode is gone, and nobody makes it anew.

use super::fixture::{Fixture, election};
use zk_api::{CreateMode, Data, ErrorCode, Local, ZPath, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// So often process 0 looks in a round whether the election's znode may go.
const LOOKS: u8 = 4;

/// Makes the election's znode where it is missing, but after a reconnection with a new session it only looks who
/// stands, and takes no notice when there is nothing to look at.
///
/// The znode may go when nobody stands: process 0 removes it then, as an ensemble removes an empty container. With the
/// only session its candidate went, and with that the znode: the latch waits for an answer that it has had.
pub fn trial() -> Trial {
    election("leader-latch/no-parent-ignored", turn)
        .summary("With a new session it lists the candidates, and ignores that their parent is gone.")
        .source("CURATOR-724, Druid pull request 17786: LeaderLatch")
        .breaks("no-waiter-stuck", "R-04", "session expiry")
        .bounds(Bounds { expiries: 1, restarts: 1, ..Bounds::clients(2) })
        .scenario(&[("clients", "2"), ("rounds", "10")])
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
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
