//! `configuration`, `configuration/setting` and `configuration/torn`: values that are followed.

use super::fixture::{Fixture, configuration};
use std::collections::BTreeMap;
use zk_api::{Data, Error, ErrorCode, Text, Watch, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Configuration, Setting};

/// The recipes of this project.
pub fn right() -> Vec<Trial> {
    vec![
        configuration("configuration", publishes, follows_all)
            .summary("Values that change as one, read between two looks at one version.")
            .source("zk-recipes")
            // In one round each value is written once, and nothing can be torn.
            .bounds(Bounds { rounds: 2, expiries: 1, drops: 1, crashes: 1, lag: 1, ..Bounds::clients(2) }),
        configuration("configuration/setting", replaces, follows_one)
            .summary("One value that is followed, whether its znode is there or not.")
            .source("zk-recipes")
            .bounds(Bounds { rounds: 2, expiries: 1, lag: 1, ..Bounds::clients(2) }),
    ]
}

/// The one that breaks.
pub fn torn() -> Trial {
    configuration("configuration/torn", publishes, reads_one_by_one)
        .summary("Reads several values one after the other, and some are of another version.")
        .source("all editions, which speak of one znode alone")
        .breaks("no-torn-reads", "S-005", "none")
        .bounds(Bounds { rounds: 2, ..Bounds::clients(2) })
        // The more often values are set, the likelier it is that they are while somebody reads.
        .scenario(&[("rounds", "20")])
}

async fn publishes(fixture: Fixture) -> Result<(), Stop> {
    fixture.publishes().await
}

async fn replaces(fixture: Fixture) -> Result<(), Stop> {
    fixture.replaces().await.map(drop)
}

/// [`zk_recipes::Configuration`]: two values that are always alike, published by process 0 and followed by the others.
async fn follows_all(fixture: Fixture) -> Result<(), Stop> {
    fixture.follows();
    let mut config = Configuration::new(fixture.zk.clone(), &fixture.config());
    while !fixture.sees(&config.changed().await?.values) {}
    fixture.is_through();
    Ok(())
}

/// [`zk_recipes::Setting`]: one value, whose znode process 0 deletes and makes anew each time, followed by the others.
async fn follows_one(fixture: Fixture) -> Result<(), Stop> {
    fixture.follows();
    let mut setting = Setting::new(fixture.zk.clone(), &fixture.name());
    while !fixture.sees_value(setting.changed().await?.as_ref()) {}
    fixture.is_through();
    Ok(())
}

/// Reads the values one after the other, though they are written in one transaction.
///
/// What is read was never so together, if a transaction comes in between (S-005).
async fn reads_one_by_one(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    fixture.follows();
    loop {
        zk.checkpoint("torn/read", &[]);
        match all(&fixture).await {
            Ok((values, watch)) => {
                if fixture.sees(&values) {
                    break;
                }
                plain::event(watch).await?;
            }
            Err(e) => plain::passing(&zk, e).await?,
        }
    }
    fixture.is_through();
    Ok(())
}

/// One value after the other, and the watch of the version they had before.
async fn all(fixture: &Fixture) -> Result<(BTreeMap<Text, Data>, Watch), Error> {
    let (zk, config) = (fixture.zk.clone(), fixture.config());
    let (_, watch) = zk.data_watch(&config).await?;
    let mut values = BTreeMap::new();
    for name in zk.children(&config).await? {
        match zk.data(&plain::child(&config, &name)).await {
            Ok((data, _)) => {
                values.insert(name, data);
            }
            Err(e) if e.code == ErrorCode::NoNode => {}
            Err(e) => return Err(e),
        }
    }
    Ok((values, watch))
}
