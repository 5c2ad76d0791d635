//! `configuration/notified`, `configuration/sync-asks-nobody` and `configuration/no-sync`: readers are told by others
//! that there is something new.

use super::fixture::{CONFIG, Fixture, configuration, promises};
use zk_api::{Data, ErrorCode, Local, ZooKeeper, Zxid};
use zk_harness::common::{Stop, plain};
use zk_harness::promises::{Of, Undisturbed, Views};
use zk_harness::trial::{Bounds, FoundBy, Trial};
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

/// Each of them.
pub fn trials() -> Vec<Trial> {
    let reads = "reads-what-it-was-told";
    let bounds = Bounds { lag: 1, effects: true, ..Bounds::clients(2) };
    vec![
        notified("configuration/notified", Told::Orders)
            .summary("Who is told by others of a new value reads behind a transaction of its own.")
            .source("zk-recipes")
            // An expiry is to come about where nothing else breaks; the others break without one.
            .bounds(Bounds { expiries: 1, ..bounds }),
        notified("configuration/sync-asks-nobody", Told::Syncs)
            .summary(
                "Who is told by others of a new value syncs before it reads, and the leader may be none.",
            )
            .source(
                "an article on ZooKeeper: sync waits for all pending updates; ZOOKEEPER-1675, ZOOKEEPER-2136",
            )
            .breaks(reads, "S-004", "a deposed leader that does not know it")
            .bounds(bounds)
            // Seeds hardly ever have a reader at a deposed leader in the moment in which it is told.
            .found_by(FoundBy::Model),
        notified("configuration/no-sync", Told::Reads)
            .summary("Who is told by others of a new value reads, from a server that may be behind.")
            .source("an article on ZooKeeper, which has the read alone")
            .breaks(reads, "S-003", "a server that is behind")
            .bounds(bounds)
            .scenario(&[("rounds", "60")]),
    ]
}

/// There are many rounds without work, so that readers ask while a server is behind.
fn notified(name: &'static str, told: Told) -> Trial {
    let read = move |fixture: Fixture| async move { told.follow(&fixture).await };
    configuration(name, write, read).scenario(&[("rounds", "20")]).promises(|| {
        let mut all = promises();
        all.push(Box::new(Undisturbed::of(Views::told(CONFIG, Of::Values))));
        all
    })
}

async fn write(fixture: Fixture) -> Result<(), Stop> {
    let version = fixture.sets().await?;
    fixture.zk.checkpoint("told/tells", &[Local::Zxid(version)]);
    fixture.tells(version).await;
    fixture.pauses().await
}

impl Told {
    async fn follow(self, fixture: &Fixture) -> Result<(), Stop> {
        fixture.follows();
        let mut setting = Setting::new(fixture.zk.clone(), &fixture.name());
        let first = setting.changed().await?;
        fixture.sees_value(first.as_ref());
        if fixture.is_told(first.map_or(Zxid::ZERO, |value| value.version)).await {
            match self {
                Told::Orders => fixture.sees_value(setting.synced().await?.as_ref()),
                Told::Syncs => {
                    sync(fixture).await?;
                    fixture.sees_setting(read(fixture).await?.as_ref())
                }
                Told::Reads => fixture.sees_setting(read(fixture).await?.as_ref()),
            };
        }
        fixture.pauses().await?;
        fixture.is_through();
        Ok(())
    }
}

/// The value, from wherever it is asked for; `None` if there is none.
async fn read(fixture: &Fixture) -> Result<Option<Data>, Stop> {
    let (zk, name) = (fixture.zk.clone(), fixture.name());
    let data = || plain::unless(ErrorCode::NoNode, zk.data(&name));
    Ok(plain::again_from(&zk, "told/read", &[], data).await?.map(|(data, _)| data))
}

/// Syncs, however often it takes.
async fn sync(fixture: &Fixture) -> Result<(), Stop> {
    let (zk, name) = (fixture.zk.clone(), fixture.name());
    plain::again_from(&zk, "told/sync", &[], || zk.sync(&name)).await
}
