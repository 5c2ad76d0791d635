//! `lock/name-order`: whole names are compared.

use super::stage::{LOCK, LockKind, Stage};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{Text, ZPath};

/// The lock with guids, but it sorts by whole names.
///
/// Names begin with guids, so whoever has the lower guid stands first, although another holds the lock (S-053, R-25).
/// Where names have no guids, it goes well until the counter is negative (S-067).
#[derive(Clone, Copy, Debug)]
pub struct NameOrder;

impl LockKind for NameOrder {
    fn about(&self) -> About {
        About {
            name: "lock/name-order",
            summary: "Sorts the contenders by their whole names, which begin with guids.",
            source: "a lock in C that compares whole names (ZOOKEEPER-3162)",
            breaks: Some(Breaks { promise: "exclusion-among-live-sessions", defect: "S-067", fault: "none" }),
            bounds: Bounds::clients(2),
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::of_fair_lock(LOCK)
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let (zk, lock) = (stage.zk(), stage.lock());
        let own = plain::contend(&zk, &lock, &stage.guid()).await?;
        loop {
            let names = plain::children(&zk, &lock, own.as_str()).await?;
            match place(&lock, names, &own) {
                Place::First => break,
                Place::Absent => return Err(plain::gone(&own)),
                Place::Behind(lower) => {
                    if let (Some(_), watch) = plain::exists(&zk, &lower, own.as_str()).await? {
                        plain::event(watch).await?;
                    }
                }
            }
        }
        stage.section(&own, None, std::future::pending::<()>()).await;
        plain::remove(&zk, &own).await
    }
}

fn place(lock: &ZPath, mut names: Vec<Text>, own: &ZPath) -> Place {
    names.sort_unstable();
    match names.iter().position(|name| **name == *own.name()) {
        None => Place::Absent,
        Some(0) => Place::First,
        Some(at) => Place::Behind(plain::child(lock, &names[at - 1])),
    }
}
