//! `configuration/notified`, `configuration/sync-asks-nobody` and `configuration/no-sync`: readers are told by others that
//! there is something new.

use super::stage::{CONFIG, ConfigKind, Stage, promises};
use crate::common::{Stop, plain};
use crate::promise::AnyPromise;
use crate::promises::{Of, Undisturbed, Views};
use crate::trial::{About, Bounds, Breaks, FoundBy, Reductions};
use zk_api::{Data, ErrorCode, Local, ZooKeeper, Zxid};
use zk_recipes::Setting;

/// Process 0 sets the value and then tells of its version, not by way of the ensemble. Who is told reads again.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// By [`Setting::synced`], behind a transaction of its own.
    Orders,
    /// Behind a `sync`, which a leader that was deposed and does not know it answers by itself (S-004).
    Syncs,
    /// From the server that it happens to be connected to, which may be behind (S-003).
    Reads,
}

impl ConfigKind for Told {
    fn about(&self) -> About {
        let (name, summary, source) = match self {
            Told::Orders => (
                "configuration/notified",
                "Who is told by others of a new value reads behind a transaction of its own.",
                "zk-recipes",
            ),
            Told::Syncs => (
                "configuration/sync-asks-nobody",
                "Who is told by others of a new value syncs before it reads, and the leader may be none.",
                "an article on ZooKeeper: sync waits for all pending updates; ZOOKEEPER-1675, ZOOKEEPER-2136",
            ),
            Told::Reads => (
                "configuration/no-sync",
                "Who is told by others of a new value reads, from a server that may be behind.",
                "an article on ZooKeeper, which has the read alone",
            ),
        };
        let promise = "reads-what-it-was-told";
        let breaks = match self {
            Told::Orders => None,
            Told::Syncs => {
                Some(Breaks { promise, defect: "S-004", fault: "a deposed leader that does not know it" })
            }
            Told::Reads => Some(Breaks { promise, defect: "S-003", fault: "a server that is behind" }),
        };
        // An expiry is to come about where nothing else breaks; the others break without one.
        let expiries = u8::from(breaks.is_none());
        let bounds = Bounds { expiries, lag: 1, effects: true, ..Bounds::clients(2) };
        About { name, summary, source, breaks, bounds, reductions: Reductions::default() }
    }

    /// Seeds hardly ever have a reader at a deposed leader in the moment in which it is told.
    fn found_by(&self) -> FoundBy {
        match self {
            Told::Orders | Told::Reads => FoundBy::Both,
            Told::Syncs => FoundBy::Model,
        }
    }

    /// Several servers, and many rounds without work, so that readers ask while one is behind.
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Told::Orders | Told::Syncs => &[("servers", "3"), ("rounds", "20")],
            Told::Reads => &[("servers", "3"), ("rounds", "60")],
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        let mut all = promises();
        all.push(Box::new(Undisturbed::of(Views::told(CONFIG, Of::Values))));
        all
    }

    async fn write(&self, stage: &Stage) -> Result<(), Stop> {
        let version = stage.sets().await?;
        stage.zk().checkpoint("told/tells", &[Local::Number(version.to_i64())]);
        stage.tells(version).await;
        stage.pauses().await
    }

    async fn read(&self, stage: &Stage) -> Result<(), Stop> {
        stage.follows();
        let mut setting = Setting::new(stage.zk(), &stage.name());
        let first = setting.changed().await?;
        stage.sees_value(first.as_ref());
        if stage.is_told(first.map_or(Zxid::ZERO, |value| value.version)).await {
            match self {
                Told::Orders => stage.sees_value(setting.synced().await?.as_ref()),
                Told::Syncs => {
                    sync(stage).await?;
                    stage.sees_setting(read(stage).await?.as_ref())
                }
                Told::Reads => stage.sees_setting(read(stage).await?.as_ref()),
            };
        }
        stage.pauses().await?;
        stage.is_through();
        Ok(())
    }
}

/// The value, from wherever it is asked for; `None` if there is none.
async fn read(stage: &Stage) -> Result<Option<Data>, Stop> {
    let (zk, name) = (stage.zk(), stage.name());
    loop {
        zk.checkpoint("told/read", &[]);
        match zk.data(&name).await {
            Ok((data, _)) => return Ok(Some(data)),
            Err(e) if e.code == ErrorCode::NoNode => return Ok(None),
            Err(e) => plain::passing(&zk, e).await?,
        }
    }
}

/// Syncs, however often it takes.
async fn sync(stage: &Stage) -> Result<(), Stop> {
    let (zk, name) = (stage.zk(), stage.name());
    loop {
        zk.checkpoint("told/sync", &[]);
        match zk.sync(&name).await {
            Ok(()) => return Ok(()),
            Err(e) => plain::passing(&zk, e).await?,
        }
    }
}
