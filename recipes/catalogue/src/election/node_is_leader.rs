//! `election/node-is-leader`: the smallest candidate is taken for the leader.

use super::epochs;
use super::fixture::{Fixture, election};
use zk_api::sequence_of;
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Election, OnDisconnect};

/// Elects as [`Election`] does, but whoever asks who leads is given the smallest candidate.
///
/// That one's process may not know yet, may be about to resign, or may have died with its session alive (S-168): the
/// recipe itself says that having no predecessor does not mean being aware of it.
pub fn trial() -> Trial {
    election("election/node-is-leader", turn)
        .summary("Who asks for the leader takes the smallest candidate, whose process may not know.")
        .source("ZooKeeper Recipes and Solutions, Leader Election, without its closing advice")
        .breaks("announced-leader-led", "S-168", "none")
        .bounds(Bounds::clients(2))
        .promises(epochs::promises)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, parent) = (fixture.zk.clone(), fixture.election());
    let mut election = Election::new(zk.clone(), &parent, &fixture.guid()).expect("a guid is fit for a name");
    let leadership = election.lead().await?;
    let lost = leadership.session_lost(OnDisconnect::Stop);
    fixture.term(leadership.node(), Some(leadership.epoch()), lost, async { Ok(()) }).await?;
    leadership.resign().await?;
    let names = plain::children(&zk, &parent, "").await?;
    if let Some(smallest) = names.iter().min_by_key(|name| sequence_of(name)) {
        fixture.finds(&plain::child(&parent, smallest));
    }
    Ok(())
}
