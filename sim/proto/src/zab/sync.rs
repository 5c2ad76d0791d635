//! How a learner is brought to the leader's history.

use super::leader::{LeaderPhase, Progress};
use super::message::{LinkId, Packet, Snapshot};
use super::{Out, Output, Peer, Plan, State};
use crate::mutant::Mutant;
use zk_api::Zxid;

impl Peer {
    /// Sends the history to those who wait for it.
    pub(super) fn synchronize_waiting(&mut self, out: Out<'_>) {
        for link in self.leader().learners_in(|phase| matches!(phase, Progress::Promised { .. })) {
            if let Progress::Promised { last } = self.leader().learners[&link].phase {
                self.synchronize(link, last, out);
            }
        }
    }

    /// What a learner is to have. An observer's history is only what stands, so it waits for the epoch to be
    /// established; a follower's is all there is, as its acknowledgement is what makes it stand.
    fn shared_history(&mut self, link: LinkId, out: Out<'_>) -> Option<Zxid> {
        let leader = self.leader();
        let (phase, peer) = (leader.phase, leader.learners[&link].peer);
        if self.config.is_voter(peer) {
            let stands = phase == LeaderPhase::Broadcasting && self.committed < self.history.last();
            if stands && self.deviates(Mutant::SharesOnlyWhatStands, out) {
                return Some(self.committed);
            }
            Some(self.history.last())
        } else {
            (phase == LeaderPhase::Broadcasting).then_some(self.committed)
        }
    }

    /// Sends the history to a learner whose own ends with `last`.
    pub(super) fn synchronize(&mut self, link: LinkId, last: Zxid, out: Out<'_>) {
        let Some(up_to) = self.shared_history(link, out) else { return };
        let plan = self.history.plan(last, self.delivered, self.config.diff_max);
        let (from, packet) = match self.plans_otherwise(plan, out) {
            Plan::Diff { from } => (from, Packet::Diff),
            Plan::Trunc { to } => (to, Packet::Trunc { to }),
            Plan::Snap => {
                self.set_progress(link, Progress::Imaging { last });
                return out.push(Output::NeedSnapshot { link });
            }
        };
        self.send_history(link, packet, from, up_to, out);
    }

    /// The owner's state has come. What was proposed since it was asked follows it.
    pub(super) fn send_snapshot(&mut self, link: LinkId, snapshot: Snapshot, out: Out<'_>) {
        let State::Leading(leader) = &self.state else { return };
        let Some(Progress::Imaging { last }) = leader.learners.get(&link).map(|handler| handler.phase) else {
            return;
        };
        let from = snapshot.zxid;
        if self.history.floor(from) != Some(from) || from <= last {
            // Trimmed away meanwhile, or older than what it is to replace.
            return out.push(Output::NeedSnapshot { link });
        }
        let Some(up_to) = self.shared_history(link, out) else { return };
        self.send_history(link, Packet::Snap(snapshot), from, up_to, out);
    }

    /// The plan, what comes behind it, and the end mark. From now on the learner gets whatever is proposed.
    fn send_history(&mut self, link: LinkId, plan: Packet, from: Zxid, up_to: Zxid, out: Out<'_>) {
        out.push(Output::Send { link, packet: plan });
        for txn in self.history.between(from, up_to) {
            out.push(Output::Send { link, packet: Packet::Proposal(txn.clone()) });
        }
        let (epoch, committed) = (self.leader().epoch, self.committed);
        out.push(Output::Send { link, packet: Packet::NewLeader { epoch, committed } });
        let handler = self.leader().learners.get_mut(&link).expect("the link was just seen");
        handler.phase = Progress::Synchronizing;
        handler.sent = up_to;
        handler.acked = up_to;
        self.proposes_again(link, up_to, out);
    }
}
