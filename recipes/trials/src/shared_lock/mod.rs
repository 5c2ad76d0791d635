//! The shared lock and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `shared-lock` | `right` | nothing: the recipe of this project |
//! | `shared-lock/java` | `java` | whoever may not enter leaves its znode; that nobody enters wrongly is kept |
//! | `shared-lock/name-order` | `name_order` | a reader enters beside a writer |
//! | `shared-lock/writer-watches-writers` | `writer_watches_writers` | a writer enters beside a reader |
//! | `shared-lock/guid-directory` | `guid_directory` | everybody enters |
//! | `shared-lock/downgrade-new-node` | `downgrade_new_node` | a writer enters beside one that goes on reading |
//!
//! `stage` is what they have in common: who reads and who writes.

mod downgrade_new_node;
mod guid_directory;
mod java;
mod name_order;
mod right;
mod stage;
mod writer_watches_writers;

pub use downgrade_new_node::DowngradeNewNode;
pub use guid_directory::GuidDirectory;
pub use java::Java;
pub use name_order::NameOrder;
pub use right::Right;
pub(crate) use stage::of_reader;
pub use writer_watches_writers::WriterWatchesWriters;

use crate::lock::OnTrial;
use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Right)),
        Arc::new(OnTrial(Java)),
        Arc::new(OnTrial(NameOrder)),
        Arc::new(OnTrial(WriterWatchesWriters)),
        Arc::new(OnTrial(GuidDirectory)),
        Arc::new(OnTrial(DowngradeNewNode)),
    ]
}
