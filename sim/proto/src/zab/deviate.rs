//! What planted bugs do, each at its place in the peer's code. Without one everything here does nothing.
//!
//! `deviates` leaves the mark, so it is asked last, where the answer makes a difference.

use super::learner::Phase;
use super::message::{LinkId, Packet};
use super::{Out, Output, Peer, Plan, State, Violation, Write};
use crate::mutant::Mutant;
use crate::txn::Txn;
use std::sync::Arc;
use zk_api::Zxid;

/// What any peer does.
impl Peer {
    /// As [`PeerConfig::deviates`].
    pub(super) fn deviates(&self, mutant: Mutant, out: Out<'_>) -> bool {
        self.config.deviates(mutant, out)
    }

    /// Whether it does not even look for a leader.
    pub(super) fn refuses(&self, out: Out<'_>) -> bool {
        let is_between = self.history.last().epoch() > self.storage.current_epoch();
        is_between && self.deviates(Mutant::RefusesToStart, out)
    }

    /// Turns away from a leader, or from leading, and forgets what is in memory alone, or what is not.
    pub(super) fn leaves_otherwise(&mut self, out: Out<'_>) {
        let Some(mutant) = self.config.planted() else { return };
        if mutant == Mutant::MemoryOutlivesElection {
            let applied = match &self.state {
                State::Leading(leader) => leader.initial,
                State::Learning(learner) if learner.is_synced() => learner.synced,
                State::Learning(_) | State::Looking(_) | State::Settling => self.history.last(),
            };
            let kept = applied.max(self.delivered);
            if kept < self.history.last() {
                self.deviates(mutant, out);
                self.history.truncate(kept);
            }
        }
        for write in self.storage.take_held() {
            if self.deviates(Mutant::SnapshotInMemory, out) {
                self.storage.pretend(&write);
                if let Write::Restart(snapshot) = write {
                    self.restore(snapshot, out);
                }
            } else if let Write::Append(txns) = write
                && let Some(before) = self.history.before(txns[0].zxid)
            {
                // Was to be written later, and nobody will.
                self.history.truncate(before);
            }
        }
    }

    /// Whether a peer without a leader does something else than wait for its writes and look.
    pub(super) fn settles_otherwise(&mut self, out: Out<'_>) -> bool {
        let Some(mutant) = self.config.planted() else { return false };
        let (is_idle, durable) = (self.storage.is_idle(), self.storage.durable());
        match mutant {
            Mutant::ObserverStays => !self.config.votes() && self.deviates(mutant, out),
            Mutant::QueueOutlivesElection if !is_idle && self.history.floor(durable) == Some(durable) => {
                self.deviates(mutant, out);
                self.history.truncate(durable);
                self.look(out);
                true
            }
            Mutant::VotesBeforeSettled if !is_idle => {
                self.deviates(mutant, out);
                self.look(out);
                true
            }
            Mutant::MemoryOutlivesElection if is_idle => {
                self.storage.overlook(self.history.last());
                false
            }
            _ => false,
        }
    }

    /// Whether this peer has delivered in its own way.
    pub(super) fn delivers_otherwise(&mut self, up_to: Zxid, out: Out<'_>) -> bool {
        let Some(mutant) = self.config.planted() else { return false };
        let serves = matches!(&self.state, State::Learning(learner) if learner.phase == Phase::Serving);
        let known = self.committed.min(self.history.last());
        let durable = self.storage.durable().min(self.history.last());
        let due = self.history.between(self.delivered, up_to).to_vec();
        match mutant {
            Mutant::DeliversBeforeWritten if known > up_to.max(self.delivered) => {
                self.deviates(mutant, out);
                self.deliver_up_to(known, out);
            }
            Mutant::DeliversUncommitted if serves && durable > up_to.max(self.delivered) => {
                self.deviates(mutant, out);
                self.deliver_up_to(durable, out);
            }
            Mutant::DeliversBackwards if due.len() > 1 => {
                self.deviates(mutant, out);
                out.extend(due.into_iter().rev().map(Output::Deliver));
                self.delivered = up_to;
            }
            Mutant::StampsDeliveries if serves && !due.is_empty() => {
                self.deviates(mutant, out);
                let stamped = |txn: &Arc<Txn>| Arc::new(Txn { time_ms: txn.time_ms + 1, ..(**txn).clone() });
                out.extend(due.iter().map(|txn| Output::Deliver(stamped(txn))));
                self.delivered = up_to;
            }
            _ => return false,
        }
        true
    }
}

