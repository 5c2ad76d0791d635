//! Leader election and its published variants on trial.
//!
//! | trial | file | what is wrong with it |
//! |---|---|---|
//! | `election` | `epochs` | nothing: the recipe of this project |
//! | `election/first-never-leads` | `first_never_leads` | who stands first is told by nobody |
//! | `election/smallest-watched` | `smallest_watched` | every death wakes everybody |
//! | `election/no-null-check` | `no_null_check` | waits for who is gone |
//! | `election/no-guid` | `no_guid` | a lost create is repeated: it waits behind its own znode |
//! | `election/name-order` | `name_order` | the least name leads, guid and all |
//! | `election/data-change` | `data_change` | a change of data uses the watch up |
//! | `election/duplicate-start` | `duplicate_start` | leads twice when it is notified twice |
//! | `election/node-is-leader` | `node_is_leader` | who stands first need not know that it leads |
//! | `election/goes-on` | `goes_on` | a leader is not interrupted when its session ends |
//! | `election/waiter-outlives-lease` | `waiter_outlives_lease` | waits on when its session is over |
//! | `leader-latch/adopts-ghost` | `latch_adopts_ghost` | leads by the candidate of a former session |
//! | `leader-latch/reset-race` | `latch_reset_race` | leads by a list from before it began anew |
//! | `leader-latch/close-race` | `latch_close_race` | closed while a create is under way, it leaves a candidate |
//! | `leader-latch/no-parent-ignored` | `latch_no_parent_ignored` | the election's znode is gone, and it waits on |
//!
//! `stage` is what they have in common: standing, and the term of a leader.

mod data_change;
mod duplicate_start;
mod epochs;
mod first_never_leads;
mod goes_on;
mod latch_adopts_ghost;
mod latch_close_race;
mod latch_no_parent_ignored;
mod latch_reset_race;
mod name_order;
mod no_guid;
mod no_null_check;
mod node_is_leader;
mod smallest_watched;
mod stage;
mod waiter_outlives_lease;

pub use data_change::DataChange;
pub use duplicate_start::DuplicateStart;
pub use epochs::Epochs;
pub use first_never_leads::FirstNeverLeads;
pub use goes_on::GoesOn;
pub use latch_adopts_ghost::AdoptsGhost;
pub use latch_close_race::CloseRace;
pub use latch_no_parent_ignored::NoParentIgnored;
pub use latch_reset_race::ResetRace;
pub use name_order::NameOrder;
pub use no_guid::NoGuid;
pub use no_null_check::NoNullCheck;
pub use node_is_leader::NodeIsLeader;
pub use smallest_watched::SmallestWatched;
pub use stage::{ELECTION, ElectionKind, OnTrial, Stage};
pub use waiter_outlives_lease::WaiterOutlivesLease;

use crate::trial::AnyTrial;
use std::sync::Arc;

/// All of them, the right one first.
pub fn catalogue() -> Vec<Arc<dyn AnyTrial>> {
    vec![
        Arc::new(OnTrial(Epochs)),
        Arc::new(OnTrial(FirstNeverLeads)),
        Arc::new(OnTrial(SmallestWatched)),
        Arc::new(OnTrial(NoNullCheck)),
        Arc::new(OnTrial(NoGuid)),
        Arc::new(OnTrial(NameOrder)),
        Arc::new(OnTrial(DataChange)),
        Arc::new(OnTrial(DuplicateStart)),
        Arc::new(OnTrial(NodeIsLeader)),
        Arc::new(OnTrial(GoesOn)),
        Arc::new(OnTrial(WaiterOutlivesLease)),
        Arc::new(OnTrial(AdoptsGhost)),
        Arc::new(OnTrial(ResetRace)),
        Arc::new(OnTrial(CloseRace)),
        Arc::new(OnTrial(NoParentIgnored)),
    ]
}
