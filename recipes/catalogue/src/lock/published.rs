//! Locks as they were published.

use super::fixture::{Fixture, LOCK, lock};
use zk_api::{
    CreateMode, Data, Either, ErrorCode, EventType, Local, Text, WatchedEvent, ZPath, ZooKeeper, race,
};
use zk_harness::common::{Stop, plain};
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    ExclusionAmongLiveSessions, ExclusionAtResource, Measured, NoForeignDelete, NoOrphanZnode, NoWaiterStuck,
    OneWokenPerDeletion,
};
use zk_harness::trial::{Bounds, Trial};

/// All of them.
pub fn trials() -> Vec<Trial> {
    vec![
        lock("lock/no-guid", no_guid)
            .summary("Sequential lock without guids: a create whose answer was lost is simply repeated.")
            .source("ZooKeeper's recipes page, editions before ZOOKEEPER-1262")
            .breaks("no-waiter-stuck", "S-050", "lost answer")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) }),
        lock("lock/simple", simple)
            .summary("One fixed ephemeral znode; who cannot create it watches it and waits for any event.")
            .source("an article on ZooKeeper, in prose, after the ZooKeeper paper")
            .breaks("no-waiter-stuck", "S-070", "none")
            .bounds(Bounds::clients(2))
            .promises(promises),
        lock("lock/simple-looped", simple_looped)
            .summary("As lock/simple, but tries again where the znode is gone as it is looked for.")
            .source("lock/simple, half mended")
            .breaks("no-waiter-stuck", "S-071", "lost answer")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) })
            .promises(promises),
        lock("lock/java", java)
            .summary("A Java class that waits on a monitor: a notification before the wait is lost.")
            .source("an article on ZooKeeper, class SimpleLockWithoutHerdEffect")
            .breaks("no-waiter-stuck", "S-082", "none")
            .bounds(Bounds::clients(2)),
    ]
}

/// The sequential lock as it was published before contenders had guids.
///
/// A create whose answer is lost is tried again: if the first one took effect, the client now waits behind a
/// znode of its own that nobody will ever delete (S-050).
async fn no_guid(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let prefix = plain::child(&lock, "lock-");
    let create = || zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential);
    let own = plain::path(&plain::again_from(&zk, "no-guid/create", &[], create).await?);
    plain::turn(&zk, &lock, &own).await?;
    fixture.holds(&own).await
}

/// One fixed ephemeral znode: whoever creates it holds the lock, the others watch it.
///
/// - Between the create that failed and the look, the holder may release: the look finds nothing, and its watch
///   waits for a creation that nobody owes (S-070). It takes no fault.
/// - A create whose answer was lost is tried again, fails, and the client waits for itself (S-071).
/// - All who wait are woken by a release: that it is one at most is not promised, but measured. Any of them may
///   be next: no order is promised, nor could it be told, as waiters have no znodes.
async fn simple(fixture: Fixture) -> Result<(), Stop> {
    let (zk, holder) = (fixture.zk.clone(), holder(&fixture.lock()));
    while !create_holder(&zk, &holder).await? {
        let (_, watch) = plain::exists(&zk, &holder, "").await?;
        plain::event(watch).await?;
    }
    fixture.section(&holder, None, std::future::pending::<()>()).await;
    release(&zk, &holder).await
}

/// The one znode.
pub(super) fn holder(lock: &ZPath) -> ZPath {
    plain::child(lock, "holder")
}

/// What a simple lock promises, and its herd, which is only measured.
pub(super) fn promises() -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(ExclusionAmongLiveSessions::of(LOCK)),
        Box::new(ExclusionAtResource::unfenced(LOCK)),
        Box::new(Measured(OneWokenPerDeletion::of(LOCK))),
        Box::new(NoWaiterStuck),
        Box::new(NoOrphanZnode::of(LOCK)),
        Box::new(NoForeignDelete::of(LOCK)),
    ]
}

