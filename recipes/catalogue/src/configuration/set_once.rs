//! `configuration/set-once`: a write that fails leaves the old value, and those who follow it.

use super::fixture::{Fixture, configuration};
use zk_api::{CreateMode, Outcome, ZooKeeper};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Setting;

/// The setting of the recipe, but whoever sets it asks once, and takes any answer for good.
///
/// Where the request is lost with its connection the old value stays, and is said to be the new one.
pub fn trial() -> Trial {
    configuration("configuration/set-once", write, read)
        .summary("Sets the value once, and takes a lost answer for good.")
        .source("reading of ZooKeeper's recipes, which name no errors")
        .breaks("committed-reads", "S-063", "lost request")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
        // Connections are to drop while it is set.
        .scenario(&[("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")])
}

async fn write(fixture: Fixture) -> Result<(), Stop> {
    let (zk, name) = (fixture.zk.clone(), fixture.name());
    let mut setting = Setting::new(zk.clone(), &name);
    let before = setting.changed().await?.map(|value| value.data);
    let next = fixture.next(before.as_ref());
    fixture.begins(&next);
    let asked = match before {
        None => zk.create(&name, next.clone(), CreateMode::Persistent).await.map(drop),
        Some(_) => zk.set_data(&name, next.clone(), -1).await.map(drop),
    };
    match asked {
        Err(error) if error.is_session_over() => return Err(error.into()),
        Err(error) if error.outcome() == Outcome::NotApplied => drop(setting.set(next.clone()).await?),
        Ok(()) | Err(_) => {}
    }
    fixture.ends(&next);
    Ok(())
}

async fn read(fixture: Fixture) -> Result<(), Stop> {
    fixture.follows();
    let mut setting = Setting::new(fixture.zk.clone(), &fixture.name());
    while !fixture.sees_value(setting.changed().await?.as_ref()) {}
    fixture.is_through();
    Ok(())
}
