//! All that the author of a trial writes against.
//!
//! ```
//! use zk_harness::prelude::*;
//! use zk_harness::promises::NoFailure;
//!
//! async fn ring(_: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
//!     for _ in 0..role.rounds {
//!         probe.observe(Observation::note(Word::own("rings"), "/bell", 1));
//!         probe.work().await;
//!     }
//!     End::Done
//! }
//! let trial = Trial::new("bell", ring).setup(["/bell"]).promises(|| vec![Box::new(NoFailure)]);
//! assert_eq!(trial.held_to().len(), 6, "its own promise, and the five other standard ones");
//! ```

pub use crate::common::{AnyProbe, AnyZooKeeper};
pub use crate::event::{ActorId, End, Event, GroundTruth, Observation, Resource};
pub use crate::probe::Probe;
pub use crate::promise::{AnyPromise, Assumption, Finding, Promise, Rest, Terms, Violation};
pub use crate::trial::{About, Bounds, Breaks, FoundBy, Reductions, Role, Trial};
pub use crate::words::{self, Word};
