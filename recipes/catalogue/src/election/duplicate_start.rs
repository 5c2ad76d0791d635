//! `election/duplicate-start`: one election, two terms.

use super::fixture::{ELECTION, Fixture, election};
use std::pin::pin;
use zk_api::{Either, KeeperState, ZooKeeper, race};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::promises::OneTermPerElection;
use zk_harness::trial::{Bounds, Trial};

/// Looks where it stands on every notification, that of a connection among them, and starts to lead if it is first.
///
/// After a lost connection it still is, and does lead already: the leader's procedure runs twice (S-167).
pub fn trial() -> Trial {
    election("election/duplicate-start", turn)
        .summary("Starts to lead whenever it is notified and stands first, whether it leads or not.")
        .source("ZooKeeper Recipes and Solutions, Leader Election: which notifications count is not said")
        .breaks("one-term-per-election", "S-167", "lost connection")
        .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
        .promises(|| {
            let mut all = super::fixture::promises();
            all.push(Box::new(OneTermPerElection::of(ELECTION)));
            all
        })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let own = fixture.stand(&fixture.guid()).await?;
    plain::turn(&zk, &fixture.election(), &own).await?;
    let mut first = pin!(fixture.term(&own, None, fixture.session_over(), async { Ok(()) }));
    if let Either::Right(()) = race(first.as_mut(), connected_again(&zk)).await {
        let second = async {
            match fixture.place(&own).await? {
                Place::First => fixture.term(&own, None, fixture.session_over(), async { Ok(()) }).await,
                Place::Behind(_) | Place::Absent => Ok(()),
            }
        };
        let mut second = pin!(second);
        match race(first.as_mut(), second.as_mut()).await {
            Either::Left(_) => second.await?,
            Either::Right(ended) => {
                ended?;
                first.await?;
            }
        }
    }
    plain::remove(&zk, &own).await
}

/// Resolves when a lost connection is there again.
async fn connected_again(zk: &impl ZooKeeper) {
    let mut was_lost = false;
    loop {
        let change = zk.state_change();
        match zk.state() {
            KeeperState::SyncConnected if was_lost => return,
            KeeperState::SyncConnected => {}
            KeeperState::Disconnected => was_lost = true,
            KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed => {
                std::future::pending().await
            }
        }
        change.await;
    }
}
