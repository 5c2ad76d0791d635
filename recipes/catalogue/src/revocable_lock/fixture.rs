//! What all revocable locks on trial have in common: one process asks, the others hold until they are asked.

use crate::lock::{Fixture, LOCK};
use std::pin::pin;
use std::time::Duration;
use zk_api::{CreateMode, Data, ErrorCode, KeeperState, Local, Locals, Text, ZPath, ZooKeeper, race};
use zk_harness::common::rounds::attempts;
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop, plain};
use zk_harness::promises::OF_LOCKS;
use zk_harness::trial::{Role, Trial};
use zk_recipes::{Mode, OnDisconnect, Revoker, SharedLock};

/// Has a child as long as somebody is there who asks.
const REVOKERS: &str = "/revokers";

/// How it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Whoever holds it is asked, and gives it back.
    Asked,
    /// The wrong znode is written to: nobody is asked.
    AskedAtTheParent,
    /// The same as the first; who has not given it back in time loses it.
    ByForce(Duration),
    /// Nobody is asked, and whoever holds it loses it.
    AtOnce,
    /// Whoever holds it is asked, and does not watch its znode.
    Deaf,
}

impl Manner {
    /// Asks whoever owns a contender's znode to give back what it holds by it.
    async fn ask(self, zk: impl ZooKeeper, node: &ZPath) -> Result<(), Stop> {
        if self == Manner::AtOnce {
            return Ok(());
        }
        let parent = lock();
        let node = if self == Manner::AskedAtTheParent { &parent } else { node };
        Revoker::new(zk, &lock()).ask(node).await?;
        Ok(())
    }

    /// Waits until it was given back, or takes it.
    async fn gone(self, zk: impl ZooKeeper, node: &ZPath) -> Result<(), Stop> {
        let revoker = Revoker::new(zk, &lock());
        match self {
            Manner::ByForce(patience) => revoker.revoke(node, patience).await.map(drop)?,
            Manner::AtOnce => revoker.take(node).await?,
            Manner::Asked | Manner::AskedAtTheParent | Manner::Deaf => revoker.gone(node).await?,
        }
        Ok(())
    }
}

/// The lock's znode.
pub(super) fn lock() -> ZPath {
    ZPath::parse(LOCK).expect("a constant")
}

/// A revocable lock on trial. Process 0 asks everybody who stands in line to give back what it holds, as often as it
/// has rounds. The others hold it, in shared or exclusive mode by turns, until they are asked, or nobody is there to
/// ask.
pub fn revocable(name: &'static str, manner: Manner) -> Trial {
    let code = move |zk, probe: AnyProbe, role: Role| async move {
        if role.me.process == 0 {
            return asks(manner, &zk, role).await.into();
        }
        let holds = |zk, round| holds(manner, Fixture::new(zk, &probe, role, round));
        attempts(&zk, (&probe, role), LOCK, holds).await
    };
    Trial::new(name, code).setup([LOCK, REVOKERS]).tells(OF_LOCKS)
}

/// The role of process 0.
async fn asks(manner: Manner, zk: &AnyZooKeeper, role: Role) -> Result<(), Stop> {
    let sign = ZPath::parse(&format!("{REVOKERS}/{}", role.me)).expect("an actor's name is fit for a znode");
    let come = || plain::unless(ErrorCode::NodeExists, zk.create(&sign, Data::NULL, CreateMode::Ephemeral));
    plain::again_from(zk, "revokers/come", &[], come).await?;
    for round in 0..role.rounds {
        let known = [Local::Number(round.into())];
        let revoker = Revoker::new(zk.clone(), &lock());
        let standing = plain::again_from(zk, "revokers/list", &known, || revoker.contenders()).await?;
        let names: Vec<Text> = standing.iter().map(|standing| standing.node.name().into()).collect();
        for (at, name) in names.iter().enumerate() {
            // How far it is, and all of them, are alive as well.
            let asks = listed(zk, round, at as i64, &names);
            manner.ask(asks, &plain::child(&lock(), name)).await?;
        }
        for (at, name) in names.iter().enumerate() {
            // All are asked, and these are waited for.
            let waits = listed(zk, round, -1, &names[at..]);
            manner.gone(waits, &plain::child(&lock(), name)).await?;
        }
    }
    plain::remove(zk, &sign).await
}

/// A round of another process.
async fn holds(manner: Manner, fixture: Fixture) -> Result<(), Stop> {
    let guid = fixture.guid();
    let mut lock =
        SharedLock::new(fixture.zk.clone(), &fixture.lock(), &guid).expect("a guid is fit for a name");
    let (mode, held) = match (fixture.role.me.process + u16::from(fixture.round)) % 2 {
        0 => (Mode::Shared, lock.read().await?),
        _ => (Mode::Exclusive, lock.write().await?.into_held()),
    };
    {
        let zk = fixture.zk.clone();
        let mut told = pin!(async {
            match manner {
                Manner::Deaf => std::future::pending().await,
                _ => held.revoked(OnDisconnect::Stop).await,
            }
        });
        if !fixture.hold(mode, held.node(), Some(held.token()), told.as_mut()).await {
            race(told, nobody_asks(&zk)).await;
        }
    }
    fixture.leave();
    Ok(held.release().await?)
}

/// Ends when nobody is there who could ask. Never, if the session is over: that is told otherwise.
async fn nobody_asks(zk: &impl ZooKeeper) {
    let revokers = ZPath::parse(REVOKERS).expect("a constant");
    loop {
        let change = zk.state_change();
        if zk.state() != KeeperState::SyncConnected {
            change.await;
            continue;
        }
        match zk.children_watch(&revokers).await {
            Ok((names, _)) if names.is_empty() => return,
            Ok((_, watch)) => {
                race(watch, change).await;
            }
            Err(_) => {
                change.await;
            }
        }
    }
}

/// A session whose checkpoints know in a round whom there is to ask, and how many are asked.
fn listed(zk: &AnyZooKeeper, round: u8, asked: i64, names: &[Text]) -> InRound<AnyZooKeeper> {
    let numbers = [Local::Number(round.into()), Local::Number(asked)];
    let names = names.iter().map(|name| Local::Text(name));
    Locals::of(&numbers.into_iter().chain(names).collect::<Vec<_>>()).told_by(zk.clone())
}
