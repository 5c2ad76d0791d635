//! `chubby/lock-delay`: a resource that compares no tokens, and late writes.

use super::right::stop;
use crate::lock::{Fixture, LOCK, lock};
use std::time::Duration;
use zk_harness::common::Stop;
use zk_harness::promises::{
    ExclusionAmongLiveSessions, ExclusionAtResource, Fifo, NoForeignDelete, NoOrphanZnode, NoWaiterStuck,
};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::chubby::Handle;
use zk_recipes::{Mode, OnDisconnect};

/// Longer than a process stands still and a write travels in the default scenario, together.
const DELAY: Duration = Duration::from_secs(15);

/// [`zk_recipes::chubby`] with a lock-delay: opens the file, takes its lock alone, and comes to the resources.
pub fn trial() -> Trial {
    lock("chubby/lock-delay", turn)
        .summary("Who takes the lock after a holder that has died waits until its last writes have landed.")
        .source("zk-recipes, after what Chubby does for resources that cannot check sequencers")
        .bounds(Bounds { expiries: 1, drops: 1, lag: 1, ..Bounds::clients(2) })
        .promises(|| {
            vec![
                Box::new(ExclusionAmongLiveSessions::of(LOCK)),
                Box::new(ExclusionAtResource::unfenced(LOCK)),
                Box::new(Fifo::of_shared(LOCK, "-write-")),
                Box::new(NoWaiterStuck),
                Box::new(NoOrphanZnode::of(LOCK)),
                Box::new(NoForeignDelete::of(LOCK)),
            ]
        })
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let mut handle = Handle::open(fixture.zk(), &fixture.lock(), &fixture.guid()).await.map_err(stop)?;
    handle.set_lock_delay(DELAY);
    let locked = handle.acquire(Mode::Exclusive).await.map_err(stop)?;
    let sequencer = locked.sequencer();
    let lost = locked.lost(OnDisconnect::Stop);
    fixture.section(&sequencer.node, Some(sequencer.token), lost).await;
    locked.release().await?;
    Ok(handle.close().await?)
}
