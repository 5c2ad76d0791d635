//! `two-phase-commit/empty-is-vote`: who has said nothing has agreed.

use super::fixture::{Fixture, Sites, commit, published};
use super::published::by_votes;
use zk_api::Data;
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Verdict;

/// Sites that watch each other, and look for a vote to abort: whatever is not one is taken for a vote to commit.
///
/// The text leaves the content of a site's znode undefined until it votes (S-143). It takes no fault.
pub fn trial() -> Trial {
    commit("two-phase-commit/empty-is-vote", Sites::Silent, turn)
        .summary("Takes whatever is not a vote to abort for one to commit, also before it is a vote.")
        .source("reading of ZooKeeper's recipes, where the content is left undefined until the vote")
        .breaks("commit-validity", "S-143", "none")
        .bounds(Bounds::clients(2))
        .promises(published)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    fixture.casts().await?;
    let is_vote = |data: &Data| Verdict::read(data).or(Some(Verdict::Commit));
    fixture.does(by_votes(&fixture, &fixture.sites(), is_vote).await?);
    Ok(())
}
