//! `two-phase-commit/cleanup-is-abort`: a transaction that is gone is taken for aborted.

use super::fixture::{Fixture, Sites, commit, published};
use zk_api::{Op, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Verdict, Watching};

/// The recipe, but the coordinator removes the transaction as soon as it has decided, and who finds nothing takes that
/// for abort (S-150). It takes no fault, only a site that looks late.
pub fn trial() -> Trial {
    commit("two-phase-commit/cleanup-is-abort", Sites::Shown, turn)
        .summary(
            "The coordinator removes what it has decided, and a site that looks later takes that for abort.",
        )
        .source("mutant of the recipe; ZooKeeper's recipes do not say who removes a transaction, or when")
        .breaks("agreement", "S-150", "none")
        .bounds(Bounds::clients(2))
        .promises(published)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else {
        fixture.does(Verdict::Abort);
        return Ok(());
    };
    transaction.vote(fixture.considers().await).await?;
    let decided = transaction.decision().await?;
    fixture.does(decided.as_ref().map_or(Verdict::Abort, |decided| decided.verdict()));
    if *transaction.coordinator() == *fixture.name() {
        remove(&fixture.zk, &fixture).await?;
    }
    Ok(())
}

/// Removes the transaction with all that is in it.
async fn remove(zk: &impl ZooKeeper, fixture: &Fixture) -> Result<(), Stop> {
    let transaction = fixture.transaction();
    let names = fixture.sites().into_iter().chain(["decision".into()]);
    let below = names.map(|name| plain::child(&transaction, &name).text());
    let paths = below.chain([transaction.text()]);
    let ops: Vec<Op> = paths.map(|path| Op::Delete { path, version: -1 }).collect();
    plain::again_from(zk, "cleanup-is-abort/remove", &[], || zk.multi(ops.clone())).await.map(drop)
}
