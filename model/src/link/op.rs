//! What can happen to a client.

use crate::digest::{Digest, digest_of};
use crate::message::{HashedMessage, Post};
use std::sync::Arc;
use zk_api::SessionId;

/// What can happen to a client.
#[derive(Clone, Debug)]
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
    /// A write arrives at the outside resource.
    Arrive { nth: u8, accepted: bool },
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

impl Op {
    /// Its digest.
    pub fn digest(&self) -> Digest {
        let post = |post: &Option<Arc<Post>>| post.as_ref().map(|post| post.digest);
        match self {
            Op::Served { post, eager } => digest_of(1, &(post.digest, *eager)),
            Op::Post(post) => digest_of(2, &post.digest),
            Op::Deliver => 3,
            Op::Point(nth) => digest_of(4, nth),
            Op::Timer(nth) => digest_of(5, nth),
            Op::Arrive { nth, accepted } => digest_of(6, &(nth, accepted)),
            Op::Take(nth) => digest_of(7, nth),
            Op::Expired(last) => digest_of(8, &post(last)),
            Op::Drop { ghosts } => digest_of(9, ghosts),
            Op::GhostServed => 10,
            Op::Reconnected(first) => digest_of(11, &post(first)),
            Op::LearnExpiry => 12,
            Op::Renewed { session, first } => digest_of(30, &(session, post(first))),
            Op::Crash => 13,
            Op::Pause => 14,
            Op::Resume => 15,
            Op::Stands { served } => digest_of(16, served),
            Op::Together(many) => digest_of(17, many),
            Op::Sorted(messages) => {
                let messages: Vec<Digest> = messages.iter().map(|hashed| hashed.digest).collect();
                digest_of(18, &messages)
            }
            Op::Run(task) => digest_of(19, task),
        }
    }
}
