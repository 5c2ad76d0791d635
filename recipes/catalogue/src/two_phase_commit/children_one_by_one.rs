//! `two-phase-commit/children-one-by-one`: a part of the sites is taken for all.

use super::fixture::{Fixture, Sites, commit, published};
use super::published::{appears, by_votes, create};
use zk_api::{CreateMode, Data, ErrorCode, Local, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Verdict;

/// Sites that watch each other. The coordinator makes their znodes one after the other, its own last, and who takes part
/// is whose znode is there: a site that looks in between decides with too few (S-140).
pub fn trial() -> Trial {
    commit("two-phase-commit/children-one-by-one", Sites::Silent, turn)
        .summary(
            "The sites' znodes are made one by one, and whoever looks takes those that are there for all.",
        )
        .source("ZooKeeper's recipes, Two-phased Commit")
        .breaks("commit-validity", "S-140", "none")
        .bounds(Bounds::clients(2))
        .promises(published)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, transaction) = (fixture.zk.clone(), fixture.transaction());
    let own = plain::child(&transaction, &fixture.name());
    if fixture.is_coordinator() {
        fixture.note(zk_harness::words::PROPOSES);
        create(&zk, &transaction, "as agreed".into(), CreateMode::Persistent).await?;
        for site in fixture.sites().iter().rev() {
            create(&zk, &plain::child(&transaction, site), Data::NULL, CreateMode::Persistent).await?;
        }
    }
    appears(&zk, &own).await?;
    let vote = fixture.considers().await;
    let cast = || plain::unless(ErrorCode::BadVersion, zk.set_data(&own, vote.data(), 0));
    plain::again_from(&zk, "children-one-by-one/vote", &[Local::Text(vote.word())], cast).await?;
    let mut sites = plain::children(&zk, &transaction, "").await?;
    sites.sort_unstable();
    fixture.does(by_votes(&fixture, &sites, Verdict::read).await?);
    Ok(())
}
