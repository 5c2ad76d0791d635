//! Following or observing: promise to follow, catch up, acknowledge, deliver.

use super::deviate;
use super::event::{Note, Out, Output, Role, Violation, Write};
use super::learner::{Learner, Phase};
use super::message::{LinkId, Packet, Snapshot};
use super::own::{Next, Own};
use crate::ids::ServerId;
use crate::mutant::Mutant;
use crate::txn::Txn;
use std::sync::Arc;
use zk_api::Zxid;

impl Learner {
    /// Has decided for another: asks for a link.
    pub(super) fn join(leader: ServerId, out: Out<'_>) -> Learner {
        out.push(Output::Dial { to: leader });
        Learner {
            leader,
            link: None,
            phase: Phase::Dialling,
            epoch: 0,
            synced: Zxid::ZERO,
            told: Zxid::ZERO,
            acked: Zxid::ZERO,
            waited: 0,
        }
    }

    /// One that has its leader's history.
    #[cfg(test)]
    pub(super) fn serving(leader: ServerId, epoch: u32) -> Learner {
        Learner { phase: Phase::Serving, epoch, ..Learner::join(leader, &mut Vec::new()) }
    }

    pub(super) fn has(&self, link: LinkId) -> bool {
        self.link == Some(link)
    }

    pub(super) fn wants_link(&self, peer: ServerId) -> bool {
        self.link.is_none() && self.leader == peer
    }

    /// Whether its history is the leader's, as far as it was told.
    pub(super) fn is_synced(&self) -> bool {
        self.phase >= Phase::Persisting
    }

    pub(super) fn send(&self, packet: Packet, out: Out<'_>) {
        let link = self.link.expect("a learner that got a packet has a link");
        out.push(Output::Send { link, packet });
    }

    /// The link is there.
    pub(super) fn greet(&mut self, own: &Own, link: LinkId, out: Out<'_>) {
        self.link = Some(link);
        self.phase = Phase::Greeting;
        let accepted_epoch = own.storage.accepted_epoch();
        self.send(Packet::FollowerInfo { accepted_epoch }, out);
    }

    /// The link is gone. Before the leader said anything it may only be too early: it has not decided yet.
    pub(super) fn unlinked(&mut self) -> Next {
        self.link = None;
        match self.phase {
            Phase::Dialling | Phase::Greeting => {
                self.phase = Phase::Dialling;
                Next::GoesOn
            }
            Phase::Promising
            | Phase::Promised
            | Phase::Synchronizing
            | Phase::Persisting
            | Phase::Acknowledged
            | Phase::Serving => Next::Leaves,
        }
    }

    /// Time passes: a leader that is silent for too long is given up.
    pub(super) fn tick(&mut self, own: &Own, out: Out<'_>) -> Next {
        self.waited += 1;
        let serves = self.phase == Phase::Serving;
        let limit = if serves { own.config.sync_limit_ticks } else { own.config.init_limit_ticks };
        if self.waited > limit {
            return Next::Leaves;
        }
        if self.phase == Phase::Dialling {
            out.push(Output::Dial { to: self.leader });
        }
        own.set_tick(out);
        Next::GoesOn
    }

