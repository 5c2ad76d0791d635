//! `lock/simple`: one znode for all.

use super::fixture::{Fixture, LOCK, lock};
use zk_api::{CreateMode, Data, ErrorCode, Local, ZPath, ZooKeeper};
use zk_harness::common::{Stop, plain};
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{
    ExclusionAmongLiveSessions, ExclusionAtResource, Measured, NoForeignDelete, NoOrphanZnode, NoWaiterStuck,
    OneWokenPerDeletion,
};
use zk_harness::trial::{Bounds, Trial};

/// One fixed ephemeral znode: whoever creates it holds the lock, the others watch it.
///
/// - Between the create that failed and the look, the holder may release: the look finds nothing, and its watch
///   waits for a creation that nobody owes (S-070). It takes no fault.
/// - A create whose answer was lost is tried again, fails, and the client waits for itself (S-071).
/// - All who wait are woken by a release: that it is one at most is not promised, but measured. Any of them may
///   be next: no order is promised, nor could it be told, as waiters have no znodes.
pub fn trial() -> Trial {
    lock("lock/simple", turn)
        .summary("One fixed ephemeral znode; who cannot create it watches it and waits for any event.")
        .source("an article on ZooKeeper, in prose, after the ZooKeeper paper")
        .breaks("no-waiter-stuck", "S-070", "none")
        .bounds(Bounds::clients(2))
        .promises(promises)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, holder) = (fixture.zk.clone(), holder(&fixture.lock()));
    while !create(&zk, &holder).await? {
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
pub(super) async fn create(zk: &impl ZooKeeper, holder: &ZPath) -> Result<bool, Stop> {
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
