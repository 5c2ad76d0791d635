//! The double barrier and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `double-barrier` | `recipe` | nothing: the recipe of this project |
//! | `double-barrier/newcomers` | `recipe` | nothing: the same with one client more than a round needs |
//! | `double-barrier/process-nodes-only` | `published` | the published steps where only znodes of processes count: one round, all members live, no deaths |
//! | `double-barrier/missing-slash` | `published` | the flag is created beside the barrier's znode and watched below it |
//! | `double-barrier/ready-never-removed` | `published` | the flag stays: in the second round nobody is told that all are there |
//! | `double-barrier/ready-counted` | `published` | the flag of the first round is counted as a member of the second |
//! | `double-barrier/ready-waited-for` | `published` | leaves when there are no children, but the flag is one for ever |
//! | `double-barrier/any-event` | `published` | any event passes, that of a lost connection too |
//! | `double-barrier/ready-exists` | `published` | that another has created the flag first is an error |
//! | `double-barrier/own-exists` | `published` | a create whose answer was lost is repeated, and that the znode exists is an error |
//! | `double-barrier/no-node-fails` | `published` | deletes its znode in each turn of the loop; that it is gone is an error |
//! | `double-barrier/null-waits` | `published` | waits for an event of a znode that was gone as it was looked for |
//! | `double-barrier/create-after-look` | `published` | looks for the flag after it has counted, and does not mind that it is there |
//! | `double-barrier/timeout-leaves-node` | `published` | a member that gives up waiting leaves its znode behind |
//! | `double-barrier/newcomer-joins` | `published` | one more comes while the others leave: they wait for it |
//! | `double-barrier/tutorial` | `published` | a slow one counts too late |
//!
//! `stage` is what they have in common, `steps` the published steps, of which each variant is one reading.

mod published;
mod recipe;
mod stage;
mod steps;

pub use published::{Published, published};
pub use recipe::{Newcomers, Recipe};
pub use stage::{BARRIER, DoubleBarrierKind, OnTrial, Stage};

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right ones first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    let mut all: Vec<Arc<dyn AnyTrial>> = vec![Arc::new(OnTrial(Recipe)), Arc::new(OnTrial(Newcomers))];
    all.extend(published().into_iter().map(|kind| Arc::new(OnTrial(kind)) as Arc<dyn AnyTrial>));
    all
}
