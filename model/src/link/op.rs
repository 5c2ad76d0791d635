//! What can happen to a client.

use crate::message::{HashedMessage, Post};
use std::sync::Arc;
use zk_api::SessionId;

/// What can happen to a client.
#[derive(Clone, Debug, Hash)]
pub enum Op {
    /// Its next request was served, and this is sent to it.
    Served { post: Arc<Post>, eager: bool },
    /// This is sent to it.
    Post(Arc<Post>),
    /// The next message reaches it.
    Deliver,
    /// The next messages are these, with their lists in another order.
    Sorted(Vec<Arc<HashedMessage>>),
    /// A scheduling point passes.
    Point(u8),
    /// A timer fires.
    Timer(u8),
    /// A write arrives at the outside resource, and its answer now or later.
    Arrive { nth: u8, accepted: bool, later: bool },
    /// It learns of a write that arrived.
    Take(u8),
    /// Its session has ended; this is what was sent last.
    Expired(Option<Arc<Post>>),
    /// The connection is lost; so many of its writes are still in flight.
    Drop { ghosts: u8 },
    /// The first request of the lost connection was served.
    GhostServed,
    /// It is connected again, and this is sent to it.
    Reconnected(Option<Arc<Post>>),
    /// It is told that its session is dead.
    LearnExpiry,
    /// It is connected with a new session, its first or a later one, and this is sent to it.
    Renewed { session: SessionId, first: Option<Arc<Post>> },
    /// Its server, or the next one, takes its session for alive, or no longer.
    Stands { served: bool },
    /// It crashes.
    Crash,
    /// It is paused.
    Pause,
    /// It goes on.
    Resume,
    /// The next messages, so many, reach it before its code looks at any of them.
    Together(u8),
    /// Of its tasks, the one of this number runs.
    Run(u8),
}
