//! `chubby`, `chubby/checked-late` and `chubby/try`: the recipe of this project.

use super::fixture::{chubby, mode, presents, promises};
use crate::election::session_over;
use crate::lock::{Fixture, LOCK, lock};
use crate::try_lock;
use zk_api::{Local, Locals, ZooKeeper};
use zk_harness::common::{Stop, knowing};
use zk_harness::promises::{ExclusionAtResource, TokensIncrease};
use zk_harness::trial::{Bounds, Trial};
use zk_recipes::chubby::{FileError, Handle, check_sequencer};
use zk_recipes::{Mode, OnDisconnect};

const SOURCE: &str = "zk-recipes, after a wiki's mapping of Chubby's interface";

/// All of them.
pub fn trials() -> Vec<Trial> {
    let bounds = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    vec![
        ours("chubby", false)
            .summary("Files with locks and sequencers that order holders, know the mode, and can be checked.")
            .bounds(Bounds { expiries: 1, ..bounds }),
        ours("chubby/checked-late", true)
            .summary("The same, whose sequencer is checked once more when its lock is given back.")
            .bounds(bounds),
        lock("chubby/try", tries)
            .summary(
                "Only tries the lock; lists the file meanwhile, tries to delete it, and poisons its handle.",
            )
            .source(SOURCE)
            .bounds(Bounds { expiries: 1, ..bounds })
            .promises(try_lock::promises),
    ]
}

fn ours(name: &'static str, checks_late: bool) -> Trial {
    chubby(name, move |fixture| turn(fixture, checks_late)).source(SOURCE).promises(|| {
        let mut all = promises();
        all.push(Box::new(ExclusionAtResource::fenced(LOCK)));
        all.push(Box::new(ExclusionAtResource::unfenced(LOCK)));
        all.push(Box::new(TokensIncrease::of(LOCK)));
        all
    })
}

/// [`zk_recipes::chubby`]: opens the file, takes its lock, has its sequencer checked, comes to the resources with it,
/// gives the lock back, and tries to write once more under the sequencer that is over. It may have the sequencer
/// checked when it has given the lock back as well.
async fn turn(fixture: Fixture, checks_late: bool) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let mode = mode(&fixture);
    let mut handle = Handle::open(zk.clone(), &fixture.lock(), &fixture.guid()).await.map_err(stop)?;
    let locked = handle.acquire(mode).await.map_err(stop)?;
    let sequencer = locked.sequencer();
    let lost = locked.lost(OnDisconnect::Stop);
    fixture.hold(mode, &sequencer.node, Some(sequencer.token), lost).await;
    // Behind the critical section, so that it may be over by now.
    for needs in [Mode::Shared, Mode::Exclusive] {
        presents(&fixture, &sequencer.node, needs, None);
        let accepted = check_sequencer(&zk, &sequencer, needs).await?;
        presents(&fixture, &sequencer.node, needs, Some(accepted));
    }
    fixture.leave();
    locked.release().await?;
    if checks_late {
        presents(&fixture, &sequencer.node, mode, None);
        let accepted = check_sequencer(&knowing(zk.clone(), "over"), &sequencer, mode).await?;
        presents(&fixture, &sequencer.node, mode, Some(accepted));
    }
    handle.set_sequencer(sequencer.clone());
    zk.checkpoint("chubby/over", &[Local::Text(sequencer.node.as_str())]);
    presents(&fixture, &sequencer.node, mode, None);
    match handle.set_contents("late".into(), -1).await {
        Ok(()) => presents(&fixture, &sequencer.node, mode, Some(true)),
        Err(FileError::SequencerInvalid | FileError::Unknown(_)) => {
            presents(&fixture, &sequencer.node, mode, Some(false));
        }
        Err(error) => return Err(stop(error)),
    }
    Ok(handle.close().await?)
}

/// The lock is only tried, and the file's other operations while it is held.
async fn tries(fixture: Fixture) -> Result<(), Stop> {
    let alive = Locals::default();
    let zk = alive.told_by(fixture.zk.clone());
    let mut handle = Handle::open(zk.clone(), &fixture.lock(), &fixture.guid()).await.map_err(stop)?;
    let Some(locked) = handle.try_acquire(Mode::Exclusive).await.map_err(stop)? else {
        fixture.passes("somebody stands before it");
        return Ok(handle.close().await?);
    };
    let sequencer = locked.sequencer();
    // Without a watch of its own znode, of which the next try would hear.
    fixture.section(&sequencer.node, Some(sequencer.token), session_over(&zk)).await;
    // Who stands in line is no file, and keeps this one from being deleted.
    alive.set(&[Local::Text(sequencer.node.as_str())]);
    if !locked.read_dir().await.map_err(stop)?.is_empty() {
        return Err(Stop::Failed("it lists files".into()));
    }
    match locked.delete(-1).await {
        Ok(()) => return Err(Stop::Failed("it deletes a file whose lock it holds".into())),
        Err(FileError::InUse | FileError::Unknown(_)) => {}
        Err(error) => return Err(stop(error)),
    }
    locked.poison();
    match locked.stat().await {
        Err(FileError::Poisoned) => {}
        Ok(_) | Err(_) => return Err(Stop::Failed("its handle is not poisoned".into())),
    }
    locked.release().await?;
    alive.set(&[]);
    Ok(handle.close().await?)
}

pub(super) fn stop(error: FileError) -> Stop {
    match error {
        FileError::Recipe(error) => error.into(),
        FileError::Poisoned
        | FileError::NotThere(_)
        | FileError::SequencerInvalid
        | FileError::OtherVersion
        | FileError::InUse
        | FileError::Unknown(_) => Stop::Failed(error.to_string().into()),
    }
}
