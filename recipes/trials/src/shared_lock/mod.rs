//! The shared lock and its published variants on trial.
//!
//! `stage` is what they have in common: who reads and who writes.

mod downgrade_new_node;
mod guid_directory;
mod java;
mod name_order;
mod one_by_one;
mod right;
mod stage;
mod watches_list;
mod writer_watches_writers;

pub(crate) use stage::of_reader;

use crate::trial::Trial;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Trial> {
    vec![
        right::trial(),
        java::trial(),
        name_order::trial(),
        writer_watches_writers::trial(),
        guid_directory::trial(),
        downgrade_new_node::trial(),
        one_by_one::trial(),
        watches_list::trial(),
    ]
}
