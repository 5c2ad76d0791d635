//! The shared lock and its published variants on trial.
//!
//! `fixture` is what they have in common: who reads and who writes.

mod downgrade_new_node;
mod fixture;
mod guid_directory;
mod java;
mod name_order;
mod one_by_one;
mod right;
mod watches_list;
mod writer_watches_writers;

pub(crate) use fixture::of_reader;

use crate::trial::Trial;

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
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
