//! Leading: an epoch that a quorum has promised to follow, with a history that a quorum has on disk; then proposals,
//! acknowledgements, commits.

use super::config::PeerConfig;
use super::deviate::{self, rolls_over};
use super::event::{Draft, Note, Out, Output, Role, Violation, Write};
use super::history::Plan;
use super::leader::{Flight, Handler, Leader, LeaderPhase, Progress};
use super::message::{LinkId, Packet, Snapshot};
use super::own::{Next, Own};
use crate::ids::ServerId;
use crate::mutant::Mutant;
use crate::txn::Txn;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use zk_api::Zxid;

impl Leader {
    /// Has decided for itself. Nothing is known yet but its own promise.
    pub(super) fn lead(own: &mut Own, out: Out<'_>) -> Leader {
        let mut leader = Leader {
            phase: LeaderPhase::Gathering,
            epoch: 0,
            is_worn: false,
            initial: own.history.last(),
            waited: 0,
            told: BTreeMap::from([(own.config.id, own.storage.accepted_epoch())]),
            promised: BTreeSet::new(),
            synced: BTreeSet::new(),
            in_flight: VecDeque::new(),
            learners: BTreeMap::new(),
        };
        leader.choose_epoch(own, out);
        leader
    }

    pub(super) fn has(&self, link: LinkId) -> bool {
        self.learners.contains_key(&link)
    }

    pub(super) fn linked(&mut self, link: LinkId, peer: ServerId) {
        let (sent, acked) = (Zxid::ZERO, Zxid::ZERO);
        self.learners.insert(link, Handler { peer, phase: Progress::Linked, sent, acked, silent: 0 });
    }

    pub(super) fn unlinked(&mut self, link: LinkId) {
        self.learners.remove(&link);
    }

    fn hang(&mut self, link: LinkId, out: Out<'_>) {
        self.unlinked(link);
        out.push(Output::Hang { link });
    }

    fn handler(&mut self, link: LinkId) -> &mut Handler {
        self.learners.get_mut(&link).expect("the link was just seen")
    }

    fn set_progress(&mut self, link: LinkId, phase: Progress) {
        self.handler(link).phase = phase;
    }

    /// The links whose learners are in such a phase.
    fn learners_in(&self, wanted: impl Fn(Progress) -> bool) -> Vec<LinkId> {
        self.learners.iter().filter(|(_, handler)| wanted(handler.phase)).map(|(link, _)| *link).collect()
    }

    /// The links from learners that serve.
    pub(super) fn serving(&self) -> impl Iterator<Item = (LinkId, ServerId)> {
        let serving = self.learners.iter().filter(|(_, handler)| handler.phase == Progress::Serving);
        serving.map(|(link, handler)| (*link, handler.peer))
    }

