//! `two-phase-commit/gives-up`: a site that has voted goes away.

use super::fixture::{Fixture, Sites, commit, published};
use crate::common::{Stop, plain};
use crate::trial::{Bounds, Trial};
use zk_api::{Either, EventType, Local, ZPath, ZooKeeper, race};
use zk_recipes::{Verdict, Watching};

/// Sites that watch each other. One that loses its connection while it waits gives the transaction up, though it has voted
/// and its session lives: it neither commits nor aborts, whatever the others do, and says nothing (S-145).
pub fn trial() -> Trial {
    commit("two-phase-commit/gives-up", Sites::Silent, turn)
        .summary(
            "A site that has voted, and loses its connection while it waits, goes on without a decision.",
        )
        .source("reading of ZooKeeper's recipes, which name no lost connections")
        .breaks("voters-learn", "S-145", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
        .promises(published)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    if let Some(transaction) = fixture.begin(&site, Watching::EachOther).await? {
        transaction.vote(fixture.considers().await).await?;
    }
    let mut decision = Verdict::Commit;
    for site in fixture.sites() {
        match vote_of(&fixture.zk(), &plain::child(&fixture.transaction(), &site)).await? {
            None => return Ok(()),
            Some(Verdict::Commit) => {}
            Some(Verdict::Abort) => {
                decision = Verdict::Abort;
                break;
            }
        }
    }
    fixture.does(decision);
    Ok(())
}

/// Waits for a site's vote; `None` if the connection is lost meanwhile.
async fn vote_of(zk: &impl ZooKeeper, node: &ZPath) -> Result<Option<Verdict>, Stop> {
    loop {
        zk.checkpoint("gives-up/vote", &[Local::Text(node.as_str())]);
        let change = zk.state_change();
        match zk.data_watch(node).await {
            Ok(((data, _), watch)) => {
                if let Some(vote) = Verdict::read(&data) {
                    return Ok(Some(vote));
                }
                match race(watch, change).await {
                    Either::Left(event) if event.kind == EventType::None => return Err(Stop::SessionLost),
                    Either::Left(_) => {}
                    Either::Right(state) if state.is_final() => return Err(Stop::SessionLost),
                    Either::Right(_) => return Ok(None),
                }
            }
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}
