//! `election/name-order`: the least name leads.

use super::fixture::{Fixture, election};
use crate::lock::name_order::place;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Takes the least name for the first candidate; with a guid before the number, that is the least guid.
///
/// Who comes later with a lesser guid leads beside whoever leads already (S-164).
pub fn trial() -> Trial {
    election("election/name-order", turn)
        .summary("The candidate with the least name leads, though names begin with a guid.")
        .source("ZooKeeper Recipes and Solutions: guids were added, and the smallest node still leads")
        .breaks("exclusion-among-live-sessions", "S-164", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, election) = (fixture.zk.clone(), fixture.election());
    let own = fixture.stand(&fixture.guid()).await?;
    plain::turn_by(&zk, &election, &own, place).await?;
    fixture.leads(&own).await
}
