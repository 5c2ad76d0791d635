//! `shared-lock/watches-list`: whoever waits watches the list.

use super::fixture::{Access, access, of_reader, shared};
use crate::lock::Fixture;
use zk_api::{Local, ZooKeeper};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// Who may not enter waits for any change of the list, and looks again: each znode that comes or goes wakes all (S-124).
///
/// Every edition warns of it: the list is to be read without a watch.
pub fn trial() -> Trial {
    shared("shared-lock/watches-list", turn)
        .summary("Whoever waits watches the list of contenders, so that each change wakes all who wait.")
        .source("ZooKeeper's recipes page, which warns of it")
        .breaks("sharers-wake-together", "S-124", "none")
        .bounds(Bounds::clients(1))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let (mode, kind) = match access(&fixture) {
        Access::Reads => (Mode::Shared, "read"),
        Access::Writes | Access::Downgrades => (Mode::Exclusive, "write"),
    };
    let own = plain::contend_as(&zk, &lock, &fixture.guid(), kind).await?;
    loop {
        zk.checkpoint("list/watch", &[Local::Text(own.as_str())]);
        let (names, watch) = match zk.children_watch(&lock).await {
            Ok(listed) => listed,
            Err(error) => {
                plain::passing(&zk, error).await?;
                continue;
            }
        };
        let place = match mode {
            Mode::Shared => of_reader(&lock, &names, &own),
            Mode::Exclusive => plain::place(&lock, &names, &own),
        };
        match place {
            Place::First => break,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(_) => plain::event(watch).await?,
        }
    }
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    fixture.leave();
    plain::remove(&zk, &own).await
}
