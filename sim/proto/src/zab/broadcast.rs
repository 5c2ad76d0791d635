//! Proposals, acknowledgements, commits.

use super::leader::{Flight, LeaderPhase, Progress};
use super::message::{LinkId, Packet};
use super::{Draft, Note, Out, Output, Peer, State, Violation, Write};
use crate::ids::ServerId;
use crate::mutant::Mutant;
use crate::txn::Txn;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::Zxid;

impl Peer {
    /// The zxid that the next proposal would get; `None` unless this peer may propose.
    pub fn next_zxid(&self) -> Option<Zxid> {
        match &self.state {
            State::Leading(leader) if leader.phase == LeaderPhase::Broadcasting => {
                leader.next_zxid(self.history.last(), &self.config)
            }
            State::Leading(_) | State::Settling | State::Looking(_) | State::Learning(_) => None,
        }
    }

    /// Whether this peer leads an established epoch whose counter is not at its end.
    pub fn may_propose(&self) -> bool {
        self.next_zxid().is_some()
    }

    /// Gives a transaction its place in the order and sends it to everybody's disk.
    pub(super) fn propose(&mut self, draft: Draft, out: Out<'_>) {
        let Some(zxid) = self.next_zxid() else { return };
        let Draft { session, xid, time_ms, body } = draft;
        let txn = Arc::new(Txn { zxid, session, xid, time_ms, body });
        self.marks_overflow(zxid, out);
        self.history.append(txn.clone());
        self.storage.push(Write::Append(vec![txn.clone()]));
        out.push(Output::Note(Note::Proposed(txn.clone())));
        let config = self.config.clone();
        let leader = self.leader();
        leader.in_flight.push_back(Flight { txn: txn.clone(), acks: BTreeSet::new() });
        for (link, handler) in &mut leader.learners {
            if handler.phase.is_forwarded() && config.is_voter(handler.peer) {
                if handler.phase == Progress::Synchronizing
                    && config.deviates(Mutant::ProposesToAcknowledged, out)
                {
                    continue;
                }
                handler.sent = zxid;
                out.push(Output::Send { link: *link, packet: Packet::Proposal(txn.clone()) });
            }
        }
    }

    /// A follower has everything up to `zxid` on its disk.
    pub(super) fn proposal_acknowledged(
        &mut self,
        link: LinkId,
        peer: ServerId,
        zxid: Zxid,
        out: Out<'_>,
    ) -> Result<(), Violation> {
        // What is trimmed away stood, and can be told from nothing any more.
        let is_logged = self.history.floor(zxid).is_none_or(|logged| logged == zxid);
        let leader = self.leader();
        let handler = leader.learners.get_mut(&link).expect("the link was just seen");
        if !is_logged || zxid <= handler.acked || zxid > handler.sent {
            return Err(Violation::Ack);
        }
        handler.acked = zxid;
        leader.acknowledge(peer, zxid);
        self.commit(out);
        Ok(())
    }

    /// Commits what a quorum has, and tells the learners.
    pub(super) fn commit(&mut self, out: Out<'_>) {
        let config = self.config.clone();
        let leader = self.leader();
        let mut committed = Vec::new();
        while let Some(txn) = leader.next_committed(&config, out) {
            let zxid = txn.zxid;
            out.push(Output::Note(Note::Committed(txn.clone())));
            for (link, handler) in &mut leader.learners {
                if handler.phase.is_forwarded() {
                    let packet = if config.is_voter(handler.peer) {
                        Packet::Commit { zxid }
                    } else {
                        handler.sent = zxid;
                        Packet::Inform(txn.clone())
                    };
                    out.push(Output::Send { link: *link, packet });
                }
            }
            committed.push(zxid);
        }
        if let Some(last) = committed.last() {
            self.committed = self.committed.max(*last);
        }
        self.deliver(out);
        self.end_worn_out_epoch(out);
    }

    /// The counter is at its end, and everything proposed stands: the next epoch counts from one again
    /// (ZOOKEEPER-1277).
    fn end_worn_out_epoch(&mut self, out: Out<'_>) {
        let is_worn_out = !self.may_propose();
        if is_worn_out && self.leader().in_flight.is_empty() {
            self.leave(out);
        }
    }
}
