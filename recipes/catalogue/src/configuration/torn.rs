//! `configuration/torn`: several values, one read after the other.

use super::fixture::{Fixture, configuration};
use std::collections::BTreeMap;
use zk_api::{Data, Error, ErrorCode, Text, Watch, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Reads the values one after the other, though they are written in one transaction.
///
/// What is read was never so together, if a transaction comes in between (S-005).
pub fn trial() -> Trial {
    configuration("configuration/torn", write, read)
        .summary("Reads several values one after the other, and some are of another version.")
        .source("all editions, which speak of one znode alone")
        .breaks("no-torn-reads", "S-005", "none")
        .bounds(Bounds { rounds: 2, ..Bounds::clients(2) })
        // The more often values are set, the likelier it is that they are while somebody reads.
        .scenario(&[("rounds", "20")])
}

async fn write(fixture: Fixture) -> Result<(), Stop> {
    fixture.publishes().await
}

async fn read(fixture: Fixture) -> Result<(), Stop> {
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
