//! `lock/two-threads`: the recipe of this project, by two threads of each process.

use super::fixture::{fenced, lock_of_threads};
use super::guid::turn;
use zk_harness::trial::{Bounds, Trial};

/// [`zk_recipes::Lock`], one for each thread, with a guid of its own: on one session they are two contenders.
pub fn trial() -> Trial {
    lock_of_threads("lock/two-threads", turn)
        .summary("The lock, for which two threads of each process ask on one session.")
        .source("zk-recipes")
        .bounds(Bounds { drops: 1, crashes: 1, lag: 1, ..Bounds::clients(1) })
        .promises(fenced)
}