/// What a learner does.
impl Peer {
    /// Whether something else became of the leader's state.
    pub(super) fn starts_over_otherwise(&mut self, write: &Write, out: Out<'_>) -> bool {
        match self.config.planted() {
            Some(Mutant::SnapshotInMemory) => {
                self.storage.hold(write.clone());
                true
            }
            Some(Mutant::LogGoesBeforeSnapshot) if !self.history.log().is_empty() => {
                self.deviates(Mutant::LogGoesBeforeSnapshot, out);
                self.storage.push(Write::Truncate { to: self.history.base() });
                false
            }
            Some(_) | None => false,
        }
    }

    /// Whether something else became of a part of the history, or of a proposal.
    pub(super) fn logs_otherwise(&mut self, write: &Write, out: Out<'_>) -> bool {
        let Some(mutant) = self.config.planted() else { return false };
        let phase = self.learner().phase;
        let is_held = match mutant {
            Mutant::EpochBeforeHistory
            | Mutant::AcknowledgeAfterEpoch
            | Mutant::PullRequest1848
            | Mutant::PullRequest1930
            | Mutant::PullRequest1993 => phase == Phase::Synchronizing,
            Mutant::HistoryAtUpToDate => phase < Phase::Serving,
            Mutant::SnapshotInMemory => self.storage.holds(),
            _ => false,
        };
        if is_held {
            if mutant == Mutant::HistoryAtUpToDate && phase >= Phase::Persisting {
                self.deviates(mutant, out);
            }
            self.storage.hold(write.clone());
            return true;
        }
        match mutant {
            Mutant::UnloggedBeforeUpToDate => {
                matches!(phase, Phase::Persisting | Phase::Acknowledged) && self.deviates(mutant, out)
            }
            Mutant::HoleInLog => {
                phase == Phase::Serving && !self.storage.is_idle() && self.deviates(mutant, out)
            }
            Mutant::AcknowledgesBeforeWritten if phase == Phase::Serving && self.config.votes() => {
                self.deviates(mutant, out);
                self.storage.push(write.clone());
                let zxid = self.history.last();
                self.learner().acked = zxid;
                self.send_leader(Packet::Ack { zxid }, out);
                true
            }
            _ => false,
        }
    }

