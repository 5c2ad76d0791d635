//! `lock/no-sync` and `lock/behind-sync`: a lost create is looked up in a list that may be old.

use super::fixture::{Fixture, lock};
use zk_api::{CreateMode, Data, Local, Text, ZPath, ZooKeeper};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, FoundBy, Trial};

/// The recipe of this project, but for one line: no place in the order of writes before the look for a lost create.
///
/// The create takes effect, and another server, which has not heard of it, does not show it: a second one is made. Both
/// come to light at last; but whoever is granted the lock by the first look that shows one of them does not look again,
/// and the other outlives the attempt (S-051, R-09).
#[derive(Clone, Copy, Debug)]
enum NoSync {
    /// Nothing is in its place.
    Nothing,
    /// A `sync` is, as the recipe of this project had it: it holds as long as no leader answers one by itself.
    Sync,
}

/// Both of them.
pub fn trials() -> Vec<Trial> {
    vec![
        no_sync("lock/no-sync", NoSync::Nothing)
            .summary("Looks for a lost create in a list that may be older than the create.")
            .source("the recipe of this project, before it had a sync; related to CURATOR-264"),
        no_sync("lock/behind-sync", NoSync::Sync)
            .summary("Looks for a lost create behind a sync, which a leader answers though it is behind.")
            .source("the recipe of this project, before it asked by a write; ZOOKEEPER-1675, -2136"),
    ]
}

fn no_sync(name: &'static str, how: NoSync) -> Trial {
    lock(name, move |fixture| how.turn(fixture))
        .breaks("no-orphan-znode", "S-051", "lost answer")
        .bounds(Bounds { drops: 2, lag: 1, ..Bounds::clients(1) })
        // Chaos would need two lost answers and a server that lags at one moment.
        .found_by(FoundBy::Model)
}

impl NoSync {
    async fn turn(self, fixture: Fixture) -> Result<(), Stop> {
        let (zk, lock) = (fixture.zk.clone(), fixture.lock());
        let prefix = plain::child(&lock, &format!("{}-lock-", fixture.guid()));
        let own = self.acquire(&zk, &lock, &prefix).await?;
        fixture.section(&own, None, std::future::pending::<()>()).await;
        plain::remove(&zk, &own).await
    }

    async fn acquire(self, zk: &impl ZooKeeper, lock: &ZPath, prefix: &ZPath) -> Result<ZPath, Stop> {
        create(zk, prefix).await?;
        loop {
            let Some(names) = self.list(zk, lock, prefix).await? else { continue };
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

    /// Who stands in line; `None` if it must be asked again.
    async fn list(
        self,
        zk: &impl ZooKeeper,
        lock: &ZPath,
        prefix: &ZPath,
    ) -> Result<Option<Vec<Text>>, Stop> {
        zk.checkpoint("no-sync/list", &[Local::Text(prefix.as_str())]);
        let synced = match self {
            NoSync::Nothing => None,
            NoSync::Sync => Some(zk.sync(lock)),
        };
        let listed = zk.children(lock);
        let synced = match synced {
            Some(synced) => synced.await,
            None => Ok(()),
        };
        match (synced, listed.await) {
            (Ok(()), Ok(names)) => Ok(Some(names)),
            (Err(e), _) | (_, Err(e)) => plain::passing(zk, e).await.map(|()| None),
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
