//! `shared-lock/java`: a try in two directories.

use super::fixture::{Access, access};
use crate::lock::{Fixture, LOCK, lock};
use zk_api::{CreateMode, Data, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::promises::{
    ExclusionAmongLiveSessions, ExclusionAtResource, NoForeignDelete, NoOrphanZnode, NoWaiterStuck,
};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// A class published as an example: readers and writers make their znodes in a directory each, then look once.
///
/// That no writer is beside another holder is kept, even by old lists: whoever comes later sees at least what was there as
/// it made its own znode (S-100).
///
/// - A look that finds others says so and leaves the znode, which shuts everybody out from then on (S-095); so does the
///   next try of the same client with another (S-097, S-098).
/// - Two that look at the same time shut each other out (S-096). With two counters there is no order between readers and
///   writers that could be waited by (S-099).
/// - Errors are passed on as they come, leaving the znode behind (S-101).
pub fn trial() -> Trial {
    lock("shared-lock/java", turn)
        .summary("A Java class that makes its znode, looks once, and leaves it there if it may not enter.")
        .source("an article on ZooKeeper, class ReadWriteLock")
        .breaks("no-orphan-znode", "S-095", "none")
        .bounds(Bounds::clients(2))
        .setup([LOCK, "/lock/readers", "/lock/writers"])
        .keeps(&["exclusion-among-live-sessions", "no-foreign-delete"])
        .promises(|| {
            vec![
                Box::new(ExclusionAmongLiveSessions::of(LOCK)),
                Box::new(ExclusionAtResource::unfenced(LOCK)),
                Box::new(NoWaiterStuck),
                Box::new(NoOrphanZnode::of(LOCK)),
                Box::new(NoForeignDelete::of(LOCK)),
            ]
        })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let (readers, writers) =
        (plain::child(&fixture.lock(), "readers"), plain::child(&fixture.lock(), "writers"));
    let (mode, prefix) = match access(&fixture) {
        Access::Reads => (Mode::Shared, plain::child(&readers, "read-")),
        Access::Writes | Access::Downgrades => (Mode::Exclusive, plain::child(&writers, "write-")),
    };
    let own = plain::path(&zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await?);
    let may_enter = match mode {
        Mode::Shared => zk.children(&writers).await?.is_empty(),
        Mode::Exclusive => zk.children(&readers).await?.is_empty() && zk.children(&writers).await?.len() == 1,
    };
    if !may_enter {
        fixture.passes("others are there");
        return Ok(());
    }
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    fixture.leave();
    zk.delete(&own, -1).await?;
    Ok(())
}
