//! Promises, trials, and the published variants that are to be judged.
//!
//! A [`Trial`] is a recipe set up, driven by actors, and held to promises. Each actor tells what it observes by its
//! [`Probe`](probe::Probe). A [`Promise`](promise::Promise) sees that and the ground truth, and says what it finds.
//!
//! ```
//! let trials = zk_trials::trials();
//! let named = |name: &str| trials.iter().find(|trial| trial.about.name == name).expect("it is there");
//! assert!(named("lock").about.breaks.is_none(), "it is expected to hold");
//! let breaks = named("lock/no-guid").about.breaks.expect("it is known to be wrong");
//! assert_eq!((breaks.promise, breaks.fault), ("no-waiter-stuck", "lost answer"));
//! ```
//!
//! | module | for the author of a trial |
//! |---|---|
//! | [`prelude`] | everything that such an author needs |
//! | [`trial`] | [`Trial`], its [`Bounds`](trial::Bounds), and the [`Role`](trial::Role) of an actor |
//! | [`probe`] | [`Probe`](probe::Probe), how an actor tells what it observes |
//! | [`event`] | [`Observation`](event::Observation), [`GroundTruth`](event::GroundTruth): what promises see |
//! | [`words`] | [`Word`](words::Word), what probes say and promises listen for |
//! | [`promise`] | [`Promise`](promise::Promise), what must hold, and [`Assumption`](promise::Assumption) |
//! | [`promises`] | the promises there are |
//! | [`outside`] | [`Outside`](outside::Outside), the resource that a lock is to protect |
//! | [`common`] | what trials of all recipes have in common: rounds, and careful requests for the variants |
//!
//! | module | the built-in trials |
//! |---|---|
//! | [`lock`] | the lock and its published variants |
//! | [`try_lock`], [`timed_lock`] | the lock for clients that do not wait, or not for ever |
//! | [`shared_lock`] | the lock for readers and writers |
//! | [`revocable_lock`] | the lock that holders can be asked to give back |
//! | [`chubby`] | Chubby's files, locks and sequencers |
//! | [`election`] | leader election |
//! | [`barrier`], [`double_barrier`] | one that holds everybody up, and one that is entered and left together |
//! | [`queue`] | the queue, with priorities and without |
//! | [`two_phase_commit`] | the two-phase commit |
//! | [`membership`] | group membership |
//! | [`configuration`] | name service and configuration |
//!
//! | module | for engines |
//! |---|---|
//! | [`program`] | [`Program`](program::Program), a client written by others, in place of an actor |
//! | [`script`] | [`ScriptStep`](script::ScriptStep), what happens in a run, step by step |
//! | [`mutation`] | [`Mutated`](mutation::Mutated), a trial that goes wrong on purpose |
//! | [`polling`] | finding code that asks the same thing again and again |
//! | [`pulse`] | which actor is acting, to catch a step that never ends |

// | module | what is in it |
// |---|---|
// | `context` | what promises know in common: which actors live, how each stands with a lock, which have lost a znode |

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

/// Every trial there is, in the order of the reports: right ones, and variants that are known to be wrong.
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
