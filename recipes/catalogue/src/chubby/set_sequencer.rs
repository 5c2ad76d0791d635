//! `chubby/set-sequencer`: only a new version makes a sequencer invalid.

use super::fixture::{chubby, look, presents};
use crate::lock::Fixture;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// A handle with a sequencer looks whether its znode has another version, and listens for events, after which it compares
/// versions. That the znode is gone is no other version: there is none to compare (S-114).
pub fn trial() -> Trial {
    chubby("chubby/set-sequencer", turn)
        .summary("A sequencer whose znode is deleted has no other version, and stays valid.")
        .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
        .breaks("sequencer-names-a-holder", "S-114", "none")
        .bounds(Bounds::clients(1))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), "write").await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.section(&own, None, std::future::pending::<()>()).await;
    plain::remove(&zk, &own).await?;
    presents(&fixture, &own, Mode::Exclusive, None);
    // What an operation of the handle asks first: whether the version is another.
    let accepted = look(&zk, &own).await?.is_none_or(|stat| stat.version() == 0);
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    Ok(())
}