    /// Its leader has said something.
    pub(super) fn hear(&mut self, own: &mut Own, packet: Packet, out: Out<'_>) -> Next {
        let phase = self.phase;
        if phase == Phase::Serving {
            self.waited = 0;
        }
        let votes = own.config.votes();
        let accepts = phase >= Phase::Persisting;
        let goes_on = |result: Result<(), Violation>| result.map(|()| Next::GoesOn);
        let result = match packet {
            Packet::LeaderInfo { epoch } if phase == Phase::Greeting => {
                goes_on(self.promise(own, epoch, out))
            }
            Packet::Diff if phase == Phase::Promised => goes_on(self.follow_plan()),
            Packet::Trunc { to } if phase == Phase::Promised => goes_on(self.cut(own, to, out)),
            Packet::Snap(snapshot) if phase == Phase::Promised => {
                goes_on(self.start_over(own, snapshot, out))
            }
            Packet::LeaderInfo { .. } | Packet::Diff | Packet::Trunc { .. } | Packet::Snap(_) => {
                Err(Violation::State)
            }
            Packet::Proposal(txn) if phase == Phase::Synchronizing => goes_on(self.log(own, txn, out)),
            Packet::Proposal(txn) if accepts && votes => goes_on(self.log(own, txn, out)),
            Packet::NewLeader { epoch, committed } if phase == Phase::Synchronizing => {
                goes_on(self.persist(own, epoch, committed, out))
            }
            Packet::UpToDate { committed } if phase == Phase::Acknowledged => self.serve(own, committed, out),
            Packet::Commit { zxid } if accepts && votes => self.told(own, zxid, out),
            Packet::Inform(txn) if accepts && !votes => self.inform(own, txn, out),
            Packet::Ping => {
                self.send(Packet::Ping, out);
                Ok(Next::GoesOn)
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
        result.unwrap_or_else(|violation| {
            own.violated(violation, out);
            Next::Leaves
        })
    }

    /// Promises to follow in this epoch and in none before it. A promise is on disk before it is given, and
    /// one that was given before does not count again: it may have been given to another.
    fn promise(&mut self, own: &mut Own, epoch: u32, out: Out<'_>) -> Result<(), Violation> {
        let accepted = own.storage.accepted_epoch();
        if epoch < accepted {
            // It was told of the newer promise, and should have given way.
            return Err(Violation::State);
        }
        self.epoch = epoch;
        if epoch == accepted {
            let counts = own.deviates(Mutant::PromiseCountsTwice, out);
            self.acknowledge_epoch(own, counts.then(|| own.storage.current_epoch()), out);
        } else if own.deviates(Mutant::PromiseInMemory, out) {
            own.storage.pretend(&Write::AcceptedEpoch(epoch));
            self.acknowledge_epoch(own, Some(own.storage.current_epoch()), out);
        } else {
            self.phase = Phase::Promising;
            own.storage.push(Write::AcceptedEpoch(epoch));
        }
        Ok(())
    }

    fn acknowledge_epoch(&mut self, own: &Own, current_epoch: Option<u32>, out: Out<'_>) {
        self.phase = Phase::Promised;
        let last = own.history.last();
        self.send(Packet::AckEpoch { current_epoch, last }, out);
    }

    fn follow_plan(&mut self) -> Result<(), Violation> {
        self.phase = Phase::Synchronizing;
        Ok(())
    }

    /// Cuts what the leader does not have. What stands is never cut, whoever asks.
    fn cut(&mut self, own: &mut Own, to: Zxid, out: Out<'_>) -> Result<(), Violation> {
        if own.history.floor(to) != Some(to) || to < own.committed {
            return Err(Violation::Proposal);
        }
        if to < own.history.last() && own.deviates(Mutant::DoesNotCut, out) {
            return self.follow_plan();
        }
        let lost = own.history.truncate(to);
        own.storage.push(Write::Truncate { to });
        out.push(Output::Note(Note::Cut(lost)));
        self.follow_plan()
    }

    /// Takes the leader's state for its own, as soon as it is on disk.
    fn start_over(&mut self, own: &mut Own, snapshot: Snapshot, out: Out<'_>) -> Result<(), Violation> {
        if snapshot.zxid <= own.history.last() {
            return Err(Violation::Proposal);
        }
        let write = Write::Restart(snapshot.clone());
        if !deviate::starts_over_otherwise(own, &write, out) {
            own.storage.push(write);
        }
        own.history.restart_at(snapshot.zxid);
        self.follow_plan()
    }

    /// Logs a part of the history, or a proposal.
    fn log(&mut self, own: &mut Own, txn: Arc<Txn>, out: Out<'_>) -> Result<(), Violation> {
        if !own.history.goes_on_with(txn.zxid) {
            return Err(Violation::Proposal);
        }
        own.history.append(txn.clone());
        let write = Write::Append(vec![txn]);
        if !deviate::logs_otherwise(self, own, &write, out) {
            own.storage.push(write);
        }
        Ok(())
    }

    /// The history is complete: it goes to the disk first, then the epoch, and then it is acknowledged. All of
    /// the history was given to the same queue before. Any other order has lost what stood: ZOOKEEPER-4643 wrote
    /// the epoch first, 4646 acknowledged first, 3911 logged the history only when it served.
    fn persist(&mut self, own: &mut Own, epoch: u32, committed: Zxid, out: Out<'_>) -> Result<(), Violation> {
        if epoch != self.epoch {
            return Err(Violation::Message);
        }
        self.phase = Phase::Persisting;
        self.synced = own.history.last();
        self.told = committed;
        if !deviate::persists_otherwise(self, own, out) {
            own.storage.push(Write::CurrentEpoch(epoch));
        }
        Ok(())
    }

    /// Something is on disk.
    pub(super) fn written(&mut self, own: &mut Own, write: &Write, out: Out<'_>) {
        if deviate::acknowledges_otherwise(self, own, write, out) {
            return;
        }
        match write {
            Write::AcceptedEpoch(_) if self.phase == Phase::Promising => {
                self.acknowledge_epoch(own, Some(own.storage.current_epoch()), out);
            }
            Write::CurrentEpoch(_) if self.phase == Phase::Persisting => self.acknowledge_new_leader(out),
            Write::Append(_) if self.phase >= Phase::Acknowledged => self.acknowledge_proposals(own, out),
            Write::Append(_)
            | Write::Truncate { .. }
            | Write::Restart(_)
            | Write::AcceptedEpoch(_)
            | Write::CurrentEpoch(_) => {}
        }
    }

    pub(super) fn acknowledge_new_leader(&mut self, out: Out<'_>) {
        self.phase = Phase::Acknowledged;
        self.acked = self.synced;
        self.send(Packet::AckNewLeader { epoch: self.epoch }, out);
    }

    /// Acknowledges what is on disk behind the history. Never before that is acknowledged itself: the leader
    /// could not place it (ZOOKEEPER-4685).
    fn acknowledge_proposals(&mut self, own: &Own, out: Out<'_>) {
        let zxid = own.storage.durable();
        if own.config.votes() && zxid > self.acked {
            self.acked = zxid;
            self.send(Packet::Ack { zxid }, out);
        }
    }

    /// A proposal stands. Commits come in order, one for each; only what is from before the epoch was committed
    /// all at once, so it is no gap. Before `UpToDate` a commit is only kept: it may be of what came before
    /// `NewLeader` (ZOOKEEPER-4394).
    fn told(&mut self, own: &mut Own, zxid: Zxid, out: Out<'_>) -> Result<Next, Violation> {
        if let Some(said) = deviate::told_otherwise(self, own, zxid, out) {
            return said;
        }
        let comes_next = |before: Zxid| before <= self.told || before.epoch() < self.epoch;
        if zxid <= self.told || !own.history.before(zxid).is_some_and(comes_next) {
            return Err(Violation::Commit);
        }
        self.told = zxid;
        if self.phase == Phase::Serving {
            own.committed = own.committed.max(zxid);
        }
        Ok(Next::GoesOn)
    }

    /// An observer learns what stands already.
    fn inform(&mut self, own: &mut Own, txn: Arc<Txn>, out: Out<'_>) -> Result<Next, Violation> {
        let zxid = txn.zxid;
        self.log(own, txn, out)?;
        self.told(own, zxid, out)
    }

    /// A quorum has the leader's history.
    pub(super) fn serve(&mut self, own: &mut Own, committed: Zxid, out: Out<'_>) -> Result<Next, Violation> {
        let is_logged = own.history.floor(committed) == Some(committed);
        if !is_logged || committed < self.told {
            return Err(Violation::Commit);
        }
        self.told = committed;
        self.phase = Phase::Serving;
        self.waited = 0;
        own.committed = own.committed.max(committed);
        deviate::serves_otherwise(self, own, out);
        let (leader, epoch) = (self.leader, self.epoch);
        let follows = own.config.votes();
        Ok(Next::Serves(if follows {
            Role::Following { leader, epoch }
        } else {
            Role::Observing { leader, epoch }
        }))
    }
}

#[cfg(test)]
mod tests;
