//! Leading: an epoch that a quorum has promised to follow, with a history that a quorum has on disk.

use super::leader::{Leader, LeaderPhase, Progress};
use super::message::{LinkId, Packet};
use super::{Note, Out, Output, Peer, Role, State, Violation, Write};
use crate::ids::ServerId;
use crate::mutant::Mutant;
use std::collections::BTreeSet;
use zk_api::Zxid;

impl Peer {
    /// Has decided for itself.
    pub(super) fn lead(&mut self, out: Out<'_>) {
        let accepted_epoch = self.storage.accepted_epoch();
        self.state = State::Leading(Leader::new(self.config.id, accepted_epoch, self.history.last()));
        self.choose_epoch(out);
    }

    /// This peer's part as the leader. Only called while it is one.
    pub(super) fn leader(&mut self) -> &mut Leader {
        match &mut self.state {
            State::Leading(leader) => leader,
            State::Settling | State::Looking(_) | State::Learning(_) => unreachable!("asked while leading"),
        }
    }

    pub(super) fn learner_said(&mut self, link: LinkId, packet: Packet, out: Out<'_>) {
        let handler = self.leader().learners.get_mut(&link).expect("the link was just seen");
        handler.silent = 0;
        let (peer, phase) = (handler.peer, handler.phase);
        let votes = self.config.is_voter(peer);
        let result = match (packet, phase) {
            (Packet::FollowerInfo { accepted_epoch }, Progress::Linked) => {
                self.greeted(link, peer, accepted_epoch, out);
                Ok(())
            }
            (Packet::AckEpoch { current_epoch, last }, Progress::Invited) => {
                self.epoch_acknowledged(link, peer, (current_epoch, last), out);
                Ok(())
            }
            (Packet::FollowerInfo { .. } | Packet::AckEpoch { .. }, _) => Err(Violation::State),
            (Packet::AckNewLeader { epoch }, Progress::Synchronizing) => {
                self.new_leader_acknowledged(link, peer, epoch, out)
            }
            (Packet::Ack { zxid }, Progress::Synced | Progress::Serving) if votes => {
                self.proposal_acknowledged(link, peer, zxid, out)
            }
            (Packet::AckNewLeader { .. } | Packet::Ack { .. }, _) => Err(Violation::Ack),
            (Packet::Ping, _) => Ok(()),
            (
                Packet::LeaderInfo { .. }
                | Packet::Diff
                | Packet::Trunc { .. }
                | Packet::Snap(_)
                | Packet::Proposal(_)
                | Packet::NewLeader { .. }
                | Packet::UpToDate { .. }
                | Packet::Commit { .. }
                | Packet::Inform(_),
                _,
            ) => Err(Violation::Message),
        };
        if let Err(violation) = result {
            self.violated(violation, out);
            self.hang(link, out);
        }
    }

    fn hang(&mut self, link: LinkId, out: Out<'_>) {
        if let State::Leading(leader) = &mut self.state {
            leader.unlinked(link);
            out.push(Output::Hang { link });
        }
    }

    /// A learner has told which epoch it promised to follow.
    fn greeted(&mut self, link: LinkId, peer: ServerId, accepted: u32, out: Out<'_>) {
        let leader = self.leader();
        // It has begun again: a former link of its is dead, though that may not be known here yet.
        let former = leader.learners.iter().find(|(other, handler)| **other != link && handler.peer == peer);
        if let Some(former) = former.map(|(former, _)| *former) {
            self.hang(former, out);
        }
        self.set_progress(link, Progress::Greeted);
        let config = self.config.clone();
        let leader = self.leader();
        match leader.phase {
            LeaderPhase::Gathering => {
                leader.told.insert(peer, accepted);
                self.choose_epoch(out);
            }
            _ if leader.must_give_way(accepted) && !config.deviates(Mutant::DoesNotGiveWay, out) => {
                self.leave(out);
            }
            LeaderPhase::Promising => {}
            LeaderPhase::Discovering | LeaderPhase::Synchronizing | LeaderPhase::Broadcasting => {
                self.invite(link, out)
            }
        }
    }

