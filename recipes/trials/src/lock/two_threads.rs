//! `lock/two-threads`: the recipe of this project, by two threads of each process.

use super::stage::{LOCK, LockKind, Stage};
use crate::common::Stop;
use crate::promise::AnyPromise;
use crate::promises;
use crate::trial::{About, Bounds, Reductions};
use zk_recipes::{Lock, OnDisconnect};

/// [`zk_recipes::Lock`], one for each thread, with a guid of its own: on one session they are two contenders.
#[derive(Clone, Copy, Debug)]
pub struct TwoThreads;

impl LockKind for TwoThreads {
    fn about(&self) -> About {
        About {
            name: "lock/two-threads",
            summary: "The lock, for which two threads of each process ask on one session.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { drops: 1, crashes: 1, lag: 1, ..Bounds::clients(1) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises::of_fenced_lock(LOCK)
    }

    fn has_two_threads(&self) -> bool {
        true
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        let guid = stage.guid();
        let mut lock = Lock::new(stage.zk(), &stage.lock(), &guid).expect("a guid is fit for a name");
        let held = lock.acquire().await?;
        stage.section(held.node(), Some(held.token()), held.session_lost(OnDisconnect::Stop)).await;
        Ok(held.release().await?)
    }
}
