//! `lock/no-recheck`: the event is taken for the lock.

use super::fixture::{Fixture, Next, lock};
use zk_api::ZPath;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but for one arrow: after the event, the list is not looked at again.
///
/// That the znode before is gone does not say that all before it are. Its owner may have been waiting itself:
/// its session expires, and the next one enters beside the holder (S-056, S-080).
pub fn trial() -> Trial {
    lock("lock/no-recheck", turn)
        .summary("Waits for the znode before its own to vanish, and then takes the lock for granted.")
        .source("mutant of the recipe; so does the Java class of lock/java")
        .breaks("exclusion-among-live-sessions", "S-056", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(3) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        match plain::exists(zk, &lower, own.as_str()).await? {
            (None, _) => Ok(Next::Look),
            (Some(_), watch) => plain::event(watch).await.map(|()| Next::Hold),
        }
    };
    fixture.in_line(waits).await
}
