//! Name service and configuration, and their published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `configuration` | `followed` | nothing: the recipe of this project for many values |
//! | `configuration/setting` | `followed` | nothing: that for one value |
//! | `configuration/notified` | `notified` | nothing, for readers who are told by others |
//! | `configuration/no-sync` | `notified` | reads from a server that is behind |
//! | `configuration/torn` | `torn` | reads several values one after the other |
//! | `configuration/no-watch-on-absent` | `careless` | waits for a watch that was not set |
//! | `configuration/no-reread` | `careless` | takes no notice of the end of its session |
//! | `configuration/version-compare` | `careless` | takes a znode that was made anew for the same |
//! | `configuration/watch-once` | `careless` | does not watch after the first change |
//!
//! `stage` is what they have in common: one who writes, and readers that follow.

mod careless;
mod followed;
mod notified;
mod stage;
mod torn;

pub use careless::Careless;
pub use followed::{Named, Whole};
pub use notified::Told;
pub use stage::{CONFIG, ConfigKind, OnTrial, Stage};
pub use torn::Torn;

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right ones first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Whole)),
        Arc::new(OnTrial(Named)),
        Arc::new(OnTrial(Told::Syncs)),
        Arc::new(OnTrial(Told::Reads)),
        Arc::new(OnTrial(Torn)),
        Arc::new(OnTrial(Careless::NoWatchOnAbsent)),
        Arc::new(OnTrial(Careless::NoReread)),
        Arc::new(OnTrial(Careless::VersionCompare)),
        Arc::new(OnTrial(Careless::WatchOnce)),
    ]
}
