//! `membership/leaves-once`: a deletion that fails leaves the member listed.

use super::fixture::{Fixture, group};
use zk_api::{Either, Outcome, ZooKeeper, race};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// The member of the recipe, but it deletes its znode once when it leaves, and takes any answer for good.
///
/// Where the request is lost with its connection, it stays listed as long as its session lives (S-063, R-10).
pub fn trial() -> Trial {
    group("membership/leaves-once", Fixture::watches, belong)
        .summary("Deletes its znode once when it leaves, and takes a lost answer for good.")
        .source("reading of ZooKeeper's recipes, which name no errors")
        .breaks("leavers-unlisted", "S-063", "lost request")
        .bounds(Bounds { rounds: 2, drops: 1, ..Bounds::clients(2) })
        // Connections are to drop while somebody leaves.
        .scenario(&[("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")])
}

async fn belong(fixture: Fixture) -> Result<(), Stop> {
    let member = fixture.joined().await?;
    if let Either::Left(error) = race(member.keep(), fixture.work()).await {
        return Err(error.into());
    }
    if !fixture.is_last() {
        fixture.leaves(member.node());
        match fixture.zk.delete(member.node(), -1).await {
            Err(error) if error.is_session_over() => return Err(error.into()),
            Err(error) if error.outcome() == Outcome::NotApplied => member.leave().await?,
            Ok(()) | Err(_) => {}
        }
    }
    fixture.ends(member.node());
    Ok(())
}