    /// A learner has said something.
    pub(super) fn hear(&mut self, own: &mut Own, link: LinkId, packet: Packet, out: Out<'_>) -> Next {
        let handler = self.handler(link);
        handler.silent = 0;
        let (peer, phase) = (handler.peer, handler.phase);
        let votes = own.config.is_voter(peer);
        let result = match (packet, phase) {
            (Packet::FollowerInfo { accepted_epoch }, Progress::Linked) => {
                Ok(self.greeted(own, link, accepted_epoch, out))
            }
            (Packet::AckEpoch { current_epoch, last }, Progress::Invited) => {
                Ok(self.epoch_acknowledged(own, link, (current_epoch, last), out))
            }
            (Packet::FollowerInfo { .. } | Packet::AckEpoch { .. }, _) => Err(Violation::State),
            (Packet::AckNewLeader { epoch }, Progress::Synchronizing) => {
                self.new_leader_acknowledged(own, link, epoch, out)
            }
            (Packet::Ack { zxid }, Progress::Synced | Progress::Serving) if votes => {
                self.proposal_acknowledged(own, link, zxid, out)
            }
            (Packet::AckNewLeader { .. } | Packet::Ack { .. }, _) => Err(Violation::Ack),
            (Packet::Ping, _) => Ok(Next::GoesOn),
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
        result.unwrap_or_else(|violation| {
            own.violated(violation, out);
            self.hang(link, out);
            Next::GoesOn
        })
    }

    /// A learner has told which epoch it promised to follow.
    fn greeted(&mut self, own: &mut Own, link: LinkId, accepted: u32, out: Out<'_>) -> Next {
        let peer = self.handler(link).peer;
        // It has begun again: a former link of its is dead, though that may not be known here yet.
        let former = self.learners.iter().find(|(other, handler)| **other != link && handler.peer == peer);
        if let Some(former) = former.map(|(former, _)| *former) {
            self.hang(former, out);
        }
        self.set_progress(link, Progress::Greeted);
        match self.phase {
            LeaderPhase::Gathering => {
                self.told.insert(peer, accepted);
                self.choose_epoch(own, out);
            }
            _ if self.must_give_way(accepted) && !own.deviates(Mutant::DoesNotGiveWay, out) => {
                return Next::Leaves;
            }
            LeaderPhase::Promising => {}
            LeaderPhase::Discovering | LeaderPhase::Synchronizing | LeaderPhase::Broadcasting => {
                self.invite(link, out);
            }
        }
        Next::GoesOn
    }

    /// A learner that has promised to follow a later leader, which came to nothing, could never follow this one.
    /// It would be left out until this epoch ends; so it ends now.
    fn must_give_way(&self, accepted: u32) -> bool {
        accepted > self.epoch
    }

    /// Something is on this peer's disk.
    pub(super) fn written(&mut self, own: &mut Own, write: &Write, out: Out<'_>) -> Next {
        match (write, self.phase) {
            (Write::AcceptedEpoch(_), LeaderPhase::Promising) => {
                self.invite_all(own, out);
                Next::GoesOn
            }
            (Write::CurrentEpoch(_), LeaderPhase::Synchronizing) => {
                self.synced.insert(own.config.id);
                self.establish(own, out)
            }
            (Write::Append(_), LeaderPhase::Broadcasting) => {
                self.acknowledge(own.config.id, own.storage.durable());
                self.commit(own, out)
            }
            (
                Write::AcceptedEpoch(_)
                | Write::CurrentEpoch(_)
                | Write::Append(_)
                | Write::Truncate { .. }
                | Write::Restart(_),
                _,
            ) => Next::GoesOn,
        }
    }

    /// Time passes: who is silent for too long is given up, and so is leading without a quorum.
    pub(super) fn tick(&mut self, own: &Own, out: Out<'_>) -> Next {
        let config = &own.config;
        self.waited += u32::from(self.phase != LeaderPhase::Broadcasting);
        let mut silent = Vec::new();
        let mut serving = BTreeSet::from([config.id]);
        for (link, handler) in &mut self.learners {
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
        let in_time = self.waited <= config.init_limit_ticks;
        let keeps =
            if self.phase == LeaderPhase::Broadcasting { config.is_quorum(&serving) } else { in_time };
        silent.into_iter().for_each(|link| self.hang(link, out));
        if !keeps {
            return Next::Leaves;
        }
        own.set_tick(out);
        Next::GoesOn
    }

    /// An epoch newer than all that a quorum has promised. It is on this peer's disk before anybody hears of it.
    fn choose_epoch(&mut self, own: &mut Own, out: Out<'_>) {
        if !own.config.is_quorum(&self.told.keys().copied().collect()) {
            return;
        }
        let newest = *self.told.values().max().expect("a leader has told itself");
        // After four thousand million elections there is no safe way on: it waits, and looks again by ticks.
        let Some(epoch) = newest.checked_add(1) else { return };
        self.epoch = epoch;
        self.phase = LeaderPhase::Promising;
        own.storage.push(Write::AcceptedEpoch(epoch));
        if own.deviates(Mutant::EpochBeforePromises, out) {
            own.storage.push(Write::CurrentEpoch(epoch));
        }
        if own.deviates(Mutant::InvitesBeforePromising, out) {
            self.invite_all(own, out);
        }
    }

    /// Has promised itself, and asks the others to.
    fn invite_all(&mut self, own: &mut Own, out: Out<'_>) {
        self.phase = LeaderPhase::Discovering;
        for link in self.learners_in(|phase| phase == Progress::Greeted) {
            self.invite(link, out);
        }
        self.promised(own, own.config.id, out);
    }

    fn invite(&mut self, link: LinkId, out: Out<'_>) {
        self.set_progress(link, Progress::Invited);
        out.push(Output::Send { link, packet: Packet::LeaderInfo { epoch: self.epoch } });
    }

    /// A learner follows, and has told its history.
    fn epoch_acknowledged(
        &mut self,
        own: &mut Own,
        link: LinkId,
        (current_epoch, last): (Option<u32>, Zxid),
        out: Out<'_>,
    ) -> Next {
        let peer = self.handler(link).peer;
        self.set_progress(link, Progress::Promised { last });
        if own.deviates(Mutant::InvitesAgain, out) {
            out.push(Output::Send { link, packet: Packet::LeaderInfo { epoch: self.epoch } });
        }
        if self.phase >= LeaderPhase::Synchronizing {
            self.synchronize(own, link, last, out);
            return Next::GoesOn;
        }
        let (true, Some(current_epoch)) = (own.config.is_voter(peer), current_epoch) else {
            return Next::GoesOn;
        };
        // Whether the follower has more of the history than this peer.
        let is_behind = (current_epoch, last) > (own.storage.current_epoch(), own.history.last());
        if is_behind && !deviate::leads_behind(own, last, out) {
            // This history may lack what stands. Its owner is the one to lead.
            return Next::Leaves;
        }
        self.promised(own, peer, out);
        Next::GoesOn
    }

    /// A peer has promised to follow, this one maybe. With a quorum's promises nothing more can stand that this peer
    /// does not have: its history is the epoch's.
    fn promised(&mut self, own: &mut Own, peer: ServerId, out: Out<'_>) {
        self.promised.insert(peer);
        if !own.config.is_quorum(&self.promised) && !own.deviates(Mutant::LeadsWithoutPromises, out) {
            return;
        }
        self.phase = LeaderPhase::Synchronizing;
        out.push(Output::Note(Note::Promised { epoch: self.epoch }));
        own.storage.push(Write::CurrentEpoch(self.epoch));
        self.synchronize_waiting(own, out);
    }

    /// A learner has the history and the epoch on disk.
    fn new_leader_acknowledged(
        &mut self,
        own: &mut Own,
        link: LinkId,
        epoch: u32,
        out: Out<'_>,
    ) -> Result<Next, Violation> {
        if epoch != self.epoch {
            return Err(Violation::Ack);
        }
        let handler = self.handler(link);
        handler.phase = Progress::Synced;
        let (peer, acked) = (handler.peer, handler.acked);
        if own.config.is_voter(peer) {
            self.synced.insert(peer);
            self.acknowledge(peer, acked);
        }
        if self.phase == LeaderPhase::Broadcasting {
            self.let_serve(own, link, out);
            Ok(self.commit(own, out))
        } else {
            Ok(self.establish(own, out))
        }
    }

    fn let_serve(&mut self, own: &Own, link: LinkId, out: Out<'_>) {
        let committed = deviate::says_otherwise(self, own, link, out);
        self.set_progress(link, Progress::Serving);
        out.push(Output::Send { link, packet: Packet::UpToDate { committed } });
    }

    /// With the history on a quorum's disks, this peer's among them, it stands, and the leader serves.
    fn establish(&mut self, own: &mut Own, out: Out<'_>) -> Next {
        let is_on_quorum =
            |out| own.config.is_quorum(&self.synced) || own.config.deviates(Mutant::EstablishesAlone, out);
        if !self.synced.contains(&own.config.id) || !is_on_quorum(out) {
            return Next::GoesOn;
        }
        self.phase = LeaderPhase::Broadcasting;
        own.committed = own.committed.max(self.initial);
        let epoch = self.epoch;
        out.push(Output::Note(Note::Established { epoch }));
        Next::Serves(Role::Leading { epoch })
    }

    /// It serves, and so may its learners.
    pub(super) fn let_all_serve(&mut self, own: &Own, out: Out<'_>) {
        for link in self.learners_in(|phase| phase == Progress::Synced) {
            self.let_serve(own, link, out);
        }
        self.synchronize_waiting(own, out);
    }

    /// Sends the history to those who wait for it.
    fn synchronize_waiting(&mut self, own: &Own, out: Out<'_>) {
        for link in self.learners_in(|phase| matches!(phase, Progress::Promised { .. })) {
            if let Progress::Promised { last } = self.handler(link).phase {
                self.synchronize(own, link, last, out);
            }
        }
    }

    /// What a learner is to have. An observer's history is only what stands, so it waits for the epoch to be
    /// established; a follower's is all there is, as its acknowledgement is what makes it stand.
    fn shared_history(&self, own: &Own, link: LinkId, out: Out<'_>) -> Option<Zxid> {
        let is_established = self.phase == LeaderPhase::Broadcasting;
        if !own.config.is_voter(self.learners[&link].peer) {
            return is_established.then_some(own.committed);
        }
        let stands = is_established && own.committed < own.history.last();
        let shares_less = stands && own.deviates(Mutant::SharesOnlyWhatStands, out);
        Some(if shares_less { own.committed } else { own.history.last() })
    }

    /// Sends the history to a learner whose own ends with `last`.
    fn synchronize(&mut self, own: &Own, link: LinkId, last: Zxid, out: Out<'_>) {
        let Some(up_to) = self.shared_history(own, link, out) else { return };
        let plan = own.history.plan(last, own.delivered, own.config.diff_max);
        let (from, packet) = match deviate::plans_otherwise(own, plan, out) {
            Plan::Diff { from } => (from, Packet::Diff),
            Plan::Trunc { to } => (to, Packet::Trunc { to }),
            Plan::Snap => {
                self.set_progress(link, Progress::Imaging { last });
                return out.push(Output::NeedSnapshot { link });
            }
        };
        self.send_history(own, link, packet, from, up_to, out);
    }

    /// The owner's state has come. What was proposed since it was asked follows it.
    pub(super) fn send_snapshot(&mut self, own: &Own, link: LinkId, snapshot: Snapshot, out: Out<'_>) {
        let Some(Progress::Imaging { last }) = self.learners.get(&link).map(|handler| handler.phase) else {
            return;
        };
        let from = snapshot.zxid;
        if own.history.floor(from) != Some(from) || from <= last {
            // Trimmed away meanwhile, or older than what it is to replace.
            return out.push(Output::NeedSnapshot { link });
        }
        let Some(up_to) = self.shared_history(own, link, out) else { return };
        self.send_history(own, link, Packet::Snap(snapshot), from, up_to, out);
    }

    /// The plan, what comes behind it, and the end mark. From now on the learner gets whatever is proposed.
    fn send_history(&mut self, own: &Own, link: LinkId, plan: Packet, from: Zxid, up_to: Zxid, out: Out<'_>) {
        out.push(Output::Send { link, packet: plan });
        for txn in own.history.between(from, up_to) {
            out.push(Output::Send { link, packet: Packet::Proposal(txn.clone()) });
        }
        let (epoch, committed) = (self.epoch, own.committed);
        out.push(Output::Send { link, packet: Packet::NewLeader { epoch, committed } });
        let handler = self.handler(link);
        handler.phase = Progress::Synchronizing;
        handler.sent = up_to;
        handler.acked = up_to;
        deviate::proposes_again(self, own, link, up_to, out);
    }

    /// The zxid of the next proposal; `None` before the epoch is established, and when it is worn out.
    pub(super) fn next_zxid(&self, last: Zxid, config: &PeerConfig) -> Option<Zxid> {
        if self.phase != LeaderPhase::Broadcasting || self.is_worn {
            return None;
        }
        let next = if last.epoch() >= self.epoch { last.next() } else { Zxid::new(self.epoch, 1) };
        if next.counter() <= config.last_counter { Some(next) } else { rolls_over(config, last) }
    }

    /// Gives a transaction its place in the order and sends it to everybody's disk.
    pub(super) fn propose(&mut self, own: &mut Own, draft: Draft, out: Out<'_>) {
        let Some(zxid) = self.next_zxid(own.history.last(), &own.config) else { return };
        let Draft { session, xid, time_ms, body } = draft;
        let txn = Arc::new(Txn { zxid, session, xid, time_ms, body });
        deviate::marks_overflow(self, own, zxid, out);
        own.history.append(txn.clone());
        own.storage.push(Write::Append(vec![txn.clone()]));
        out.push(Output::Note(Note::Proposed(txn.clone())));
        self.in_flight.push_back(Flight { txn: txn.clone(), acks: BTreeSet::new() });
        for (link, handler) in &mut self.learners {
            if handler.phase.is_forwarded() && own.config.is_voter(handler.peer) {
                if handler.phase == Progress::Synchronizing
                    && own.deviates(Mutant::ProposesToAcknowledged, out)
                {
                    continue;
                }
                handler.sent = zxid;
                out.push(Output::Send { link: *link, packet: Packet::Proposal(txn.clone()) });
            }
        }
    }

    /// A follower has everything up to `zxid` on its disk.
    fn proposal_acknowledged(
        &mut self,
        own: &mut Own,
        link: LinkId,
        zxid: Zxid,
        out: Out<'_>,
    ) -> Result<Next, Violation> {
        // What is trimmed away stood, and can be told from nothing any more.
        let is_logged = own.history.floor(zxid).is_none_or(|logged| logged == zxid);
        let handler = self.handler(link);
        if !is_logged || zxid <= handler.acked || zxid > handler.sent {
            return Err(Violation::Ack);
        }
        handler.acked = zxid;
        let peer = handler.peer;
        self.acknowledge(peer, zxid);
        Ok(self.commit(own, out))
    }

    /// A server has everything up to `zxid` on its disk.
    fn acknowledge(&mut self, server: ServerId, zxid: Zxid) {
        for flight in self.in_flight.iter_mut().take_while(|flight| flight.txn.zxid <= zxid) {
            flight.acks.insert(server);
        }
    }

    /// The next transaction that a quorum has. Strictly in order: a later one never stands before an earlier.
    fn next_committed(&mut self, config: &PeerConfig, out: Out<'_>) -> Option<Arc<Txn>> {
        let front = self.in_flight.front()?;
        let one = !front.acks.is_empty();
        let stands =
            config.is_quorum(&front.acks) || one && config.deviates(Mutant::CommitsOnOneAcknowledgement, out);
        stands.then(|| self.in_flight.pop_front().expect("the front was just seen").txn)
    }

    /// Commits what a quorum has, and tells the learners.
    fn commit(&mut self, own: &mut Own, out: Out<'_>) -> Next {
        while let Some(txn) = self.next_committed(&own.config, out) {
            let zxid = txn.zxid;
            out.push(Output::Note(Note::Committed(txn.clone())));
            for (link, handler) in &mut self.learners {
                if handler.phase.is_forwarded() {
                    let packet = if own.config.is_voter(handler.peer) {
                        Packet::Commit { zxid }
                    } else {
                        handler.sent = zxid;
                        Packet::Inform(txn.clone())
                    };
                    out.push(Output::Send { link: *link, packet });
                }
            }
            own.committed = own.committed.max(zxid);
        }
        Next::Commits
    }

    /// Whether the counter is at its end and everything proposed stands: the next epoch counts from one again
    /// (ZOOKEEPER-1277). Asked at [`Next::Commits`].
    pub(super) fn is_worn_out(&self, own: &Own) -> bool {
        self.in_flight.is_empty() && self.next_zxid(own.history.last(), &own.config).is_none()
    }
}

#[cfg(test)]
mod tests;
