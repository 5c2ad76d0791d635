//! ZooKeeper recipes, each in production quality and generic over [`zk_api::ZooKeeper`].
//!
//! | module | what is in it |
//! |---|---|
//! | `lock` | [`Lock`], an exclusive, fair, fenced lock |
//! | `barrier` | [`Barrier`], which holds everybody up as long as it is there |
//! | `chubby` | Chubby's files, locks and sequencers |
//! | `double_barrier` | [`DoubleBarrier`], which a given number of members enter and leave together |
//! | `election` | [`Election`], with epochs and an announced [`Leader`] |
//! | `shared_lock` | [`SharedLock`], a fair, fenced lock for one writer or many readers |
//! | `revoke` | [`Revoker`]: seeing who stands in line, asking holders to give the lock back, and taking it from them |
//! | `lock_delay` | what Chubby's files do for resources that compare no tokens |
//! | `fence` | [`Fence`], what a resource needs to know of tokens |
//! | `membership` | [`Membership`] in a group, and the [`Roster`] of its members |
//! | `configuration` | [`Setting`], one value that is followed, and [`Configuration`], many that change as one |
//! | `line` | standing in line, which locks and elections have in common; [`Held`] |
//! | `names` | how the znodes of contenders are named and ordered |
//! | `queue` | [`Producer`](queue::Producer) and [`Consumer`](queue::Consumer) of a queue with priorities |
//! | `two_phase_commit` | [`Participant`] in a [`Transaction`] that all commit or all abort |
//! | `session` | how every recipe handles errors and the end of its session |
//!
//! To write a recipe, begin with `line`, `session` and `names`, which deal with lost answers, retries, guids, and a
//! place in the order of all writes.
//!
//! What runs here is what is checked: the same code is driven on a simulated ensemble under faults, explored
//! exhaustively in small models, and run on a real ensemble.

mod barrier;
pub mod chubby;
mod configuration;
mod double_barrier;
mod election;
mod fence;
pub mod line;
mod lock;
mod lock_delay;
mod membership;
pub mod names;
pub mod queue;
mod revoke;
pub mod session;
mod shared_lock;
mod two_phase_commit;

pub use barrier::Barrier;
pub use configuration::{Configuration, Setting, Snapshot, Value};
pub use double_barrier::{DoubleBarrier, Inside};
pub use election::{Election, Leader, Leadership, leader, next_leader};
pub use fence::{Fence, Mode};
pub use line::Held;
pub use lock::Lock;
pub use membership::{Ghost, Membership, Roster};
pub use revoke::{Ended, Revoked, Revoker, Standing, UNLOCK};
pub use session::{Lost, OnDisconnect, RecipeError};
pub use shared_lock::{SharedLock, Writing};
pub use two_phase_commit::{Decided, Participant, Terms, Transaction, Verdict, Watching};
