//! ZooKeeper recipes, each in production quality and generic over [`zk_api::ZooKeeper`].
//!
//! | recipe | what it is |
//! |---|---|
//! | [`Lock`] | an exclusive, fair, fenced lock |
//! | [`SharedLock`], [`Writing`] | a fair, fenced lock for one writer or many readers |
//! | [`Held`] | what a contender waited for, while it is held: its token, its loss, its release |
//! | [`Fence`], [`Mode`] | what a resource needs to know of tokens |
//! | [`Revoker`], [`Standing`], [`Ended`] | seeing who stands in line, asking for a lock back, and taking it |
//! | [`Revoked`], [`UNLOCK`] | how a holder hears of that |
//! | [`Election`], [`Leadership`] | leader election, with epochs and announcements |
//! | [`leader`], [`next_leader`], [`Leader`] | who leads, for everybody else |
//! | [`Barrier`] | a znode that holds everybody up as long as it is there |
//! | [`DoubleBarrier`], [`Inside`] | a given number of members enter and leave together |
//! | [`Membership`], [`Ghost`], [`Roster`] | being a member of a group, and the list of its members |
//! | [`Setting`], [`Value`] | one value that is followed |
//! | [`Configuration`], [`Snapshot`] | many values that change as one |
//! | [`Participant`], [`Transaction`], [`Decided`] | several sites that all commit or all abort |
//! | [`Terms`], [`Watching`], [`Verdict`] | what such a transaction is about, how it is decided, and as what |
//! | [`RecipeError`] | why a recipe cannot go on |
//! | [`Lost`], [`OnDisconnect`] | how something that was held was lost, and whether a lost connection counts |
//!
//! | module | what is in it |
//! |---|---|
//! | [`queue`] | [`Producer`](queue::Producer) and [`Consumer`](queue::Consumer) of a queue with priorities |
//! | [`chubby`] | Chubby's files, locks and sequencers |
//! | [`mod@line`] | standing in line, which locks and elections have in common |
//! | [`session`] | how every recipe handles errors and the end of its session |
//! | [`names`] | how the znodes of contenders are named and ordered |
//!
//! To write a recipe, begin with [`mod@line`], [`session`] and [`names`], which deal with lost answers, retries, guids,
//! and a place in the order of all writes.
//!
//! What runs here is what is checked: the same code is driven on a simulated ensemble under faults, explored
//! exhaustively in small models, and run on a real ensemble.

// | module | what is in it |
// |---|---|
// | `lock` | `Lock`, an exclusive, fair, fenced lock |
// | `barrier` | `Barrier`, which holds everybody up as long as it is there |
// | `chubby` | Chubby's files, locks and sequencers |
// | `double_barrier` | `DoubleBarrier`, which a given number of members enter and leave together |
// | `election` | `Election`, with epochs and an announced `Leader` |
// | `shared_lock` | `SharedLock`, a fair, fenced lock for one writer or many readers |
// | `revoke` | `Revoker`: seeing who stands in line, asking holders to give the lock back, and taking it from them |
// | `lock_delay` | what Chubby's files do for resources that compare no tokens |
// | `fence` | `Fence`, what a resource needs to know of tokens |
// | `membership` | `Membership` in a group, and the `Roster` of its members |
// | `configuration` | `Setting`, one value that is followed, and `Configuration`, many that change as one |
// | `line` | standing in line, which locks and elections have in common; `Held` |
// | `names` | how the znodes of contenders are named and ordered |
// | `queue` | `Producer` and `Consumer` of a queue with priorities |
// | `two_phase_commit` | `Participant` in a `Transaction` that all commit or all abort |
// | `session` | how every recipe handles errors and the end of its session |

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
