//! What a leader does, or whoever asks for it: each with its defect.

use super::epochs;
use super::fixture::{ELECTION, Fixture, election};
use std::pin::pin;
use zk_api::{Either, EventType, KeeperState, ZooKeeper, race, sequence_of};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::promises::OneTermPerElection;
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::{Election, OnDisconnect};

/// All of them.
pub fn trials() -> Vec<Trial> {
    vec![
        election("election/duplicate-start", duplicate_start)
            .summary("Starts to lead whenever it is notified and stands first, whether it leads or not.")
            .source("ZooKeeper Recipes and Solutions, Leader Election: which notifications count is not said")
            .breaks("one-term-per-election", "S-167", "lost connection")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
            .promises(|| {
                let mut all = super::fixture::promises();
                all.push(Box::new(OneTermPerElection::of(ELECTION)));
                all
            }),
        election("election/node-is-leader", node_is_leader)
            .summary("Who asks for the leader takes the smallest candidate, whose process may not know.")
            .source("ZooKeeper Recipes and Solutions, Leader Election, without its closing advice")
            .breaks("announced-leader-led", "S-168", "none")
            .bounds(Bounds::clients(2))
            .promises(epochs::promises),
        election("election/goes-on", goes_on)
            .summary("A leader is not interrupted when its session ends, and works on beside the next.")
            .source("Yelp/paasta, pull request 2450, and ZooKeeper Recipes, which do not speak of it")
            .breaks("stops-at-loss", "S-165", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
            .promises(epochs::promises),
        election("election/waiter-outlives-lease", waiter_outlives_lease)
            .summary("A candidate whose own session ends keeps waiting behind the leader, for ever.")
            .source("etcd issue 19597, pull request 22387: Mutex and Election")
            .breaks("session-end-noticed", "R-68", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(2) }),
    ]
}

/// Looks where it stands on every notification, that of a connection among them, and starts to lead if it is first.
///
/// After a lost connection it still is, and does lead already: the leader's procedure runs twice (S-167).
async fn duplicate_start(fixture: Fixture) -> Result<(), Stop> {
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

/// Elects as [`Election`] does, but whoever asks who leads is given the smallest candidate.
///
/// That one's process may not know yet, may be about to resign, or may have died with its session alive (S-168): the
/// recipe itself says that having no predecessor does not mean being aware of it.
async fn node_is_leader(fixture: Fixture) -> Result<(), Stop> {
    let (zk, parent) = (fixture.zk.clone(), fixture.election());
    let mut election = Election::new(zk.clone(), &parent, &fixture.guid()).expect("a guid is fit for a name");
    let leadership = election.lead().await?;
    let lost = leadership.session_lost(OnDisconnect::Stop);
    fixture.term(leadership.node(), Some(leadership.epoch()), lost, async { Ok(()) }).await?;
    leadership.resign().await?;
    let names = plain::children(&zk, &parent, "").await?;
    if let Some(smallest) = names.iter().min_by_key(|name| sequence_of(name)) {
        fixture.finds(&plain::child(&parent, smallest));
    }
    Ok(())
}

/// Elects as [`Election`] does, but the leader does its work to the end, whatever it is told meanwhile.
///
/// Its client knows that the session is over, and the leader does not ask (S-165, and R-70 in a library's user).
async fn goes_on(fixture: Fixture) -> Result<(), Stop> {
    let mut election = Election::new(fixture.zk.clone(), &fixture.election(), &fixture.guid())
        .expect("a guid is fit for a name");
    let leadership = election.lead().await?;
    let never = std::future::pending::<()>();
    fixture.term(leadership.node(), Some(leadership.epoch()), never, async { Ok(()) }).await?;
    Ok(leadership.resign().await?)
}

/// Waits for the deletion of its predecessor and for nothing else, also when its own session has ended.
///
/// Its own candidate is gone, nobody is going to tell it of anything, and it takes itself for the next leader.
async fn waiter_outlives_lease(fixture: Fixture) -> Result<(), Stop> {
    let (fixture, own) = (&fixture, &fixture.stand(&fixture.guid()).await?);
    let waits = |before| async move {
        if let Some(watch) = fixture.watch(&before, own).await?
            && watch.await.kind == EventType::None
        {
            std::future::pending().await
        }
        Ok(())
    };
    fixture.leads_behind(own, waits).await
}
