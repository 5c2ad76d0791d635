//! `lock/read-then-watch`: the watch is set after the look.

use super::fixture::{Fixture, Next, lock};
use zk_api::{Local, Watch, ZPath, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// The lock with guids, but it looks first and sets its watch then.
///
/// What happens between the two is in neither: the znode before is gone when the watch is set, which waits for a creation
/// that nobody owes (S-058, R-69).
pub fn trial() -> Trial {
    lock("lock/read-then-watch", turn)
        .summary("Looks for the znode before, and then sets a watch on it whose answer it does not read.")
        .source("mutant of the recipe; a lock over another store lost its revision so")
        .breaks("no-waiter-stuck", "S-058", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let waits = |lower: ZPath, own: ZPath| async move {
        if plain::exists(zk, &lower, own.as_str()).await?.0.is_some() {
            plain::event(watch(zk, &lower, &own).await?).await?;
        }
        Ok(Next::Look)
    };
    fixture.in_line(waits).await
}

/// Sets the watch, and does not look what there is.
async fn watch(zk: &impl ZooKeeper, lower: &ZPath, own: &ZPath) -> Result<Watch, Stop> {
    let known = [lower.as_str(), own.as_str()].map(Local::Text);
    let answer = plain::again_from(zk, "read-then-watch/watch", &known, || zk.exists_watch(lower)).await;
    answer.map(|(_, watch)| watch)
}
