//! `membership/node-exists-is-joined`: somebody's znode is as good as one's own.

use super::fixture::{Fixture, group};
use zk_api::{CreateMode, Data, ErrorCode, Local, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// Takes it for success when a znode of its name exists already.
///
/// A process that comes back soon finds the znode of its former session. When that expires the znode is gone, and the
/// process, whose new session is well, is listed by nothing (S-007, R-61).
pub fn trial() -> Trial {
    group("membership/node-exists-is-joined", Fixture::watches, belong)
        .summary("After a restart it takes the znode of its former session for its own, which vanishes.")
        .source("KAFKA-1387, KAFKA-7165, Dubbo issue 5135")
        .breaks("live-members-listed", "S-007", "client crash and restart")
        .bounds(Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) })
        // It is the last round in which it stays: processes are to come back in that one.
        .scenario(&[("rounds", "1"), ("faults.client-crashes", "8")])
}

async fn belong(fixture: Fixture) -> Result<(), Stop> {
    let (zk, member) = (fixture.zk.clone(), fixture.member());
    let node = member.node().clone();
    fixture.joins(&node);
    let create = || plain::unless(ErrorCode::NodeExists, zk.create(&node, Data::NULL, CreateMode::Ephemeral));
    plain::again_from(&zk, "group/join", &[Local::Text(node.as_str())], create).await?;
    fixture.begins(&node);
    fixture.work().await;
    if !fixture.is_last() {
        fixture.leaves(&node);
        plain::remove(&zk, &node).await?;
    }
    fixture.ends(&node);
    Ok(())
}
