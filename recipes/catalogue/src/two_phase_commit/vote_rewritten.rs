//! `two-phase-commit/vote-rewritten`: a vote is changed when its answer is lost.

use super::fixture::{Fixture, Sites, commit, published};
use super::published::by_votes;
use zk_api::{Local, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Verdict, Watching};

/// Sites that watch each other, and write their votes without a version. One whose answer is lost takes the write for
/// failed, and votes to abort, to be on the safe side (S-141).
///
/// Others may have read the first vote by then, and have committed.
pub fn trial() -> Trial {
    commit("two-phase-commit/vote-rewritten", Sites::Silent, turn)
        .summary("Writes its vote whatever is there, and to abort if the answer to the first one is lost.")
        .source("reading of ZooKeeper's recipes, which name no version and no errors")
        .breaks("irrevocability", "S-141", "lost answer")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
        .promises(published)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    if fixture.begin(&site, Watching::EachOther).await?.is_some() {
        let (zk, own) = (fixture.zk.clone(), plain::child(&fixture.transaction(), &fixture.name()));
        let mut vote = fixture.considers().await;
        loop {
            zk.checkpoint("vote-rewritten/vote", &[Local::Text(vote.word())]);
            match zk.set_data(&own, vote.data(), -1).await {
                Ok(_) => break,
                Err(e) => plain::passing(&zk, e).await?,
            }
            vote = Verdict::Abort;
        }
    }
    fixture.does(by_votes(&fixture, &fixture.sites(), Verdict::read).await?);
    Ok(())
}
