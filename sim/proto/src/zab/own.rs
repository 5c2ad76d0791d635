//! What a peer has whatever it is doing: its history, its disk, what stands, and for whom it is; and what may come of
//! what it does.

use super::config::PeerConfig;
use super::event::{Note, Out, Output, Role, Timer, Violation};
use super::history::History;
use super::message::{Notification, Snapshot, Stand, Vote};
use super::storage::Storage;
use crate::ids::ServerId;
use crate::mutant::Mutant;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::Zxid;

/// What a peer has whatever it is doing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Own {
    pub(super) config: Arc<PeerConfig>,
    pub(super) history: History,
    pub(super) storage: Storage,
    /// Everything up to here is known to stand. Only grows.
    pub(super) committed: Zxid,
    /// Everything up to here was delivered, or is in the state the owner started from or restored.
    /// delivered <= committed, delivered <= durable
    pub(super) delivered: Zxid,
    /// The round of elections. Not kept over a restart: who begins again is told.
    pub(super) round: u64,
    /// For whom this peer is; `None` for an observer that looks for a leader.
    pub(super) vote: Option<Vote>,
    /// What the owner was told last.
    pub(super) role: Role,
    pub(super) violations: BTreeSet<Violation>,
}

/// What comes of something that happened, for the peer as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Next {
    /// It goes on.
    GoesOn,
    /// It has decided for this leader, maybe itself.
    Decides { leader: ServerId },
    /// It has its leader's history, or a quorum has its own: it may serve.
    Serves(Role),
    /// A leader has looked which of its proposals a quorum has, and there may have been none.
    Commits,
    /// It turns away from its leader, or gives leading up.
    Leaves,
}

impl Own {
    /// As [`PeerConfig::deviates`].
    pub(super) fn deviates(&self, mutant: Mutant, out: Out<'_>) -> bool {
        self.config.deviates(mutant, out)
    }

    /// A candidate's claim is what it would find after a crash.
    pub(super) fn claim(&self) -> Option<Vote> {
        let vote =
            Vote { epoch: self.storage.current_epoch(), zxid: self.history.last(), leader: self.config.id };
        self.config.votes().then_some(vote)
    }

    /// Says for whom this peer is.
    pub(super) fn notify(&self, to: ServerId, stand: Stand, out: Out<'_>) {
        let notification = Notification { round: self.round, vote: self.vote, stand };
        out.push(Output::Notify { to, notification });
    }

    /// Says so to all who vote.
    pub(super) fn notify_all(&self, stand: Stand, out: Out<'_>) {
        self.config.other_voters().for_each(|to| self.notify(to, stand, out));
    }

    pub(super) fn set_tick(&self, out: Out<'_>) {
        out.push(Output::SetTimer { timer: Timer::Tick, after_ms: self.config.tick_ms });
    }

    /// A snapshot of the leader's is on disk.
    pub(super) fn restore(&mut self, snapshot: Snapshot, out: Out<'_>) {
        self.committed = self.committed.max(snapshot.zxid);
        self.delivered = snapshot.zxid;
        out.push(Output::Restore(snapshot));
    }

    /// An owner's snapshot must never show what its own log may still lose.
    pub(super) fn deliverable(&self) -> Zxid {
        self.committed.min(self.storage.durable())
    }

    pub(super) fn deliver_up_to(&mut self, up_to: Zxid, out: Out<'_>) {
        for txn in self.history.between(self.delivered, up_to) {
            self.delivered = txn.zxid;
            out.push(Output::Deliver(txn.clone()));
        }
    }

    pub(super) fn become_role(&mut self, role: Role, out: Out<'_>) {
        if self.role != role {
            self.role = role;
            out.push(Output::Role(role));
        }
    }

    pub(super) fn violated(&mut self, violation: Violation, out: Out<'_>) {
        self.violations.insert(violation);
        out.push(Output::Note(Note::Violated(violation)));
    }
}
