//! The lock and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `lock` | `guid` | nothing: the recipe of this project |
//! | `lock/no-guid` | `no_guid` | a lost create is repeated: it waits behind its own znode |
//! | `lock/simple` | `simple` | waits for an event of a znode that is gone already |
//! | `lock/simple-looped` | `simple_looped` | takes its own znode for another's |
//! | `lock/java` | `java` | an event before the wait is lost |
//! | `lock/no-recheck` | `no_recheck` | enters when the waiter before it dies |
//! | `lock/null-is-held` | `null_is_held` | enters when the waiter before it is dead already |
//! | `lock/no-loop` | `no_loop` | waits for an event of a predecessor that is gone already |
//!
//! `stage` is what they have in common: attempts and the critical section.

mod guid;
mod java;
mod no_guid;
mod no_loop;
mod no_recheck;
mod null_is_held;
mod simple;
mod simple_looped;
mod stage;

pub use crate::common::{InRound, Stop};
pub use guid::Guid;
pub use java::Java;
pub use no_guid::NoGuid;
pub use no_loop::NoLoop;
pub use no_recheck::NoRecheck;
pub use null_is_held::NullIsHeld;
pub use simple::Simple;
pub use simple_looped::SimpleLooped;
pub use stage::{LOCK, LockKind, OnTrial, Stage};

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Guid)),
        Arc::new(OnTrial(NoGuid)),
        Arc::new(OnTrial(Simple)),
        Arc::new(OnTrial(SimpleLooped)),
        Arc::new(OnTrial(Java)),
        Arc::new(OnTrial(NoRecheck)),
        Arc::new(OnTrial(NullIsHeld)),
        Arc::new(OnTrial(NoLoop)),
    ]
}
