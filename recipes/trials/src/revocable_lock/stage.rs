//! What all revocable locks on trial have in common: one process asks, the others hold until they are asked.

use crate::common::rounds::attempts;
use crate::common::{AnyZooKeeper, InRound, Stop, erased, plain};
use crate::event::End;
use crate::lock::{LOCK, Stage};
use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::promises::{OF_LOCKS, telling};
use crate::trial::{About, Part, Trial};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_api::{
    Call, CreateMode, Data, ErrorCode, KeeperState, Local, Pending, Request, SessionId, Text, ZPath,
    ZooKeeper, race,
};
use zk_recipes::{Held, Mode, OnDisconnect, Revoked, Revoker, SharedLock};

/// Has a child as long as somebody is there who asks.
const REVOKERS: &str = "/revokers";

/// A kind of revocable lock: how it is asked for, and how a holder is told.
pub trait Revocable: Send + Sync + 'static {
    /// What is on trial.
    fn about(&self) -> About;

    /// What is promised.
    fn promises(&self) -> Vec<Box<dyn AnyPromise>>;

    /// Asks whoever owns a contender's znode to give back what it holds by it.
    fn ask<Z: ZooKeeper>(&self, zk: Z, node: &ZPath) -> impl Future<Output = Result<(), Stop>> + Send {
        async move {
            Revoker::new(zk, &lock()).ask(node).await?;
            Ok(())
        }
    }

    /// Waits until it was given back, or takes it.
    fn gone<Z: ZooKeeper>(&self, zk: Z, node: &ZPath) -> impl Future<Output = Result<(), Stop>> + Send {
        async move { Ok(Revoker::new(zk, &lock()).gone(node).await?) }
    }

    /// Ends when the holder hears of its znode: what it makes of it.
    fn told<Z: ZooKeeper>(&self, zk: &Z, held: &Held<'_, Z>) -> impl Future<Output = Told> + Send {
        let _ = zk;
        async move {
            match held.revoked(OnDisconnect::Stop).await {
                Revoked::Asked | Revoked::Lost(_) => Told::Stop,
            }
        }
    }
}

/// What a holder makes of what it hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It stops.
    Stop,
    /// It takes it for nothing, and holds on until it is asked.
    GoOn,
}

/// The lock's znode.
pub(super) fn lock() -> ZPath {
    ZPath::parse(LOCK).expect("a constant")
}

/// A kind of revocable lock as a trial. Process 0 asks everybody who stands in line to give back what it holds, as often as
/// it has rounds. The others hold it, in shared or exclusive mode by turns, until they are asked, or nobody is there to ask.
#[derive(Clone, Copy, Debug)]
pub struct OnRevocation<K>(pub K);

impl<K: Revocable> Trial for OnRevocation<K> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn setup(&self) -> Vec<Text> {
        vec![LOCK.into(), REVOKERS.into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        telling(self.0.promises(), OF_LOCKS)
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        let (zk, probe) = erased(zk, probe);
        if part.me.process == 0 {
            return self.asks(&zk, part).await.into();
        }
        let turn = |zk, round| {
            let stage = Stage::new(zk, &probe, part, round);
            async move { self.holds(&stage).await }
        };
        attempts(&zk, (&probe, part), LOCK, turn).await
    }
}

impl<K: Revocable> OnRevocation<K> {
    /// The part of process 0.
    async fn asks(&self, zk: &AnyZooKeeper, part: Part) -> Result<(), Stop> {
        let sign =
            ZPath::parse(&format!("{REVOKERS}/{}", part.me)).expect("an actor's name is fit for a znode");
        loop {
            zk.checkpoint("revokers/come", &[]);
            match zk.create(&sign, Data::NULL, CreateMode::Ephemeral).await {
                Err(e) if e.code != ErrorCode::NodeExists => plain::passing(zk, e).await?,
                Ok(_) | Err(_) => break,
            }
        }
        for round in 0..part.rounds {
            let names = loop {
                zk.checkpoint("revokers/list", &[Local::Number(round.into())]);
                match zk.children(&lock()).await {
                    Ok(names) => break names,
                    Err(e) => plain::passing(zk, e).await?,
                }
            };
            let round = InRound::new(zk.clone(), round);
            for (at, name) in names.iter().enumerate() {
                // How far it is, and all of them, are alive as well.
                let listed = Listed { zk: &round, names: &names, asked: Some(at) };
                self.0.ask(listed, &plain::child(&lock(), name)).await?;
            }
            for (at, name) in names.iter().enumerate() {
                let listed = Listed { zk: &round, names: &names[at..], asked: None };
                self.0.gone(listed, &plain::child(&lock(), name)).await?;
            }
        }
        plain::remove(zk, &sign).await
    }

    /// A round of another process.
    async fn holds(&self, stage: &Stage) -> Result<(), Stop> {
        let guid = stage.guid();
        let mut lock = SharedLock::new(stage.zk(), &stage.lock(), &guid).expect("a guid is fit for a name");
        let (mode, held) = match (stage.part().me.process + u16::from(stage.round())) % 2 {
            0 => (Mode::Shared, lock.read().await?),
            _ => (Mode::Exclusive, lock.write().await?.into_held()),
        };
        {
            let zk = stage.zk();
            let mut told = pin!(async {
                match self.0.told(&zk, &held).await {
                    Told::Stop => {}
                    Told::GoOn => std::future::pending().await,
                }
            });
            if !stage.hold(mode, held.node(), Some(held.token()), told.as_mut()).await {
                race(told, nobody_asks(&zk)).await;
            }
        }
        stage.leave();
        Ok(held.release().await?)
    }
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

/// A session whose checkpoints know whom there is to ask.
struct Listed<'a, Z> {
    zk: &'a Z,
    names: &'a [Text],
    /// How many are asked; `None` if all are, and those named are waited for.
    asked: Option<usize>,
}

impl<Z: ZooKeeper> ZooKeeper for Listed<'_, Z> {
    fn submit(&self, request: Request) -> Call {
        self.zk.submit(request)
    }
    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.zk.sleep(duration)
    }
    fn session(&self) -> SessionId {
        self.zk.session()
    }
    fn state(&self) -> KeeperState {
        self.zk.state()
    }
    fn state_change(&self) -> Pending<KeeperState> {
        self.zk.state_change()
    }
    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        let mut all = vec![Local::Number(self.asked.map_or(-1, |asked| asked as i64))];
        all.extend(self.names.iter().map(|name| Local::Text(name)));
        all.extend_from_slice(locals);
        self.zk.checkpoint(label, &all);
    }
}
