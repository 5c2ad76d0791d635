//! Following or observing: promise to follow, catch up, acknowledge, deliver.

use super::learner::{Learner, Phase};
use super::message::{LinkId, Packet, Snapshot};
use super::{Note, Out, Output, Peer, Role, State, Violation, Write};
use crate::ids::ServerId;
use crate::mutant::Mutant;
use crate::txn::Txn;
use std::sync::Arc;
use zk_api::Zxid;

impl Peer {
    /// Has decided for another: asks for a link.
    pub(super) fn join(&mut self, leader: ServerId, out: Out<'_>) {
        self.state = State::Learning(Learner::new(leader));
        out.push(Output::Dial { to: leader });
    }

    /// This peer's part as a learner. Only called while it is one.
    pub(super) fn learner(&mut self) -> &mut Learner {
        match &mut self.state {
            State::Learning(learner) => learner,
            State::Settling | State::Looking(_) | State::Leading(_) => unreachable!("asked while learning"),
        }
    }

    pub(super) fn send_leader(&mut self, packet: Packet, out: Out<'_>) {
        let link = self.learner().link.expect("a learner that got a packet has a link");
        out.push(Output::Send { link, packet });
    }

    /// The link is there.
    pub(super) fn greet(&mut self, link: LinkId, out: Out<'_>) {
        let learner = self.learner();
        learner.link = Some(link);
        learner.phase = Phase::Greeting;
        let accepted_epoch = self.storage.accepted_epoch();
        self.send_leader(Packet::FollowerInfo { accepted_epoch }, out);
    }

    /// The link is gone. Before the leader said anything it may only be too early: it has not decided yet.
    pub(super) fn lost_leader(&mut self, out: Out<'_>) {
        let learner = self.learner();
        learner.link = None;
        match learner.phase {
            Phase::Dialling | Phase::Greeting => learner.phase = Phase::Dialling,
            Phase::Promising
            | Phase::Promised
            | Phase::Synchronizing
            | Phase::Persisting
            | Phase::Acknowledged
            | Phase::Serving => self.leave(out),
        }
    }

    pub(super) fn tick_learner(&mut self, out: Out<'_>) {
        let (init_limit, sync_limit) = (self.config.init_limit_ticks, self.config.sync_limit_ticks);
        let learner = self.learner();
        learner.waited += 1;
        let limit = if learner.phase == Phase::Serving { sync_limit } else { init_limit };
        if learner.waited > limit {
            return self.leave(out);
        }
        if learner.phase == Phase::Dialling {
            let to = learner.leader;
            out.push(Output::Dial { to });
        }
        self.set_tick(out);
    }

    pub(super) fn leader_said(&mut self, packet: Packet, out: Out<'_>) {
        let phase = self.learner().phase;
        if phase == Phase::Serving {
            self.learner().waited = 0;
        }
        let votes = self.config.votes();
        let accepts = phase >= Phase::Persisting;
        let result = match packet {
            Packet::LeaderInfo { epoch } if phase == Phase::Greeting => self.promise(epoch, out),
            Packet::Diff if phase == Phase::Promised => self.follow_plan(),
            Packet::Trunc { to } if phase == Phase::Promised => self.cut(to, out),
            Packet::Snap(snapshot) if phase == Phase::Promised => self.start_over(snapshot, out),
            Packet::LeaderInfo { .. } | Packet::Diff | Packet::Trunc { .. } | Packet::Snap(_) => {
                Err(Violation::State)
            }
            Packet::Proposal(txn) if phase == Phase::Synchronizing => self.log(txn, out),
            Packet::Proposal(txn) if accepts && votes => self.log(txn, out),
            Packet::NewLeader { epoch, committed } if phase == Phase::Synchronizing => {
                self.persist(epoch, committed, out)
            }
            Packet::UpToDate { committed } if phase == Phase::Acknowledged => self.serve(committed, out),
            Packet::Commit { zxid } if accepts && votes => self.told(zxid, out),
            Packet::Inform(txn) if accepts && !votes => self.inform(txn, out),
            Packet::Ping => {
                self.send_leader(Packet::Ping, out);
                Ok(())
            }
            Packet::Proposal(_)
            | Packet::NewLeader { .. }
            | Packet::UpToDate { .. }
            | Packet::Commit { .. }
            | Packet::Inform(_)
            | Packet::FollowerInfo { .. }
            | Packet::AckEpoch { .. }
            | Packet::AckNewLeader { .. }
            | Packet::Ack { .. } => Err(Violation::Message),
        };
        if let Err(violation) = result {
            self.violated(violation, out);
            self.leave(out);
        }
        self.deliver(out);
    }

