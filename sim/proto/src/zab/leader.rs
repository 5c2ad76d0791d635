//! What a peer knows that leads.

use super::message::LinkId;
use crate::ids::ServerId;
use crate::txn::Txn;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use zk_api::Zxid;

/// A peer that has decided for itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leader {
    pub(super) phase: LeaderPhase,
    /// Its epoch, once that is chosen.
    pub(super) epoch: u32,
    /// There was no number left in its epoch once, whatever is set since.
    pub(super) is_worn: bool,
    /// The end of the history it begins with.
    pub(super) initial: Zxid,
    /// Ticks since the decision, until the epoch is established.
    pub(super) waited: u32,
    /// The newest epochs that were promised, as told by those who want to learn; counted until one is chosen.
    pub(super) told: BTreeMap<ServerId, u32>,
    /// Who has promised to follow in this epoch. Stays true when they are gone.
    pub(super) promised: BTreeSet<ServerId>,
    /// Who has the history and the epoch on disk. Likewise.
    pub(super) synced: BTreeSet<ServerId>,
    /// What is proposed and not committed, in order.
    pub(super) in_flight: VecDeque<Flight>,
    pub(super) learners: BTreeMap<LinkId, Handler>,
}

/// How far a leader has come. Each waits for a quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LeaderPhase {
    /// That tells which epochs it has promised.
    Gathering,
    /// For its own promise to be on disk.
    Promising,
    /// That promises.
    Discovering,
    /// That has the history on disk.
    Synchronizing,
    /// That has each proposal on disk.
    Broadcasting,
}

/// What a leader knows of a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Handler {
    pub(super) peer: ServerId,
    pub(super) phase: Progress,
    /// The last transaction sent to it.
    pub(super) sent: Zxid,
    /// The last it has acknowledged, or has had on disk with its history. acked <= sent
    pub(super) acked: Zxid,
    /// Ticks since anything was heard.
    pub(super) silent: u32,
}

/// How far a learner has come, as its leader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Progress {
    /// It is linked and has said nothing.
    Linked,
    /// It has told what it had promised; the epoch is not chosen, or not on this peer's disk.
    Greeted,
    /// It was told the epoch.
    Invited,
    /// It follows, and its history ends here. It waits for a quorum to promise.
    Promised { last: Zxid },
    /// The owner was asked for a snapshot for it.
    Imaging { last: Zxid },
    /// The history was sent to it, and whatever is proposed from now on is.
    Synchronizing,
    /// It has the history on disk; the quorum is still missing.
    Synced,
    /// It serves.
    Serving,
}

impl Progress {
    /// Whether it gets what is proposed and committed.
    pub(super) fn is_forwarded(self) -> bool {
        match self {
            Progress::Synchronizing | Progress::Synced | Progress::Serving => true,
            Progress::Linked
            | Progress::Greeted
            | Progress::Invited
            | Progress::Promised { .. }
            | Progress::Imaging { .. } => false,
        }
    }
}

/// A transaction that is proposed, and who has it on disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flight {
    pub(super) txn: Arc<Txn>,
    pub(super) acks: BTreeSet<ServerId>,
}
