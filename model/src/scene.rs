//! The steps of a counterexample as data, for whoever draws them.

use zk_api::{ErrorCode, Request, Response, Text};
use zk_harness::event::{ActorId, Event};

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Whose step it is; `None` is an administrator's.
    pub process: Option<u8>,
    /// What kind of step it is.
    pub does: Does,
    /// The znodes it is about.
    pub paths: Vec<Text>,
    /// What the promises saw of it, in order.
    pub events: Vec<Event>,
    /// The request that is served.
    pub served: Option<Served>,
    /// How many answers reach it.
    pub hears: usize,
    /// Whether all that was on its way to it is lost.
    pub loses: bool,
}

/// A request that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Who asked.
    pub actor: ActorId,
    /// For what.
    pub request: Request,
    /// The answer, if it goes on its way now, and is not there already.
    pub answer: Option<Result<Response, ErrorCode>>,
    /// Whether nobody will hear of it: the connection by which it came is lost.
    pub is_ghost: bool,
}

/// What kind of step it is. Steps are counted from 1; what was under way at the start was sent in step 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Its request, sent in this step, is served.
    Asks { sent: u32 },
    /// What the ensemble sent in this step reaches it.
    Hears { sent: u32, watch: bool },
    /// Its write reaches what is outside.
    Writes,
    /// A fault strikes it.
    Suffers,
    /// Anything else.
    Moves,
}