    /// Whether the history and the epoch go to the disk in another order, or are acknowledged out of it.
    pub(super) fn persists_otherwise(&mut self, out: Out<'_>) -> bool {
        let Some(mutant) = self.config.planted() else { return false };
        let learner = self.learner();
        let (epoch, synced, told) = (Write::CurrentEpoch(learner.epoch()), learner.synced, learner.told);
        let holds = self.storage.holds();
        match mutant {
            Mutant::AcknowledgeBeforeHistory if self.storage.durable() < synced => {
                self.deviates(mutant, out);
                self.storage.push(epoch);
                self.acknowledge_new_leader(out);
            }
            Mutant::EpochBeforeHistory
            | Mutant::AcknowledgeAfterEpoch
            | Mutant::PullRequest1848
            | Mutant::PullRequest1993
                if holds =>
            {
                self.deviates(mutant, out);
                self.storage.push(epoch);
                self.storage.release(|_| true);
                if mutant == Mutant::PullRequest1848 {
                    self.committed = self.committed.max(synced);
                }
            }
            Mutant::PullRequest1930 if holds => {
                let stands = |write: &Write| matches!(write, Write::Append(txns) if txns[0].zxid <= told);
                self.storage.release(stands);
                self.storage.push(epoch);
                if self.storage.holds() {
                    self.deviates(mutant, out);
                }
                self.storage.release(|_| true);
            }
            Mutant::HistoryAtUpToDate if holds => {
                self.deviates(mutant, out);
                self.storage.push(epoch);
            }
            Mutant::EpochAtUpToDate => {
                self.deviates(mutant, out);
                if self.storage.is_idle() {
                    self.acknowledge_new_leader(out);
                }
            }
            Mutant::SnapshotInMemory => {
                self.storage.release(|_| true);
                return false;
            }
            Mutant::Canary => {
                self.deviates(mutant, out);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// Whether a learner makes something else of what is on disk now.
    pub(super) fn acknowledges_otherwise(&mut self, write: &Write, out: Out<'_>) -> bool {
        let Some(mutant) = self.config.planted() else { return false };
        let learner = self.learner();
        let (phase, epoch, synced, acked) = (learner.phase, learner.epoch(), learner.synced, learner.acked);
        let durable = self.storage.durable();
        match mutant {
            Mutant::EpochBeforeHistory | Mutant::PullRequest1848 | Mutant::PullRequest1993
                if phase == Phase::Persisting =>
            {
                if durable >= synced && self.storage.current_epoch() == epoch {
                    self.acknowledge_new_leader(out);
                }
                true
            }
            Mutant::EpochAtUpToDate if phase == Phase::Persisting => {
                if self.storage.is_idle() {
                    self.acknowledge_new_leader(out);
                }
                true
            }
            Mutant::AcknowledgesHistoryPiecemeal => {
                let is_history = matches!(phase, Phase::Synchronizing | Phase::Persisting);
                let is_more = matches!(write, Write::Append(_)) && durable > acked && self.config.votes();
                if is_history && is_more && self.deviates(mutant, out) {
                    self.learner().acked = durable;
                    self.send_leader(Packet::Ack { zxid: durable }, out);
                }
                false
            }
            _ => false,
        }
    }

    /// What else a learner makes of a commit.
    pub(super) fn told_otherwise(&mut self, zxid: Zxid, out: Out<'_>) -> Option<Result<(), Violation>> {
        let mutant = self.config.planted()?;
        let (phase, synced) = (self.learner().phase, self.learner().synced);
        match mutant {
            Mutant::CommitWithoutPacket | Mutant::PullRequest1993 | Mutant::PullRequest2111
                if phase < Phase::Serving && zxid <= synced =>
            {
                self.deviates(mutant, out);
                Some(Err(Violation::Commit))
            }
            Mutant::ServesBeforeUpToDate if phase == Phase::Acknowledged => {
                self.deviates(mutant, out);
                Some(self.serve(zxid, out))
            }
            _ => None,
        }
    }

    /// What else a learner does as it begins to serve.
    pub(super) fn serves_otherwise(&mut self, out: Out<'_>) {
        let Some(mutant) = self.config.planted() else { return };
        match mutant {
            Mutant::HistoryAtUpToDate => self.storage.release(|_| true),
            Mutant::EpochAtUpToDate => {
                let epoch = self.learner().epoch();
                self.storage.push(Write::CurrentEpoch(epoch));
            }
            Mutant::PullRequest2111 if self.committed > self.storage.durable() => {
                self.deviates(mutant, out);
                self.deliver_up_to(self.committed, out);
            }
            _ => {}
        }
    }
}

/// What a leader does.
impl Peer {
    /// Whether it leads though a follower has more of the history, which ends with `last`.
    pub(super) fn leads_behind(&self, last: Zxid, out: Out<'_>) -> bool {
        let by_zxid = last <= self.history.last() && self.deviates(Mutant::VotesWithoutEpoch, out);
        by_zxid || self.deviates(Mutant::LeadsBehind, out)
    }

    /// What a learner is told to stand as it may serve.
    pub(super) fn says_otherwise(&mut self, link: LinkId, committed: Zxid, out: Out<'_>) -> Zxid {
        let (acked, last) = (self.leader().learners[&link].acked, self.history.last());
        if acked < committed && self.deviates(Mutant::UpToDateIsOld, out) {
            acked
        } else if last > committed && self.deviates(Mutant::UpToDateSaysAll, out) {
            last
        } else {
            committed
        }
    }

    /// How a learner is to catch up.
    pub(super) fn plans_otherwise(&self, plan: Plan, out: Out<'_>) -> Plan {
        match plan {
            Plan::Trunc { to } => match self.history.before(to) {
                Some(before) if self.deviates(Mutant::CutsTooMuch, out) => Plan::Trunc { to: before },
                Some(_) | None => plan,
            },
            Plan::Diff { .. } | Plan::Snap => plan,
        }
    }

    /// Sends what is in flight once more, behind a history that has it.
    pub(super) fn proposes_again(&mut self, link: LinkId, up_to: Zxid, out: Out<'_>) {
        let in_flight = self.history.between(self.committed, up_to).to_vec();
        let peer = self.leader().learners[&link].peer;
        if self.config.is_voter(peer) {
            for txn in in_flight {
                if self.deviates(Mutant::ProposesTwice, out) {
                    out.push(Output::Send { link, packet: Packet::Proposal(txn) });
                }
            }
        }
    }

    /// Leaves the mark of a zxid that is not of this leader's epoch.
    pub(super) fn marks_overflow(&mut self, zxid: Zxid, out: Out<'_>) {
        if zxid.epoch() != self.leader().epoch {
            self.deviates(Mutant::CounterOverflows, out);
        }
    }
}
