//! `election/duplicate-start`: one election, two terms.

use super::stage::{ELECTION, Stage, election};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::promises::OneTermPerElection;
use crate::trial::{Bounds, Trial};
use std::pin::pin;
use zk_api::{Either, KeeperState, ZooKeeper, race};

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
            let mut all = super::stage::promises();
            all.push(Box::new(OneTermPerElection::of(ELECTION)));
            all
        })
}

async fn turn(stage: Stage) -> Result<(), Stop> {
    let zk = stage.zk();
    let own = stage.stand(&stage.guid()).await?;
    plain::turn(&zk, &stage.election(), &own).await?;
    let mut first = pin!(stage.term(&own, None, stage.session_over(), async { Ok(()) }));
    if let Either::Right(()) = race(first.as_mut(), connected_again(&zk)).await {
        let second = async {
            match stage.place(&own).await? {
                Place::First => stage.term(&own, None, stage.session_over(), async { Ok(()) }).await,
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
