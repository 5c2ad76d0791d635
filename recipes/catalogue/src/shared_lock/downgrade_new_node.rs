//! `shared-lock/downgrade-new-node`: a downgrade to the end of the line.

use super::fixture::shared;
use crate::lock::Fixture;
use zk_harness::common::{Stop, knowing, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// A writer that is to go on as a reader asks for a reader's znode like any other, and deletes its own then.
///
/// A writer that has come meanwhile stands between the two numbers, waits for the first alone, and enters beside the reader
/// (S-125, R-11).
pub fn trial() -> Trial {
    shared("shared-lock/downgrade-new-node", turn)
        .summary("Goes on as a reader with a znode at the end of the line.")
        .source("a client library (CURATOR-621); no published recipe has a rule for it")
        .breaks("exclusion-among-live-sessions", "S-125", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let guid = fixture.guid();
    let own = plain::contend_as(&zk, &lock, &guid, "write").await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.hold(Mode::Exclusive, &own, None, std::future::pending::<()>()).await;
    if fixture.role.me.process % 2 == 1 {
        fixture.leave();
        return plain::remove(&zk, &own).await;
    }
    let held = knowing(zk.clone(), own.as_str());
    let reads = plain::contend_as(&held, &lock, &guid, "read").await?;
    plain::remove(&knowing(zk.clone(), reads.as_str()), &own).await?;
    // Only its own place is looked at: it has come from the front of the line, or so it believes.
    fixture.hold(Mode::Shared, &reads, None, std::future::pending::<()>()).await;
    fixture.leave();
    plain::remove(&zk, &reads).await
}
