//! `two-phase-commit/no-recovery`: nobody takes over from a coordinator, not even itself.

use super::fixture::{Fixture, SAFE, Sites, commit, published};
use super::published::{Shown, read};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Verdict, Watching};

/// The recipe, but a site that has voted waits for its coordinator's word and for nothing else, and a coordinator that
/// comes back finds a transaction of which it remembers nothing, and waits as well (S-151).
///
/// Votes and decision are durable, and nobody makes anything of them: all are in doubt for ever.
pub fn trial() -> Trial {
    commit("two-phase-commit/no-recovery", Sites::Shown, turn)
        .summary(
            "Sites wait for the coordinator's decision, and nobody decides when it is gone or has come back.",
        )
        .source("ZooKeeper's recipes, Two-phased Commit, where only the coordinator is notified")
        .breaks("no-waiter-stuck", "S-151", "crash of the coordinator")
        .bounds(Bounds { crashes: 1, ..Bounds::clients(2) })
        // The coordinator is to die while others wait for it.
        .scenario(&[("faults.client-crashes", "8")])
        .promises(published)
        .keeps(SAFE)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, site) = (fixture.zk.clone(), fixture.site());
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else { return Ok(()) };
    transaction.vote(fixture.considers().await).await?;
    if *transaction.coordinator() == *fixture.name() && !fixture.has_come_back() {
        if let Some(decided) = transaction.decision().await? {
            fixture.does(decided.verdict());
        }
        return Ok(());
    }
    let decision = plain::child(&fixture.transaction(), "decision");
    while let Shown::There(data, watch) = read(&zk, &decision, "").await? {
        match Verdict::read(&data) {
            Some(decided) => {
                fixture.does(decided);
                break;
            }
            None => plain::event(watch).await?,
        }
    }
    Ok(())
}
