//! `two-phase-commit/stale-decision`: a decision that cannot be read yet is taken for abort.

use super::fixture::{Fixture, Sites, commit, published};
use zk_api::{ErrorCode, Local, ZPath, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::event::Resource;
use zk_harness::probe::Probe;
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::{Verdict, Watching};

/// The recipe, but a site that learns by other means that a transaction is decided reads the decision as its server has
/// it, without a sync. If there is none, it has been removed already, and was to abort (S-152).
///
/// The other means is the resource that is worked on: the coordinator has written there as it did what was decided, and
/// a site that asks is refused from then on. That news is faster than a server that lags.
pub fn trial() -> Trial {
    commit("two-phase-commit/stale-decision", Sites::Shown, turn)
        .summary("Knows from elsewhere that it is decided, reads the decision without a sync, and takes none for abort.")
        .source("mutant of the recipe, presumed abort")
        .breaks("agreement", "S-152", "a server that lags")
        .bounds(Bounds { lag: 1, effects: true, ..Bounds::clients(2) })
        .promises(published)
        // Of 100 seeds, one sees it: the news must pass a server that is seconds behind.
        .found_by(FoundBy::Model)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else { return Ok(()) };
    transaction.vote(fixture.considers().await).await?;
    if !fixture.is_coordinator() && fixture.has_effects() {
        fixture.probe.work().await;
        if !fixture.probe.write(Resource::Fenced, Some(fixture.token(false))).await {
            let decision = plain::child(&fixture.transaction(), "decision");
            fixture.does(written(&fixture.zk, &decision).await?.unwrap_or(Verdict::Abort));
            return Ok(());
        }
    }
    let Some(decided) = transaction.decision().await? else { return Ok(()) };
    fixture.does(decided.verdict());
    if fixture.is_coordinator() && fixture.has_effects() {
        fixture.probe.write(Resource::Fenced, Some(fixture.token(true))).await;
    }
    Ok(())
}

/// What is written there now, as this server has it.
async fn written(zk: &impl ZooKeeper, decision: &ZPath) -> Result<Option<Verdict>, Stop> {
    let read = || plain::unless(ErrorCode::NoNode, zk.data(decision));
    let known = [Local::Text(decision.as_str())];
    let data = plain::again_from(zk, "stale-decision/read", &known, read).await?;
    Ok(data.and_then(|(data, _)| Verdict::read(&data)))
}
