//! `membership/no-rejoin`: a member that does nothing else.

use super::fixture::{Fixture, group};
use zk_harness::common::Stop;
use zk_harness::trial::{Bounds, Trial};

/// So many pieces of work it does as a member.
const WORKS: u8 = 4;

/// Joins, and from then on does nothing for its membership, as the source says that nothing else is to be done.
///
/// When its session expires its znode is gone. The process works on, and never joins again with a new session (S-006).
pub fn trial() -> Trial {
    group("membership/no-rejoin", Fixture::watches, belong)
        .summary("A member takes no notice of the end of its session, and stays unlisted for good.")
        .source(
            "an article on ZooKeeper: after the znode is made, the process does not need to do anything else",
        )
        .breaks("session-end-noticed", "S-006", "session expiry")
        .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
        // It is the last round in which it stays: sessions are to expire in that one, while there is work to do.
        .scenario(&[("rounds", "1"), ("work-ms", "[2000, 8000]"), ("faults.expiries", "12")])
}

async fn belong(fixture: Fixture) -> Result<(), Stop> {
    let member = fixture.joined().await?;
    for _ in 0..WORKS {
        fixture.work().await;
    }
    if !fixture.is_last() {
        fixture.leaves(member.node());
        member.leave().await?;
    }
    fixture.ends(member.node());
    Ok(())
}
