//! Group membership and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `membership` | `roster` | nothing: the recipe of this project |
//! | `membership/kept` | `kept` | nothing, though an operator deletes a member's znode |
//! | `membership/no-rejoin` | `no_rejoin` | takes no notice of the end of its session |
//! | `membership/node-exists-is-joined` | `node_exists_is_joined` | takes a former session's znode for its own |
//! | `membership/list-then-watch` | `list_then_watch` | misses what changes between the list and the watch |
//! | `membership/watch-not-rearmed` | `kept` | a change of data uses the watch of its own znode up |
//! | `membership/leaves-once` | `leaves_once` | is said to have left, and is listed |
//! | `membership/never-forgets` | `never_forgets` | shows who has left beside who came later |
//!
//! `stage` is what they have in common: one who watches, and members who come and go.

mod kept;
mod leaves_once;
mod list_then_watch;
mod never_forgets;
mod no_rejoin;
mod node_exists_is_joined;
mod roster;
mod stage;

pub use kept::{Kept, WatchNotRearmed};
pub use leaves_once::LeavesOnce;
pub use list_then_watch::ListThenWatch;
pub use never_forgets::NeverForgets;
pub use no_rejoin::NoRejoin;
pub use node_exists_is_joined::NodeExistsIsJoined;
pub use roster::Rostered;
pub use stage::{GROUP, GroupKind, OnTrial, Stage};

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Rostered)),
        Arc::new(OnTrial(Kept)),
        Arc::new(OnTrial(NoRejoin)),
        Arc::new(OnTrial(NodeExistsIsJoined)),
        Arc::new(OnTrial(ListThenWatch)),
        Arc::new(OnTrial(WatchNotRearmed)),
        Arc::new(OnTrial(LeavesOnce)),
        Arc::new(OnTrial(NeverForgets)),
    ]
}
