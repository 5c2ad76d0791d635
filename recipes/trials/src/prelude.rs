//! All that the author of a trial writes against.

pub use crate::common::{AnyProbe, AnyZooKeeper};
pub use crate::event::{ActorId, End, Event, GroundTruth, Observation, Resource};
pub use crate::probe::Probe;
pub use crate::promise::{AnyPromise, Assumption, Finding, Promise, Rest, Terms, Violation};
pub use crate::trial::{About, Bounds, Breaks, FoundBy, Reductions, Role, Trial};
pub use crate::words::{self, Word};
