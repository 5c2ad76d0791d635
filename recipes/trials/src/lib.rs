//! Promises, trials, and the published variants that are to be judged.
//!
//! | module | what is in it |
//! |---|---|
//! | `event` | what promises are judged by: observations of actors and the ground truth of the ensemble |
//! | `script` | [`ScriptStep`](script::ScriptStep), what happens in a run, step by step |
//! | `prelude` | everything that the author of a trial needs |
//! | `program` | [`Program`](program::Program), a client written by others, in place of an actor |
//! | `probe` | [`Probe`](probe::Probe), how an actor tells what it observes |
//! | `outside` | [`Outside`](outside::Outside), the resource that a lock is to protect |
//! | `polling` | finding code that asks the same thing again and again |
//! | `context` | what promises know in common: which actors live, how each stands with a lock, which have lost a znode |
//! | `promise` | [`Promise`](promise::Promise), what must hold |
//! | `promises` | the promises there are |
//! | `pulse` | which actor is acting, to catch a step that never ends |
//! | `common` | what trials of all recipes have in common: rounds, and careful requests for the variants |
//! | `mutation` | [`Mutated`](mutation::Mutated), a trial that goes wrong on purpose |
//! | `words` | [`Word`](words::Word), what probes say and promises listen for |
//! | `trial` | [`Trial`], a recipe set up, driven and held to its promises |
//! | `barrier` | the barrier and its published variants on trial |
//! | `double_barrier` | the double barrier and its published variants on trial |
//! | `election` | leader election and its published variants on trial |
//! | `membership` | group membership and its published variants on trial |
//! | `configuration` | name service and configuration and their published variants on trial |
//! | `lock` | the lock and its published variants on trial |
//! | `queue` | the queue, with priorities and without, and its published variants on trial |
//! | `chubby` | Chubby's files, locks and sequencers |
//! | `two_phase_commit` | the two-phase commit and its published variants on trial |
//! | `try_lock`, `timed_lock` | the lock for clients that do not wait, or not for ever |
//! | `shared_lock`, `revocable_lock` | locks for readers and writers, and locks that holders can be asked to give back |

pub mod barrier;
pub mod chubby;
pub mod common;
pub mod configuration;
mod context;
pub mod double_barrier;
pub mod election;
pub mod event;
pub mod lock;
pub mod membership;
pub mod mutation;
pub mod outside;
pub mod polling;
pub mod prelude;
pub mod probe;
pub mod program;
pub mod promise;
pub mod promises;
pub mod pulse;
pub mod queue;
pub mod revocable_lock;
pub mod script;
pub mod shared_lock;
pub mod timed_lock;
pub mod trial;
pub mod try_lock;
pub mod two_phase_commit;
pub mod words;

use std::sync::Arc;
use trial::Trial;

pub use zk_recipes as recipes;

/// Every trial there is, in the order of the reports.
pub fn trials() -> Vec<Arc<Trial>> {
    [
        lock::trials(),
        try_lock::trials(),
        timed_lock::trials(),
        shared_lock::trials(),
        revocable_lock::trials(),
        chubby::trials(),
        election::trials(),
        barrier::trials(),
        double_barrier::trials(),
        queue::trials(),
        two_phase_commit::trials(),
        membership::trials(),
        configuration::trials(),
    ]
    .concat()
    .into_iter()
    .map(Arc::new)
    .collect()
}
