//! `two-phase-commit/waits-for-ever`: there is no rule for a site that is gone.

use super::fixture::{Fixture, SAFE, Sites, TRANSACTIONS, commit, published};
use super::published::by_votes;
use zk_harness::common::Stop;
use zk_harness::promises::AbortsEarly;
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::Verdict;

/// Sites that watch each other, as published, with all znodes made at once and each vote written once: what they do is
/// right, but a site that is gone before it votes is waited for by all others without end (S-144).
///
/// The texts say that sites' failures cannot be detected so. It blocks until the site comes back: who restarts always,
/// as the processes of a chaos run do, is never seen to block.
pub fn trial() -> Trial {
    commit("two-phase-commit/waits-for-ever", Sites::Silent, turn)
        .summary(
            "Sites that watch each other and wait for every vote: safe, but one that is gone blocks all.",
        )
        .source("ZooKeeper's recipes, Two-phased Commit; the article says so")
        .breaks("no-waiter-stuck", "S-144", "crash of a site")
        .bounds(Bounds { crashes: 1, ..Bounds::clients(2) })
        .promises(|| {
            let mut all = published();
            all.insert(all.len() - 1, Box::new(AbortsEarly::of(TRANSACTIONS)));
            all
        })
        .found_by(FoundBy::Model)
        .keeps(SAFE)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    fixture.casts().await?;
    fixture.does(by_votes(&fixture, &fixture.sites(), Verdict::read).await?);
    Ok(())
}
