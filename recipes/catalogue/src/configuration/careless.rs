//! Readers of one value that forget something: `configuration/no-watch-on-absent`, `configuration/no-reread`,
//! `configuration/version-compare` and `configuration/watch-once`.

use super::fixture::{Fixture, configuration};
use zk_api::{Data, Error, ErrorCode, EventType, Local, Stat, Watch, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

/// What a reader forgets. What it reads is a setting whose znode is deleted and made anew each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Careless {
    /// That a read of an absent znode sets no watch (S-001): it waits for one all the same.
    NoWatchOnAbsent,
    /// That watches end with the session (S-002): it keeps what it has read, and nobody reads again.
    NoReread,
    /// That the version of a Stat begins anew with the znode: it takes another value for the same.
    VersionCompare,
    /// That a watch fires once: after the first change it is not told of any other.
    WatchOnce,
}

/// Each of them.
pub fn trials() -> Vec<Trial> {
    vec![
        careless("configuration/no-watch-on-absent", Careless::NoWatchOnAbsent)
            .summary("Reads an absent znode and waits for a watch that such a read does not set.")
            .source("an article on ZooKeeper, which says so and whose steps do not heed it")
            .breaks("fresh-at-rest", "S-001", "none"),
        careless("configuration/no-reread", Careless::NoReread)
            .summary("Keeps what it has read when its session ends, and with it the watch.")
            .source("an article on ZooKeeper: watches are lost with the session, and no step reads again")
            .breaks("session-end-noticed", "S-002", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
            // Sessions end now and then: the longer there is something to follow, the likelier it is that one does
            // meanwhile.
            .scenario(&[("rounds", "12"), ("faults.expiries", "12")]),
        careless("configuration/version-compare", Careless::VersionCompare)
            .summary(
                "Takes a value for the same if its version is, though the znode was made anew in between.",
            )
            .source("CURATOR-311, CURATOR-344, CURATOR-391, CURATOR-688: SharedValue, PathChildrenCache")
            .breaks("fresh-at-rest", "R-55", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
        careless("configuration/watch-once", Careless::WatchOnce)
            .summary("Reads again when it is told of a change, and does not watch any more.")
            .source("mutant of the recipe")
            .breaks("fresh-at-rest", "S-002", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
    ]
}

fn careless(name: &'static str, how: Careless) -> Trial {
    let write = |fixture: Fixture| async move { fixture.replaces().await.map(drop) };
    let read = move |fixture: Fixture| async move { how.read(&fixture).await };
    configuration(name, write, read).bounds(Bounds::clients(2))
}

/// A value with its Stat, if there is one, and the watch, if it has set one.
type Read = (Option<(Data, Stat)>, Option<Watch>);

impl Careless {
    async fn read(self, fixture: &Fixture) -> Result<(), Stop> {
        let zk = fixture.zk.clone();
        fixture.follows();
        let mut seen: Option<Option<i32>> = None;
        let mut is_last = false;
        while !is_last {
            let (value, watch) = match self.look(fixture, seen).await {
                Ok(read) => read,
                Err(e) if self == Careless::NoReread && e.is_session_over() => break,
                Err(e) => {
                    plain::passing(&zk, e).await?;
                    continue;
                }
            };
            let version = value.as_ref().map(|(_, stat)| stat.version());
            if self != Careless::VersionCompare || seen != Some(version) {
                is_last = fixture.sees_setting(value.as_ref().map(|(data, _)| data));
            }
            if !is_last {
                match watch {
                    Some(watch) => match watch.await.kind {
                        EventType::None if self == Careless::NoReread => break,
                        EventType::None => return Err(Stop::SessionLost),
                        EventType::NodeCreated
                        | EventType::NodeDeleted
                        | EventType::NodeDataChanged
                        | EventType::NodeChildrenChanged => {}
                    },
                    None => self.never_told(fixture).await?,
                }
            }
            seen = Some(version);
        }
        fixture.is_through();
        Ok(())
    }

    /// Reads, as carelessly as it is.
    async fn look(self, fixture: &Fixture, seen: Option<Option<i32>>) -> Result<Read, Error> {
        let (zk, name) = (fixture.zk.clone(), fixture.name());
        let text = |seen: Option<Option<i32>>| match seen {
            None => -2,
            Some(version) => version.unwrap_or(-1).into(),
        };
        zk.checkpoint("careless/look", &[Local::Number(text(seen))]);
        if self == Careless::WatchOnce && seen.is_some() {
            return match zk.data(&name).await {
                Ok(value) => Ok((Some(value), None)),
                Err(e) if e.code == ErrorCode::NoNode => Ok((None, None)),
                Err(e) => Err(e),
            };
        }
        match zk.data_watch(&name).await {
            Ok((value, watch)) => return Ok((Some(value), Some(watch))),
            Err(e) if e.code == ErrorCode::NoNode => {}
            Err(e) => return Err(e),
        }
        if self == Careless::NoWatchOnAbsent {
            return Ok((None, None));
        }
        match zk.exists_watch(&name).await? {
            (None, watch) => Ok((None, Some(watch))),
            (Some(_), _) => Box::pin(self.look(fixture, seen)).await,
        }
    }

    /// Waits for an event that nobody will tell; the end of the session it would notice.
    async fn never_told(self, fixture: &Fixture) -> Result<(), Stop> {
        let zk = fixture.zk.clone();
        loop {
            let change = zk.state_change();
            if zk.state().is_final() {
                return Err(Stop::SessionLost);
            }
            change.await;
        }
    }
}
