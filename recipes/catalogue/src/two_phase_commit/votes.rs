//! How sites vote, and read the votes of others: each with its defect.

use super::fixture::{Fixture, Sites, commit, published};
use super::published::{appears, by_votes, create};
use zk_api::{CreateMode, Data, ErrorCode, Local, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Verdict, Watching};

/// All of them.
pub fn trials() -> Vec<Trial> {
    vec![
        commit("two-phase-commit/children-one-by-one", Sites::Silent, children_one_by_one)
            .summary(
                "The sites' znodes are made one by one, and whoever looks takes those that are there for all.",
            )
            .source("ZooKeeper's recipes, Two-phased Commit")
            .breaks("commit-validity", "S-140", "none")
            .bounds(Bounds::clients(2))
            .promises(published),
        commit("two-phase-commit/vote-rewritten", Sites::Silent, vote_rewritten)
            .summary("Writes its vote whatever is there, and to abort if the answer to the first one is lost.")
            .source("reading of ZooKeeper's recipes, which name no version and no errors")
            .breaks("irrevocability", "S-141", "lost answer")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
            .promises(published),
        commit("two-phase-commit/empty-is-vote", Sites::Silent, empty_is_vote)
            .summary("Takes whatever is not a vote to abort for one to commit, also before it is a vote.")
            .source("reading of ZooKeeper's recipes, where the content is left undefined until the vote")
            .breaks("commit-validity", "S-143", "none")
            .bounds(Bounds::clients(2))
            .promises(published),
    ]
}

/// Sites that watch each other. The coordinator makes their znodes one after the other, its own last, and who takes
/// part is whose znode is there: a site that looks in between decides with too few (S-140).
async fn children_one_by_one(fixture: Fixture) -> Result<(), Stop> {
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

/// Sites that watch each other, and write their votes without a version. One whose answer is lost takes the write for
/// failed, and votes to abort, to be on the safe side (S-141).
///
/// Others may have read the first vote by then, and have committed.
async fn vote_rewritten(fixture: Fixture) -> Result<(), Stop> {
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

/// Sites that watch each other, and look for a vote to abort: whatever is not one is taken for a vote to commit.
///
/// The text leaves the content of a site's znode undefined until it votes (S-143). It takes no fault.
async fn empty_is_vote(fixture: Fixture) -> Result<(), Stop> {
    fixture.casts().await?;
    let is_vote = |data: &Data| Verdict::read(data).or(Some(Verdict::Commit));
    fixture.does(by_votes(&fixture, &fixture.sites(), is_vote).await?);
    Ok(())
}