    /// Promises to follow in this epoch and in none before it. A promise is on disk before it is given, and
    /// one that was given before does not count again: it may have been given to another.
    fn promise(&mut self, epoch: u32, out: Out<'_>) -> Result<(), Violation> {
        let accepted = self.storage.accepted_epoch();
        if epoch < accepted {
            // It was told of the newer promise, and should have given way.
            return Err(Violation::State);
        }
        self.learner().epoch = epoch;
        if epoch == accepted {
            let counts = self.deviates(Mutant::PromiseCountsTwice, out);
            self.acknowledge_epoch(counts.then(|| self.storage.current_epoch()), out);
        } else if self.deviates(Mutant::PromiseInMemory, out) {
            self.storage.pretend(&Write::AcceptedEpoch(epoch));
            self.acknowledge_epoch(Some(self.storage.current_epoch()), out);
        } else {
            self.learner().phase = Phase::Promising;
            self.storage.push(Write::AcceptedEpoch(epoch));
        }
        Ok(())
    }

    fn acknowledge_epoch(&mut self, current_epoch: Option<u32>, out: Out<'_>) {
        self.learner().phase = Phase::Promised;
        let last = self.history.last();
        self.send_leader(Packet::AckEpoch { current_epoch, last }, out);
    }

    fn follow_plan(&mut self) -> Result<(), Violation> {
        self.learner().phase = Phase::Synchronizing;
        Ok(())
    }

    /// Cuts what the leader does not have. What stands is never cut, whoever asks.
    fn cut(&mut self, to: Zxid, out: Out<'_>) -> Result<(), Violation> {
        if self.history.floor(to) != Some(to) || to < self.committed {
            return Err(Violation::Proposal);
        }
        if to < self.history.last() && self.deviates(Mutant::DoesNotCut, out) {
            return self.follow_plan();
        }
        let lost = self.history.truncate(to);
        self.storage.push(Write::Truncate { to });
        out.push(Output::Note(Note::Cut(lost)));
        self.follow_plan()
    }

    /// Takes the leader's state for its own, as soon as it is on disk.
    fn start_over(&mut self, snapshot: Snapshot, out: Out<'_>) -> Result<(), Violation> {
        if snapshot.zxid <= self.history.last() {
            return Err(Violation::Proposal);
        }
        let write = Write::Restart(snapshot.clone());
        if !self.starts_over_otherwise(&write, out) {
            self.storage.push(write);
        }
        self.history.restart_at(snapshot.zxid);
        self.follow_plan()
    }

    /// Logs a part of the history, or a proposal.
    fn log(&mut self, txn: Arc<Txn>, out: Out<'_>) -> Result<(), Violation> {
        if !self.history.goes_on_with(txn.zxid) {
            return Err(Violation::Proposal);
        }
        self.history.append(txn.clone());
        let write = Write::Append(vec![txn]);
        if !self.logs_otherwise(&write, out) {
            self.storage.push(write);
        }
        Ok(())
    }

