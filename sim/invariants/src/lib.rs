//! Invariants, which hold whatever the recipe.
//!
//! | item | what it is |
//! |---|---|
//! | [`Invariants`] | all invariants of servers and their clients; whoever drives servers tells it what happens |
//! | [`Setup`] | what is known of an ensemble from the beginning |
//! | [`Invariant`] | each of them by name |
//! | [`Report`] | how often each was put to the test, and what was broken |
//!
//! Each sees the same events as every other engine part would, and shares no code with the server. Panics, spinning
//! tasks and exhausted step budgets are detected where tasks and steps are run.
//!
//! A transaction that counts as committed although no disk has synced it:
//!
//! ```
//! use zk_invariants::{Invariant, Invariants, Setup};
//! # use zk_api::{SessionId, Zxid};
//! # use zk_proto::{message::Xid, txn::{Txn, TxnBody}};
//! # let (zxid, session) = (Zxid::new(1, 1), SessionId::new(7));
//! # let txn = Txn { zxid, session, xid: Xid(1), time_ms: 0, body: TxnBody::Delete { path: "/a".into() } };
//!
//! let mut invariants = Invariants::new(Setup::default());
//! invariants.committed(&txn, false);
//! let [(broken, _)] = &invariants.report.broken[..] else { panic!("one is broken") };
//! assert_eq!(*broken, Invariant::AcknowledgedWritesSurvive);
//! assert_eq!(invariants.report.by_name()[broken.name()], 1, "tested once");
//! ```

// The private modules, for whoever works on them:
//
// | file | invariant |
// |---|---|
// | `survive` | acknowledged and synced writes survive every restart |
// | `answers` | every answer is that of the naive reference tree |
// | `atomic` | a multi is applied as a whole or not at all |
// | `real_time` | a write that begins after another was acknowledged comes after it |
// | `zxids` | what a session sees never goes back in time |
// | `fifo` | a session's requests are done and answered in their order |
// | `watches` | an event is sent before any answer that shows the change |
// | `expiry` | a session expires when it was silent for its timeout: no sooner, and not much later |
// | `handshake` | a client that asks for a session gets a new one, or its own if that is still alive |
// | `syncs` | a sync's answer shows what its leader knew when it was asked |
// | `moves` | a session's requests on a new connection are answered after its writes on earlier ones |
// | `ephemerals` | the ephemerals of dead sessions are gone |
// | `invariants` | all of them, what they share about connections, and that what needs nobody is answered at once |
// | `ensemble` | what they share about servers |
// | `report` | their names, and how often each was put to the test |
// | `reference` | a naive tree that executes requests, which the others compare with |
// | `setup` | what is known of an ensemble from the beginning |
// | `trees` | how servers' trees are compared with the reference |
// | `executed` | what was executed, which each server of an ensemble must do in this order |

mod answers;
mod atomic;
mod ensemble;
mod ephemerals;
mod executed;
mod expiry;
mod fifo;
mod handshake;
mod invariants;
mod moves;
mod real_time;
mod reference;
mod report;
mod setup;
mod survive;
mod syncs;
mod trees;
mod watches;
mod zxids;

pub use invariants::Invariants;
pub use report::{Invariant, Report};
pub use setup::Setup;
