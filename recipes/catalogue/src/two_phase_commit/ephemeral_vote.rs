//! `two-phase-commit/ephemeral-vote`: a vote goes with its site.

use super::fixture::{Fixture, SITES, Sites, commit, published};
use super::published::{appears, create};
use zk_api::{CreateMode, Either, ErrorCode, EventType, Local, Text, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Verdict;

/// Each site votes by an ephemeral znode of its own, so that the others can tell if it fails: whose vote is not there,
/// and who is not there either, is taken to abort.
///
/// A site that has voted, and whom another has believed, may be gone when the third looks (S-148).
pub fn trial() -> Trial {
    commit("two-phase-commit/ephemeral-vote", Sites::Shown, turn)
        .summary(
            "Votes are ephemeral, so that failures are seen: a vote that one has seen is gone for the next.",
        )
        .source("ZooKeeper's recipes, Two-phased Commit, the way out of the second drawback")
        .breaks("agreement", "S-148", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
        .promises(published)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, transaction, site) = (fixture.zk.clone(), fixture.transaction(), fixture.site());
    if fixture.is_coordinator() {
        // As long as it takes: who decides without one that is late is wrong in another way.
        site.wait_for(&fixture.sites()).await?;
        fixture.note(zk_harness::words::PROPOSES);
        create(&zk, &transaction, "as agreed".into(), CreateMode::Persistent).await?;
    }
    appears(&zk, &transaction).await?;
    let own = plain::child(&transaction, &fixture.name());
    create(&zk, &own, fixture.considers().await.data(), CreateMode::Ephemeral).await?;
    fixture.does(by_those_there(&zk, &transaction, &fixture.sites()).await?);
    Ok(())
}

/// Decides by the votes, one site after the other.
async fn by_those_there(zk: &impl ZooKeeper, transaction: &ZPath, sites: &[Text]) -> Result<Verdict, Stop> {
    let members = ZPath::parse(SITES).expect("a constant");
    for site in sites {
        let (node, member) = (plain::child(transaction, site), plain::child(&members, site));
        loop {
            zk.checkpoint("ephemeral-vote/look", &[Local::Text(site)]);
            let (is_there, vote) = (zk.exists_watch(&member), zk.exists_watch(&node));
            match (is_there.await, vote.await) {
                (Ok(_), Ok((Some(_), _))) => match zk.data(&node).await {
                    Ok((data, _)) if Verdict::read(&data) == Some(Verdict::Commit) => break,
                    Ok(_) => return Ok(Verdict::Abort),
                    Err(e) if e.code == ErrorCode::NoNode => {}
                    Err(e) => plain::passing(zk, e).await?,
                },
                (Ok((None, _)), Ok((None, _))) => return Ok(Verdict::Abort),
                (Ok((Some(_), gone)), Ok((None, voted))) => match race(gone, voted).await {
                    Either::Left(event) | Either::Right(event) if event.kind == EventType::None => {
                        return Err(Stop::SessionLost);
                    }
                    Either::Left(_) | Either::Right(_) => {}
                },
                (Err(e), _) | (_, Err(e)) => plain::passing(zk, e).await?,
            }
        }
    }
    Ok(Verdict::Commit)
}