    /// The history is complete: it goes to the disk first, then the epoch, and then it is acknowledged. All of
    /// the history was given to the same queue before. Any other order has lost what stood: ZOOKEEPER-4643 wrote
    /// the epoch first, 4646 acknowledged first, 3911 logged the history only when it served.
    fn persist(&mut self, epoch: u32, committed: Zxid, out: Out<'_>) -> Result<(), Violation> {
        let synced = self.history.last();
        let learner = self.learner();
        if epoch != learner.epoch {
            return Err(Violation::Message);
        }
        learner.phase = Phase::Persisting;
        learner.synced = synced;
        learner.told = committed;
        if !self.persists_otherwise(out) {
            self.storage.push(Write::CurrentEpoch(epoch));
        }
        Ok(())
    }

    pub(super) fn learner_written(&mut self, write: &Write, out: Out<'_>) {
        if self.acknowledges_otherwise(write, out) {
            return;
        }
        let phase = self.learner().phase;
        match write {
            Write::AcceptedEpoch(_) if phase == Phase::Promising => {
                self.acknowledge_epoch(Some(self.storage.current_epoch()), out);
            }
            Write::CurrentEpoch(_) if phase == Phase::Persisting => self.acknowledge_new_leader(out),
            Write::Append(_) if phase >= Phase::Acknowledged => self.acknowledge_proposals(out),
            Write::Append(_)
            | Write::Truncate { .. }
            | Write::Restart(_)
            | Write::AcceptedEpoch(_)
            | Write::CurrentEpoch(_) => {}
        }
    }

    pub(super) fn acknowledge_new_leader(&mut self, out: Out<'_>) {
        let learner = self.learner();
        learner.phase = Phase::Acknowledged;
        learner.acked = learner.synced;
        let epoch = learner.epoch;
        self.send_leader(Packet::AckNewLeader { epoch }, out);
    }

    /// Acknowledges what is on disk behind the history. Never before that is acknowledged itself: the leader
    /// could not place it (ZOOKEEPER-4685).
    fn acknowledge_proposals(&mut self, out: Out<'_>) {
        let zxid = self.storage.durable();
        let votes = self.config.votes();
        let learner = self.learner();
        if votes && zxid > learner.acked {
            learner.acked = zxid;
            self.send_leader(Packet::Ack { zxid }, out);
        }
    }

    /// A proposal stands. Commits come in order, one for each; only what is from before the epoch was committed
    /// all at once, so it is no gap. Before `UpToDate` a commit is only kept: it may be of what came before
    /// `NewLeader` (ZOOKEEPER-4394).
    fn told(&mut self, zxid: Zxid, out: Out<'_>) -> Result<(), Violation> {
        if let Some(result) = self.told_otherwise(zxid, out) {
            return result;
        }
        let before = self.history.before(zxid);
        let committed = self.committed;
        let learner = self.learner();
        let comes_next = |before: Zxid| before <= learner.told || before.epoch() < learner.epoch;
        if zxid <= learner.told || !before.is_some_and(comes_next) {
            return Err(Violation::Commit);
        }
        learner.told = zxid;
        if learner.phase == Phase::Serving {
            self.committed = committed.max(zxid);
        }
        Ok(())
    }

    /// An observer learns what stands already.
    fn inform(&mut self, txn: Arc<Txn>, out: Out<'_>) -> Result<(), Violation> {
        let zxid = txn.zxid;
        self.log(txn, out)?;
        self.told(zxid, out)
    }

    /// A quorum has the leader's history.
    pub(super) fn serve(&mut self, committed: Zxid, out: Out<'_>) -> Result<(), Violation> {
        let is_logged = self.history.floor(committed) == Some(committed);
        let votes = self.config.votes();
        let learner = self.learner();
        if !is_logged || committed < learner.told {
            return Err(Violation::Commit);
        }
        learner.told = committed;
        learner.phase = Phase::Serving;
        learner.waited = 0;
        let (leader, epoch) = (learner.leader, learner.epoch);
        self.committed = self.committed.max(committed);
        self.serves_otherwise(out);
        self.deliver(out);
        let role = if votes { Role::Following { leader, epoch } } else { Role::Observing { leader, epoch } };
        self.become_role(role, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
