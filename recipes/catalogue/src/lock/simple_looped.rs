//! `lock/simple-looped`: the simple lock with its gap closed.

use super::fixture::{Fixture, lock};
use super::simple;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The simple lock with its gap closed: where the znode is gone as it is looked for, it tries to create it again.
///
/// A create whose answer was lost still makes the client wait for itself, as it does not look whose znode it
/// is (S-071).
pub fn trial() -> Trial {
    lock("lock/simple-looped", turn)
        .summary("As lock/simple, but tries again where the znode is gone as it is looked for.")
        .source("lock/simple, half mended")
        .breaks("no-waiter-stuck", "S-071", "lost answer")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
        .promises(simple::promises)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, holder) = (fixture.zk.clone(), simple::holder(&fixture.lock()));
    while !simple::create(&zk, &holder).await? {
        if let (Some(_), watch) = plain::exists(&zk, &holder, "").await? {
            plain::event(watch).await?;
        }
    }
    fixture.section(&holder, None, std::future::pending::<()>()).await;
    simple::release(&zk, &holder).await
}
