//! `configuration` and `configuration/setting`: the recipes of this project.

use super::fixture::{Fixture, configuration};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Configuration, Setting};

/// Both of them.
pub fn trials() -> Vec<Trial> {
    vec![whole(), setting()]
}

/// [`zk_recipes::Configuration`]: two values that are always alike, published by process 0 and followed by the others.
fn whole() -> Trial {
    configuration("configuration", whole_write, whole_read)
        .summary("Values that change as one, read between two looks at one version.")
        .source("zk-recipes")
        // In one round each value is written once, and nothing can be torn.
        .bounds(Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) })
}

async fn whole_write(fixture: Fixture) -> Result<(), Stop> {
    fixture.publishes().await
}

async fn whole_read(fixture: Fixture) -> Result<(), Stop> {
    fixture.follows();
    let mut config = Configuration::new(fixture.zk.clone(), &fixture.config());
    while !fixture.sees(&config.changed().await?.values) {}
    fixture.is_through();
    Ok(())
}

/// [`zk_recipes::Setting`]: one value, whose znode process 0 deletes and makes anew each time, followed by the others.
fn setting() -> Trial {
    configuration("configuration/setting", write, read)
        .summary("One value that is followed, whether its znode is there or not.")
        .source("zk-recipes")
        .bounds(Bounds { rounds: 2, expiries: 1, lag: 1, ..Bounds::clients(2) })
}

async fn write(fixture: Fixture) -> Result<(), Stop> {
    fixture.replaces().await.map(|_| ())
}

async fn read(fixture: Fixture) -> Result<(), Stop> {
    fixture.follows();
    let mut setting = Setting::new(fixture.zk.clone(), &fixture.name());
    while !fixture.sees_value(setting.changed().await?.as_ref()) {}
    fixture.is_through();
    Ok(())
}
