//! What a peer knows that follows or observes.

use super::message::LinkId;
use crate::ids::ServerId;
use zk_api::Zxid;

/// A peer that has decided for another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Learner {
    pub(super) leader: ServerId,
    /// The link that is used; none while it is dialled.
    pub(super) link: Option<LinkId>,
    pub(super) phase: Phase,
    /// The leader's, from `LeaderInfo` on.
    pub(super) epoch: u32,
    /// The end of the leader's history as it was when `NewLeader` came.
    pub(super) synced: Zxid,
    /// Everything up to here stands, as the leader said; believed from `UpToDate` on.
    pub(super) told: Zxid,
    /// The last acknowledged. acked <= durable
    pub(super) acked: Zxid,
    /// Ticks since the decision, or since anything was heard once it serves.
    pub(super) waited: u32,
}

/// How far a learner has come. Each waits for one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Phase {
    /// For a link.
    Dialling,
    /// For `LeaderInfo`.
    Greeting,
    /// For its promise to be on disk.
    Promising,
    /// For the plan by which it catches up.
    Promised,
    /// For the rest of the history, up to `NewLeader`.
    Synchronizing,
    /// For the history and then the epoch to be on disk.
    Persisting,
    /// For `UpToDate`.
    Acknowledged,
    /// For whatever comes.
    Serving,
}
