//! What a lock makes of its own znode: names, lost answers, and whose it is.

use super::fixture::{Fixture, fenced, lock, lock_of_threads};
use super::guid::turn;
use zk_api::{Local, Text, ZPath, ZooKeeper};
use zk_harness::common::plain::{self, Place};
use zk_harness::common::{Stop, knowing};
use zk_harness::trial::{Bounds, Trial};

/// Deleted once, and sorted by name.
pub fn naming() -> Vec<Trial> {
    vec![
        lock("lock/release-once", release_once)
            .summary("Deletes its znode once when it is done, and takes any answer for good.")
            .source("client libraries that implement the recipe as it is written")
            .breaks("no-orphan-znode", "S-063", "lost request")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) }),
        lock("lock/name-order", name_order)
            .summary("Sorts the contenders by their whole names, which begin with guids.")
            .source("a lock in C that compares whole names (ZOOKEEPER-3162)")
            .breaks("exclusion-among-live-sessions", "S-067", "none")
            .bounds(Bounds::clients(2)),
    ]
}

/// Taken up by others, or left behind.
pub fn adopting() -> Vec<Trial> {
    vec![
        lock("lock/adopts-ghost", adopts_ghost)
            .summary("Takes up a znode with its guid, also if a former session of the process owns it.")
            .source("a client library that did not compare sessions (CURATOR-498)")
            .breaks("exclusion-among-live-sessions", "S-052", "client crash and restart")
            .bounds(Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) }),
        lock("lock/fails-at-loss", fails_at_loss)
            .summary("Gives up with an error when the connection is lost while it looks at the line.")
            .source("a Java class for an article on ZooKeeper, whose exceptions go to the caller")
            .breaks("no-failure", "S-087", "lost connection")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) }),
        // [`zk_recipes::Lock`], one for each thread, with a guid of its own: on one session they are two contenders.
        lock_of_threads("lock/two-threads", turn)
            .summary("The lock, for which two threads of each process ask on one session.")
            .source("zk-recipes")
            .bounds(Bounds { drops: 1, crashes: 1, lag: 1, ..Bounds::clients(1) })
            .promises(fenced),
        lock_of_threads("lock/session-as-guid", session_as_guid)
            .summary("Takes up a znode with its session's id in the name, also if another thread made it.")
            .source("zookeeper-recipes, WriteLock: \"x-<session>-\"")
            .breaks("exclusion-among-live-sessions", "S-069", "none")
            .bounds(Bounds::clients(1)),
    ]
}

/// The lock with guids, but its release asks once.
///
/// Where the request is lost with its connection, the znode lives on with the session, for hours if need be, and
/// everybody waits (S-063, R-10).
async fn release_once(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    plain::turn(&zk, &lock, &own).await?;
    fixture.section(&own, None, std::future::pending::<()>()).await;
    match zk.delete(&own, -1).await {
        Err(error) if error.is_session_over() => Err(Stop::SessionLost),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The lock with guids, but it sorts by whole names.
///
/// Names begin with guids, so whoever has the lower guid stands first, although another holds the lock (S-053, R-25).
/// Where names have no guids, it goes well until the counter is negative (S-067).
async fn name_order(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    plain::turn_by(&zk, &lock, &own, place).await?;
    fixture.holds(&own).await
}

pub(crate) fn place(lock: &ZPath, names: &[Text], own: &ZPath) -> Place {
    let mut names = names.to_vec();
    names.sort_unstable();
    match names.iter().position(|name| **name == *own.name()) {
        None => Place::Absent,
        Some(0) => Place::First,
        Some(at) => Place::Behind(plain::child(lock, &names[at - 1])),
    }
}

/// The lock with guids, but a process has one guid for all its lives, and takes up whatever znode bears it.
///
/// After a crash, the znode of its former session is still there: it holds the lock by a znode that is about to vanish,
/// and when it does, the next one enters (S-052, R-05, R-06). What matters is whose session owns the znode.
async fn adopts_ghost(fixture: Fixture) -> Result<(), Stop> {
    let guid = format!("process{}", fixture.role.me.process);
    fixture.adopts(&guid).await
}

/// The lock with guids, but a look at the line whose answer is lost ends the attempt, though the session lives.
///
/// It leaves nothing behind, so that it does no harm to others; its caller has an error where it asked for a lock
/// (S-087, S-090).
async fn fails_at_loss(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let own = plain::contend(&zk, &lock, &fixture.guid()).await?;
    loop {
        zk.checkpoint("fails-at-loss/list", &[Local::Text(own.as_str())]);
        let names = match zk.children(&lock).await {
            Ok(names) => names,
            Err(error) if error.is_session_over() => return Err(error.into()),
            Err(error) => {
                // What follows differs from what follows a release.
                let fails = knowing(zk.clone(), &error.to_string());
                plain::remove(&fails, &own).await?;
                return Err(error.into());
            }
        };
        match plain::place(&lock, &names, &own) {
            Place::First => break,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(lower) => {
                if let (Some(_), watch) = plain::exists(&zk, &lower, own.as_str()).await? {
                    plain::event(watch).await?;
                }
            }
        }
    }
    fixture.holds(&own).await
}

/// The lock with guids, but the guid is the session's id, and a znode with it is taken for one's own.
///
/// That finds a lost create as well as any guid does, where one thread asks. A second one finds the first one's znode,
/// takes it up, and holds the lock beside it (S-069).
async fn session_as_guid(fixture: Fixture) -> Result<(), Stop> {
    let guid = format!("x{:x}", fixture.zk.session());
    fixture.adopts(&guid).await
}
