//! `two-phase-commit/watch-lost`: a watch is not set again.

use super::fixture::{Fixture, SAFE, Sites, commit, published};
use crate::common::{Stop, plain};
use crate::trial::{Bounds, Trial};
use zk_api::{Either, EventType, Local, ZPath, ZooKeeper, race};
use zk_recipes::{Verdict, Watching};

/// Sites that watch each other. A site drops its watch with the connection, and goes on waiting for what it would have
/// told once there is a new one (S-145).
pub fn trial() -> Trial {
    commit("two-phase-commit/watch-lost", Sites::Silent, turn)
        .summary("Gives up its watch with the connection, and goes on waiting for its event on the next one.")
        .source("reading of ZooKeeper's recipes, which set each watch once and name no lost connections")
        .breaks("no-waiter-stuck", "S-145", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
        .promises(published)
        .keeps(SAFE)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    if let Some(transaction) = fixture.begin(&site, Watching::EachOther).await? {
        transaction.vote(fixture.considers().await).await?;
    }
    let mut decision = Verdict::Commit;
    for site in fixture.sites() {
        let vote = vote_of(&fixture.zk(), &plain::child(&fixture.transaction(), &site)).await?;
        if vote == Verdict::Abort {
            decision = vote;
            break;
        }
    }
    fixture.does(decision);
    Ok(())
}

/// Waits for a site's vote.
async fn vote_of(zk: &impl ZooKeeper, node: &ZPath) -> Result<Verdict, Stop> {
    loop {
        zk.checkpoint("watch-lost/vote", &[Local::Text(node.as_str())]);
        let change = zk.state_change();
        match zk.data_watch(node).await {
            Ok(((data, _), watch)) => {
                if let Some(vote) = Verdict::read(&data) {
                    return Ok(vote);
                }
                match race(watch, change).await {
                    Either::Left(event) if event.kind == EventType::None => return Err(Stop::SessionLost),
                    Either::Left(_) => {}
                    Either::Right(_) => std::future::pending().await,
                }
            }
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}
