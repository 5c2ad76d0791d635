//! `election/goes-on`: a leader that is not interrupted.

use super::epochs;
use super::fixture::{Fixture, election};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Election;

/// Elects as [`Election`] does, but the leader does its work to the end, whatever it is told meanwhile.
///
/// Its client knows that the session is over, and the leader does not ask (S-165, and R-70 in a library's user).
pub fn trial() -> Trial {
    election("election/goes-on", turn)
        .summary("A leader is not interrupted when its session ends, and works on beside the next.")
        .source("Yelp/paasta, pull request 2450, and ZooKeeper Recipes, which do not speak of it")
        .breaks("stops-at-loss", "S-165", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
        .promises(epochs::promises)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let mut election = Election::new(fixture.zk.clone(), &fixture.election(), &fixture.guid())
        .expect("a guid is fit for a name");
    let leadership = election.lead().await?;
    let never = std::future::pending::<()>();
    fixture.term(leadership.node(), Some(leadership.epoch()), never, async { Ok(()) }).await?;
    Ok(leadership.resign().await?)
}
