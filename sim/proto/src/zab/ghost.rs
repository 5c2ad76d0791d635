//! What ever happened in an ensemble: a history that no peer keeps, for invariants that speak of the past.
//!
//! ```
//! use zk_proto::server::ServerId;
//! use zk_proto::zab::ghost::Ghost;
//! use zk_proto::zab::{Event, Peer, PeerConfig, RecoveredHistory};
//!
//! let mut ghost = Ghost::default();
//! let config = PeerConfig::new(ServerId(1), [ServerId(1)], []);
//! let (mut peer, mut out) = Peer::start(config, RecoveredHistory::default());
//! ghost.started(&peer);
//! ghost.observe(&peer, &out);
//! while peer.writing().is_some() {
//!     out.clear();
//!     peer.step(Event::Written, &mut out);
//!     ghost.observe(&peer, &out);
//! }
//! assert!(ghost.leaders[&1].contains(&ServerId(1)), "who has led epoch 1");
//! assert_eq!(ghost.disks[&ServerId(1)].current_epoch, 1);
//! ```

use super::aside::Aside;
use super::message::Packet;
use super::{Note, Output, Peer, RecoveredHistory, Write};
use crate::ids::ServerId;
use crate::mutant::Mutant;
use crate::txn::Txn;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::Zxid;

/// What is durable at a peer, as followed from outside: by its writes, and by what it found as it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OnDisk {
    /// Everything logged, or shown by a snapshot.
    pub log: Vec<Arc<Txn>>,
    /// As in [`Write::AcceptedEpoch`].
    pub accepted_epoch: u32,
    /// As in [`Write::CurrentEpoch`].
    pub current_epoch: u32,
    /// The write under way.
    writing: Option<Write>,
}

/// Everything that was promised, proposed, committed and delivered, by whom.
///
/// Fed with every peer's outputs as they come, and told of restarts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ghost {
    /// Who has led an epoch with a quorum's promises.
    pub leaders: BTreeMap<u32, BTreeSet<ServerId>>,
    /// The history each established epoch began with.
    pub initial: BTreeMap<u32, Vec<Arc<Txn>>>,
    /// What was proposed in each epoch, in that order.
    pub broadcast: BTreeMap<u32, Vec<Arc<Txn>>>,
    /// What its leader had delivered when it first proposed in an epoch.
    pub delivered_before: BTreeMap<u32, Vec<Arc<Txn>>>,
    /// What a quorum had on disk, by a leader's word.
    pub committed: BTreeMap<Zxid, Arc<Txn>>,
    /// What each peer has delivered, with what the state it started from shows.
    pub delivered: BTreeMap<ServerId, Vec<Arc<Txn>>>,
    /// The most each peer has ever delivered, over its restarts.
    pub most_delivered: BTreeMap<ServerId, Vec<Arc<Txn>>>,
    /// What was committed and then cut from a learner's log at a leader's word.
    pub cut: Vec<(ServerId, Arc<Txn>)>,
    /// Up to where everything stood before anybody promised an epoch; once it is established, the end of its first
    /// history.
    pub stood: BTreeMap<u32, Zxid>,
    /// What is on each peer's disk, or was when it went down.
    pub disks: BTreeMap<ServerId, OnDisk>,
    /// Who has acknowledged what was not on its disk, up to where.
    pub acknowledged_early: BTreeSet<(ServerId, Zxid)>,
    /// Who has promised an epoch that was not on its disk.
    pub promised_early: BTreeSet<(ServerId, u32)>,
    /// Which planted bugs have made a difference.
    pub deviated: BTreeSet<Mutant>,
    /// How often what had been kept was changed, and not only added to.
    pub(super) rewrites: Aside<u64>,
    /// What was found on each peer's disk, if that is kept.
    pub(super) found: Aside<Option<BTreeMap<ServerId, Found>>>,
}

/// How much of a peer's log was found on its disk: true for as long as that is only added to, and so is the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The log's, which nothing was forgotten of since.
    base: Zxid,
    /// How often the log had been rewritten.
    rewrites: u64,
    /// Where the disk's log goes on behind `base`.
    behind: usize,
    /// So many transactions from there are the first of the log.
    count: usize,
}

impl Ghost {
    /// From now on keeps how far each peer's log was found on its disk, so that an acknowledgement is compared with
    /// what is new. Only where one ensemble is followed: a model puts together what is equal, whatever came before it.
    pub fn remember(&mut self) {
        self.found.0.get_or_insert_default();
    }

    /// A peer's disk is not only added to.
    fn rewritten(&mut self, id: ServerId) {
        self.rewrites.0 += 1;
        if let Some(found) = &mut self.found.0 {
            found.remove(&id);
        }
    }

    /// A peer starts, with a state that shows everything up to `base`.
    pub fn started(&mut self, peer: &Peer) {
        let id = peer.config().id;
        let log = self.whole_history(peer);
        let disk = self.disks.entry(id).or_default();
        disk.accepted_epoch = disk.accepted_epoch.max(peer.accepted_epoch());
        (disk.log, disk.current_epoch, disk.writing) = (log, peer.current_epoch(), None);
        self.rewritten(id);
        self.show(id, peer.history().base());
    }