/// Tries to create it, however often it takes; `false` if it exists.
pub(super) async fn create_holder(zk: &impl ZooKeeper, holder: &ZPath) -> Result<bool, Stop> {
    let create =
        || plain::unless(ErrorCode::NodeExists, zk.create(holder, Data::NULL, CreateMode::Ephemeral));
    Ok(plain::again_from(zk, "simple/create", &[], create).await?.is_some())
}

/// Deletes it. Where the answer is lost, it looks whose it is before it tries again: by now it may be
/// somebody else's.
pub(super) async fn release(zk: &impl ZooKeeper, holder: &ZPath) -> Result<(), Stop> {
    loop {
        zk.checkpoint("simple/release", &[Local::Text(holder.as_str())]);
        match zk.delete(holder, -1).await {
            Ok(()) => return Ok(()),
            Err(e) if e.code == ErrorCode::NoNode => return Ok(()),
            Err(e) => plain::passing(zk, e).await?,
        }
        if !is_own(zk, holder).await? {
            return Ok(());
        }
    }
}

/// Whether it is there and this session's.
async fn is_own(zk: &impl ZooKeeper, holder: &ZPath) -> Result<bool, Stop> {
    let known = [Local::Text(holder.as_str())];
    let stat = plain::again_from(zk, "simple/whose", &known, || zk.exists(holder)).await?;
    Ok(stat.is_some_and(|stat| stat.ephemeral_owner() == zk.session()))
}

/// The simple lock with its gap closed: where the znode is gone as it is looked for, it tries to create it again.
///
/// A create whose answer was lost still makes the client wait for itself, as it does not look whose znode it
/// is (S-071).
async fn simple_looped(fixture: Fixture) -> Result<(), Stop> {
    let (zk, holder) = (fixture.zk.clone(), holder(&fixture.lock()));
    while !create_holder(&zk, &holder).await? {
        if let (Some(_), watch) = plain::exists(&zk, &holder, "").await? {
            plain::event(watch).await?;
        }
    }
    fixture.section(&holder, None, std::future::pending::<()>()).await;
    release(&zk, &holder).await
}

/// A lock class published as an example, monitor and all.
///
/// - Its watcher notifies the object's monitor; a notification that comes between the look and the wait wakes
///   nobody, and there is no other (S-082). It takes no fault.
/// - When woken, or when the predecessor was gone already, it returns without another look (S-080, S-081).
/// - Only a deletion notifies: an expired session, or a change of data, uses the watch up (S-086).
/// - Errors are passed on as they come, leaving the znode behind (S-087, S-088), and a missing own znode is an
///   index out of bounds (S-089).
async fn java(fixture: Fixture) -> Result<(), Stop> {
    let (zk, lock) = (fixture.zk.clone(), fixture.lock());
    let prefix = plain::child(&lock, "lock-");
    let own = plain::path(&zk.create(&prefix, Data::NULL, CreateMode::EphemeralSequential).await?);
    let names = in_order(zk.children(&lock).await?);
    match names.iter().position(|name| **name == *own.name()) {
        None => return Err(plain::gone(&own)),
        Some(0) => {}
        Some(at) => {
            let (stat, mut watch) = zk.exists_watch(&plain::child(&lock, &names[at - 1])).await?;
            if stat.is_some() {
                // The thread has left exists() and has not yet entered the monitor.
                match race(&mut watch, fixture.point()).await {
                    Either::Left(_) => std::future::pending().await,
                    Either::Right(()) => notified(watch.await).await,
                }
            }
        }
    }
    fixture.section(&own, None, std::future::pending::<()>()).await;
    zk.delete(&own, -1).await?;
    Ok(())
}

/// Sorted by the whole name, which is by number as long as the counter is not negative.
fn in_order(mut names: Vec<Text>) -> Vec<Text> {
    names.sort_unstable();
    names
}

/// Goes on if the event notifies the monitor; another one leaves the thread waiting for good.
async fn notified(event: WatchedEvent) {
    if event.kind != EventType::NodeDeleted {
        std::future::pending().await
    }
}
