//! `chubby/no-mode`: a sequencer without a mode.

use super::fixture::{chubby, look, mode, presents};
use crate::lock::Fixture;
use crate::shared_lock::of_reader;
use zk_api::ZPath;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// The lock is shared, and the sequencer does not tell in which mode it is held: that of a reader passes where somebody
/// wants to write (S-115).
pub fn trial() -> Trial {
    chubby("chubby/no-mode", turn)
        .summary("A sequencer does not tell the mode, so that a reader may write with it.")
        .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
        .breaks("sequencer-names-a-holder", "S-115", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let mode = mode(&fixture);
    let (kind, rule) = match mode {
        Mode::Shared => ("read", of_reader as fn(&ZPath, &[_], &ZPath) -> _),
        Mode::Exclusive => ("write", plain::place as _),
    };
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), kind).await?;
    plain::turn_by(&zk, &lock, &own, rule).await?;
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    presents(&fixture, &own, Mode::Exclusive, None);
    // CheckSequencer: the znode exists, and its version is still 0.
    let accepted = look(&zk, &own).await?.is_some_and(|stat| stat.version() == 0);
    presents(&fixture, &own, Mode::Exclusive, Some(accepted));
    fixture.leave();
    plain::remove(&zk, &own).await
}