    pub(super) fn set_progress(&mut self, link: LinkId, phase: Progress) {
        self.leader().learners.get_mut(&link).expect("the link was just seen").phase = phase;
    }

    /// An epoch newer than all that a quorum has promised. It is on this peer's disk before anybody hears of it.
    fn choose_epoch(&mut self, out: Out<'_>) {
        let config = self.config.clone();
        let leader = self.leader();
        if !config.is_quorum(&leader.told.keys().copied().collect()) {
            return;
        }
        let newest = *leader.told.values().max().expect("a leader has told itself");
        // After four thousand million elections there is no safe way on: it waits, and looks again by ticks.
        let Some(epoch) = newest.checked_add(1) else { return };
        leader.epoch = epoch;
        leader.phase = LeaderPhase::Promising;
        self.storage.push(Write::AcceptedEpoch(epoch));
        if self.deviates(Mutant::EpochBeforePromises, out) {
            self.storage.push(Write::CurrentEpoch(epoch));
        }
        if self.deviates(Mutant::InvitesBeforePromising, out) {
            self.invite_all(out);
        }
    }

    /// Has promised itself, and asks the others to.
    fn invite_all(&mut self, out: Out<'_>) {
        let me = self.config.id;
        let leader = self.leader();
        leader.phase = LeaderPhase::Discovering;
        for link in leader.learners_in(|phase| phase == Progress::Greeted) {
            self.invite(link, out);
        }
        self.promised(me, out);
    }

    /// A peer has promised to follow, this one maybe.
    fn promised(&mut self, peer: ServerId, out: Out<'_>) {
        self.leader().promised.insert(peer);
        self.discover(out);
    }

    fn invite(&mut self, link: LinkId, out: Out<'_>) {
        self.set_progress(link, Progress::Invited);
        let epoch = self.leader().epoch;
        out.push(Output::Send { link, packet: Packet::LeaderInfo { epoch } });
    }

    pub(super) fn leader_written(&mut self, write: &Write, out: Out<'_>) {
        let me = self.config.id;
        let durable = self.storage.durable();
        let leader = self.leader();
        match (write, leader.phase) {
            (Write::AcceptedEpoch(_), LeaderPhase::Promising) => self.invite_all(out),
            (Write::CurrentEpoch(_), LeaderPhase::Synchronizing) => {
                leader.synced.insert(me);
                self.establish(out);
            }
            (Write::Append(_), LeaderPhase::Broadcasting) => {
                leader.acknowledge(me, durable);
                self.commit(out);
            }
            (
                Write::AcceptedEpoch(_)
                | Write::CurrentEpoch(_)
                | Write::Append(_)
                | Write::Truncate { .. }
                | Write::Restart(_),
                _,
            ) => {}
        }
    }

    /// A learner follows, and has told its history.
    fn epoch_acknowledged(
        &mut self,
        link: LinkId,
        peer: ServerId,
        (current_epoch, last): (Option<u32>, Zxid),
        out: Out<'_>,
    ) {
        self.set_progress(link, Progress::Promised { last });
        if self.deviates(Mutant::InvitesAgain, out) {
            let epoch = self.leader().epoch;
            out.push(Output::Send { link, packet: Packet::LeaderInfo { epoch } });
        }
        let phase = self.leader().phase;
        if phase >= LeaderPhase::Synchronizing {
            return self.synchronize(link, last, out);
        }
        let (true, Some(current_epoch)) = (self.config.is_voter(peer), current_epoch) else { return };
        if self.is_behind(current_epoch, last) && !self.leads_behind(last, out) {
            // This history may lack what stands. Its owner is the one to lead.
            return self.leave(out);
        }
        self.promised(peer, out);
    }

    /// Whether a follower has more of the history than this peer.
    fn is_behind(&self, current_epoch: u32, last: Zxid) -> bool {
        (current_epoch, last) > (self.storage.current_epoch(), self.history.last())
    }

