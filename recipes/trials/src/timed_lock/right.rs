//! `timed-lock`: the recipe of this project.

use super::LIMIT;
use crate::common::Stop;
use crate::lock::{LOCK, LockKind, Stage};
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Reductions};
use zk_recipes::{Lock, OnDisconnect};

/// [`zk_recipes::Lock::acquire_within`], and then [`zk_recipes::Lock::abandon`] for those who did not get it.
#[derive(Clone, Copy, Debug)]
pub struct Right;

impl LockKind for Right {
    fn about(&self) -> About {
        About {
            name: "timed-lock",
            summary: "Waits for the lock for a while only; who gives up leaves the line.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { drops: 1, lag: 1, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        super::promises(promises::of_fenced_lock(LOCK))
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let guid = stage.guid();
        let mut lock = Lock::new(stage.zk(), &stage.lock(), &guid).expect("a guid is fit for a name");
        if let Some(held) = lock.acquire_within(LIMIT).await? {
            stage.section(held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop)).await;
            return Ok(held.release().await?);
        }
        lock.abandon().await?;
        stage.passes("the time is over");
        Ok(())
    }
}
