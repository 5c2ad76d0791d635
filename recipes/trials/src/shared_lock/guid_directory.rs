//! `shared-lock/guid-directory`: everybody stands alone in a directory.

use super::stage::{Role, of_reader, role, shared};
use crate::common::Stop;
use crate::common::plain;
use crate::lock::Stage;
use crate::trial::{Bounds, Trial};
use zk_api::{CreateMode, Data, ErrorCode, Local, ZPath, ZooKeeper};
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

async fn turn(stage: Stage) -> Result<(), Stop> {
    let zk = stage.zk();
    let guid = stage.guid();
    let directory = plain::child(&stage.lock(), &format!("{guid}-"));
    make(&zk, &directory).await?;
    let (mode, kind, rule) = match role(&stage) {
        Role::Reads => (Mode::Shared, "read", of_reader as fn(&ZPath, &[_], &ZPath) -> _),
        Role::Writes | Role::Downgrades => (Mode::Exclusive, "write", plain::place as _),
    };
    let own = plain::contend_as(&zk, &directory, &guid, kind).await?;
    plain::turn_by(&zk, &directory, &own, rule).await?;
    stage.hold(mode, &own, None, std::future::pending::<()>()).await;
    stage.leave();
    plain::remove(&zk, &own).await
}

/// Makes the directory, however often it takes.
async fn make(zk: &impl ZooKeeper, directory: &ZPath) -> Result<(), Stop> {
    let make =
        || plain::unless(ErrorCode::NodeExists, zk.create(directory, Data::NULL, CreateMode::Persistent));
    let known = [Local::Text(directory.as_str())];
    plain::again_from(zk, "guid-directory/make", &known, make).await.map(drop)
}
