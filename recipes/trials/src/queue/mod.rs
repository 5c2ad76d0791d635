//! The queue, with priorities and without, and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `queue` | `recipe` | nothing: the recipe of this project |
//! | `queue/at-most-once` | `recipe` | nothing: the same with the other delivery |
//! | `priority-queue` | `recipe` | nothing: the same with priorities |
//! | `queue/ephemeral-items` | `published` | items are ephemeral, and die with their producer |
//! | `queue/no-claim` | `published` | two consumers work off the same item, as neither says that it has it |
//! | `queue/delete-then-process` | `published` | an item is deleted before it is worked off, and lost if its taker dies |
//! | `queue/lost-delete` | `published` | a deletion whose answer was lost is repeated, and what it finds gone is taken for another's |
//! | `queue/no-guid` | `published` | a put whose answer was lost is simply repeated |
//! | `queue/put-once` | `published` | a put whose answer was lost is taken for done |
//! | `queue/priority-is-name` | `published` | two items of one priority have one name |
//! | `queue/name-order` | `published` | items are sorted by their whole names, which do not begin alike |
//! | `queue/same-cache` | `published` | an item that is gone stays at the head of the list, and is tried for ever |
//! | `queue/pop-before-get` | `published` | an item leaves the list before it was read, and has lost its place if that fails |
//! | `queue/no-node-fails` | `published` | an item that another has taken is an error |
//! | `queue/watch-lost` | `published` | after a lost connection it waits for a change without looking at the list |
//! | `queue/herd` | `published` | each consumer watches the list: a put wakes all |
//! | `priority-queue/unpadded` | `published` | priorities are written without leading zeros, and sort as texts |
//! | `priority-queue/stale-list` | `published` | uses its list up before it makes a new one, whatever is put meanwhile |
//! | `priority-queue/wrong-watch` | `published` | watches the queue's znode and not its list |
//!
//! `stage` is what they have in common, `steps` the published steps, of which each variant is one reading.

mod published;
mod recipe;
mod stage;
mod steps;

pub use published::{Published, published};
pub use recipe::Recipe;
pub use stage::{ITEMS, Item, OnTrial, QUEUE, QueueKind, Stage};

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one of each family first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    let recipe = |kind| Arc::new(OnTrial(kind)) as Arc<dyn AnyTrial>;
    let all = published().into_iter().map(|kind| Arc::new(OnTrial(kind)) as Arc<dyn AnyTrial>);
    let (with, without): (Vec<_>, Vec<_>) =
        all.partition(|trial| trial.about().name.starts_with("priority-queue"));
    [
        vec![recipe(Recipe::AtLeastOnce), recipe(Recipe::AtMostOnce)],
        without,
        vec![recipe(Recipe::Priorities)],
        with,
    ]
    .concat()
}
