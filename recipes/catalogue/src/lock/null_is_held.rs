//! `lock/null-is-held`: a predecessor that is not there is taken for the lock.

use super::fixture::{Fixture, Next, lock};
use zk_api::ZPath;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but an absent predecessor is taken for the lock.
///
/// The znode before may have vanished with its waiter, not with its holder (S-081).
pub fn trial() -> Trial {
    lock("lock/null-is-held", turn)
        .summary("Takes the lock for granted when the znode before its own is gone as it is looked for.")
        .source("mutant of the recipe; so does the Java class of lock/java")
        .breaks("exclusion-among-live-sessions", "S-081", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(3) })
        // Waiters are to die, and just before somebody looks for their znodes.
        .scenario(&[("faults.expiries", "12")])
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        match plain::exists(zk, &lower, own.as_str()).await? {
            (None, _) => Ok(Next::Hold),
            (Some(_), watch) => plain::event(watch).await.map(|()| Next::Look),
        }
    };
    fixture.in_line(waits).await
}
