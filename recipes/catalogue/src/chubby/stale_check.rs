//! `chubby/stale-check`: a sequencer is checked at a server that may be behind.

use super::fixture::{chubby, presents};
use crate::lock::Fixture;
use zk_api::{Local, ZPath, ZooKeeper};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::Mode;

/// CheckSequencer looks who stands first, by a plain read.
///
/// The holder's znode is gone, by an administrator's hand or with its session, and the server that is asked has not heard of
/// it yet: whoever presents the sequencer is accepted, though it has not held the lock at any moment since (S-109).
pub fn trial() -> Trial {
    chubby("chubby/stale-check", turn)
        .summary("Checks a sequencer by a plain read, at a server that may not know of its end.")
        .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
        .breaks("sequencer-names-a-holder", "S-109", "a server that lags")
        .bounds(Bounds { admin: 1, lag: 1, ..Bounds::clients(1) })
        // Seeds would need a znode that is deleted just as its holder asks, and a server that lags at that moment.
        .found_by(FoundBy::Model)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), "write").await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.section(&own, None, std::future::pending::<()>()).await;
    presents(&fixture, &own, Mode::Exclusive, None);
    let accepted = is_first(&zk, &lock, &own).await?;
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    plain::remove(&zk, &own).await
}

/// CheckSequencer: whether the znode stands first.
async fn is_first(zk: &impl ZooKeeper, lock: &ZPath, own: &ZPath) -> Result<bool, Stop> {
    let names =
        plain::again_from(zk, "chubby/list", &[Local::Text(own.as_str())], || zk.children(lock)).await?;
    Ok(plain::place(lock, &names, own) == Place::First)
}
