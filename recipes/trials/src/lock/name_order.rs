//! `lock/name-order`: whole names are compared.

use super::stage::{Stage, lock};
use crate::common::Stop;
use crate::common::plain::{self, Place};
use crate::trial::{Bounds, Trial};
use zk_api::{Text, ZPath};

/// The lock with guids, but it sorts by whole names.
///
/// Names begin with guids, so whoever has the lower guid stands first, although another holds the lock (S-053, R-25).
/// Where names have no guids, it goes well until the counter is negative (S-067).
pub fn trial() -> Trial {
    lock("lock/name-order", turn)
        .summary("Sorts the contenders by their whole names, which begin with guids.")
        .source("a lock in C that compares whole names (ZOOKEEPER-3162)")
        .breaks("exclusion-among-live-sessions", "S-067", "none")
        .bounds(Bounds::clients(2))
}

async fn turn(stage: Stage) -> Result<(), Stop> {
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

fn place(lock: &ZPath, mut names: Vec<Text>, own: &ZPath) -> Place {
    names.sort_unstable();
    match names.iter().position(|name| **name == *own.name()) {
        None => Place::Absent,
        Some(0) => Place::First,
        Some(at) => Place::Behind(plain::child(lock, &names[at - 1])),
    }
}
