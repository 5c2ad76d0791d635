//! `lock/no-sync`: a lost create is looked up in a list that may be old.

use super::stage::{LOCK, LockKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Breaks, FoundBy, Reductions};
use zk_api::{CreateMode, Data, Local, Text, ZPath, ZooKeeper};

/// The recipe of this project, but for one line: no sync before the look for a lost create.
///
/// The create takes effect, and another server, which has not heard of it, does not show it: a second one is made. Both
/// come to light at last; but whoever is granted the lock by the first look that shows one of them does not look again,
/// and the other outlives the attempt (S-051, R-09).
#[derive(Clone, Copy, Debug)]
pub struct NoSync;

impl LockKind for NoSync {
    fn about(&self) -> About {
        About {
            name: "lock/no-sync",
            summary: "Looks for a lost create in a list that may be older than the create.",
            source: "the recipe of this project, before it had a sync; related to CURATOR-264",
            breaks: Some(Breaks { promise: "no-orphan-znode", defect: "S-051", fault: "lost answer" }),
            bounds: Bounds { drops: 2, lag: 1, ..Bounds::clients(1) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::of_fair_lock(LOCK)
    }

    fn found_by(&self) -> FoundBy {
        // Chaos would need two lost answers and a server that lags at one moment.
        FoundBy::Model
    }

    async fn turn<Z, P>(&self, stage: &Stage<Z, P>) -> Result<(), Stop>
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        let (zk, lock) = (stage.zk(), stage.lock());
        let prefix = plain::child(&lock, &format!("{}-lock-", stage.guid()));
        let own = acquire(&zk, &lock, &prefix).await?;
        stage.section(&own, None, std::future::pending::<()>()).await;
        plain::remove(&zk, &own).await
    }
}

async fn acquire(zk: &impl ZooKeeper, lock: &ZPath, prefix: &ZPath) -> Result<ZPath, Stop> {
    create(zk, prefix).await?;
    loop {
        zk.checkpoint("no-sync/list", &[Local::Text(prefix.as_str())]);
        let names = match zk.children(lock).await {
            Ok(names) => names,
            Err(e) => {
                plain::passing(zk, e).await?;
                continue;
            }
        };
        let mut mine: Vec<&Text> = names.iter().filter(|name| name.starts_with(prefix.name())).collect();
        mine.sort_unstable();
        let own = match *mine {
            [] => {
                create(zk, prefix).await?;
                continue;
            }
            [own] => plain::child(lock, own),
            [_, extra, ..] => {
                plain::remove(zk, &plain::child(lock, extra)).await?;
                continue;
            }
        };
        match plain::place(lock, &names, &own) {
            Place::First => return Ok(own),
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(lower) => {
                if let (Some(_), watch) = plain::exists(zk, &lower, prefix.as_str()).await? {
                    plain::event(watch).await?;
                }
            }
        }
    }
}

/// Tries to create the znode. Whether it is there the next list will tell.
async fn create(zk: &impl ZooKeeper, prefix: &ZPath) -> Result<(), Stop> {
    zk.checkpoint("no-sync/create", &[Local::Text(prefix.as_str())]);
    match zk.create(prefix, Data::NULL, CreateMode::EphemeralSequential).await {
        Ok(_) => Ok(()),
        Err(e) => plain::passing(zk, e).await,
    }
}
