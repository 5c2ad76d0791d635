//! `revocable-lock`: the recipe of this project.

use super::stage::Revocable;
use crate::promise::AnyPromise;
use crate::trial::{About, Bounds, Reductions};

/// [`zk_recipes::SharedLock`] with [`zk_recipes::Revoker::ask`] and [`zk_recipes::Held::revoked`].
#[derive(Clone, Copy, Debug)]
pub struct Right;

impl Revocable for Right {
    fn about(&self) -> About {
        About {
            name: "revocable-lock",
            summary: "A shared lock whose holders give it back when they are asked.",
            source: "zk-recipes",
            breaks: None,
            bounds: Bounds::clients(3),
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        super::promises()
    }
}
