//! `election/no-guid`: a lost create is repeated.

use super::fixture::{ELECTION, Fixture, election};
use zk_api::{CreateMode, Data, Local, ZPath, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Candidates without a guid: when the answer to a create is lost, it is simply asked again.
///
/// The first znode may be there, and nobody stands behind it: it comes to lead, and nobody leads (S-166).
pub fn trial() -> Trial {
    election("election/no-guid", turn)
        .summary("Repeats a create whose answer was lost, and waits behind its own first candidate.")
        .source("ZooKeeper Recipes and Solutions before ZOOKEEPER-1262")
        .breaks("no-waiter-stuck", "S-166", "lost answer")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let own = stand(&fixture.zk, &plain::child(&fixture.election(), "n-")).await?;
    fixture.leads_in_turn(&own).await
}

/// Makes a candidate's znode, however often it takes.
async fn stand(zk: &impl ZooKeeper, prefix: &ZPath) -> Result<ZPath, Stop> {
    let create = || zk.create(prefix, Data::NULL, CreateMode::EphemeralSequential);
    Ok(plain::path(&plain::again_from(zk, "no-guid/stand", &[Local::Text(ELECTION)], create).await?))
}