    /// With a quorum's promises nothing more can stand that this peer does not have: its history is the epoch's.
    fn discover(&mut self, out: Out<'_>) {
        let config = self.config.clone();
        let State::Leading(leader) = &self.state else { return };
        if !config.is_quorum(&leader.promised) && !config.deviates(Mutant::LeadsWithoutPromises, out) {
            return;
        }
        let leader = self.leader();
        leader.phase = LeaderPhase::Synchronizing;
        let epoch = leader.epoch;
        out.push(Output::Note(Note::Promised { epoch }));
        self.storage.push(Write::CurrentEpoch(epoch));
        self.synchronize_waiting(out);
    }

    /// A learner has the history and the epoch on disk.
    fn new_leader_acknowledged(
        &mut self,
        link: LinkId,
        peer: ServerId,
        epoch: u32,
        out: Out<'_>,
    ) -> Result<(), Violation> {
        let votes = self.config.is_voter(peer);
        let committed = self.committed;
        let leader = self.leader();
        if epoch != leader.epoch {
            return Err(Violation::Ack);
        }
        let handler = leader.learners.get_mut(&link).expect("the link was just seen");
        handler.phase = Progress::Synced;
        let acked = handler.acked;
        if votes {
            leader.synced.insert(peer);
            leader.acknowledge(peer, acked);
        }
        if leader.phase == LeaderPhase::Broadcasting {
            self.let_serve(link, committed, out);
            self.commit(out);
        } else {
            self.establish(out);
        }
        Ok(())
    }

    fn let_serve(&mut self, link: LinkId, committed: Zxid, out: Out<'_>) {
        let committed = self.says_otherwise(link, committed, out);
        self.set_progress(link, Progress::Serving);
        out.push(Output::Send { link, packet: Packet::UpToDate { committed } });
    }

    /// With the history on a quorum's disks, this peer's among them, it stands, and the leader serves.
    fn establish(&mut self, out: Out<'_>) {
        let config = self.config.clone();
        let leader = self.leader();
        let is_quorum =
            |out| config.is_quorum(&leader.synced) || config.deviates(Mutant::EstablishesAlone, out);
        if !leader.synced.contains(&config.id) || !is_quorum(out) {
            return;
        }
        leader.phase = LeaderPhase::Broadcasting;
        let (epoch, initial) = (leader.epoch, leader.initial);
        let synced = leader.learners_in(|phase| phase == Progress::Synced);
        let committed = self.committed.max(initial);
        self.committed = committed;
        out.push(Output::Note(Note::Established { epoch }));
        self.deliver(out);
        self.become_role(Role::Leading { epoch }, out);
        for link in synced {
            self.let_serve(link, committed, out);
        }
        self.synchronize_waiting(out);
    }

    /// Time passes: who is silent for too long is given up, and so is leading without a quorum.
    pub(super) fn tick_leader(&mut self, out: Out<'_>) {
        let config = self.config.clone();
        let leader = self.leader();
        leader.waited += u32::from(leader.phase != LeaderPhase::Broadcasting);
        let mut silent = Vec::new();
        let mut serving = BTreeSet::from([config.id]);
        for (link, handler) in &mut leader.learners {
            handler.silent += 1;
            let serves = handler.phase == Progress::Serving;
            let limit = if serves { config.sync_limit_ticks } else { config.init_limit_ticks };
            if handler.silent > limit {
                silent.push(*link);
                continue;
            }
            serving.extend(serves.then_some(handler.peer));
            if handler.phase.is_forwarded() {
                out.push(Output::Send { link: *link, packet: Packet::Ping });
            }
        }
        let in_time = leader.waited <= config.init_limit_ticks;
        let keeps =
            if leader.phase == LeaderPhase::Broadcasting { config.is_quorum(&serving) } else { in_time };
        silent.into_iter().for_each(|link| self.hang(link, out));
        if keeps { self.set_tick(out) } else { self.leave(out) }
    }
}

#[cfg(test)]
mod tests;
