//! `shared-lock/guid-directory`: everybody stands alone in a directory.

use super::fixture::{Access, access, of_reader, shared};
use crate::lock::Fixture;
use zk_api::{CreateMode, Data, ErrorCode, Local, ZPath, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::Mode;

/// The contender's path has a slash behind the guid: `GUID-/read-`. Whoever makes the directory that is missing then stands
/// in a line of its own, and nobody waits for anybody (S-120).
pub fn trial() -> Trial {
    shared("shared-lock/guid-directory", turn)
        .summary("Makes its znode below one that is named with its guid, where it is always the first.")
        .source("ZooKeeper's recipes page since ZOOKEEPER-1262, as it is printed")
        .breaks("exclusion-among-live-sessions", "S-120", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let guid = fixture.guid();
    let directory = plain::child(&fixture.lock(), &format!("{guid}-"));
    make(&zk, &directory).await?;
    let (mode, kind, rule) = match access(&fixture) {
        Access::Reads => (Mode::Shared, "read", of_reader as fn(&ZPath, &[_], &ZPath) -> _),
        Access::Writes | Access::Downgrades => (Mode::Exclusive, "write", plain::place as _),
    };
    let own = plain::contend_as(&zk, &directory, &guid, kind).await?;
    plain::turn_by(&zk, &directory, &own, rule).await?;
    fixture.hold(mode, &own, None, std::future::pending::<()>()).await;
    fixture.leave();
    plain::remove(&zk, &own).await
}

/// Makes the directory, however often it takes.
async fn make(zk: &impl ZooKeeper, directory: &ZPath) -> Result<(), Stop> {
    let make =
        || plain::unless(ErrorCode::NodeExists, zk.create(directory, Data::NULL, CreateMode::Persistent));
    let known = [Local::Text(directory.as_str())];
    plain::again_from(zk, "guid-directory/make", &known, make).await.map(drop)
}
