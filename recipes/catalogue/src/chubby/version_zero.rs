//! `chubby/version-zero`: a sequencer is a path and a version.

use super::fixture::{chubby, look, presents};
use crate::lock::Fixture;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// The sequencer is the path of the own znode and its version, and it is good as long as the znode exists so.
///
/// A waiter has such a znode as well, and nothing says that whoever presents it holds the lock (S-108).
pub fn trial() -> Trial {
    chubby("chubby/version-zero", turn)
        .summary("The sequencer is the znode that was made first of all, which a waiter has as well.")
        .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
        .breaks("sequencer-names-a-holder", "S-108", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), "write").await?;
    presents(&fixture, &own, Mode::Exclusive, None);
    // CheckSequencer: the znode exists, and its version is still 0.
    let accepted = look(&zk, &own).await?.is_some_and(|stat| stat.version() == 0);
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    plain::turn(&zk, &lock, &own).await?;
    fixture.holds(&own).await
}
