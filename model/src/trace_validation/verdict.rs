//! What comes of a validation, and what may be taken from `Service` first.

use std::fmt;
use strum::VariantArray;

/// A `Service` that allows less than it should. The check must find that out, or it finds out nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray)]
pub enum Restriction {
    /// Every view is up to date.
    NoLag,
    /// A connection is lost only when all that took effect on it was answered.
    AnswersNeverLost,
    /// A session expires only when all that it asked was answered.
    NoExpiryBeforeAnswer,
    /// Every sync brings a view up to date. As recipe models have it unless they are told otherwise.
    NoStaleSyncs,
    /// A client is told that its session is dead only when it is, or will be by what is on its way. As recipe models
    /// have it unless they are told otherwise.
    NoFalseExpiries,
    /// A client that comes back sees at least what it saw when its connection was lost.
    ViewsNeverGoBack,
    /// It sees at least what was behind the answers that were lost with its connection.
    LostAnswersBind,
    /// Every server knows at once that a session is over.
    EndsAreKnownAtOnce,
    /// A new connection's watches come to its server with the news of the connection.
    WatchesComeAtOnce,
}

impl Restriction {
    /// All of them.
    pub const ALL: &[Restriction] = Restriction::VARIANTS;
}

/// What an accepted record had in it: a check of nothing is no check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Answers compared.
    pub answers: usize,
    /// Events compared.
    pub events: usize,
    /// Requests that took effect.
    pub writes: usize,
    /// Of these, on a connection that their client knew to be lost.
    pub late_writes: usize,
    /// Connections lost.
    pub losses: usize,
    /// Sessions expired.
    pub expiries: usize,
    /// Sessions that lived when their clients were told that they were dead.
    pub false_expiries: usize,
    /// The same where that is not allowed, and the end was on its way.
    pub early_ends: usize,
    /// Connections of which a client learned when its session was over, where no server may take it for alive any more.
    pub early_connects: usize,
    /// Connections to a server that took a session for alive which was over.
    pub connected_after_the_end: usize,
    /// Reads that such a server answered.
    pub served_after_the_end: usize,
    /// Lost connections with which a view went back.
    pub went_back: usize,
    /// Watches that came to a server which had gone on since their client was connected.
    pub registered_late: usize,
    /// Reads of a view that lagged.
    pub stale_reads: usize,
    /// Reads of a view that was further than the server that answered them, without a difference.
    pub ahead: usize,
}

/// What `Service` did not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Which step of the record, from 0.
    pub step: usize,
    /// In which way.
    pub why: Why,
    /// What the client saw, and what it would have seen.
    pub what: String,
}

/// Why a record is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// An answer is another one.
    DifferentAnswer,
    /// An event is another one, or one is missing before it or before an answer.
    DifferentEvent,
    /// A read of a view that is behind what `Service` has already shown or done for this client.
    ViewGoesBack,
    /// A session is over, and its client is still served.
    ServedAfterTheEnd,
    /// A session is over, and its client is connected again.
    ConnectedAfterTheEnd,
    /// A client learns that its session is dead, and it lives.
    ExpiryThatWasNot,
    /// A request takes effect, and an earlier one of the same connection does not.
    OvertakenRequest,
    /// A request takes effect where none can any more.
    LateRequest,
    /// An answer is lost: in a restricted `Service` alone.
    LostAnswer,
    /// A session expires before an answer: in a restricted `Service` alone.
    ExpiryBeforeAnswer,
    /// The record contradicts itself, or has something in it that no model has.
    Record,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at step {}: {}", self.why, self.step, self.what)
    }
}
