//! `revocable-lock/no-node-ignored`: a deleted znode is taken for none of its business.

use super::stage::{Revocable, Told, lock};
use crate::common::Stop;
use crate::promise::AnyPromise;
use crate::trial::{About, Bounds, Breaks, Reductions};
use zk_api::{ErrorCode, EventType, ZPath, ZooKeeper};
use zk_recipes::{Held, Revoker, UNLOCK};

/// Whoever revokes deletes the holder's znode. The holder that hears of its own znode reads it, and makes
/// nothing of it that it is gone.
///
/// It holds what is another's, and waits to be asked by a znode that nobody can write to any more (S-132).
#[derive(Clone, Copy, Debug)]
pub struct NoNodeIgnored;

impl Revocable for NoNodeIgnored {
    fn about(&self) -> About {
        About {
            name: "revocable-lock/no-node-ignored",
            summary: "A holder whose znode was deleted ignores that it is gone, and holds on for ever.",
            source: "a client library, whose watcher ignores NoNode",
            breaks: Some(Breaks { promise: "no-waiter-stuck", defect: "S-132", fault: "none" }),
            bounds: Bounds::clients(2),
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        let mut all = super::promises_by_force();
        // Nobody asks.
        all.retain(|promise| promise.name() != "revocation-heeded");
        all
    }

    /// Nobody asks.
    async fn ask<Z: ZooKeeper>(&self, _zk: Z, _node: &ZPath) -> Result<(), Stop> {
        Ok(())
    }

    async fn gone<Z: ZooKeeper>(&self, zk: Z, node: &ZPath) -> Result<(), Stop> {
        Ok(Revoker::new(zk, &lock()).take(node).await?)
    }

    async fn told<Z: ZooKeeper>(&self, zk: &Z, held: &Held<'_, Z>) -> Told {
        loop {
            match zk.data_watch(held.node()).await {
                Ok(((data, _), _)) if data.bytes() == UNLOCK.as_bytes() => return Told::Stop,
                Ok((_, watch)) => {
                    if watch.await.kind == EventType::None {
                        return Told::Stop;
                    }
                }
                Err(e) if e.code == ErrorCode::NoNode => return Told::GoOn,
                Err(_) => return Told::Stop,
            }
        }
    }
}
