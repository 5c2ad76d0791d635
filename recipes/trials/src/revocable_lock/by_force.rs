//! `revocable-lock/by-force`: whoever does not give it back in time loses it.

use super::stage::{Revocable, lock};
use crate::common::Stop;
use crate::promise::AnyPromise;
use crate::trial::{About, Bounds, Reductions};
use std::time::Duration;
use zk_api::{ZPath, ZooKeeper};
use zk_recipes::Revoker;

/// [`zk_recipes::Revoker::revoke`]: asks, waits for a while, and deletes the znode of whoever has not given it back.
///
/// The next in line holds the lock beside one that may not know yet: that is what it is for, so exclusion among live
/// sessions is only measured, as is the unfenced resource (S-136). The resource that compares tokens is safe.
#[derive(Clone, Copy, Debug)]
pub struct ByForce;

impl Revocable for ByForce {
    fn about(&self) -> About {
        About {
            name: "revocable-lock/by-force",
            summary: "Holders that do not give it back in time have their znode deleted; safe at a fenced resource.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds { expiries: 1, lag: 1, effects: true, ..Bounds::clients(2) },
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        super::promises_by_force()
    }

    async fn gone<Z: ZooKeeper>(&self, zk: Z, node: &ZPath) -> Result<(), Stop> {
        Revoker::new(zk, &lock()).revoke(node, PATIENCE).await?;
        Ok(())
    }
}

/// As long as holders mostly take to give it back.
const PATIENCE: Duration = Duration::from_millis(50);
