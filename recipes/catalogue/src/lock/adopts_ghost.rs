//! `lock/adopts-ghost`: takes up the znode of its former session.

use super::fixture::{Fixture, lock};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but a process has one guid for all its lives, and takes up whatever znode bears it.
///
/// After a crash, the znode of its former session is still there: it holds the lock by a znode that is about to vanish, and
/// when it does, the next one enters (S-052, R-05, R-06). What matters is whose session owns the znode.
pub fn trial() -> Trial {
    lock("lock/adopts-ghost", turn)
        .summary("Takes up a znode with its guid, also if a former session of the process owns it.")
        .source("a client library that did not compare sessions (CURATOR-498)")
        .breaks("exclusion-among-live-sessions", "S-052", "client crash and restart")
        .bounds(Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let guid = format!("process{}", fixture.role.me.process);
    fixture.adopts(&guid).await
}
