//! `revocable-lock/parent`: who asks writes to the wrong znode.

use super::stage::{Revocable, lock};
use crate::common::Stop;
use crate::promise::AnyPromise;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{ZPath, ZooKeeper};
use zk_recipes::Revoker;

/// The holder watches its own znode, and whoever revokes writes to that of the lock, as "the lock node" can be read: nobody
/// is told (S-131).
#[derive(Clone, Copy, Debug)]
pub struct Parent;

impl Revocable for Parent {
    fn about(&self) -> About {
        About {
            name: "revocable-lock/parent",
            summary: "Whoever revokes writes to the parent of the contenders, which no holder watches.",
            source: "ZooKeeper's recipes page, where it speaks of the lock node",
            breaks: Some(Breaks { promise: "no-waiter-stuck", defect: "S-131", fault: "none" }),
            bounds: Bounds::clients(2),
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        super::promises()
    }

    async fn ask<Z: ZooKeeper>(&self, zk: Z, _node: &ZPath) -> Result<(), Stop> {
        Revoker::new(zk, &lock()).ask(&lock()).await?;
        Ok(())
    }
}