    /// A peer is down, and this is what it would find. Nobody has to tell: what a crash left of the write under
    /// way is seen at the next start; told, it makes no two states of what is the same.
    pub fn stopped(&mut self, id: ServerId, disk: &RecoveredHistory) {
        let shown = self.committed.range(..=disk.base).map(|(_, txn)| txn);
        let log = shown.chain(&disk.log).cloned().collect();
        let (accepted_epoch, current_epoch) = (disk.accepted_epoch, disk.current_epoch);
        self.disks.insert(id, OnDisk { log, accepted_epoch, current_epoch, writing: None });
        self.rewritten(id);
    }

    /// Takes what a peer wanted done in one step. `peer` is as it is after that step.
    pub fn observe(&mut self, peer: &Peer, outputs: &[Output]) {
        let id = peer.config().id;
        self.follow_disk(peer, outputs);
        for output in outputs {
            match output {
                Output::Note(note) => self.note(peer, note),
                Output::Deliver(txn) => self.deliver(id, txn),
                Output::Restore(snapshot) => self.show(id, snapshot.zxid),
                Output::Send { packet, .. } => self.sent(peer, packet),
                Output::Notify { .. }
                | Output::Dial { .. }
                | Output::Hang { .. }
                | Output::Write(_)
                | Output::SetTimer { .. }
                | Output::NeedSnapshot { .. }
                | Output::Role(_) => {}
            }
        }
    }

    /// A peer has delivered a transaction.
    pub fn deliver(&mut self, id: ServerId, txn: &Arc<Txn>) {
        self.delivered.entry(id).or_default().push(txn.clone());
        self.keep_most(id);
    }

    /// A peer notes something. It is as it is after that step.
    pub fn note(&mut self, peer: &Peer, note: &Note) {
        let id = peer.config().id;
        match note {
            Note::Promised { epoch } => {
                self.leaders.entry(*epoch).or_default().insert(id);
            }
            Note::Established { epoch } => {
                let history = self.whole_history(peer);
                history.iter().for_each(|txn| self.stands(txn));
                let last = history.last().map_or(Zxid::ZERO, |txn| txn.zxid);
                self.stood.insert(*epoch, last);
                if self.initial.insert(*epoch, history).is_some() {
                    self.rewrites.0 += 1;
                }
            }
            Note::Proposed(txn) => {
                let before = || self.delivered.get(&id).cloned().unwrap_or_default();
                self.delivered_before.entry(txn.zxid.epoch()).or_insert_with(before);
                self.broadcast.entry(txn.zxid.epoch()).or_default().push(txn.clone());
            }
            Note::Committed(txn) => self.stands(txn),
            Note::Cut(txns) => {
                let stood = txns.iter().filter(|txn| self.committed.get(&txn.zxid) == Some(*txn));
                self.cut.extend(stood.map(|txn| (id, txn.clone())));
            }
            Note::Violated(_) => {}
            Note::Deviated(mutant) => {
                self.deviated.insert(*mutant);
            }
        }
    }

    /// A transaction stands.
    fn stands(&mut self, txn: &Arc<Txn>) {
        let is_behind = self.committed.last_key_value().is_none_or(|(last, _)| *last < txn.zxid);
        if is_behind || self.committed.get(&txn.zxid) != Some(txn) {
            self.committed.insert(txn.zxid, txn.clone());
            self.rewrites.0 += u64::from(!is_behind);
        }
    }

    /// There is one write at a time: a new one, or none, says that the last is done. An owner may have done some at
    /// once.
    fn follow_disk(&mut self, peer: &Peer, outputs: &[Output]) {
        for output in outputs {
            if let Output::Write(write) = output {
                self.written(peer.config().id);
                self.writes(peer.config().id, write);
            }
        }
        if peer.writing().is_none() {
            self.written(peer.config().id);
        }
    }

    /// A peer begins to write.
    pub fn writes(&mut self, id: ServerId, write: &Write) {
        if let Write::AcceptedEpoch(epoch) = write {
            let last = self.committed.last_key_value().map_or(Zxid::ZERO, |(zxid, _)| *zxid);
            self.stood.entry(*epoch).or_insert(last);
        }
        self.disks.entry(id).or_default().writing = Some(write.clone());
    }

    /// What it was writing is on its disk.
    pub fn written(&mut self, id: ServerId) {
        let disk = self.disks.entry(id).or_default();
        match disk.writing.take() {
            Some(Write::Append(txns)) => disk.log.extend(txns),
            Some(Write::Truncate { to }) => {
                disk.log.retain(|txn| txn.zxid <= to);
                self.rewritten(id);
            }
            Some(Write::Restart(snapshot)) => {
                let shown = self.committed.range(..=snapshot.zxid).map(|(_, txn)| txn.clone());
                disk.log = shown.collect();
                self.rewritten(id);
            }
            Some(Write::AcceptedEpoch(epoch)) => disk.accepted_epoch = epoch,
            Some(Write::CurrentEpoch(epoch)) => disk.current_epoch = epoch,
            None => {}
        }
    }

