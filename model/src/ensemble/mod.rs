//! Ensemble models: real servers over links that break, in every order of events within bounds.
//!
//! | item | what it is |
//! |---|---|
//! | [`check_ensemble`], [`check_nodes`], [`second_opinion`] | explores an ensemble: by our own search, and by stateright's |
//! | [`EnsembleConfig`], [`EnsembleBounds`] | what to explore, how, and when to give up |
//! | [`Level`], [`Work`], [`Merges`], [`Traces`], [`Tune`] | where it begins, what clients ask for, what is merged |
//! | [`EnsembleModel`], [`ensemble_model`], [`State`], [`Action`] | the state machine, a state, and what can happen in it |
//! | [`Node`], [`Setup`], [`Event`], [`Effect`] | what the model needs of a server: the boundary |
//! | [`PeerNode`], [`ServerNode`] | a bare Zab peer behind it, with an abstract disk; a whole server, with its files |
//! | [`names`], [`Judged`], [`broken`] | the invariants, and those of them that a state breaks |
//!
//! ```
//! use zk_model::Verdict;
//! use zk_model::ensemble::{EnsembleBounds, EnsembleConfig, Level, PeerNode, check_ensemble};
//!
//! let bounds = EnsembleBounds { txns: 1, crashes: 1, elections: 1, ..EnsembleBounds::servers(2) };
//! let config = EnsembleConfig::new(Level::Whole, bounds);
//! let check = check_ensemble::<PeerNode>(&config, &mut |_| ());
//! assert_eq!(check.verdict, Verdict::Holds);
//! assert!(check.promises.iter().any(|promise| promise.name == "Leadership1" && promise.tested > 0));
//! ```
#![doc = include_str!("../../ENSEMBLE.md")]

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `node` | what the model needs of a server: the boundary |
// | `peer_node` | a bare Zab peer behind it, with an abstract disk |
// | `server_node` | a whole server behind it, with the files that it writes |
// | `client`, `work` | the client of whole servers: what it asks for, and what it was told |
// | `whole` | the invariants of whole servers |
// | `config` | bounds, levels, what is merged |
// | `state`, `action` | a state, and what can happen in it, always in the same order |
// | `servers` | what servers do, remembered, and what comes of it |
// | `model` | `EnsembleModel`: the state machine |
// | `network` | links and datagrams |
// | `time` | time, which passes when nothing else can happen |
// | `merge` | steps whose order nobody can tell |
// | `past` | how servers come up, from empty disks or from what a past epoch has left |
// | `starts` | where the levels begin |
// | `competing_leaders` | where two stand for one epoch |
// | `watch` | the invariants, looked at in every state |
// | `search` | breadth-first: shortest counterexamples, honest limits |
// | `progress` | liveness: progress stays possible, and nothing goes round without it for ever |
// | `describe` | steps, for people to read |
// | `stateright` | the same model for stateright's search |

mod action;
mod client;
mod competing_leaders;
mod config;
mod describe;
mod merge;
mod model;
mod network;
mod node;
mod past;
mod peer_node;
mod progress;
mod search;
mod server_node;
mod servers;
mod starts;
mod state;
mod stateright;
mod time;
mod watch;
mod whole;
mod work;

pub use action::Action;
pub use client::{IN_ORDER, NEVER_BACK, WATCH_FIRST};
pub use config::{EnsembleBounds, EnsembleConfig, Level, Merges, Setup, Traces, Tune, Work};
pub use model::EnsembleModel;
pub use node::{Effect, Event, Node};
pub use peer_node::PeerNode;
pub use progress::{NO_FAIR_CYCLE, PROGRESS_POSSIBLE};
pub use search::{BROKEN_WITHOUT, NO_PANIC, PLANTED, check_ensemble, check_nodes};
pub use server_node::ServerNode;
pub use starts::ensemble_model;
pub use state::State;
pub use stateright::second_opinion;
pub use watch::{Invariant, Judged, STANDS_ON_QUORUM, STATES_AGREE, broken, names};
pub use whole::{
    ANSWERED_STANDS, COUNTERS_ASCEND, CRASH_SPOILS_NOTHING, EPHEMERALS_HAVE_SESSIONS, EQUAL_TREES,
    MULTI_IS_ATOMIC, SERVICE_ALLOWS, SESSION_ORDER,
};
