//! `chubby/lock-delay` and `chubby/no-delay`: a resource that compares no tokens, and late writes.

use super::right::stop;
use crate::lock::{Fixture, LOCK, lock};
use std::time::Duration;
use zk_api::{Call, KeeperState, Local, Pending, Request, SessionId, ZooKeeper};
use zk_harness::common::{AnyZooKeeper, InRound, Stop, Turn};
use zk_harness::event::Observation;
use zk_harness::promises::{
    ExclusionAmongLiveSessions, ExclusionAtResource, Fifo, NoForeignDelete, NoOrphanZnode, NoWaiterStuck,
};
use zk_harness::trial::{Bounds, Trial};
use zk_harness::words;
use zk_recipes::chubby::Handle;
use zk_recipes::{Mode, OnDisconnect};

/// Longer than a process stands still and a write travels in the default scenario, together.
const DELAY: Duration = Duration::from_secs(15);

/// With a lock-delay and without one.
pub fn trials() -> Vec<Trial> {
    vec![
        delayed("chubby/lock-delay", |fixture| turn(fixture, Some(DELAY)))
            .summary("Who takes the lock after a holder that has died waits until its last writes have landed.")
            .source("zk-recipes, after what Chubby does for resources that cannot check sequencers")
            .bounds(Bounds { expiries: 1, drops: 1, lag: 1, effects: true, ..Bounds::clients(2) }),
        delayed("chubby/no-delay", |fixture| turn(fixture, None))
            .summary("Who takes the lock after a holder that has died writes at once, and the other's write comes after.")
            .source("a wiki's mapping of Chubby's interface to ZooKeeper's")
            .breaks("exclusion-behind-lock-delay", "S-116", "session expiry")
            .bounds(Bounds { expiries: 1, effects: true, ..Bounds::clients(2) }),
    ]
}

fn delayed(name: &'static str, turn: impl Turn<Fixture>) -> Trial {
    lock(name, turn).promises(|| {
        vec![
            Box::new(ExclusionAmongLiveSessions::of(LOCK)),
            Box::new(ExclusionAtResource::delayed(LOCK, DELAY)),
            Box::new(Fifo::of_shared(LOCK, "-write-")),
            Box::new(NoWaiterStuck),
            Box::new(NoOrphanZnode::of(LOCK)),
            Box::new(NoForeignDelete::of(LOCK)),
        ]
    })
}

/// [`zk_recipes::chubby`] with a lock-delay: opens the file, takes its lock alone, and comes to the resources. Without
/// one, a dead holder's write arrives behind the next one's (S-116).
async fn turn(fixture: Fixture, delay: Option<Duration>) -> Result<(), Stop> {
    let zk = TellsDelay { zk: fixture.zk.clone(), fixture: fixture.clone() };
    let mut handle = Handle::open(zk, &fixture.lock(), &fixture.guid()).await.map_err(stop)?;
    if let Some(delay) = delay {
        handle.set_lock_delay(delay);
    }
    let locked = handle.acquire(Mode::Exclusive).await.map_err(stop)?;
    let sequencer = locked.sequencer();
    let lost = locked.lost(OnDisconnect::Stop);
    // The resource compares nothing.
    fixture.section(&sequencer.node, None, lost).await;
    locked.release().await?;
    Ok(handle.close().await?)
}

/// A session whose waits are told.
#[derive(Clone)]
struct TellsDelay {
    zk: InRound<AnyZooKeeper>,
    fixture: Fixture,
}

impl ZooKeeper for TellsDelay {
    fn submit(&self, request: Request) -> Call {
        self.zk.submit(request)
    }
    fn sleep(&self, duration: Duration) -> Pending<()> {
        let (fixture, millis) = (self.fixture.clone(), duration.as_millis() as i64);
        fixture.tells(Observation::note(words::WAITS_FOR_DELAY, LOCK, millis));
        let told = move |()| fixture.tells(Observation::note(words::HAS_WAITED, LOCK, millis));
        self.zk.sleep(duration).map(told)
    }
    fn session(&self) -> SessionId {
        self.zk.session()
    }
    fn state(&self) -> KeeperState {
        self.zk.state()
    }
    fn state_change(&self) -> Pending<KeeperState> {
        self.zk.state_change()
    }
    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        self.zk.checkpoint(label, locals);
    }
}