    /// Whether a peer's log, up to there, is on its disk.
    pub(super) fn is_on_disk(&self, peer: &Peer, up_to: Zxid) -> bool {
        self.look_on_disk(peer, up_to).is_some()
    }

    /// What is found if it is.
    fn look_on_disk(&self, peer: &Peer, up_to: Zxid) -> Option<Found> {
        let (id, history) = (peer.config().id, peer.history());
        let (base, rewrites) = (history.base(), history.rewrites());
        let Some(OnDisk { log, .. }) = self.disks.get(&id) else {
            return (up_to == base).then_some(Found { base, rewrites, behind: 0, count: 0 });
        };
        let wanted = history.up_to(up_to);
        let before = self.found.0.as_ref().and_then(|found| found.get(&id));
        let still = before.filter(|was| (was.base, was.rewrites) == (base, rewrites));
        let look = || (log.partition_point(|txn| txn.zxid <= base), 0);
        let (behind, known) = still.map_or_else(look, |was| (was.behind, was.count));
        let rest = &wanted[known.min(wanted.len())..];
        let is_there = rest.is_empty() || log[behind + known..].starts_with(rest);
        is_there.then(|| Found { base, rewrites, behind, count: known.max(wanted.len()) })
    }

    /// The same, and keeps it.
    fn finds_on_disk(&mut self, peer: &Peer, up_to: Zxid) -> bool {
        let now = self.look_on_disk(peer, up_to);
        if let (Some(now), Some(found)) = (now, &mut self.found.0) {
            found.insert(peer.config().id, now);
        }
        now.is_some()
    }

    /// A peer sends a packet.
    pub fn sent(&mut self, peer: &Peer, packet: &Packet) {
        let id = peer.config().id;
        let disk = self.disks.entry(id).or_default();
        let (accepted_epoch, current_epoch) = (disk.accepted_epoch, disk.current_epoch);
        match (packet, peer.learner()) {
            (Packet::Ack { zxid }, _) if !self.finds_on_disk(peer, *zxid) => {
                self.acknowledged_early.insert((id, *zxid));
            }
            (Packet::AckNewLeader { epoch }, Some(learner)) => {
                let synced = learner.synced;
                if current_epoch < *epoch || !self.is_on_disk(peer, synced) {
                    self.acknowledged_early.insert((id, synced));
                }
            }
            (Packet::AckEpoch { .. }, Some(learner)) if accepted_epoch < learner.epoch => {
                self.promised_early.insert((id, learner.epoch));
            }
            (Packet::LeaderInfo { epoch }, _) if accepted_epoch < *epoch => {
                self.promised_early.insert((id, *epoch));
            }
            _ => {}
        }
    }

    /// What a peer's state shows and its log holds, from the beginning.
    pub fn whole_history(&self, peer: &Peer) -> Vec<Arc<Txn>> {
        let base = peer.history().base();
        let shown = self.committed.range(..=base).map(|(_, txn)| txn);
        shown.chain(peer.history().log()).cloned().collect()
    }

    /// A peer's state shows everything up to here.
    pub fn show(&mut self, id: ServerId, up_to: Zxid) {
        let shown = self.committed.range(..=up_to).map(|(_, txn)| txn.clone()).collect();
        self.delivered.insert(id, shown);
        self.rewrites.0 += 1;
        self.keep_most(id);
    }

    /// Forgets what came before `zxid`, which stands.
    ///
    /// Nothing that is judged later needs it if all invariants hold now and no peer will ever start from a state that
    /// shows less: then all histories begin with the same transactions up to there, and what holds of what is left of
    /// them holds of the whole.
    pub fn forget_before(&mut self, zxid: Zxid) {
        self.committed = self.committed.split_off(&zxid);
        let forget = |history: &mut Vec<Arc<Txn>>| {
            history.drain(..history.partition_point(|txn| txn.zxid < zxid));
        };
        for of_epochs in [&mut self.initial, &mut self.broadcast, &mut self.delivered_before] {
            of_epochs.values_mut().for_each(forget);
            of_epochs.retain(|epoch, history| *epoch >= zxid.epoch() || !history.is_empty());
        }
        for of_peers in [&mut self.delivered, &mut self.most_delivered] {
            of_peers.values_mut().for_each(forget);
        }
        self.disks.values_mut().for_each(|disk| forget(&mut disk.log));
        self.found.0.iter_mut().for_each(BTreeMap::clear);
        self.rewrites.0 += 1;
    }

    fn keep_most(&mut self, id: ServerId) {
        let now = self.delivered.entry(id).or_default();
        let most = self.most_delivered.entry(id).or_default();
        if now.len() > most.len() {
            most.extend_from_slice(&now[most.len()..]);
        }
    }
}

#[cfg(test)]
mod tests;
