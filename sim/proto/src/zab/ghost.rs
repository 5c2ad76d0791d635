//! What ever happened in an ensemble: a history that no peer keeps, for invariants that speak of the past.

use super::{Note, Output, Peer};
use crate::mutant::Mutant;
use crate::server::ServerId;
use crate::txn::Txn;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::Zxid;

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
    /// Which planted bugs have made a difference.
    pub deviated: BTreeSet<Mutant>,
}

impl Ghost {
    /// A peer starts, with a state that shows everything up to `base`.
    pub fn started(&mut self, peer: &Peer) {
        self.show(peer.config().id, peer.history().base());
    }

    /// Takes what a peer wanted done in one step. `peer` is as it is after that step.
    pub fn observe(&mut self, peer: &Peer, outputs: &[Output]) {
        let id = peer.config().id;
        for output in outputs {
            match output {
                Output::Note(note) => self.note(peer, note),
                Output::Deliver(txn) => {
                    self.delivered.entry(id).or_default().push(txn.clone());
                    self.keep_most(id);
                }
                Output::Restore(snapshot) => self.show(id, snapshot.zxid),
                Output::Notify { .. }
                | Output::Send { .. }
                | Output::Dial { .. }
                | Output::Hang { .. }
                | Output::Write(_)
                | Output::SetTimer { .. }
                | Output::NeedSnapshot { .. }
                | Output::Role(_) => {}
            }
        }
    }

    fn note(&mut self, peer: &Peer, note: &Note) {
        let id = peer.config().id;
        match note {
            Note::Promised { epoch } => {
                self.leaders.entry(*epoch).or_default().insert(id);
            }
            Note::Established { epoch } => {
                let history = self.whole_history(peer);
                self.committed.extend(history.iter().map(|txn| (txn.zxid, txn.clone())));
                self.initial.insert(*epoch, history);
            }
            Note::Proposed(txn) => {
                let before = self.delivered.get(&id).cloned().unwrap_or_default();
                self.delivered_before.entry(txn.zxid.epoch).or_insert(before);
                self.broadcast.entry(txn.zxid.epoch).or_default().push(txn.clone());
            }
            Note::Committed(txn) => {
                self.committed.insert(txn.zxid, txn.clone());
            }
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

    /// What a peer's state shows and its log holds, from the beginning.
    pub fn whole_history(&self, peer: &Peer) -> Vec<Arc<Txn>> {
        let base = peer.history().base();
        let shown = self.committed.range(..=base).map(|(_, txn)| txn);
        shown.chain(peer.history().log()).cloned().collect()
    }

    fn show(&mut self, id: ServerId, up_to: Zxid) {
        let shown = self.committed.range(..=up_to).map(|(_, txn)| txn.clone()).collect();
        self.delivered.insert(id, shown);
        self.keep_most(id);
    }

    fn keep_most(&mut self, id: ServerId) {
        let now = self.delivered.entry(id).or_default();
        let most = self.most_delivered.entry(id).or_default();
        if now.len() > most.len() {
            most.extend_from_slice(&now[most.len()..]);
        }
    }
}
